#include "results.h"
#include "inferom/scope_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Paths. */

static bool grow(struct results *r)
{
    if (r->n < r->cap)
        return true;
    size_t cap = r->cap ? 2 * r->cap : 256;
    struct path *more = realloc(r->paths, cap * sizeof *more);
    if (!more)
        return false;
    r->paths = more;
    r->cap = cap;
    return true;
}

static bool is_inner(const struct results *r, uint32_t caller, const inferom_site *site)
{
    for (; caller != NO_CALLER; caller = r->paths[caller].caller)
        if (r->paths[caller].site == site)
            return true;
    return false;
}

/* A little may happen between two of these loads: a call is then in one number and not yet in the other. */
static void read_node(struct results *r, struct path *p, struct scopes_node *n)
{
    if (GET_LINK(n->epoch) != r->epoch)
        return;
    uint64_t granted = GET(n->skipped), left = GET(n->left), skipped = granted > left ? granted - left : 0; /* in this order: hot.h */
    p->timed = GET(n->timed);
    p->cut = GET(n->cut);
    p->left_out = GET(n->left_out);
    p->calls = p->timed + skipped + p->cut;
    p->timed_total = GET(n->total);
    p->last = GET(n->last);
    p->least = GET(n->least);
    p->most = GET(n->most);
    p->allocations = GET(n->allocations);
    p->bytes = GET(n->bytes);
    struct scope_spread spread = scope_spread_of(p->timed, p->timed_total, GET(n->middle), GET_REAL(n->squares));
    p->mean = spread.mean;
    p->squares = spread.squares;
    p->total = p->mean * (double)(p->timed + skipped);
}

static bool add_path(struct results *r, struct block *b, struct node *n, uint32_t caller)
{
    if (!grow(r))
        return false;
    struct path *p = &r->paths[r->n];
    *p = (struct path){.site = site_first(n->site), .thread = b, .node = n, .caller = caller};
    p->is_inner = is_inner(r, caller, p->site);
    read_node(r, p, n->w);
    r->n++;
    return true;
}

/* Down to the first child, on to the next, up to the parent: no recursion, however deep the scopes are. */
static bool add_tree(struct results *r, struct block *b)
{
    uint32_t caller = NO_CALLER;
    for (struct node *n = GET_LINK(b->root.children); n;) {
        if (!add_path(r, b, n, caller))
            return false;
        struct node *down = GET_LINK(n->children);
        if (down) {
            caller = (uint32_t)(r->n - 1);
            n = down;
            continue;
        }
        while (n != &b->root && !GET_LINK(n->next)) {
            n = n->parent;
            if (n != &b->root)
                caller = r->paths[caller].caller;
        }
        n = n == &b->root ? NULL : GET_LINK(n->next);
    }
    return true;
}

/* Where a thread is now is open, and so is all around it. */
static bool is_open(const struct path *p)
{
    for (const struct node *n = GET(p->thread->node); n; n = n->parent)
        if (n == p->node)
            return true;
    return false;
}

/* Self times of a tree add up to its total. */
static bool find_self(struct results *r)
{
    struct scope_time *times = calloc(r->n + 1, sizeof *times);
    if (!times)
        return false;
    for (size_t i = 0; i < r->n; i++) {
        const struct path *p = &r->paths[i];
        times[i] = (struct scope_time){.caller = p->caller, .is_partly_known = !p->timed || p->cut || is_open(p), .total = p->total};
    }
    scope_times_share(times, r->n);
    for (size_t i = 0; i < r->n; i++) {
        r->paths[i].total = times[i].total;
        r->paths[i].self = times[i].self;
    }
    free(times);
    return true;
}

int results_take(struct results *r)
{
    *r = (struct results){0};
    heap_looks_away();
    results_lock();
    r->epoch = GET(epoch);
    r->now = ticks_now();
    bool ok = true;
    for (struct block *b = GET_LINK(blocks); b && ok; b = b->next) {
        ok = add_tree(r, b);
        r->threads++;
        r->lost_scopes += GET(b->w->lost_scopes);
        r->misused += GET(b->w->misused);
        if (GET_LINK(b->w->events_epoch) == r->epoch)
            r->lost_events += GET(b->w->lost_events);
    }
    if (!ok || !find_self(r)) {
        results_free(r);
        return -ENOMEM;
    }
    r->scale = ticks_scale_now();
    return 0;
}

void results_free(struct results *r)
{
    free(r->paths);
    r->paths = NULL;
    results_unlock();
    heap_looks_again();
}

/* Buckets. */

uint64_t bucket_of(const struct path *p, size_t octave, size_t step)
{
    struct scopes_buckets *steps = p->timed ? GET_LINK(p->node->octaves[octave]) : NULL;
    bool has_last = p->timed && p->last >= scopes_bucket_from(octave, step) && p->last < scopes_bucket_to(octave, step);
    return (steps ? GET(steps->counts[step]) : 0) + has_last;
}

/* Rows. */

struct sum {
    inferom_row row;
    double mean, squares; /* ticks, of row.timed calls */
    uint64_t buckets[OCTAVES][STEPS];
};

/* Two means and two sums of squares become one: exact, and nothing cancels. */
static void add_spread(struct sum *s, const struct path *p)
{
    double a = (double)s->row.timed, b = (double)p->timed, away = p->mean - s->mean;
    if (!p->timed)
        return;
    s->squares += p->squares + away * away * a * b / (a + b);
    s->mean += away * b / (a + b);
    s->row.timed += p->timed;
}

static void add_to_row(struct sum *s, const struct path *p, double ns)
{
    inferom_row *row = &s->row;
    row->calls += p->calls;
    row->cut += p->cut;
    row->left_out += p->left_out;
    row->self_ns += p->self * ns;
    row->total_ns += p->is_inner ? 0 : p->total * ns;
    if (p->timed) {
        row->min_ns = smaller(row->min_ns, (double)p->least * ns);
        row->max_ns = larger(row->max_ns, (double)p->most * ns);
    }
    if (GET(process->memory_is_told)) {
        row->allocations = (row->allocations < 0 ? 0 : row->allocations) + (int64_t)p->allocations;
        row->bytes = (row->bytes < 0 ? 0 : row->bytes) + (int64_t)p->bytes;
    }
    add_spread(s, p);
    for (size_t o = 0; o < OCTAVES; o++)
        for (size_t k = 0; k < STEPS; k++)
            s->buckets[o][k] += bucket_of(p, o, k);
}

/* The middle of the bucket in which the call is that is longer than this share of them. */
static double percentile(const struct sum *s, double share, double ns)
{
    uint64_t all = 0, seen = 0;
    for (size_t i = 0; i < OCTAVES * STEPS; i++)
        all += s->buckets[i / STEPS][i % STEPS];
    if (!all)
        return NAN;
    uint64_t wanted = (uint64_t)(share * (double)all);
    wanted += (double)wanted < share * (double)all;
    for (size_t i = 0; i < OCTAVES * STEPS; i++) {
        seen += s->buckets[i / STEPS][i % STEPS];
        if (seen < wanted)
            continue;
        double from = (double)scopes_bucket_from(i / STEPS, i % STEPS), to = (double)scopes_bucket_to(i / STEPS, i % STEPS);
        return smaller(larger((from + to - 1) / 2 * ns, s->row.min_ns), s->row.max_ns);
    }
    return s->row.max_ns;
}

static void finish(struct sum *s, double ns)
{
    inferom_row *row = &s->row;
    row->mean_ns = row->timed ? smaller(larger(s->mean * ns, row->min_ns), row->max_ns) : NAN;
    row->deviation_ns = row->timed ? __builtin_sqrt(s->squares / (double)row->timed) * ns : NAN;
    row->p50_ns = percentile(s, 0.50, ns);
    row->p90_ns = percentile(s, 0.90, ns);
    row->p99_ns = percentile(s, 0.99, ns);
}

static int name_order(const inferom_row *a, const inferom_row *b) { return strcmp(a->name, b->name); }
static int down(double a, double b) { return (a < b) - (a > b); }

static int by_self(const void *a, const void *b)
{
    int c = down(((const inferom_row *)a)->self_ns, ((const inferom_row *)b)->self_ns);
    return c ? c : name_order(a, b);
}

static int by_total(const void *a, const void *b)
{
    int c = down(((const inferom_row *)a)->total_ns, ((const inferom_row *)b)->total_ns);
    return c ? c : name_order(a, b);
}

static int by_calls(const void *a, const void *b)
{
    uint64_t ca = ((const inferom_row *)a)->calls, cb = ((const inferom_row *)b)->calls;
    return ca != cb ? (ca < cb ? 1 : -1) : name_order(a, b);
}

static int by_name(const void *a, const void *b) { return name_order(a, b); }

static int (*const orders[])(const void *, const void *) = {
    [INFEROM_BY_SELF] = by_self, [INFEROM_BY_TOTAL] = by_total, [INFEROM_BY_CALLS] = by_calls, [INFEROM_BY_NAME] = by_name,
};

static int by_site(const void *a, const void *b)
{
    const struct path *const *pa = a, *const *pb = b;
    return (pa[0]->site > pb[0]->site) - (pa[0]->site < pb[0]->site);
}

/* A scope's paths are next to each other in the list: one sum at a time is enough. */
static size_t add_up(const struct results *r, const struct path **list, inferom_row *rows, struct sum *s)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n;) {
        const inferom_site *site = list[i]->site;
        *s = (struct sum){.row = {.name = site_name(site), .allocations = -1, .bytes = -1, .min_ns = NAN, .max_ns = NAN}};
        for (; i < r->n && list[i]->site == site; i++)
            add_to_row(s, list[i], r->scale.ns_per_tick);
        finish(s, r->scale.ns_per_tick);
        if (s->row.calls || s->row.left_out || s->row.total_ns > 0)
            rows[n++] = s->row;
    }
    return n;
}

inferom_row *rows_of(const struct results *r, enum inferom_order order, size_t *out_n)
{
    const struct path **list = malloc((r->n + 1) * sizeof *list);
    inferom_row *rows = malloc((r->n + 1) * sizeof *rows);
    struct sum *s = malloc(sizeof *s);
    if (list && rows && s) {
        for (size_t i = 0; i < r->n; i++)
            list[i] = &r->paths[i];
        qsort(list, r->n, sizeof *list, by_site);
        *out_n = add_up(r, list, rows, s);
        qsort(rows, *out_n, sizeof *rows, orders[(unsigned)order <= INFEROM_BY_NAME ? order : INFEROM_BY_SELF]);
    } else {
        free(rows);
        rows = NULL;
    }
    free(list);
    free(s);
    return rows;
}

/* For the program itself. */

size_t inferom_top(inferom_row *rows, size_t most, enum inferom_order order)
{
    struct results r;
    size_t n = 0;
    if (results_take(&r) < 0)
        return 0;
    inferom_row *all = rows_of(&r, order, &n);
    if (!all)
        n = 0;
    for (size_t i = 0; rows && i < n && i < most; i++)
        rows[i] = all[i];
    free(all);
    results_free(&r);
    return n;
}

static size_t add_edge(inferom_edge *edges, size_t n, size_t most, const char *name, uint64_t calls)
{
    for (size_t i = 0; i < n && i < most; i++)
        if (edges[i].name == name || (name && edges[i].name && !strcmp(edges[i].name, name))) {
            edges[i].calls += calls;
            return n;
        }
    if (n < most)
        edges[n] = (inferom_edge){name, calls};
    return n + 1;
}

static int by_edge_calls(const void *a, const void *b)
{
    const inferom_edge *ea = a, *eb = b;
    if (ea->calls != eb->calls)
        return ea->calls < eb->calls ? 1 : -1;
    return strcmp(ea->name ? ea->name : "", eb->name ? eb->name : "");
}

static size_t edges_of(const char *name, inferom_edge *edges, size_t most, bool callers)
{
    struct results r;
    size_t n = 0;
    if (!name || !edges || results_take(&r) < 0)
        return 0;
    for (size_t i = 0; i < r.n; i++) {
        const struct path *p = &r.paths[i], *caller = p->caller == NO_CALLER ? NULL : &r.paths[p->caller];
        const char *callee_name = site_name(p->site), *caller_name = caller ? site_name(caller->site) : NULL;
        if (!p->calls)
            continue;
        if (callers && !strcmp(callee_name, name))
            n = add_edge(edges, n, most, caller_name, p->calls);
        else if (!callers && caller_name && !strcmp(caller_name, name))
            n = add_edge(edges, n, most, callee_name, p->calls);
    }
    results_free(&r);
    qsort(edges, n < most ? n : most, sizeof *edges, by_edge_calls);
    return n;
}

size_t inferom_callers(const char *name, inferom_edge *edges, size_t most) { return edges_of(name, edges, most, true); }
size_t inferom_callees(const char *name, inferom_edge *edges, size_t most) { return edges_of(name, edges, most, false); }
