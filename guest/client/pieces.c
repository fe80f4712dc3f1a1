/*
 * Memory for what is counted. Under a recorder it is cut from the region that the recorder made (inferom/scopes_wire.h), so
 * that nothing is lost with the process; alone, it is the process's own.
 */
#include "client.h"
#include "common/find_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct scopes_process own_row = {.epoch = 1}; /* until there is one in the region */
struct scopes_process *process = &own_row;
uint32_t process_number;

static struct scopes_region *region; /* NULL: alone */
static struct scopes_piece *rows;
static uint8_t *bytes;
static uint32_t pieces, is_told; /* pieces: as many as we could map */

/* Finding it. */

static bool is_sound(const struct scopes_region *r, uint64_t file_bytes)
{
    return r->magic == SCOPES_MAGIC && r->version == SCOPES_VERSION && r->pieces > 0 && r->pieces <= SCOPES_PIECES_MOST &&
           scopes_region_bytes(r->pieces) <= file_bytes;
}

/* Sealed: nobody can take the memory away under our feet. Any other file at this number is not ours. */
static bool is_ours(int fd, struct scopes_region *out_head)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) < 0)
        return false;
    return pread(fd, out_head, sizeof *out_head, 0) == (ssize_t)sizeof *out_head && is_sound(out_head, (uint64_t)st.st_size);
}

/* A limit on address space (ulimit -v) may leave room for less than there is. */
static bool map_most(int fd, const struct scopes_region *head)
{
    for (uint32_t some = head->pieces; some > 0; some /= 2) {
        uint64_t all = scopes_pieces_at(head->pieces) + (uint64_t)some * SCOPES_PIECE_BYTES;
        void *p = pages(all, MAP_SHARED | MAP_NORESERVE, fd);
        if (!p)
            continue;
        region = p;
        rows = (struct scopes_piece *)(void *)((uint8_t *)p + SCOPES_HEADER_BYTES);
        bytes = (uint8_t *)p + scopes_pieces_at(head->pieces);
        pieces = some;
        return true;
    }
    return false;
}

static bool map_fd(int fd)
{
    struct scopes_region head;
    return fd >= 0 && is_ours(fd, &head) && map_most(fd, &head);
}

static bool map_region(void) { return memory_find(NULL, SCOPES_PATH_VARIABLE, map_fd); }

static void number_process(void) { process_number = __atomic_add_fetch(&region->processes, 1, __ATOMIC_RELAXED); }

bool pieces_start(void)
{
    if (!map_region())
        return false;
    number_process();
    return true;
}

/* Pieces. */

static void remember_highest(uint32_t n)
{
    uint32_t was = GET(region->pieces_used);
    while (was < n && !__atomic_compare_exchange_n(&region->pieces_used, &was, n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* From where the last one was found: in the long run as many steps as there are pieces. */
static struct scopes_piece *take_piece(void)
{
    static uint32_t next;
    uint32_t from = GET(next);
    for (uint32_t n = 0; n < pieces; n++) {
        uint32_t i = (from + n) % pieces, nobody_s = 0;
        if (!__atomic_compare_exchange_n(&rows[i].process, &nobody_s, process_number, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        PUT(next, (i + 1) % pieces);
        remember_highest(i + 1);
        return &rows[i];
    }
    __atomic_fetch_add(&region->refused, 1, __ATOMIC_RELAXED);
    return NULL;
}

static uint8_t *bytes_of(const struct scopes_piece *p) { return bytes + (size_t)(p - rows) * SCOPES_PIECE_BYTES; }

static struct scopes_piece *piece_for(struct block *b, enum scopes_piece_kind kind, uint16_t index)
{
    struct scopes_piece *p = take_piece();
    if (!p)
        return NULL;
    PUT(p->thread, b->number);
    PUT(p->used, 0);
    p->index = index;
    PUT_LINK(p->kind, (uint16_t)kind);
    return p;
}

static bool next_piece(struct block *b)
{
    struct scopes_piece *p = &b->own_piece;
    uint8_t *at = NULL;
    if (!process_number)
        at = own_pages(SCOPES_PIECE_BYTES);
    else if (b->item_pieces < UINT16_MAX && (p = piece_for(b, SCOPES_ITEMS, (uint16_t)b->item_pieces)))
        at = bytes_of(p);
    if (!at)
        return false;
    b->item_pieces++;
    b->piece = p;
    b->piece_bytes = at;
    b->piece_room = SCOPES_PIECE_BYTES;
    PUT(p->used, 0);
    return true;
}

void *item_new(struct block *b, enum scopes_kind kind, size_t size)
{
    size = (size + SCOPES_ITEM_ALIGN - 1) & ~(size_t)(SCOPES_ITEM_ALIGN - 1);
    if (size > SCOPES_PIECE_BYTES || ((!b->piece || b->piece_room - b->piece->used < size) && !next_piece(b)))
        return NULL;
    struct scopes_item *item = (struct scopes_item *)(void *)(b->piece_bytes + b->piece->used);
    b->item_bytes = (uint32_t)size;
    *item = (struct scopes_item){(uint32_t)size, kind};
    return item;
}

void item_done(struct block *b) { PUT_LINK(b->piece->used, b->piece->used + b->item_bytes); }

/* The process. */

static uint64_t pid_namespace(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

void process_begins(struct block *b)
{
    if (!process_number || __atomic_exchange_n(&is_told, 1, __ATOMIC_RELAXED))
        return;
    struct scopes_process *p = item_new(b, SCOPES_PROCESS, sizeof *p);
    if (!p)
        return;
    p->pid = (uint32_t)getpid();
    p->pid_namespace = pid_namespace();
    p->began_ns = run_facts.began_ns;
    p->clock_cost = ticks_cost();
    p->ticks_are_ns = !ticks_are_tsc;
    p->stride = GET(timing_stride);
    p->memory_is_told = GET(process->memory_is_told);
    p->epoch = GET(epoch);
    memcpy(p->program, run_facts.program, sizeof p->program);
    item_done(b);
    PUT_LINK(process, p);
    PUT(p->epoch, GET(epoch)); /* somebody may have reset meanwhile */
}

/* What is in the region is the parent's from here on. */
void process_forked(void)
{
    own_row = (struct scopes_process){.epoch = GET(epoch), .memory_is_told = GET(process->memory_is_told)};
    process = &own_row;
    is_told = 0;
    if (process_number)
        number_process();
}

struct scopes_record *ring_piece(struct block *b, uint16_t index)
{
    struct scopes_piece *p = process_number ? piece_for(b, SCOPES_RING, index) : NULL;
    return p ? (struct scopes_record *)(void *)bytes_of(p) : NULL;
}
