/*
 * Mappings that the target makes itself: files, shared memory, large anonymous pieces. They are a class of their own and never
 * added to the heap. What libc's allocator maps for its own use does not come by here.
 */
#undef _FILE_OFFSET_BITS /* both names of mmap() are defined here; they must not be one */
#include "agent.h"
#include "real.h"
#include "common/bare_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers of libc have reserved names */

static size_t path_of(int fd, char *out)
{
    char link[32] = "/proc/self/fd/";
    size_t n = 14;
    char digits[12];
    int k = 0;
    for (unsigned v = (unsigned)fd; k == 0 || v; v /= 10)
        digits[k++] = (char)('0' + v % 10);
    while (k > 0)
        link[n++] = digits[--k];
    link[n] = '\0';
    long got = bare_call(SYS_readlinkat, AT_FDCWD, (long)link, (long)out, PATH_MOST);
    return got > 0 ? (size_t)got : 0;
}

static void tell(struct heap_mapping m, int fd, const struct here *from)
{
    if (!agent_is_on())
        return;
    if (enter(from->sp)) {
        char path[PATH_MOST];
        m.path_bytes = fd >= 0 ? (uint32_t)path_of(fd, path) : 0;
        m.thread = me.number;
        if (m.what != HEAP_UNMAPPED) {
            struct walk w;
            walk_from(from, &w);
            m.stack = stack_number(&w);
        }
        ring_mapping(&m, path);
        leave();
    }
}

static void *map(void *at, size_t n, int how, int flags, int fd, off_t offset, const struct here *from)
{
    if (!real_find() || !real.mmap) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *p = real.mmap(at, n, how, flags, fd, offset);
    if (p != MAP_FAILED)
        tell((struct heap_mapping){.address = (uint64_t)p, .length = n, .what = HEAP_MAPPED, .flags = (uint32_t)flags},
             flags & MAP_ANONYMOUS ? -1 : fd, from);
    return p;
}

EXPORT void *mmap(void *at, size_t n, int how, int flags, int fd, off_t offset)
{
    struct here from = HERE();
    return map(at, n, how, flags, fd, offset, &from);
}

EXPORT void *mmap64(void *at, size_t n, int how, int flags, int fd, off64_t offset)
{
    struct here from = HERE();
    return map(at, n, how, flags, fd, offset, &from);
}

EXPORT int munmap(void *at, size_t n)
{
    struct here from = HERE();
    if (!real_find() || !real.munmap)
        return 0;
    /* Before it happens: another thread may be given the place at once. */
    tell((struct heap_mapping){.address = (uint64_t)at, .length = n, .what = HEAP_UNMAPPED}, -1, &from);
    return real.munmap(at, n);
}

EXPORT void *mremap(void *old, size_t old_n, size_t n, int flags, ...)
{
    struct here from = HERE();
    va_list more;
    va_start(more, flags);
    void *want = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    if (!real_find() || !real.mremap) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    void *p = real.mremap(old, old_n, n, flags, want);
    if (p == MAP_FAILED)
        return p;
    if (old_n)
        tell((struct heap_mapping){.address = (uint64_t)old, .length = old_n, .what = HEAP_UNMAPPED}, -1, &from);
    tell((struct heap_mapping){.address = (uint64_t)p, .length = n, .what = HEAP_MAPPED, .flags = MAP_PRIVATE | MAP_ANONYMOUS}, -1, &from);
    return p;
}

/* The break moves by calls of the program's own; libc's allocator moves it from inside. */
EXPORT int brk(void *to)
{
    struct here from = HERE();
    if (!real_find() || !real.brk)
        return -1;
    uint64_t before = real.sbrk ? (uint64_t)real.sbrk(0) : 0;
    int bad = real.brk(to);
    if (!bad && before)
        tell((struct heap_mapping){.address = before, .length = (uint64_t)to - before, .what = HEAP_BREAK}, -1, &from);
    return bad;
}

EXPORT void *sbrk(intptr_t by)
{
    struct here from = HERE();
    if (!real_find() || !real.sbrk)
        return (void *)-1; /* NOLINT: as the manual says */
    void *before = real.sbrk(by);
    if (by && (intptr_t)before != -1)
        tell((struct heap_mapping){.address = (uint64_t)before, .length = (uint64_t)by, .what = HEAP_BREAK}, -1, &from);
    return before;
}

/* A library that goes makes room for another: from then on the same addresses mean something else. At most ten times a second. */
int dlclose(void *library);
EXPORT int dlclose(void *library)
{
    if (!real_find() || !real.dlclose)
        return -1;
    int bad = real.dlclose(library);
    static _Atomic uint64_t last_ns;
    uint64_t now_ns = bare_clock_ns(CLOCK_MONOTONIC), before = atomic_load_explicit(&last_ns, memory_order_relaxed);
    if (agent_is_on() && now_ns - before > UINT64_C(100000000) && atomic_compare_exchange_strong(&last_ns, &before, now_ns))
        atomic_fetch_add(&area()->unloads, 1);
    return bad;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
