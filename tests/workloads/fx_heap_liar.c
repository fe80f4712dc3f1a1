/*
 * fx-heap-liar WHAT [N [PROCESSES]] - a target that makes up what its heap agent would have counted
 *
 *     claims        says that every table is full, and writes nothing into it
 *     rows N        N rows of one allocation of 10 bytes each, every one live, at as many stacks as there may be, each 64 deep
 *     slices N      N stacks of which the recorder has to unwind a thousand frames each
 *     mappings N    N mappings of files whose names are 4,000 characters long
 *     pieces N      one mapping, and N holes in it
 *     lines N       N lines of maps, each of another file
 *
 * PROCESSES do so at the same time, each in its own area. They end when the recorder has gone on for a second with all of
 * them there. Prints nothing and allocates nothing: the numbers in the area are these and no others.
 */
#include "inferom/heap_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct heap_region *region;
static int fd;
static _Atomic unsigned *ready; /* processes that have said what they had to say */

static void fail(const char *why)
{
    if (write(2, why, strlen(why)) < 0 || write(2, "\n", 1) < 0)
        _exit(4);
    _exit(3);
}

static void *map(uint64_t at, uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    if (p == MAP_FAILED)
        fail("no memory");
    return p;
}

/* Without a recorder there is nothing to wait for. */
static void pause_a_little(void)
{
    if (atomic_load(&region->phase) == HEAP_STOP)
        _exit(0);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* The area that the agent in this process took, and uses no more: nothing is allocated from here on. */
static uint8_t *own_area(void)
{
    void *volatile first = malloc(1); /* a child of fork() has an agent from its first allocation on */
    free(first);
    const struct heap_process *rows = (const void *)((const uint8_t *)region + heap_processes_at());
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (atomic_load(&rows[i].state) == HEAP_LIVE && rows[i].pid == (uint32_t)getpid())
            return map(heap_area_at(i), HEAP_AREA_BYTES);
    fail("the agent is not here");
    return NULL;
}

static struct heap_area *head_of(uint8_t *area) { return (struct heap_area *)(void *)area; }
static struct heap_thread *thread_of(uint8_t *area) { return (struct heap_thread *)(void *)(area + HEAP_THREADS_AT + HEAP_THREAD_STRIDE); }

static void forget_agent(uint8_t *area)
{
    struct heap_area *a = head_of(area);
    uint32_t rows = atomic_load(&a->rows), threads = atomic_load(&a->threads);
    for (uint32_t i = 0; i < threads; i++) {
        struct heap_thread *t = (void *)(area + HEAP_THREADS_AT + i * HEAP_THREAD_STRIDE);
        t->allocations = t->bytes = t->frees = t->freed_bytes = t->exact_allocations = t->samples = 0;
        memset(t->sizes, 0, sizeof t->sizes);
        memset(t->lifetimes, 0, sizeof t->lifetimes);
    }
    memset(area + HEAP_ROWS_AT, 0, (uint64_t)rows * sizeof(struct heap_row));
    atomic_store(&a->live_bytes, 0);
    atomic_store(&a->peak_bytes, 0);
}

static void claim(uint8_t *area)
{
    struct heap_area *a = head_of(area);
    atomic_store(&a->threads, HEAP_THREADS_MOST);
    atomic_store(&a->stacks, HEAP_STACKS_MOST);
    atomic_store(&a->rows, HEAP_ROWS_MOST);
    atomic_store(&a->levels, HEAP_LEVELS);
    atomic_store(&a->frames, HEAP_FRAMES_MOST);
    atomic_store(&a->blocks_head, HEAP_BLOCKS_BYTES / sizeof(struct heap_freed));
}

/* Windows over one long run of addresses inside libc: no two stacks are the same. */
static void make_up_stacks(uint8_t *area, uint32_t n, uint32_t depth)
{
    uint64_t *frames = (void *)(area + HEAP_FRAMES_AT);
    struct heap_stack *stacks = (void *)(area + HEAP_STACKS_AT);
    uint64_t code = (uint64_t)(uintptr_t)&qsort;
    for (uint32_t i = 0; i < n + depth; i++)
        frames[i] = code + 1 + (uint64_t)i * 7 % 65536;
    for (uint32_t i = 1; i < n; i++)
        stacks[i] = (struct heap_stack){.frames_at = i, .n = depth, .end = HEAP_WALK_COMPLETE};
    atomic_store(&head_of(area)->frames, n + depth);
    atomic_store(&head_of(area)->stacks, n);
}

static void make_up_rows(uint8_t *area, uint32_t n)
{
    uint32_t stacks = n < HEAP_STACKS_MOST ? n : HEAP_STACKS_MOST;
    make_up_stacks(area, stacks, 64);
    struct heap_row *rows = (void *)(area + HEAP_ROWS_AT);
    struct heap_row_rest *rests = (void *)(area + HEAP_RESTS_AT);
    for (uint32_t i = 1; i <= n && i < HEAP_ROWS_MOST; i++) {
        rests[i] = (struct heap_row_rest){.stack = 1 + i % (stacks - 1), .thread = 1};
        rows[i] = (struct heap_row){.objects_256 = HEAP_WHOLE, .bytes = 10, .live_256 = HEAP_WHOLE, .live_bytes = 10, .samples = 1};
    }
    struct heap_thread *t = thread_of(area);
    t->allocations = t->exact_allocations = t->samples = n;
    t->bytes = UINT64_C(10) * n;
    atomic_store(&head_of(area)->rows, n + 1);
}

/* The ring. A record that does not fit waits until the recorder has read. */
static void put(uint8_t *area, void *record, uint32_t bytes)
{
    struct heap_area *a = head_of(area);
    struct heap_record *r = record;
    r->bytes = (uint32_t)heap_rounded(bytes);
    uint64_t head = atomic_load(&a->ring_head), to_end = HEAP_RING_BYTES - head % HEAP_RING_BYTES;
    while (head + r->bytes + 65536 - atomic_load(&a->ring_tail) > HEAP_RING_BYTES)
        pause_a_little();
    if (to_end < r->bytes) {
        struct heap_record pad = {.bytes = (uint32_t)to_end, .kind = HEAP_PAD};
        memcpy(area + HEAP_RING_AT + head % HEAP_RING_BYTES, &pad, sizeof pad);
        head += to_end;
    }
    memcpy(area + HEAP_RING_AT + head % HEAP_RING_BYTES, record, r->bytes);
    atomic_store(&a->ring_head, head + r->bytes);
}

static _Alignas(16) uint8_t record[1 << 15];

/* Frames of 16 bytes, one above the other: frame pointer and an address that no file has. */
static void make_up_slices(uint8_t *area, uint32_t n)
{
    enum { FRAMES = 1020, BASE = 0x10000 };
    struct heap_slice *s = (void *)record;
    uint64_t *stack = (void *)(record + sizeof *s);
    make_up_stacks(area, HEAP_STACKS_MOST, 1);
    struct heap_stack *stacks = (void *)(area + HEAP_STACKS_AT);
    for (uint32_t i = 1; i <= n; i++) {
        stacks[i].end = HEAP_WALK_SLICE;
        for (uint32_t k = 0; k < FRAMES; k++) {
            stack[2 * k] = BASE + 16 * (k + 1);
            stack[2 * k + 1] = UINT64_C(0x1000000) + 64 * (i + k);
        }
        *s = (struct heap_slice){.head = {.kind = HEAP_SLICE}, .stack = i, .bytes = FRAMES * 16, .pc = 0x900000, .sp = BASE, .fp = BASE};
        put(area, record, (uint32_t)sizeof *s + FRAMES * 16);
    }
}

static void make_up_mappings(uint8_t *area, uint32_t n)
{
    enum { PATH = 4000 };
    struct heap_mapping *m = (void *)record;
    char *path = (char *)(m + 1);
    for (uint32_t i = 0; i < n; i++) {
        *m = (struct heap_mapping){.head = {.kind = HEAP_MAPPING}, .address = UINT64_C(0x100000000) + i * UINT64_C(8192), .length = 4096,
                                   .what = HEAP_MAPPED, .flags = MAP_PRIVATE, .path_bytes = PATH};
        memset(path, 'p', PATH);
        snprintf(path, 32, "/files/%u/", i);
        path[strlen(path)] = 'p';
        put(area, record, sizeof *m + PATH);
    }
}

static void make_up_pieces(uint8_t *area, uint32_t n)
{
    struct heap_mapping *m = (void *)record;
    *m = (struct heap_mapping){.head = {.kind = HEAP_MAPPING}, .address = UINT64_C(1) << 32, .length = UINT64_C(1) << 46, .what = HEAP_MAPPED,
                               .flags = MAP_PRIVATE | MAP_ANONYMOUS};
    put(area, record, sizeof *m);
    for (uint32_t i = 0; i < n; i++) {
        *m = (struct heap_mapping){.head = {.kind = HEAP_MAPPING}, .address = (UINT64_C(1) << 32) + (UINT64_C(2) * i + 1) * 4096, .length = 4096,
                                   .what = HEAP_UNMAPPED};
        put(area, record, sizeof *m);
    }
}

static void make_up_lines(uint8_t *area, uint32_t n)
{
    struct heap_map_line *m = (void *)record;
    for (uint32_t i = 0; i < n; i++) {
        *m = (struct heap_map_line){.head = {.kind = HEAP_MAP_LINE}, .is_first = i % 1000 == 0};
        int bytes = snprintf((char *)(m + 1), 512, "%llx-%llx r-xp 00000000 08:01 %u    /usr/lib/%0200u/lib.so\n",
                             0x100000000ull + i * 0x2000ull, 0x100001000ull + i * 0x2000ull, i + 1, i);
        m->line_bytes = (uint32_t)bytes;
        put(area, record, (uint32_t)sizeof *m + m->line_bytes);
    }
}

/* Until the recorder has gone on for more than a second since all were ready, by its own clock. */
static void wait_for_all(uint8_t *area, unsigned processes)
{
    struct heap_area *a = head_of(area);
    while (atomic_load(&a->ring_tail) != atomic_load(&a->ring_head))
        pause_a_little();
    atomic_fetch_add(ready, 1);
    while (atomic_load(ready) < processes)
        pause_a_little();
    uint64_t from_ns = atomic_load(&region->beat_ns);
    while (atomic_load(&region->beat_ns) < from_ns + UINT64_C(1200000000))
        pause_a_little();
}

static const struct {
    const char *name;
    void (*make_up)(uint8_t *area, uint32_t n);
} lies[] = {
    {"rows", make_up_rows}, {"slices", make_up_slices}, {"mappings", make_up_mappings}, {"pieces", make_up_pieces}, {"lines", make_up_lines},
};

static void lie(const char *what, uint32_t n, unsigned processes)
{
    uint8_t *area = own_area();
    forget_agent(area);
    if (!strcmp(what, "claims"))
        claim(area);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        if (!strcmp(what, lies[i].name))
            lies[i].make_up(area, n);
    wait_for_all(area, processes);
}

int main(int argc, char **argv)
{
    const char *text = getenv(HEAP_FD_VARIABLE);
    uint32_t n = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    unsigned processes = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    if (!text || argc < 2)
        fail("usage: inferom record --heap -- fx-heap-liar WHAT [N [PROCESSES]]");
    fd = atoi(text);
    region = map(0, HEAP_HEADER_BYTES + HEAP_PROCESSES * sizeof(struct heap_process));
    ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 1; i < processes; i++)
        if (fork() == 0) {
            lie(argv[1], n, processes);
            _exit(0);
        }
    lie(argv[1], n, processes);
    while (wait(NULL) > 0)
        ;
    _exit(0);
}
