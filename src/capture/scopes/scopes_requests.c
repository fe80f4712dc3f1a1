#include "capture/scopes/scopes_requests.h"
#include "base/mem.h"

/* By number. */

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct seen_request *)a)->number, y = ((const struct seen_request *)b)->number;
    return (x > y) - (x < y);
}

/* New ones are put in order first. */
struct seen_request *scopes_requests_named(struct seen_process *p, uint32_t number)
{
    struct seen_request key = {.number = number};
    if (!number || !p->n_requests)
        return NULL;
    if (p->sorted_requests != p->n_requests)
        qsort(p->requests, p->n_requests, sizeof *p->requests, by_number);
    p->sorted_requests = p->n_requests;
    return bsearch(&key, p->requests, p->n_requests, sizeof key, by_number);
}

/* By moment. */

static int by_end(const void *pa, const void *pb)
{
    const struct seen_work *a = pa, *b = pb;
    return (a->ended > b->ended) - (a->ended < b->ended);
}

static int by_thread_and_time(const void *pa, const void *pb)
{
    const struct seen_work *a = pa, *b = pb;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->began > b->began) - (a->began < b->began);
}

static void forget_older_half(struct seen_process *p)
{
    qsort(p->work, p->n_work, sizeof *p->work, by_end);
    size_t older = p->n_work / 2;
    p->n_work -= older;
    memmove(p->work, p->work + older, p->n_work * sizeof *p->work);
    p->sorted_work = 0;
}

void scopes_requests_add(struct seen_process *p, struct seen_work work)
{
    if (!work.request || work.ended < work.began)
        return;
    if (p->n_work >= SCOPES_WORK_MOST)
        forget_older_half(p);
    GROW(p->work, p->cap_work, p->n_work + 1);
    p->work[p->n_work++] = work;
}

uint32_t scopes_requests_at(struct seen_process *p, uint32_t tid, uint64_t tick)
{
    size_t low = 0, high = p->n_work;
    if (p->sorted_work != p->n_work)
        qsort(p->work, p->n_work, sizeof *p->work, by_thread_and_time);
    p->sorted_work = p->n_work;
    while (low < high) { /* the first that began later */
        size_t middle = low + (high - low) / 2;
        const struct seen_work *w = &p->work[middle];
        if (w->tid < tid || (w->tid == tid && w->began <= tick))
            low = middle + 1;
        else
            high = middle;
    }
    const struct seen_work *w = low ? &p->work[low - 1] : NULL;
    return w && w->tid == tid && tick < w->ended ? w->request : 0;
}
