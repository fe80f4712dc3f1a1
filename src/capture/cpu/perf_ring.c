#include "capture/cpu/perf_ring.h"
#include "base/mem.h"
#include "base/own.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

enum { RECORD_MOST = 65536 }; /* a record's length has 16 bits */

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

int perf_ring_open(struct perf_ring *r, int fd, size_t data_bytes)
{
    void *at = mmap(NULL, page_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return errno;
    *r = (struct perf_ring){.page = at, .data = (const char *)at + page_bytes(), .bytes = data_bytes};
    r->whole = mem_new(RECORD_MOST);
    return 0;
}

void perf_ring_over(struct perf_ring *r, const char *data, size_t bytes, uint64_t tail, uint64_t head)
{
    *r = (struct perf_ring){.data = data, .bytes = bytes, .tail = tail, .head = head};
    r->whole = mem_new(RECORD_MOST);
}

void perf_ring_close(struct perf_ring *r)
{
    if (r->page)
        munmap(r->page, page_bytes() + r->bytes);
    free(r->whole);
    *r = (struct perf_ring){0};
}

void perf_ring_look(struct perf_ring *r)
{
    if (r->page)
        r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* Whatever is said about lengths, we stay between tail and head, and the two no further apart than the ring is long. */
static bool record_bytes(struct perf_ring *r, size_t *out)
{
    uint64_t there = r->head - r->tail;
    struct perf_event_header h;
    if (there == 0)
        return false;
    if (there >= sizeof h && there <= r->bytes && r->tail % 8 == 0) {
        memcpy(&h, r->data + (r->tail & (r->bytes - 1)), sizeof h); /* 8 bytes, aligned: never across the end */
        *out = h.size;
        if (h.size >= sizeof h && h.size % 8 == 0 && h.size <= there)
            return true;
    }
    r->damaged++;
    r->tail = r->head;
    return false;
}

bool perf_ring_peek(struct perf_ring *r, struct view *out)
{
    size_t n = 0;
    if (!record_bytes(r, &n))
        return false;
    size_t at = r->tail & (r->bytes - 1), straight = r->bytes - at;
    if (n <= straight) {
        *out = (struct view){r->data + at, n};
        return true;
    }
    memcpy(r->whole, r->data + at, straight);
    memcpy((char *)r->whole + straight, r->data, n - straight);
    *out = (struct view){(const char *)r->whole, n};
    return true;
}

void perf_ring_pass(struct perf_ring *r)
{
    size_t n = 0;
    if (record_bytes(r, &n))
        r->tail += n;
    if (r->page)
        __atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}
