/*
 * The rings to the recorder. What goes there is rare (a stack that is new, a mapping, the list of code), so all threads of a process share
 * one, under a lock; when it is full or the lock is not to be had in time, the record is counted as lost.
 */
#include "agent.h"
#include "common/bare_calls.h"

#include <fcntl.h>

enum { TEXT_BYTES = 2 * HEAP_LINE_MOST };

static uint8_t *ring(void) { return agent.area + HEAP_RING_AT; }

static uint64_t now_ns(void) { return bare_clock_ns(CLOCK_MONOTONIC); }

/* Under the lock. NULL: no room. Where a record would lie across the end, a pad fills the rest. */
static void *room(uint64_t bytes)
{
    struct heap_area *a = area();
    uint64_t head = atomic_load_explicit(&a->ring_head, memory_order_relaxed);
    uint64_t used = head - atomic_load_explicit(&a->ring_tail, memory_order_acquire);
    uint64_t at = head & (HEAP_RING_BYTES - 1), to_end = HEAP_RING_BYTES - at;
    uint64_t pad = to_end < bytes ? to_end : 0;
    if (used > HEAP_RING_BYTES || HEAP_RING_BYTES - used < bytes + pad)
        return NULL;
    if (!pad)
        return ring() + at;
    *(struct heap_record *)(void *)(ring() + at) = (struct heap_record){.bytes = (uint32_t)pad, .kind = HEAP_PAD};
    atomic_store_explicit(&a->ring_head, head + pad, memory_order_release);
    return ring();
}

static void commit(uint64_t bytes)
{
    uint64_t head = atomic_load_explicit(&area()->ring_head, memory_order_relaxed);
    atomic_store_explicit(&area()->ring_head, head + bytes, memory_order_release);
}

static void copy_words(uint64_t *to, uint64_t from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / 8; i++)
        to[i] = *(const volatile uint64_t *)(from + 8 * i); /* NOLINT: our own stack, an address */
}

void ring_slice(uint32_t stack, const struct here *at, uint64_t stack_end)
{
    uint64_t n = stack_end > at->sp ? stack_end - at->sp : 0;
    if (n > HEAP_SLICE_MOST)
        n = HEAP_SLICE_MOST;
    n &= ~UINT64_C(7);
    uint64_t bytes = heap_rounded(sizeof(struct heap_slice) + n);
    bool is_ours = lock_take(&area()->ring_lock);
    struct heap_slice *s = is_ours ? room(bytes) : NULL;
    if (s) {
        *s = (struct heap_slice){
            .head = {.bytes = (uint32_t)bytes, .kind = HEAP_SLICE, .when_ns = now_ns()},
            .stack = stack, .bytes = (uint32_t)n, .pc = at->pc, .sp = at->sp, .fp = at->fp,
        };
        copy_words((uint64_t *)(void *)(s + 1), at->sp, n);
        commit(bytes);
    } else {
        count_up(&area()->lost_stacks, 1);
    }
    if (is_ours)
        lock_give(&area()->ring_lock);
}

static void copy_text(char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        __asm__ volatile("" ::: "memory");
    }
}

void ring_mapping(const struct heap_mapping *m, const char *path)
{
    uint64_t bytes = heap_rounded(sizeof *m + m->path_bytes);
    bool is_ours = lock_take(&area()->ring_lock);
    struct heap_mapping *to = is_ours ? room(bytes) : NULL;
    if (to) {
        *to = *m;
        to->head = (struct heap_record){.bytes = (uint32_t)bytes, .kind = HEAP_MAPPING, .when_ns = now_ns()};
        copy_text((char *)(to + 1), path, m->path_bytes);
        commit(bytes);
    } else {
        count_up(&area()->lost_maps, 1);
    }
    if (is_ours)
        lock_give(&area()->ring_lock);
}

/* The list of code. */

static void map_line(const char *line, size_t n, bool is_first)
{
    uint64_t bytes = heap_rounded(sizeof(struct heap_map_line) + n);
    struct heap_map_line *m = n <= HEAP_LINE_MOST ? room(bytes) : NULL;
    if (!m) {
        count_up(&area()->lost_maps, 1);
        return;
    }
    *m = (struct heap_map_line){
        .head = {.bytes = (uint32_t)bytes, .kind = HEAP_MAP_LINE, .when_ns = now_ns()},
        .line_bytes = (uint32_t)n, .is_first = is_first,
    };
    copy_text((char *)(m + 1), line, n);
    commit(bytes);
}

static uint64_t hex(const char **at, const char *end)
{
    uint64_t v = 0;
    for (; *at < end; (*at)++) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
        if (digit > 15)
            break;
        v = v * 16 + digit;
    }
    return v;
}

/* "7f0c000-7f0d000 r-xp ..." */
static bool take_line(const char *line, const char *end, bool is_first)
{
    const char *at = line;
    uint64_t start = hex(&at, end);
    at += at < end;
    uint64_t stop = hex(&at, end);
    if (end - at < 5 || at[3] != 'x') /* NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult): up to `end` it was read from the file */
        return false;
    walk_learn_code(start, stop);
    map_line(line, (size_t)(end - line), is_first);
    return true;
}

static const char *newline_in(const char *at, const char *end)
{
    while (at < end && *at != '\n') /* NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult): up to `end` it was read from the file */
        at++;
    return at < end ? at : NULL;
}

static void read_lines(int fd)
{
    char text[TEXT_BYTES];
    size_t kept = 0;
    bool is_first = true;
    for (long n; kept < sizeof text && (n = bare_call(SYS_read, fd, (long)(text + kept), (long)(sizeof text - kept), 0)) > 0;) {
        const char *at = text, *end = text + kept + n;
        for (const char *stop; (stop = newline_in(at, end)); at = stop + 1)
            if (take_line(at, stop, is_first))
                is_first = false;
        kept = (size_t)(end - at);
        copy_text(text, at, kept);
    }
}

COLD void ring_maps(void)
{
    int fd = (int)bare_call(SYS_openat, AT_FDCWD, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (lock_take(&area()->ring_lock)) {
        read_lines(fd);
        lock_give(&area()->ring_lock);
    }
    bare_call(SYS_close, fd, 0, 0, 0);
}

/* Freed blocks. */

COLD void blocks_write(const struct heap_freed *f)
{
    struct heap_area *a = area();
    enum { MOST = HEAP_BLOCKS_BYTES / sizeof *f };
    if (!lock_take(&a->blocks_lock)) {
        count_up(&a->lost_blocks, 1);
        return;
    }
    uint64_t head = atomic_load_explicit(&a->blocks_head, memory_order_relaxed);
    if (head - atomic_load_explicit(&a->blocks_tail, memory_order_acquire) < MOST) {
        struct heap_freed *to = (struct heap_freed *)(void *)(agent.area + HEAP_BLOCKS_AT) + head % MOST;
        *to = *f;
        atomic_store_explicit(&a->blocks_head, head + 1, memory_order_release);
    } else {
        count_up(&a->lost_blocks, 1);
    }
    lock_give(&a->blocks_lock);
}
