#include "capture/memory/pages.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/ioctl.h>

#define SLICE_FIRST (UINT64_C(16) << 20)
#define SLICE_LEAST (UINT64_C(1) << 20)
#define SLICE_MOST (UINT64_C(1) << 44) /* of nothing at all: sanitizers reserve so much */
#define SLICE_NS UINT64_C(100000)

/* linux/fs.h of Linux 6.7 */
struct pagemap_scan {
    uint64_t size, flags, start, end, walk_end, regions, n_regions, most_pages;
    uint64_t category_inverted, category_mask, category_any_of, return_mask;
};
#define PAGEMAP_SCAN_CALL _IOWR('f', 16, struct pagemap_scan)

enum { IS_FILE = 1 << 2, IS_PRESENT = 1 << 3, IS_ZERO = 1 << 5 };

/* Bits of a word of pagemap; Documentation/admin-guide/mm/pagemap.rst */
#define WORD_PRESENT (UINT64_C(1) << 63)
#define WORD_FILE (UINT64_C(1) << 61)

bool pages_open(struct pages *p, const struct host *h, int32_t pid, struct err *e)
{
    char path[320];
    snprintf(path, sizeof path, "%s/proc/%" PRId32 "/pagemap", h->root, pid);
    *p = (struct pages){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .has_scan = true, .slice_bytes = SLICE_FIRST};
    p->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return p->fd >= 0 || err_os(e, "%s", path);
}

void pages_done(struct pages *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

uint64_t pages_add_regions(const struct page_region *regions, size_t n, uint64_t start, uint64_t end, struct page_count *add_to)
{
    uint64_t at = start;
    for (size_t i = 0; i < n; i++) {
        const struct page_region *r = &regions[i];
        if (r->start < at || r->end <= r->start || r->end > end) /* not the answer to our question */
            break;
        uint64_t *sum = r->categories & IS_FILE ? &add_to->file : &add_to->private;
        *sum += r->end - r->start;
        at = r->end;
    }
    return at;
}

void pages_add_words(const uint64_t *words, size_t n, uint64_t page_bytes, struct page_count *add_to)
{
    for (size_t i = 0; i < n; i++) {
        if (!(words[i] & WORD_PRESENT))
            continue;
        uint64_t *sum = words[i] & WORD_FILE ? &add_to->file : &add_to->private;
        *sum += page_bytes;
    }
}

/* errno ENOTTY: this kernel cannot. */
static bool count_by_kernel(const struct pages *p, uint64_t *at, uint64_t end, struct page_count *add_to)
{
    enum { REGIONS = 512 };
    struct page_region regions[REGIONS];
    struct pagemap_scan ask = {
        .size = sizeof ask, .start = *at, .end = end, .regions = (uintptr_t)regions, .n_regions = REGIONS,
        .category_mask = IS_PRESENT | IS_ZERO, .category_inverted = IS_ZERO, .return_mask = IS_FILE,
    };
    int n = ioctl(p->fd, PAGEMAP_SCAN_CALL, &ask);
    if (n < 0)
        return false;
    pages_add_regions(regions, (size_t)n < REGIONS ? (size_t)n : REGIONS, *at, end, add_to);
    *at = ask.walk_end > *at && ask.walk_end <= end ? ask.walk_end : end;
    return true;
}

static bool count_by_words(const struct pages *p, uint64_t *at, uint64_t end, struct page_count *add_to)
{
    enum { WORDS = 2048 };
    uint64_t words[WORDS], want = (end - *at) / p->page_bytes;
    if (want > WORDS)
        want = WORDS;
    ssize_t n = pread(p->fd, words, want * sizeof *words, (off_t)(*at / p->page_bytes * sizeof *words));
    if (n < 0)
        return false;
    if (n < (ssize_t)sizeof *words) { /* the process is gone: an end where there should be none */
        errno = ESRCH;
        return false;
    }
    pages_add_words(words, (size_t)n / sizeof *words, p->page_bytes, add_to);
    *at += (size_t)n / sizeof *words * p->page_bytes;
    return true;
}

static void adapt(struct pages *p, uint64_t took_ns)
{
    if (took_ns > 2 * SLICE_NS && p->slice_bytes > SLICE_LEAST)
        p->slice_bytes /= 2;
    else if (took_ns < SLICE_NS / 2 && p->slice_bytes < SLICE_MOST)
        p->slice_bytes *= 2;
}

/* What a kernel says that has not this call. */
static bool is_unknown_call(int error) { return error == ENOTTY || error == EINVAL || error == ENOSYS; }

bool pages_count(struct pages *p, uint64_t *at, uint64_t end, struct page_count *add_to, struct err *e)
{
    uint64_t begun_ns = clock_monotonic_ns(), stop = end - *at > p->slice_bytes ? *at + p->slice_bytes : end;
    bool ok = p->has_scan && count_by_kernel(p, at, stop, add_to);
    if (!ok && (!p->has_scan || is_unknown_call(errno))) {
        ok = count_by_words(p, at, stop, add_to);
        p->has_scan &= !ok;
    }
    if (!ok)
        return err_os(e, "counting pages");
    adapt(p, clock_monotonic_ns() - begun_ns);
    return true;
}
