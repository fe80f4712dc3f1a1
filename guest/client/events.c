/*
 * What happened when: phases, requests, and readings of counters and gauges. A thread keeps as many as it has room for;
 * then the newest are dropped and counted, and what was recorded first stays whole. A recorder makes room all the time.
 */
#include "hot.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void results_lock(void) { pthread_mutex_lock(&lock); }
void results_unlock(void) { pthread_mutex_unlock(&lock); }

static struct scopes_event *list_for(struct block *b, uint64_t n)
{
    size_t index = n / EVENT_BLOCK % EVENT_BLOCKS_MOST;
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
    return b->events[index] ? &b->events[index]->events[n % EVENT_BLOCK] : NULL;
}

/*
 * Those of an older epoch do not count. A recorder has read them, or will; without one they are overwritten, and whoever
 * reads holds the lock that reset takes.
 */
void events_begin_epoch(struct block *b)
{
    struct scopes_thread *w = b->w;
    uint32_t now = GET(epoch);
    if (w->events_epoch == now)
        return;
    if (!process_number) {
        PUT_LINK(w->events, 0);
        b->next_event = NULL;
    }
    PUT(w->events_from, w->events);
    PUT(w->lost_events, 0);
    PUT_LINK(w->events_epoch, now);
}

void event_add(struct block *b, struct scopes_event e)
{
    struct scopes_thread *w = b->w;
    if (b->busy)
        return;
    events_begin_epoch(b);
    if (!b->next_event && !events_are_full(w))
        b->next_event = list_for(b, w->events);
    if (!b->next_event) {
        PUT(w->lost_events, w->lost_events + 1);
        return;
    }
    *b->next_event = e;
    b->next_event->tid = w->tid;
    event_done(b);
}

/* While it is on, the one says the other. */
void epoch_next(void)
{
    uint32_t now = __atomic_add_fetch(&epoch, 1, __ATOMIC_RELAXED), was = GET(inferom_is_on);
    PUT(process->epoch, now);
    while (was && !__atomic_compare_exchange_n(&inferom_is_on, &was, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void inferom_reset(void)
{
    results_lock();
    epoch_next();
    results_unlock();
}

int inferom_enable(int on)
{
    return __atomic_exchange_n(&inferom_is_on, on ? GET(epoch) : 0u, __ATOMIC_RELAXED) != 0;
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
    struct memory m = memory_now(b);
    if (m.allocations && !GET(process->memory_is_told))
        PUT(process->memory_is_told, 1);
    if (b->request)
        event_add(b, (struct scopes_event){.began = b->request_began, .ended = now, .request = b->request_number, .kind = EVENT_REQUEST,
                                           .allocations = m.allocations - b->request_memory.allocations,
                                           .bytes = m.bytes - b->request_memory.bytes});
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
    b->request_number = request_number(b, r);
    b->request_began = now;
    b->request_memory = memory_now(b);
    return before;
}

inferom_request *inferom_request_enter(inferom_request *r) { return r ? work_for(r) : my_block->request; }
void inferom_request_leave(inferom_request *before) { work_for(before); }
