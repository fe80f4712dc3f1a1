#include "analyse/heap.h"
#include "analyse/sampling.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>

#define VARIANCE_UNIT 1048576.0 /* of the set "heap.variance", in bytes squared */

static const char *const measure_names[HEAP_MEASURES] = {
    [HEAP_ALLOCS] = "alloc_objects", [HEAP_BYTES] = "alloc_space",     [HEAP_LIVE] = "inuse_objects",
    [HEAP_LIVE_BYTES] = "inuse_space", [HEAP_PEAK] = "peak_objects",   [HEAP_PEAK_BYTES] = "peak_space",
    [HEAP_TEMPORARY] = "temporary",  [HEAP_SAMPLES] = "samples",
};

int64_t heap_sum(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN + 1 : INT64_MAX; /* one above HEAP_UNKNOWN */
}

/* Finding it. */

static bool has_bytes_of(const struct profile *p, const struct sample_set *set, const char *name)
{
    size_t m = measure_named(p, set, view_of(name));
    return m < set->n_measures && set->measures[m].unit == UNIT_BYTES;
}

static bool is_heap(const struct profile *p, const struct sample_set *set)
{
    return has_bytes_of(p, set, "alloc_space") || has_bytes_of(p, set, "inuse_space");
}

const struct sample_set *heap_set(const struct profile *p)
{
    const struct sample_set *other = NULL;
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *set = profile_set(p, (set_id){i});
        if (!is_heap(p, set))
            continue;
        if (view_same(profile_string(p, set->name), VIEW("heap")))
            return set; /* even if nothing was allocated: that is an answer */
        other = other || !set->n ? other : set;
    }
    return other;
}

bool heap_has(const struct heap *h, enum heap_measure m) { return h->measures[m] < h->set->n_measures; }

int64_t heap_value(const struct heap *h, enum heap_measure m, size_t sample)
{
    return heap_has(h, m) ? h->set->values[h->measures[m]][sample] : 0;
}

/* What the recorder said. */

static struct view fact_text(const struct profile *p, const char *key)
{
    const struct fact *f = profile_fact_named(p, view_of(key));
    return f ? profile_string(p, f->value) : VIEW("");
}

static int64_t fact_number(const struct profile *p, const char *key)
{
    int64_t n;
    return text_to_int(fact_text(p, key), &n) && n >= 0 ? n : HEAP_UNKNOWN;
}

static struct heap_counters counters_of(const struct profile *p, bool filtered)
{
    struct heap_counters c;
    const struct {
        const char *key;
        int64_t *to;
    } rows[] = {
        {"heap.allocations", &c.allocations},   {"heap.frees", &c.frees},
        {"heap.allocated_bytes", &c.allocated_bytes}, {"heap.freed_bytes", &c.freed_bytes},
        {"heap.live_bytes", &c.live_bytes},     {"heap.live_blocks", &c.live_blocks},
        {"heap.peak_bytes", &c.peak_bytes},     {"heap.peak_time_ns", &c.peak_time_ns},
        {"heap.unknown_frees", &c.unknown_frees}, {"heap.unseen", &c.unseen},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i].to = filtered ? HEAP_UNKNOWN : fact_number(p, rows[i].key);
    return c;
}

static void read_facts(struct heap *h, bool filtered)
{
    h->counted = counters_of(h->p, filtered);
    h->mode = fact_text(h->p, "heap.mode");
    h->allocator = fact_text(h->p, "heap.allocator");
    h->note = fact_text(h->p, "heap.note");
    int64_t period = fact_number(h->p, "heap.period");
    h->period = period == HEAP_UNKNOWN ? 0 : period;
    h->knows_requests = fact_text(h->p, "heap.requests").n || set_named(h->p, VIEW("heap.left"));
}

bool heap_is_exact(const struct profile *p, const struct sample_set *set)
{
    return set == heap_set(p) && view_same(fact_text(p, "heap.mode"), VIEW("exact"));
}

/* Adding up. */

void heap_sums_init(struct heap_sums *s, const struct heap *h)
{
    *s = (struct heap_sums){0};
    for (int m = 0; m < HEAP_MEASURES; m++)
        s->of[m] = heap_has(h, (enum heap_measure)m) ? 0 : HEAP_UNKNOWN;
}

void heap_sums_add(struct heap_sums *s, const struct heap *h, size_t sample)
{
    for (int m = 0; m < HEAP_MEASURES; m++)
        if (heap_has(h, (enum heap_measure)m))
            s->of[m] = heap_sum(s->of[m], heap_value(h, (enum heap_measure)m, sample));
}

static uint32_t thread_of(const struct heap *h, const struct sample_set *set, size_t i)
{
    return set->contexts ? profile_context(h->p, set->contexts[i])->thread.i : 0;
}

/* A row for each node and each thread; those that have nothing are dropped afterwards. */
static void add_samples(struct heap *h)
{
    for (size_t i = 0; i < h->set->n; i++) {
        heap_sums_add(&h->rows[h->node_of[h->set->stacks[i].i]].sums, h, i);
        heap_sums_add(&h->threads[thread_of(h, h->set, i)].sums, h, i);
        heap_sums_add(&h->whole, h, i);
    }
    const struct sample_set *variance = set_named(h->p, VIEW("heap.variance"));
    for (size_t i = 0; variance && i < variance->n; i++) {
        double v = (double)variance->values[0][i] * VARIANCE_UNIT;
        if (v <= 0)
            continue;
        h->is_sampled = true;
        h->rows[h->node_of[variance->stacks[i].i]].sums.variance += v;
        h->threads[thread_of(h, variance, i)].sums.variance += v;
        h->whole.variance += v;
    }
}

static bool has_any(const struct heap_sums *s)
{
    for (int m = 0; m < HEAP_MEASURES; m++)
        if (s->of[m] && s->of[m] != HEAP_UNKNOWN)
            return true;
    return false;
}

static int most_bytes_first(const void *pa, const void *pb)
{
    const struct heap_thread *a = pa, *b = pb;
    for (int m = HEAP_BYTES; m <= HEAP_LIVE_BYTES; m++)
        if (a->sums.of[m] != b->sums.of[m])
            return a->sums.of[m] < b->sums.of[m] ? 1 : -1;
    return (a->thread.i > b->thread.i) - (a->thread.i < b->thread.i);
}

static void drop_empty(struct heap *h, size_t nodes, size_t threads)
{
    for (uint32_t i = 0; i < nodes; i++)
        if (has_any(&h->rows[i].sums))
            h->rows[h->n++] = (struct heap_row){i, h->rows[i].sums};
    for (uint32_t i = 0; i < threads; i++)
        if (has_any(&h->threads[i].sums))
            h->threads[h->n_threads++] = (struct heap_thread){{i}, h->threads[i].sums};
    qsort(h->threads, h->n_threads, sizeof *h->threads, most_bytes_first);
}

bool heap_of(struct heap *h, const struct profile *p, bool filtered)
{
    *h = (struct heap){.p = p, .set = heap_set(p)};
    if (!h->set)
        return false;
    for (int m = 0; m < HEAP_MEASURES; m++)
        h->measures[m] = measure_named(p, h->set, view_of(measure_names[m]));
    size_t shown = heap_has(h, HEAP_BYTES) ? h->measures[HEAP_BYTES] : h->measures[HEAP_LIVE_BYTES];
    h->tree = call_tree_with_ends(p, h->set, shown, false, &h->node_of);
    size_t threads = profile_threads(p);
    h->rows = mem_new(h->tree.n * sizeof *h->rows);
    h->threads = mem_new(threads * sizeof *h->threads);
    for (size_t i = 0; i < h->tree.n; i++)
        heap_sums_init(&h->rows[i].sums, h);
    for (size_t i = 0; i < threads; i++)
        heap_sums_init(&h->threads[i].sums, h);
    heap_sums_init(&h->whole, h);
    read_facts(h, filtered);
    h->is_sampled = view_starts(h->mode, VIEW("sampled"));
    add_samples(h);
    drop_empty(h, h->tree.n, threads);
    return true;
}

void heap_done(struct heap *h)
{
    call_tree_done(&h->tree);
    free(h->node_of);
    free(h->rows);
    free(h->threads);
    *h = (struct heap){0};
}

/* Asking. */

/* The first reading at a time or behind it. */
static size_t first_at(const struct heap *h, uint64_t t)
{
    size_t low = 0, high = h->set->time_ns ? h->set->n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->set->time_ns[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t heap_known_at(const struct heap *h, uint64_t t)
{
    size_t i = first_at(h, t);
    return h->set->time_ns && i < h->set->n ? h->set->time_ns[i] : TIME_NONE;
}

uint64_t heap_known_before(const struct heap *h, uint64_t t)
{
    size_t i = first_at(h, t);
    return i ? h->set->time_ns[i - 1] : 0;
}

/* Blocks of one path are mostly alike: then the part that is live scatters as its part of the variance. */
double heap_error(const struct heap_sums *s, enum heap_measure m)
{
    double whole = (double)s->of[HEAP_BYTES], part = (double)s->of[m];
    if (s->of[m] == HEAP_UNKNOWN || s->variance <= 0)
        return s->of[m] == HEAP_UNKNOWN ? NAN : 0;
    if (m == HEAP_BYTES)
        return sqrt(s->variance);
    return s->of[HEAP_BYTES] > 0 ? sqrt(s->variance * fmin(1, fabs(part) / whole)) : NAN;
}

double heap_mean_size(const struct heap_sums *s)
{
    bool allocs = s->of[HEAP_ALLOCS] > 0 && s->of[HEAP_BYTES] != HEAP_UNKNOWN;
    bool live = s->of[HEAP_LIVE] > 0 && s->of[HEAP_LIVE_BYTES] != HEAP_UNKNOWN;
    return allocs ? (double)s->of[HEAP_BYTES] / (double)s->of[HEAP_ALLOCS]
           : live ? (double)s->of[HEAP_LIVE_BYTES] / (double)s->of[HEAP_LIVE] : NAN;
}

struct ranking {
    const struct heap *h;
    enum heap_measure by;
};

/* By name from the leaf up: the same program gives the same order, whatever ids its functions have. */
static int compare_paths(const struct heap *h, uint32_t a, uint32_t b)
{
    for (; a && b && a != b; a = h->tree.nodes[a].parent, b = h->tree.nodes[b].parent) {
        const struct function *fa = profile_function(h->p, h->tree.nodes[a].function);
        const struct function *fb = profile_function(h->p, h->tree.nodes[b].function);
        int names = view_compare(profile_string(h->p, fa->name), profile_string(h->p, fb->name));
        if (names)
            return names;
    }
    return (a > b) - (a < b);
}

static int best_first(const void *pa, const void *pb, void *context)
{
    const struct ranking *r = context;
    const struct heap_row *a = &r->h->rows[*(const size_t *)pa], *b = &r->h->rows[*(const size_t *)pb];
    if (a->sums.of[r->by] != b->sums.of[r->by])
        return a->sums.of[r->by] < b->sums.of[r->by] ? 1 : -1;
    if (a->sums.of[HEAP_BYTES] != b->sums.of[HEAP_BYTES])
        return a->sums.of[HEAP_BYTES] < b->sums.of[HEAP_BYTES] ? 1 : -1;
    int paths = compare_paths(r->h, a->node, b->node);
    return paths ? paths : (a->node > b->node) - (a->node < b->node);
}

size_t *heap_ranked(const struct heap *h, enum heap_measure by, size_t *out_n)
{
    size_t *list = mem_new((h->n + 1) * sizeof *list), n = 0;
    for (size_t i = 0; i < h->n; i++)
        if (h->rows[i].sums.of[by] > 0)
            list[n++] = i;
    struct ranking r = {h, by};
    qsort_r(list, n, sizeof *list, best_first, &r);
    *out_n = n;
    return list;
}

size_t heap_path(const struct call_tree *t, uint32_t node, func_id *out, size_t most)
{
    size_t n = 0;
    for (; node; node = t->nodes[node].parent, n++)
        if (n < most)
            out[n] = t->nodes[node].function;
    return n;
}
