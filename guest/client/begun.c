/*
 * Scopes that are on nobody's stack: those of inferom_begin(), and phases. A thread has room for
 * BEGUN_MOST that are open at once; what is more is counted as lost. A handle says which one and
 * whose: one that was ended already, or that is another thread's, ends nothing.
 *
 *     handle:  serial number of the entry | row + 1
 */
#include "client.h"

enum { ROW_BITS = 16 };

static uint32_t serial; /* of all threads: no two handles are the same for a long time */

bool begun_is_one(const struct block *b, const inferom_scope *s)
{
    return (const void *)s >= (const void *)b->begun && (const void *)s < (const void *)(b->begun + BEGUN_MOST);
}

static struct begun *row_of(const inferom_scope *s) { return (struct begun *)(uintptr_t)s; /* its first member */ }

/* Those above it in the list are inside it, and have ended. */
void begun_popped(struct block *b, inferom_scope *s, uint64_t now)
{
    struct begun *row = row_of(s);
    bool is_phase = row->is_phase && s->began < BEGAN_SPECIAL;
    if (is_phase && !now)
        now = ticks_now();
    uint64_t began = row->phase_began;
    scope_leave_at(b, s, now);
    b->begun_n = (uint32_t)(row - b->begun);
    if (is_phase)
        event_add(b, (struct event){.began = began, .ended = now, .site = ((struct node *)s->node)->site->same,
                                    .request = row->request, .kind = EVENT_PHASE});
}

static struct begun *begin(struct block *b, inferom_site *site, bool is_phase, uint64_t now)
{
    if (b->muted_by)
        return NULL;
    if (b->begun_n == BEGUN_MOST) {
        PUT(b->lost_scopes, b->lost_scopes + 1);
        return NULL;
    }
    struct begun *row = &b->begun[b->begun_n];
    row->is_phase = is_phase;
    row->phase_began = now;
    row->request = b->request;
    row->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    scope_enter_as(b, &row->scope, site, now);
    if (!row->scope.node)
        return NULL;
    b->begun_n++;
    return row;
}

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
    PUT(b->lost_scopes, b->lost_scopes + 1);
    return NULL;
}

uint64_t inferom_begin(const char *name)
{
    inferom_site *site;
    struct block *b = block_for(name, SITE_SCOPE, &site);
    struct begun *row = b ? begin(b, site, false, 0) : NULL;
    return row ? (uint64_t)row->serial << ROW_BITS | (uint64_t)(row - b->begun + 1) : 0;
}

void inferom_end(uint64_t scope)
{
    struct block *b = mine;
    if (!scope)
        return;
    size_t row = (size_t)(scope & ((1u << ROW_BITS) - 1)) - 1;
    if (!b || row >= b->begun_n || b->begun[row].serial != scope >> ROW_BITS) {
        if (b)
            PUT(b->misused, b->misused + 1);
        return;
    }
    begun_popped(b, &b->begun[row].scope, 0);
}

/* Phases. The one that is on, if it is the innermost scope of all. */

static struct begun *phase_of(struct block *b)
{
    return begun_is_one(b, b->scope) && row_of(b->scope)->is_phase ? row_of(b->scope) : NULL;
}

static void phase_next(struct block *b, inferom_site *site)
{
    struct begun *before = phase_of(b);
    uint64_t now = ticks_now();
    if (before)
        begun_popped(b, &before->scope, now);
    if (site)
        begin(b, site, true, now);
}

void inferom_phase_site(inferom_site *site)
{
    struct block *b = GET(inferom_is_on) ? block_of_this_thread() : NULL;
    if (!b || b->busy)
        return;
    b->busy = 1;
    site_register(site, SITE_PHASE);
    b->busy = 0;
    phase_next(b, site);
}

void inferom_phase(const char *name)
{
    inferom_site *site;
    struct block *b = mine;
    if (name && (b = block_for(name, SITE_PHASE, &site)))
        phase_next(b, site);
    else if (!name && b)
        phase_next(b, NULL);
}
