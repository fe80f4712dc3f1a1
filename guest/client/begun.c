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
    struct open *o = scope_open(b, NULL, site, UINTPTR_MAX, now);
    if (!o)
        return NULL;
    o->is_phase = is_phase;
    o->request = b->request;
    o->serial = b->serial++;
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
    struct open *o = &b->open[scope & ((1u << ROW_BITS) - 1)];
    if (o > b->open && o <= b->top && !o->scope && handle_of(b, o) == scope)
        scope_close(b, o, 0);
    else
        PUT(b->w->misused, b->w->misused + 1);
}

/* Phases. */

static struct scopes_event phase_event(const struct open *o, uint64_t began, uint64_t now, uint32_t request)
{
    return (struct scopes_event){.began = began, .ended = now, .site = o->node->w->site, .request = request, .kind = EVENT_PHASE};
}

/* In place, where there is room; else the long way. */
static inline void event_phase(struct block *b, const struct open *o, uint64_t began, uint64_t now)
{
    struct scopes_thread *w = b->w;
    uint64_t n = w->events;
    struct scopes_event_list *list = n / EVENT_BLOCK < EVENT_BLOCKS_MOST ? b->events[n / EVENT_BLOCK] : NULL;
    if (!list || w->events_epoch != GET(epoch) || (o->request && o->request->told_by != process_number)) {
        phase_ended(b, o, now);
        return;
    }
    list->events[n % EVENT_BLOCK] = phase_event(o, began, now, o->request ? o->request->number : 0);
    PUT_LINK(w->events, n + 1);
}

void phase_ended(struct block *b, const struct open *o, uint64_t now)
{
    event_add(b, phase_event(o, o->began, now, request_number(b, o->request)));
}

/* Is the innermost scope of all a phase? */
static bool is_in_phase(const struct block *b) { return !b->top->scope && b->top != b->open && b->top->is_phase; }

static void phase_next(struct block *b, inferom_site *site)
{
    uint64_t now = ticks_now();
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

/* From one phase to the one that usually follows; with one reading of the clock, and nothing in between. */
void inferom_phase_site(inferom_site *site)
{
    struct block *b = my_block;
    struct open *o = b->top;
    struct node *n = o->node->then;
    if (!GET(inferom_is_on))
        return;
    bool is_usual = !o->scope && o != b->open && o->is_phase && is_child(n, o[-1].node, site) && !GET(n->is_special) &&
                    o->began < BEGAN_SPECIAL && !b->busy && ticks_are_tsc;
    uint64_t began = o->began, now = is_usual ? ticks_counter() : 0;
    if (RARELY(!is_usual || !end_usual(b, o, now))) {
        phase_unusual(site);
        return;
    }
    const struct node *ended = o->node;
    event_phase(b, o, began, now);
    push(b, NULL, n, UINTPTR_MAX);
    show_begin(b, o, n, now);
    o->request = b->request;
    o->serial = b->serial++;
    if (RARELY(now - began >= record_least))
        record_call(b, ended, began, now - began);
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
