#include "analyse/heap_groups.h"
#include "analyse/sampling.h"
#include "analyse/scopes.h"
#include "analyse/span_memory.h"
#include "base/idmap.h"
#include "base/mem.h"

/* Contexts are few: samples are added up by context first, then contexts by label. */

static struct heap_sums *by_context(const struct heap *h)
{
    struct heap_sums *sums = mem_new(profile_contexts(h->p) * sizeof *sums);
    for (size_t i = 0; i < profile_contexts(h->p); i++)
        heap_sums_init(&sums[i], h);
    for (size_t i = 0; i < h->set->n; i++) {
        context_id context = h->set->contexts ? h->set->contexts[i] : (context_id){0};
        heap_sums_add(&sums[context.i], h, i);
    }
    return sums;
}

static bool add_sums(struct heap_sums *to, const struct heap_sums *more)
{
    bool any = false;
    for (int m = 0; m < HEAP_MEASURES; m++) {
        any |= more->of[m] && more->of[m] != HEAP_UNKNOWN;
        if (to->of[m] != HEAP_UNKNOWN)
            to->of[m] = heap_sum(to->of[m], more->of[m]);
    }
    return any;
}

static bool same_group(const void *rows, uint32_t i, const void *key)
{
    const struct heap_group *a = (const struct heap_group *)rows + i, *b = key;
    return a->text.i == b->text.i && a->number == b->number && a->thread.i == b->thread.i;
}

static struct heap_group *group_for(struct heap_groups *g, struct idmap *map, const struct heap *h, struct heap_group key)
{
    int64_t words[] = {key.text.i, key.number, key.thread.i};
    uint64_t hash = idmap_hash(map, words, sizeof words);
    uint32_t found = idmap_find(map, hash, same_group, g->rows, &key);
    if (found == IDMAP_NONE) {
        GROW(g->rows, g->cap, g->n + 1);
        found = (uint32_t)g->n++;
        g->rows[found] = key;
        g->rows[found].met = found;
        heap_sums_init(&g->rows[found].sums, h);
        idmap_add(map, hash, found);
    }
    return &g->rows[found];
}

/* How often it ran. */

static int64_t spans_of(const struct profile *p, enum span_kind kind, struct view label, const struct heap_group *g)
{
    int64_t n = 0;
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        const struct label *l = profile_label(p, s->labels, label);
        bool is_it = l ? l->text.i == g->text.i && l->number == g->number : g->text.i && s->name.i == g->text.i;
        n += s->kind == kind && is_it && (!g->thread.i || s->thread.i == g->thread.i);
    }
    return n ? n : HEAP_UNKNOWN;
}

/* Calls are counted over all threads; of one thread alone they are not known here. */
static void count_times(struct heap_groups *g, const struct profile *p, struct view label, bool by_thread)
{
    enum { ASKED_MOST = 1000 }; /* each is a pass over all spans */
    own(scopes) struct scopes scopes = scopes_of(p);
    bool is_scope = view_same(label, VIEW("scope"));
    enum span_kind kind = view_same(label, VIEW("phase")) ? SPAN_PHASE : SPAN_REQUEST;
    for (size_t i = 0; i < g->n; i++) {
        const struct scope_stats *s = is_scope ? scopes_named(&scopes, g->rows[i].text) : NULL;
        g->rows[i].times = HEAP_UNKNOWN;
        if (s && !by_thread)
            g->rows[i].times = s->calls;
        else if (!is_scope && i < ASKED_MOST)
            g->rows[i].times = spans_of(p, kind, label, &g->rows[i]);
    }
}

static int most_bytes_first(const void *pa, const void *pb)
{
    const struct heap_group *a = pa, *b = pb;
    if (a->sums.of[HEAP_BYTES] != b->sums.of[HEAP_BYTES])
        return a->sums.of[HEAP_BYTES] < b->sums.of[HEAP_BYTES] ? 1 : -1;
    return (a->met > b->met) - (a->met < b->met);
}

/* What only the rows say is not known of a group that no row belongs to. */
static struct heap_group *counted_group(struct heap_groups *g, struct idmap *map, const struct heap *h, struct heap_group key)
{
    size_t before = g->n;
    struct heap_group *to = group_for(g, map, h, key);
    for (int m = 0; g->n > before && m < HEAP_MEASURES; m++)
        to->sums.of[m] = m == HEAP_ALLOCS || m == HEAP_BYTES ? 0 : HEAP_UNKNOWN;
    return to;
}

static void forget_counts(struct heap_groups *g)
{
    for (size_t i = 0; i < g->n; i++) {
        g->rows[i].sums.of[HEAP_ALLOCS] = g->rows[i].sums.of[HEAP_BYTES] = 0;
        g->rows[i].times = 0;
    }
}

/*
 * What the program's own scopes counted; the scope is the innermost frame of a row. Allocations and bytes are exact there, so they take
 * the place of what the samples say; what only the samples know stays. False: nobody counted.
 */
static bool add_counted(struct heap_groups *g, struct idmap *map, const struct heap *h, bool by_thread)
{
    const struct sample_set *set = scopes_counted(h->p);
    size_t allocations = set ? measure_named(h->p, set, VIEW("allocations")) : 0, bytes = set ? measure_named(h->p, set, VIEW("allocated")) : 0;
    size_t calls = set ? measure_named(h->p, set, VIEW("calls")) : 0;
    if (!set || allocations == set->n_measures || bytes == set->n_measures)
        return false;
    forget_counts(g);
    for (size_t i = 0; i < set->n; i++) {
        const struct frame *f = profile_frame(h->p, profile_stack(h->p, set->stacks[i])->frame);
        thread_id thread = set->contexts ? profile_context(h->p, set->contexts[i])->thread : (thread_id){0};
        struct heap_group key = {.text = profile_function(h->p, f->function)->name, .thread = by_thread ? thread : (thread_id){0}};
        if (!set->values[allocations][i] && !set->values[bytes][i])
            continue;
        struct heap_group *to = counted_group(g, map, h, key);
        to->sums.of[HEAP_ALLOCS] = heap_sum(to->sums.of[HEAP_ALLOCS], set->values[allocations][i]);
        to->sums.of[HEAP_BYTES] = heap_sum(to->sums.of[HEAP_BYTES], set->values[bytes][i]);
        to->times = heap_sum(to->times, calls < set->n_measures ? set->values[calls][i] : 0);
    }
    return true;
}

/* What phases or requests counted, likewise. A span that did not count (it had not ended) is not one of the times. */
static bool add_counted_spans(struct heap_groups *g, struct idmap *map, const struct heap *h, struct view label, bool by_thread)
{
    enum span_kind kind = view_same(label, VIEW("phase")) ? SPAN_PHASE : SPAN_REQUEST;
    bool is_counted = false;
    for (uint32_t i = 1; i <= profile_spans(h->p); i++) {
        const struct span *s = profile_span(h->p, (span_id){i});
        const struct label *l = profile_label(h->p, s->labels, label);
        struct span_memory m;
        if (s->kind != kind || !l || !span_memory_of(&m, h->p, s))
            continue;
        if (!is_counted)
            forget_counts(g);
        is_counted = true;
        struct heap_group key = {.text = l->text, .number = l->number, .thread = by_thread ? s->thread : (thread_id){0}};
        struct heap_group *to = counted_group(g, map, h, key);
        to->sums.of[HEAP_ALLOCS] = heap_sum(to->sums.of[HEAP_ALLOCS], m.allocations);
        to->sums.of[HEAP_BYTES] = heap_sum(to->sums.of[HEAP_BYTES], m.bytes);
        to->times++;
    }
    return is_counted;
}

/* What is live of each request's own, where blocks were looked at one by one. */
static void add_left(struct heap_groups *g, struct idmap *map, const struct heap *h)
{
    const struct sample_set *set = set_named(h->p, VIEW("heap.left"));
    size_t blocks = set ? measure_named(h->p, set, VIEW("left_objects")) : 0, bytes = set ? measure_named(h->p, set, VIEW("left_space")) : 0;
    for (size_t i = 0; i < g->n && h->knows_requests; i++)
        g->rows[i].sums.of[HEAP_LIVE] = g->rows[i].sums.of[HEAP_LIVE_BYTES] = 0;
    if (!set || !set->contexts || blocks == set->n_measures || bytes == set->n_measures)
        return;
    for (size_t i = 0; i < set->n; i++) {
        const struct label *l = profile_label(h->p, profile_context(h->p, set->contexts[i])->labels, VIEW("request"));
        struct heap_group key = {.text = l ? l->text : (str_id){0}, .number = l ? l->number : 0};
        int64_t words[] = {key.text.i, key.number, 0};
        uint32_t found = l ? idmap_find(map, idmap_hash(map, words, sizeof words), same_group, g->rows, &key) : IDMAP_NONE;
        if (found == IDMAP_NONE)
            continue;
        int64_t *of = g->rows[found].sums.of;
        of[HEAP_LIVE] = heap_sum(of[HEAP_LIVE], set->values[blocks][i]);
        of[HEAP_LIVE_BYTES] = heap_sum(of[HEAP_LIVE_BYTES], set->values[bytes][i]);
    }
}

struct heap_groups heap_groups_of(const struct heap *h, struct view label, bool by_thread)
{
    struct heap_groups g = {0};
    struct idmap map;
    idmap_init(&map);
    own(free) struct heap_sums *sums = by_context(h);
    heap_sums_init(&g.rest, h);
    for (uint32_t i = 0; i < profile_contexts(h->p); i++) {
        const struct context *c = profile_context(h->p, (context_id){i});
        const struct label *l = profile_label(h->p, c->labels, label);
        struct heap_sums nothing;
        heap_sums_init(&nothing, h);
        if (!add_sums(&nothing, &sums[i]))
            continue;
        if (!l) {
            add_sums(&g.rest, &sums[i]);
            continue;
        }
        struct heap_group key = {.text = l->text, .number = l->number, .thread = by_thread ? c->thread : (thread_id){0}};
        add_sums(&group_for(&g, &map, h, key)->sums, &sums[i]);
    }
    bool is_counted = view_same(label, VIEW("scope")) ? add_counted(&g, &map, h, by_thread)
                                                      : add_counted_spans(&g, &map, h, label, by_thread);
    if (is_counted && !by_thread && view_same(label, VIEW("request")))
        add_left(&g, &map, h);
    idmap_done(&map);
    if (g.n)
        qsort(g.rows, g.n, sizeof *g.rows, most_bytes_first);
    if (!is_counted)
        count_times(&g, h->p, label, by_thread);
    return g;
}

void heap_groups_done(struct heap_groups *g)
{
    free(g->rows);
    *g = (struct heap_groups){0};
}

/* Histograms. */

static bool classes_of(struct heap_classes *c, const struct profile *p, struct view name, struct view label)
{
    const struct sample_set *set = set_named(p, name);
    *c = (struct heap_classes){.first = HEAP_CLASSES};
    if (!set || !set->contexts)
        return false;
    size_t objects = measure_named(p, set, VIEW("objects")), bytes = measure_named(p, set, VIEW("bytes"));
    if (objects == set->n_measures)
        return false;
    for (size_t i = 0; i < set->n; i++) {
        const struct label *l = profile_label(p, profile_context(p, set->contexts[i])->labels, label);
        if (!l || l->number < 0 || l->number >= HEAP_CLASSES)
            continue;
        struct heap_class *to[] = {&c->rows[l->number], &c->whole};
        for (size_t k = 0; k < 2; k++) {
            to[k]->objects = heap_sum(to[k]->objects, set->values[objects][i]);
            to[k]->bytes = heap_sum(to[k]->bytes, bytes < set->n_measures ? set->values[bytes][i] : 0);
        }
        c->first = (unsigned)l->number < c->first ? (unsigned)l->number : c->first;
        c->last = (unsigned)l->number > c->last ? (unsigned)l->number : c->last;
    }
    return c->first < HEAP_CLASSES;
}

bool heap_sizes_of(struct heap_classes *c, const struct profile *p)
{
    return classes_of(c, p, VIEW("heap.sizes"), VIEW("size_class"));
}

bool heap_lifetimes_of(struct heap_classes *c, const struct profile *p)
{
    return classes_of(c, p, VIEW("heap.lifetimes"), VIEW("lifetime_class"));
}
