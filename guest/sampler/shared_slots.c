/* The region: where it is mapped, and which slot of it is a thread's. */
#include "common/bare_calls.h"
#include "common/find_memory.h"
#include "ring_writer.h"
#include "sampler.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct wire_region *map_bytes(int fd, uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool is_sound(const struct wire_region *r, uint64_t file_bytes)
{
    return r->magic == WIRE_MAGIC && r->version == WIRE_VERSION && r->slots > 0 && r->slots <= WIRE_SLOTS_MOST &&
           r->ring_bytes >= WIRE_RING_LEAST && r->ring_bytes <= UINT32_MAX && (r->ring_bytes & (r->ring_bytes - 1)) == 0 &&
           r->period_ns > 0 && wire_region_bytes(r->slots, r->ring_bytes) <= file_bytes;
}

/* Sealed: nobody can take the memory away under our feet. Any other file at this number is not ours. */
static bool is_ours(int fd, struct wire_region *out_head)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) < 0)
        return false;
    return pread(fd, out_head, sizeof *out_head, 0) == (ssize_t)sizeof *out_head &&
           is_sound(out_head, (uint64_t)st.st_size);
}

/* A limit on address space (ulimit -v) may leave room for fewer rings than there are. */
static bool map_most(int fd, const struct wire_region *head)
{
    for (uint32_t slots = head->slots; slots > 0; slots /= 2) {
        uint64_t bytes = wire_rings_at(head->slots) + slots * head->ring_bytes;
        struct wire_region *r = map_bytes(fd, bytes);
        if (!r)
            continue;
        sampler.region = r;
        sampler.slots = slots;
        sampler.ring_bytes = head->ring_bytes;
        sampler.period_ns = head->period_ns;
        sampler.slot = (struct wire_slot *)(void *)((uint8_t *)r + WIRE_HEADER_BYTES);
        sampler.rings = (uint8_t *)r + wire_rings_at(head->slots);
        return true;
    }
    return false;
}

static bool map_fd(int fd)
{
    struct wire_region head;
    return fd >= 0 && is_ours(fd, &head) && map_most(fd, &head);
}

bool region_map(void) { return memory_find(WIRE_FD_VARIABLE, WIRE_PATH_VARIABLE, map_fd); }

/* From where the last one was found: in the long run as many steps as there are threads. */
bool slot_take(uint32_t tid, uint32_t *out_i)
{
    static _Atomic uint32_t next;
    uint32_t from = atomic_load_explicit(&next, memory_order_relaxed);
    for (uint32_t n = 0; n < sampler.slots; n++) {
        uint32_t i = (from + n) % sampler.slots;
        struct wire_slot *s = &sampler.slot[i];
        uint32_t state = WIRE_FREE;
        if (!atomic_compare_exchange_strong_explicit(&s->state, &state, WIRE_TAKEN, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&next, (i + 1) % sampler.slots, memory_order_relaxed);
        s->pid = sampler.pid;
        s->tid = tid;
        locals[i].timer = -1;
        *out_i = i;
        return true;
    }
    sampler_trouble(WIRE_NO_SLOT);
    return false;
}

static void map_line(uint32_t i, const char *line, size_t n)
{
    uint64_t bytes = wire_rounded(sizeof(struct wire_map) + n);
    struct wire_map *m = n <= WIRE_LINE_MOST ? ring_room(&sampler.slot[i], sampler_ring(i), sampler.ring_bytes, bytes) : NULL;
    if (!m)
        return;
    *m = (struct wire_map){
        .head = {.bytes = (uint32_t)bytes, .kind = WIRE_MAP, .when_ns = bare_clock_ns(CLOCK_MONOTONIC)},
        .line_bytes = (uint32_t)n,
    };
    memcpy(m + 1, line, n);
    ring_commit(&sampler.slot[i], bytes);
}

/* "7f0c000-7f0d000 r-xp ...": the third letter after the first space. */
static bool is_code(const char *line, size_t n)
{
    const char *space = memchr(line, ' ', n);
    return space && space + 4 < line + n && space[3] == 'x';
}

/* Whole lines out of the buffer; returns how much of an unfinished one was moved to its front. */
static size_t maps_lines(uint32_t i, char *text, size_t n)
{
    char *at = text, *end = text + n;
    for (char *newline; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1)
        if (is_code(at, (size_t)(newline - at)))
            map_line(i, at, (size_t)(newline - at));
    memmove(text, at, (size_t)(end - at));
    return (size_t)(end - at);
}

void maps_tell(uint32_t i)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    char text[2 * WIRE_LINE_MOST];
    size_t kept = 0;
    for (ssize_t n; kept < sizeof text && (n = read(fd, text + kept, sizeof text - kept)) > 0;)
        kept = maps_lines(i, text, kept + (size_t)n);
    close(fd);
}
