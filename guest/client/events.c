/*
 * What happened when: phases, requests, and readings of counters and gauges. A thread keeps as many as it has room for;
 * then the newest are dropped and counted, and what was recorded first stays whole.
 */
#include "client.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void results_lock(void) { pthread_mutex_lock(&lock); }
void results_unlock(void) { pthread_mutex_unlock(&lock); }

static struct event *piece_for(struct block *b, uint64_t n)
{
    size_t piece = n / EVENT_BLOCK;
    if (piece >= EVENT_BLOCKS_MOST || b->events[piece])
        return piece < EVENT_BLOCKS_MOST ? b->events[piece] : NULL;
    b->busy = 1;
    b->events[piece] = block_memory(b, EVENT_BLOCK * sizeof(struct event));
    b->busy = 0;
    return b->events[piece];
}

/* Those of an older epoch are overwritten: whoever reads passes over them, and holds the lock that reset takes. */
void event_add(struct block *b, struct event e)
{
    uint32_t now = GET(epoch);
    if (b->busy)
        return;
    if (b->events_epoch != now) {
        PUT_LINK(b->events_n, 0);
        PUT(b->lost_events, 0);
        PUT_LINK(b->events_epoch, now);
    }
    struct event *piece = piece_for(b, b->events_n);
    if (!piece) {
        PUT(b->lost_events, b->lost_events + 1);
        return;
    }
    piece[b->events_n % EVENT_BLOCK] = e;
    PUT_LINK(b->events_n, b->events_n + 1);
}

void inferom_reset(void)
{
    results_lock();
    __atomic_add_fetch(&epoch, 1, __ATOMIC_RELAXED);
    results_unlock();
}

int inferom_enable(int on)
{
    return (int)__atomic_exchange_n(&inferom_is_on, on ? 1u : 0u, __ATOMIC_RELAXED);
}

/* Requests. */

inferom_request *inferom_request_new(const char *id)
{
    static uint32_t numbers;
    struct block *b = GET(inferom_is_on) && id ? block_of_this_thread() : NULL;
    if (!b || b->busy)
        return NULL;
    if (GET(b->requests) >= REQUESTS_MOST) {
        PUT(b->lost_events, b->lost_events + 1);
        return NULL;
    }
    b->busy = 1;
    inferom_request *r = block_memory(b, sizeof *r);
    b->busy = 0;
    if (!r)
        return NULL;
    size_t n = strnlen(id, sizeof r->id - 1);
    memcpy(r->id, id, n);
    r->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
    PUT(b->requests, b->requests + 1);
    return r;
}

static void request_ends(struct block *b, uint64_t now)
{
    if (b->request)
        event_add(b, (struct event){.began = b->request_began, .ended = now, .request = b->request, .kind = EVENT_REQUEST});
}

static inferom_request *work_for(inferom_request *r)
{
    struct block *b = block_of_this_thread();
    if (!b)
        return NULL;
    inferom_request *before = b->request;
    if (before == r)
        return before;
    uint64_t now = ticks_now();
    request_ends(b, now);
    b->request = r;
    b->request_began = now;
    return before;
}

inferom_request *inferom_request_enter(inferom_request *r) { return r ? work_for(r) : my_block->request; }
void inferom_request_leave(inferom_request *before) { work_for(before); }
