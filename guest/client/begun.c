/*
 * Scopes that are on nobody's stack: those of inferom_begin(), and phases. A handle says which one and whose: one that
 * was ended already, or that is another thread's, ends nothing.
 *
 *     handle:  serial number | row in the list of open scopes
 */
#include "hot.h"

enum { ROW_BITS = 16 };

static struct open *begin(struct block *b, inferom_site *site, bool is_phase, uint64_t now)
{
    struct open *o = scope_open(b, NULL, site, ON_NO_STACK, now);
    if (!o)
        return NULL;
    events_begin_epoch(b);
    o->stack = is_phase && o->began < BEGAN_SPECIAL ? USUAL_PHASE : ON_NO_STACK;
    o->is_phase = is_phase;
    o->request = b->request_number;
    o->serial = b->serial++;
    if (is_phase)
        o->memory = memory_now(b);
    return o;
}

static uint64_t handle_of(const struct block *b, const struct open *o) { return o->serial << ROW_BITS | (uint64_t)(o - b->open); }

/* In a signal handler that came while the thread was making room, nothing is recorded. */
static struct block *block_for(const char *name, enum site_kind kind, inferom_site **out)
{
    struct block *b = GET(inferom_is_on) && name ? block_of_this_thread() : NULL;
    if (!b || b->busy)
        return NULL;
    b->busy = 1;
    *out = site_named(name, kind);
    b->busy = 0;
    if (*out)
        return b;
    PUT(b->w->lost_scopes, b->w->lost_scopes + 1);
    return NULL;
}

uint64_t inferom_begin(const char *name)
{
    inferom_site *site;
    struct block *b = block_for(name, SITE_SCOPE, &site);
    const struct open *o = b ? begin(b, site, false, 0) : NULL;
    return o ? handle_of(b, o) : 0;
}

void inferom_end(uint64_t scope)
{
    struct block *b = mine();
    if (!scope || !b)
        return;
    leaf_settle(b);
    struct open *o = &b->open[scope & ((1u << ROW_BITS) - 1)];
    if (o > b->open && o <= b->top && !o->scope && handle_of(b, o) == scope)
        scope_close(b, o, 0);
    else
        PUT(b->w->misused, b->w->misused + 1);
}

/* Phases. */

/* Member by member: a whole one is put together on the stack first, and copied in pieces of another size. */
static inline void put_phase(struct scopes_event *e, const struct node *n, uint64_t began, uint64_t now, uint32_t request, uint32_t tid)
{
    PUT(e->began, began);
    PUT(e->ended, now);
    PUT(e->site, (uint16_t)n->w->site);
    PUT(e->kind, EVENT_PHASE);
    PUT(e->request, request);
    PUT(e->tid, tid);
}

/* What was allocated in it; the next one begins with what there is now. Where nobody ever counted, there are zeros in all events. */
static __attribute__((noinline)) void put_memory(const struct block *b, struct open *o, struct scopes_event *e)
{
    struct memory before = o->memory, now = memory_now(b);
    o->memory = now;
    if (!e)
        return;
    PUT(e->allocations, now.allocations - before.allocations);
    PUT(e->bytes, now.bytes - before.bytes);
}

void phase_ended(struct block *b, struct open *o, uint64_t now)
{
    struct scopes_event e = {0};
    put_phase(&e, o->node, o->began, now, o->request, b->w->tid);
    put_memory(b, o, &e);
    event_add(b, e);
}

/* Is the innermost scope of all a phase? */
static bool is_in_phase(const struct block *b) { return !b->top->scope && b->top != b->open && b->top->is_phase; }

static void phase_next(struct block *b, inferom_site *site)
{
    uint64_t now = ticks_now();
    leaf_settle(b);
    if (is_in_phase(b))
        scope_close(b, b->top, now);
    if (site)
        begin(b, site, true, now);
}

static __attribute__((noinline)) void phase_unusual(inferom_site *site)
{
    struct block *b = block_of_this_thread();
    if (!b || b->busy)
        return;
    b->busy = 1;
    site_register(site, SITE_PHASE);
    b->busy = 0;
    phase_next(b, site);
}

/* The second half: what was is an event, and the row is the next one's. Only the newest events are dropped, but then all of them. */
static __attribute__((noinline)) void phase_turn(struct block *b, struct node *n, uint64_t began, uint64_t now)
{
    struct open *o = b->top;
    struct scopes_event *e = b->next_event;
    const struct node *ended = o->node;
    if (RARELY(b->knows_memory))
        put_memory(b, o, e);
    if (e) {
        put_phase(e, ended, began, now, o->request, b->w->tid);
        event_done(b);
    } else {
        PUT(b->w->lost_events, b->w->lost_events + 1);
    }
    o->node = n;
    o->request = b->request_number;
    follow(n->parent, n);
    show_begin(b, o, n, now);
    PUT(b->node, n);
    if (RARELY(now - began >= record_least))
        record_call(b, ended, began, now - began);
}

/* From one phase to the one that usually follows: one reading of the clock, one row of the list. */
void inferom_phase_site(inferom_site *site)
{
    struct block *b = my_block;
    const struct open *o = b->top;
    struct node *ended = o->node, *n = ended->then;
    if (RARELY(o->stack != USUAL_PHASE || n->site != site || n->parent != ended->parent || b->leaf_scope ||
               GET(n->is_warming) & (WARMING | SLOW_CLOCK) || (!b->next_event && !events_are_full(b->w)))) {
        phase_unusual(site);
        return;
    }
    uint64_t began = o->began, now = ticks_counter();
    if (RARELY(!add_usual(b, ended, now - began, bucket_for(ended, ended->w->last))))
        phase_unusual(site);
    else
        phase_turn(b, n, began, now);
}

void inferom_phase(const char *name)
{
    inferom_site *site;
    struct block *b = mine();
    if (name && (b = block_for(name, SITE_PHASE, &site)))
        phase_next(b, site);
    else if (!name && b)
        phase_next(b, NULL);
}
