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

static struct scopes_event *list_for(struct block *b, uint64_t n)
{
    size_t index = n / EVENT_BLOCK;
    if (index >= EVENT_BLOCKS_MOST)
        return NULL;
    if (!b->events[index]) {
        b->busy = 1;
        struct scopes_event_list *list = item_new(b, SCOPES_EVENT_LIST, sizeof *list);
        if (list) {
            list->index = (uint32_t)index;
            item_done(b);
        }
        b->events[index] = list;
        b->busy = 0;
    }
    return b->events[index] ? b->events[index]->events : NULL;
}

/* Those of an older epoch are overwritten: whoever reads passes over them, and holds the lock that reset takes. */
void event_add(struct block *b, struct scopes_event e)
{
    uint32_t now = GET(epoch);
    struct scopes_thread *w = b->w;
    if (b->busy)
        return;
    if (w->events_epoch != now) {
        PUT_LINK(w->events, 0);
        PUT(w->lost_events, 0);
        PUT_LINK(w->events_epoch, now);
    }
    struct scopes_event *list = list_for(b, w->events);
    if (!list) {
        PUT(w->lost_events, w->lost_events + 1);
        return;
    }
    list[w->events % EVENT_BLOCK] = e;
    PUT_LINK(w->events, w->events + 1);
}

void inferom_reset(void)
{
    results_lock();
    uint32_t now = __atomic_add_fetch(&epoch, 1, __ATOMIC_RELAXED);
    PUT(process->epoch, now);
    results_unlock();
}

int inferom_enable(int on)
{
    return (int)__atomic_exchange_n(&inferom_is_on, on ? 1u : 0u, __ATOMIC_RELAXED);
}

/* Requests. */

static void request_tell(struct block *b, inferom_request *r)
{
    b->busy = 1;
    struct scopes_request *item = item_new(b, SCOPES_REQUEST, sizeof *item);
    if (item) {
        item->number = r->number;
        memcpy(item->id, r->id, sizeof item->id);
        item_done(b);
        PUT(r->told_by, process_number);
    }
    b->busy = 0;
}

/* One that came over from before a fork is news to the process that it is in now. */
uint32_t request_number(struct block *b, inferom_request *r)
{
    if (r && GET(r->told_by) != process_number && !b->busy)
        request_tell(b, r);
    return r ? r->number : 0;
}

inferom_request *inferom_request_new(const char *id)
{
    static uint32_t numbers;
    struct block *b = GET(inferom_is_on) && id ? block_of_this_thread() : NULL;
    if (!b || b->busy)
        return NULL;
    if (GET(b->requests) >= REQUESTS_MOST) {
        PUT(b->w->lost_events, b->w->lost_events + 1);
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
    r->next = b->made;
    request_tell(b, r);
    PUT_LINK(b->made, r);
    PUT(b->requests, b->requests + 1);
    return r;
}

static void request_ends(struct block *b, uint64_t now)
{
    if (b->request)
        event_add(b, (struct scopes_event){.began = b->request_began, .ended = now, .request = request_number(b, b->request),
                                           .kind = EVENT_REQUEST});
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
