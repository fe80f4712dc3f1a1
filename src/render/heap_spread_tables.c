/* heap_spread_tables.c - memory over time, by size and age of blocks, by thread, and by what it was for */
#include "analyse/heap_groups.h"
#include "analyse/heap_mapped.h"
#include "render/heap_tables.h"
#include "render/names.h"

#include <assert.h>

/* Over time. */

enum { MOMENTS_SHOWN = 12 };

static double after_start(const struct heap_view *v, uint64_t time_ns)
{
    uint64_t start = profile_start_ns(v->heap.p);
    return start == TIME_NONE || time_ns == TIME_NONE || time_ns < start ? UNKNOWN : (double)(time_ns - start);
}

/* The last moment at or before a time; the first, when there is none. */
static size_t last_until(const struct heap_growth *g, uint64_t time_ns)
{
    size_t low = 0, high = g->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (g->moments[middle].time_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Too many for eyes: at equal distances of time, each as it was then. */
struct heap_table *heap_table_moments(const struct heap_view *v, bool for_eyes)
{
    static const struct column columns[] = {{"After", "time_ns", COLUMN_NS, 0}, {"Live", "live_bytes", COLUMN_BYTES, 0}};
    const struct heap_growth *g = &v->growth;
    if (!v->has_growth || !g->n)
        return NULL;
    struct heap_table *t = heap_table_new(columns, 2);
    bool is_cut = for_eyes && g->n > MOMENTS_SHOWN;
    uint64_t from = g->moments[0].time_ns, step = (g->moments[g->n - 1].time_ns - from) / (MOMENTS_SHOWN - 1);
    for (size_t i = 0; i < (is_cut ? MOMENTS_SHOWN : g->n); i++) {
        size_t at = is_cut ? last_until(g, i + 1 < MOMENTS_SHOWN ? from + step * i : TIME_NONE) : i;
        table_number(t->table, after_start(v, g->moments[at].time_ns));
        table_number(t->table, (double)g->moments[at].live_bytes);
    }
    return t; /* nothing is left out: these are moments of a line */
}

/* Sizes and ages. */

static void class_cells(struct table *t, const struct heap_classes *c, unsigned k)
{
    table_number(t, (double)c->rows[k].objects);
    table_number(t, heap_part(c->rows[k].objects, c->whole.objects));
    table_number(t, (double)c->rows[k].bytes);
    table_number(t, heap_part(c->rows[k].bytes, c->whole.bytes));
}

struct heap_table *heap_table_sizes(const struct heap_view *v, bool for_eyes)
{
    static const struct column columns[] = {
        {"From", "from_bytes", COLUMN_BYTES, 0}, {"To", "to_bytes", COLUMN_BYTES, 0}, {"Count", "allocations", COLUMN_COUNT, 0},
        {"%", "allocations_share", COLUMN_SHARE, 0}, {"Allocated", "alloc_bytes", COLUMN_BYTES, 0}, {"%", "alloc_share", COLUMN_SHARE, 0},
    };
    struct heap_classes c;
    if (!heap_sizes_of(&c, v->heap.p))
        return NULL;
    struct heap_table *t = heap_table_new(columns, sizeof columns / sizeof *columns);
    for (unsigned k = c.first; k <= c.last; k++) {
        if (for_eyes && !c.rows[k].objects)
            continue;
        table_number(t->table, k ? (double)(UINT64_C(1) << (k - 1)) + 1 : 0);
        table_number(t->table, (double)(UINT64_C(1) << k));
        class_cells(t->table, &c, k);
    }
    return t;
}

struct heap_table *heap_table_lifetimes(const struct heap_view *v, bool for_eyes)
{
    static const struct column columns[] = {
        {"From", "from_ns", COLUMN_NS, 0}, {"Below", "below_ns", COLUMN_NS, 0}, {"Freed", "blocks", COLUMN_COUNT, 0},
        {"%", "blocks_share", COLUMN_SHARE, 0}, {"Bytes", "bytes", COLUMN_BYTES, 0}, {"%", "bytes_share", COLUMN_SHARE, 0},
    };
    struct heap_classes c;
    if (!heap_lifetimes_of(&c, v->heap.p))
        return NULL;
    struct heap_table *t = heap_table_new(columns, sizeof columns / sizeof *columns);
    for (unsigned k = c.first; k <= c.last; k++) {
        if (for_eyes && !c.rows[k].objects)
            continue;
        table_number(t->table, k ? (double)(UINT64_C(1) << k) : 0); /* class 0 has those of no length, too */
        table_number(t->table, 2 * (double)(UINT64_C(1) << k));
        class_cells(t->table, &c, k);
    }
    return t;
}

/* Threads. */

struct heap_table *heap_table_threads(const struct heap_view *v, bool for_eyes)
{
    static const struct column columns[] = {
        {"Allocated", "alloc_bytes", COLUMN_BYTES, 0}, {"%", "alloc_share", COLUMN_SHARE, 0}, {"Count", "allocations", COLUMN_COUNT, 0},
        {"Live", "live_bytes", COLUMN_BYTES, 0}, {"Temporary", "temporary", COLUMN_COUNT, 0}, {"Tid", "tid", COLUMN_ID, 0},
        {"Thread", "thread", COLUMN_TEXT, 0},
    };
    const struct heap *h = &v->heap;
    if (!h->n_threads || (h->n_threads == 1 && !h->threads[0].thread.i)) /* nobody said which */
        return NULL;
    struct heap_table *t = heap_table_new(columns, sizeof columns / sizeof *columns);
    size_t shown = heap_rows_shown(v, h->n_threads, for_eyes);
    for (size_t i = 0; i < shown; i++) {
        const struct thread *who = profile_thread(h->p, h->threads[i].thread);
        const int64_t *of = h->threads[i].sums.of;
        struct view name = profile_string(h->p, who->name);
        table_number(t->table, heap_shown(of[HEAP_BYTES]));
        table_number(t->table, heap_part(of[HEAP_BYTES], h->whole.of[HEAP_BYTES]));
        table_number(t->table, heap_shown(of[HEAP_ALLOCS]));
        table_number(t->table, heap_shown(of[HEAP_LIVE_BYTES]));
        table_number(t->table, heap_shown(of[HEAP_TEMPORARY]));
        table_number(t->table, who->tid ? (double)who->tid : UNKNOWN);
        table_text(t->table, name.n || !for_eyes ? name : VIEW("(not known)"));
    }
    t->left_out = h->n_threads - shown;
    return t;
}

/* What the program mapped. */

struct heap_table *heap_table_mappings(const struct heap_view *v, bool for_eyes)
{
    static const struct column columns[] = {
        {"Mapped", "live_bytes", COLUMN_BYTES, 0}, {"Regions", "live_regions", COLUMN_COUNT, 0}, {"In all", "mapped_bytes", COLUMN_BYTES, 0},
        {"Kind", "kind", COLUMN_TEXT, 0}, {"File", "path", COLUMN_TEXT, 0}, {"Stack", "stack", COLUMN_CODE, 0},
    };
    own(heap_mapped) struct heap_mapped m = {0};
    if (!heap_mapped_of(&m, v->heap.p) || !m.n)
        return NULL;
    struct heap_table *t = heap_table_new(columns, sizeof columns / sizeof *columns);
    size_t shown = heap_rows_shown(v, m.n, for_eyes);
    for (size_t i = 0; i < shown; i++) {
        const struct heap_mapped_row *r = &m.rows[i];
        struct view path = profile_string(v->heap.p, r->path);
        own(buf) struct buf stack;
        buf_init(&stack, 1 << 20);
        heap_path_text(v->heap.p, &m.tree, r->node, for_eyes, &stack);
        table_number(t->table, (double)r->live_bytes);
        table_number(t->table, (double)r->live_count);
        table_number(t->table, (double)r->mapped_bytes);
        table_text(t->table, r->is_weights ? VIEW("weights") : profile_string(v->heap.p, r->kind));
        table_text(t->table, for_eyes ? view_last_part(path) : path);
        table_text(t->table, buf_view(&stack));
    }
    t->left_out = m.n - shown;
    return t;
}

/* What it was for. */

static void group_name(struct table *t, const struct profile *p, const struct heap_group *g)
{
    char digits[32];
    struct view text = profile_string(p, g->text);
    if (!text.n) {
        snprintf(digits, sizeof digits, "%lld", (long long)g->number);
        text = view_of(digits);
    }
    table_text(t, text);
}

static double each(int64_t value, int64_t times)
{
    return value == HEAP_UNKNOWN || times == HEAP_UNKNOWN || times <= 0 ? UNKNOWN : (double)value / (double)times;
}

/* Columns besides the usual ones. */
enum group_more { NOTHING_MORE, BY_THREAD, BY_TOKEN };

/* Which columns. */
struct group_shape {
    enum group_more more;
    bool has_live, has_each; /* how often it ran, and how much each time: a request is one, however often a thread took it up */
};

/* What was counted, as groups are; not the sum of rows that may be estimates. */
static int64_t in_all(const struct heap_view *v)
{
    int64_t counted = v->heap.counted.allocated_bytes;
    return counted != HEAP_UNKNOWN ? counted : v->heap.whole.of[HEAP_BYTES];
}

static void group_row(struct table *t, const struct heap_view *v, const struct heap_group *g, struct group_shape is)
{
    const int64_t *of = g->sums.of;
    const struct thread *who = profile_thread(v->heap.p, g->thread);
    table_number(t, heap_shown(of[HEAP_BYTES]));
    table_number(t, heap_part(of[HEAP_BYTES], in_all(v)));
    table_number(t, heap_shown(of[HEAP_ALLOCS]));
    if (is.has_live)
        table_number(t, heap_shown(of[HEAP_LIVE_BYTES]));
    if (is.has_each) {
        table_number(t, heap_shown(g->times));
        table_number(t, each(of[HEAP_BYTES], g->times));
        table_number(t, each(of[HEAP_ALLOCS], g->times));
    }
    if (is.more == BY_TOKEN) {
        table_number(t, each(of[HEAP_BYTES], (int64_t)v->tokens));
        table_number(t, each(of[HEAP_ALLOCS], (int64_t)v->tokens));
    }
    group_name(t, v->heap.p, g);
    if (is.more == BY_THREAD) {
        table_text(t, profile_string(v->heap.p, who->name));
        table_number(t, who->tid ? (double)who->tid : UNKNOWN);
    }
}

/* Those of tokens stand before the name, those of threads behind it. */
static struct heap_table *empty_group_table(const char *label, const char *title, const char *times, struct group_shape is)
{
    const struct column columns[] = {
        {"Allocated", "alloc_bytes", COLUMN_BYTES, 0}, {"%", "alloc_share", COLUMN_SHARE, 0}, {"Count", "allocations", COLUMN_COUNT, 0},
        {"Live", "live_bytes", COLUMN_BYTES, 0}, {times, "times", COLUMN_COUNT, 0}, {"Bytes each", "bytes_each", COLUMN_BYTES, 0},
        {"Count each", "allocations_each", COLUMN_REAL, 0}, {"Bytes a token", "bytes_per_token", COLUMN_BYTES, 0},
        {"Count a token", "allocations_per_token", COLUMN_REAL, 0}, {title, label, COLUMN_TEXT, 0}, {"Thread", "thread", COLUMN_TEXT, 0},
        {"Tid", "tid", COLUMN_ID, 0},
    };
    const bool is_wanted[] = {true, true, true, is.has_live, is.has_each, is.has_each, is.has_each, is.more == BY_TOKEN, is.more == BY_TOKEN, true,
                              is.more == BY_THREAD, is.more == BY_THREAD};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    static_assert(COLUMNS == sizeof is_wanted / sizeof *is_wanted, "one answer for each column");
    struct column wanted[COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_wanted[i])
            wanted[n++] = columns[i];
    return heap_table_new(wanted, n);
}

static bool any_live(const struct heap_groups *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->rows[i].sums.of[HEAP_LIVE_BYTES] != HEAP_UNKNOWN)
            return true;
    return false;
}

static struct heap_table *group_table(const struct heap_view *v, const char *label, const char *title, const char *times, enum group_more more,
                                      bool for_eyes)
{
    own(heap_groups) struct heap_groups g = heap_groups_of(&v->heap, view_of(label), more == BY_THREAD);
    if (!g.n)
        return NULL;
    struct group_shape is = {.more = more, .has_live = !for_eyes || any_live(&g), .has_each = !for_eyes || strcmp(label, "request") != 0};
    struct heap_table *t = empty_group_table(label, title, times, is);
    size_t shown = heap_rows_shown(v, g.n, for_eyes);
    for (size_t i = 0; i < shown; i++)
        group_row(t->table, v, &g.rows[i], is);
    t->left_out = g.n - shown;
    return t;
}

struct heap_table *heap_table_scopes(const struct heap_view *v, bool for_eyes)
{
    return group_table(v, "scope", "Scope", "Calls", NOTHING_MORE, for_eyes);
}

struct heap_table *heap_table_scope_threads(const struct heap_view *v, bool for_eyes)
{
    return group_table(v, "scope", "Scope", "Calls", BY_THREAD, for_eyes);
}

struct heap_table *heap_table_phases(const struct heap_view *v, bool for_eyes)
{
    return group_table(v, "phase", "Phase", "Times", v->tokens ? BY_TOKEN : NOTHING_MORE, for_eyes);
}

struct heap_table *heap_table_requests(const struct heap_view *v, bool for_eyes)
{
    return group_table(v, "request", "Request", "Times", NOTHING_MORE, for_eyes);
}
