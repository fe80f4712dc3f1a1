#include "analyse/heap_growth.h"
#include "base/mem.h"

#include <math.h>

int64_t heap_grew(const struct heap_grown *g) { return heap_sum(g->live_bytes[GROWTH_MARKS - 1], -g->live_bytes[0]); }

static void add_moments(struct heap_growth *g, const struct heap *h)
{
    int64_t live = 0;
    g->moments = mem_new((h->set->n + 1) * sizeof *g->moments);
    for (size_t i = 0; i < h->set->n; i++) {
        uint64_t t = h->set->time_ns[i];
        live = heap_sum(live, heap_value(h, HEAP_LIVE_BYTES, i));
        if (!g->n || g->moments[g->n - 1].time_ns != t)
            g->n++;
        g->moments[g->n - 1] = (struct heap_moment){t, live};
    }
}

/* The one series of the whole heap; NULL: there is none, or one for each of several processes. */
static const struct series *live_series(const struct profile *p)
{
    const struct series *found = NULL;
    for (uint32_t i = 0; i < profile_series_count(p); i++) {
        const struct series *s = profile_series(p, (series_id){i});
        if (!view_same(profile_string(p, s->name), VIEW("heap.live")))
            continue;
        if (found)
            return NULL;
        found = s;
    }
    return found;
}

static void prefer_series(struct heap_growth *g, const struct heap *h)
{
    const struct series *s = live_series(h->p);
    if (!s || s->n <= g->n || h->counted.live_bytes == HEAP_UNKNOWN)
        return;
    g->moments = mem_resize(g->moments, s->n * sizeof *g->moments);
    g->n = 0;
    for (size_t i = 0; i < s->n; i++) {
        double v = s->readings[i].value;
        if (v >= 0 && v < 9e18)
            g->moments[g->n++] = (struct heap_moment){s->readings[i].time_ns, llround(v)};
    }
}

static void set_marks(struct heap_growth *g, const struct heap *h)
{
    uint64_t from = profile_start_ns(h->p), to = h->set->time_ns[h->set->n - 1];
    if (from == TIME_NONE || from > to)
        from = h->set->time_ns[0];
    for (unsigned i = 0; i < GROWTH_MARKS; i++)
        g->marks_ns[i] = heap_known_at(h, from + (to - from) / GROWTH_MARKS * (i + 1)); /* as far as rows tell of it */
    g->marks_ns[GROWTH_MARKS - 1] = to;
}

static int most_growth_first(const void *pa, const void *pb)
{
    const struct heap_grown *a = pa, *b = pb;
    int64_t ga = heap_grew(a), gb = heap_grew(b);
    if (ga != gb)
        return ga < gb ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

static void add_paths(struct heap_growth *g, const struct heap *h)
{
    own(free) size_t *row_of = mem_new(h->tree.n * sizeof *row_of);
    g->rows = mem_new((h->n + 1) * sizeof *g->rows);
    for (size_t i = 0; i < h->n; i++) {
        row_of[h->rows[i].node] = i;
        g->rows[i].row = i;
    }
    for (size_t i = 0; i < h->set->n; i++) {
        int64_t change = heap_value(h, HEAP_LIVE_BYTES, i);
        struct heap_grown *to = &g->rows[row_of[h->node_of[h->set->stacks[i].i]]];
        for (unsigned m = 0; change && m < GROWTH_MARKS; m++)
            if (h->set->time_ns[i] <= g->marks_ns[m])
                to->live_bytes[m] = heap_sum(to->live_bytes[m], change);
    }
    for (size_t i = 0; i < h->n; i++)
        if (heap_grew(&g->rows[i]) > 0)
            g->rows[g->n_rows++] = g->rows[i];
    qsort(g->rows, g->n_rows, sizeof *g->rows, most_growth_first);
}

bool heap_growth_of(struct heap_growth *g, const struct heap *h)
{
    *g = (struct heap_growth){0};
    if (!h->set->time_ns || !heap_has(h, HEAP_LIVE_BYTES))
        return false;
    add_moments(g, h);
    prefer_series(g, h);
    set_marks(g, h);
    add_paths(g, h);
    return true;
}

void heap_growth_done(struct heap_growth *g)
{
    free(g->moments);
    free(g->rows);
    *g = (struct heap_growth){0};
}
