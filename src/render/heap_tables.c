#include "render/heap_tables.h"
#include "analyse/heap_change.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/names.h"

enum { NAME_SHOWN = 60, PATH_SHOWN = 24, PATH_MOST = 4096 }; /* columns of a name, functions of a path */

void heap_table_free(struct heap_table *t)
{
    if (!t)
        return;
    table_free(t->table);
    free(t);
}

struct heap_table *heap_table_new(const struct column *columns, size_t n)
{
    struct heap_table *t = mem_new(sizeof *t);
    memcpy(t->columns, columns, n * sizeof *columns);
    t->table = table_new(t->columns, n);
    return t;
}

double heap_shown(int64_t value) { return value == HEAP_UNKNOWN ? UNKNOWN : (double)value; }

double heap_part(int64_t part, int64_t whole)
{
    return whole > 0 && whole != HEAP_UNKNOWN && part != HEAP_UNKNOWN ? (double)part / (double)whole : UNKNOWN;
}

size_t heap_rows_shown(const struct heap_view *v, size_t n, bool for_eyes)
{
    return for_eyes && v->look.most_rows && v->look.most_rows < n ? v->look.most_rows : n;
}

/* Paths. */

static void add_name(struct buf *out, struct view name, bool for_eyes)
{
    struct sink to;
    if (!for_eyes) {
        buf_add(out, name.at, name.n);
        return;
    }
    sink_to_buf(&to, out);
    text_safe(&to, name, NAME_SHOWN);
    (void)!sink_flush(&to, NULL);
}

/* Every program and every thread begins with these; a line has better things to show. */
static bool is_beginning(const struct profile *p, func_id function)
{
    static const char *const names[] = {"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
                                        "start_thread", "clone", "clone3", "__clone3", NULL};
    struct view name = profile_string(p, profile_function(p, function)->name);
    for (const char *const *is = names; *is; is++)
        if (view_same(name, view_of(*is)))
            return true;
    return false;
}

void heap_path_text(const struct profile *p, const struct call_tree *t, uint32_t node, bool for_eyes, struct buf *out)
{
    own(free) func_id *path = mem_new(PATH_MOST * sizeof *path);
    char room[NAME_ROOM];
    size_t most = for_eyes ? PATH_SHOWN : PATH_MOST, n = heap_path(t, node, path, PATH_MOST);
    while (for_eyes && n > 1 && n <= PATH_MOST && is_beginning(p, path[n - 1]))
        n--;
    for (size_t i = 0; i < n && i < most; i++) {
        buf_puts(out, i ? " < " : "");
        add_name(out, name_of_function(p, path[i], room), for_eyes);
    }
    if (n > most)
        buf_printf(out, " < (%zu more)", n - most);
    if (!n)
        buf_puts(out, "(no stack)");
}

/* Columns of a path: a table lists those it wants, for eyes and for machines. */

enum path_column {
    AT_GRADE, AT_BYTES, AT_BYTES_ERROR, AT_BYTES_SHARE, AT_ALLOCS, AT_MEAN, AT_LIVE_BYTES, AT_LIVE_ERROR, AT_LIVE_SHARE, AT_LIVE,
    AT_PEAK_BYTES, AT_PEAK_ERROR, AT_PEAK_SHARE, AT_PEAK, AT_TEMPORARY, AT_TEMPORARY_SHARE, AT_GREW_IN, AT_OF_TURNS, AT_LEFT_BEHIND,
    AT_SAMPLES, AT_FUNCTION, AT_MODULE, AT_PLACE, AT_STACK, AT_COUNT
};

static const struct column path_columns[AT_COUNT] = {
    [AT_GRADE] = {"Grade", "grade", COLUMN_TEXT, 0},
    [AT_BYTES] = {"Allocated", "alloc_bytes", COLUMN_BYTES, 0},
    [AT_BYTES_ERROR] = {"+-", "alloc_bytes_error", COLUMN_BYTES, 0},
    [AT_BYTES_SHARE] = {"%", "alloc_share", COLUMN_SHARE, 0},
    [AT_ALLOCS] = {"Count", "allocations", COLUMN_COUNT, 0},
    [AT_MEAN] = {"Mean", "mean_bytes", COLUMN_BYTES, 0},
    [AT_LIVE_BYTES] = {"Live", "live_bytes", COLUMN_BYTES, 0},
    [AT_LIVE_ERROR] = {"+-", "live_bytes_error", COLUMN_BYTES, 0},
    [AT_LIVE_SHARE] = {"%", "live_share", COLUMN_SHARE, 0},
    [AT_LIVE] = {"Blocks", "live_blocks", COLUMN_COUNT, 0},
    [AT_PEAK_BYTES] = {"At peak", "peak_bytes", COLUMN_BYTES, 0},
    [AT_PEAK_ERROR] = {"+-", "peak_bytes_error", COLUMN_BYTES, 0},
    [AT_PEAK_SHARE] = {"%", "peak_share", COLUMN_SHARE, 0},
    [AT_PEAK] = {"Blocks", "peak_blocks", COLUMN_COUNT, 0},
    [AT_TEMPORARY] = {"Temporary", "temporary", COLUMN_COUNT, 0},
    [AT_TEMPORARY_SHARE] = {"of its own", "temporary_share", COLUMN_SHARE, 0},
    [AT_GREW_IN] = {"Grew in", "grew_in_turns", COLUMN_COUNT, 0},
    [AT_OF_TURNS] = {"of turns", "of_turns", COLUMN_COUNT, 0},
    [AT_LEFT_BEHIND] = {"By a turn", "left_per_turn", COLUMN_BYTES, 0},
    [AT_SAMPLES] = {"Samples", "samples", COLUMN_COUNT, 0},
    [AT_FUNCTION] = {"Function", "function", COLUMN_CODE, 0},
    [AT_MODULE] = {"Module", "module", COLUMN_TEXT, 0},
    [AT_PLACE] = {"Where", "place", COLUMN_TEXT, 0},
    [AT_STACK] = {"Stack", "stack", COLUMN_CODE, 0},
};

/* One row: a path of the heap, and what is known of its leak. */
struct path_row {
    const struct heap_sums *sums;
    uint32_t node;
    const struct leak *leak; /* NULL: it is about something else */
};

static double turn_cell(const struct path_row *r, enum path_column c)
{
    const struct leak *l = r->leak;
    if (!l || !l->grew_in)
        return UNKNOWN;
    return c == AT_GREW_IN ? (double)l->grew_in : c == AT_OF_TURNS ? (double)l->of_turns : (double)l->left_behind / (double)l->grew_in;
}

static double number_cell(const struct heap_view *v, const struct path_row *r, enum path_column c)
{
    const struct heap_sums *s = r->sums, *whole = &v->heap.whole;
    switch (c) {
    case AT_BYTES: return heap_shown(s->of[HEAP_BYTES]);
    case AT_BYTES_ERROR: return heap_error(s, HEAP_BYTES);
    case AT_BYTES_SHARE: return heap_part(s->of[HEAP_BYTES], whole->of[HEAP_BYTES]);
    case AT_ALLOCS: return heap_shown(s->of[HEAP_ALLOCS]);
    case AT_MEAN: return heap_mean_size(s);
    case AT_LIVE_BYTES: return heap_shown(s->of[HEAP_LIVE_BYTES]);
    case AT_LIVE_ERROR: return heap_error(s, HEAP_LIVE_BYTES);
    case AT_LIVE_SHARE: return heap_part(s->of[HEAP_LIVE_BYTES], whole->of[HEAP_LIVE_BYTES]);
    case AT_LIVE: return heap_shown(s->of[HEAP_LIVE]);
    case AT_PEAK_BYTES: return heap_shown(s->of[HEAP_PEAK_BYTES]);
    case AT_PEAK_ERROR: return heap_error(s, HEAP_PEAK_BYTES);
    case AT_PEAK_SHARE: return heap_part(s->of[HEAP_PEAK_BYTES], whole->of[HEAP_PEAK_BYTES]);
    case AT_PEAK: return heap_shown(s->of[HEAP_PEAK]);
    case AT_TEMPORARY: return heap_shown(s->of[HEAP_TEMPORARY]);
    case AT_TEMPORARY_SHARE: return heap_part(s->of[HEAP_TEMPORARY], s->of[HEAP_ALLOCS]);
    case AT_SAMPLES: return heap_shown(s->of[HEAP_SAMPLES]);
    default: return turn_cell(r, c);
    }
}

static void text_cell(struct table *t, const struct heap_view *v, const struct path_row *r, enum path_column c, bool for_eyes)
{
    const struct heap *h = &v->heap;
    char room[NAME_ROOM];
    func_id leaf = h->tree.nodes[r->node].function;
    own(buf) struct buf text;
    buf_init(&text, 1 << 20);
    switch (c) {
    case AT_GRADE: table_text(t, view_of(r->leak ? leak_grade_names[r->leak->grade] : "")); return;
    case AT_FUNCTION: table_text(t, r->node ? name_of_function(h->p, leaf, room) : VIEW("")); return;
    case AT_MODULE: table_text(t, name_of_module(h->p, leaf)); return;
    case AT_PLACE: table_text(t, name_of_place(h->p, leaf, room)); return;
    default: break;
    }
    heap_path_text(h->p, &h->tree, r->node, for_eyes, &text);
    table_text(t, buf_view(&text));
}

/* A column of which nothing is known is not for eyes. */
static bool is_wanted(const struct heap_view *v, enum path_column c, bool for_eyes)
{
    static const struct {
        enum path_column column;
        enum heap_measure needs;
    } needs[] = {
        {AT_BYTES, HEAP_BYTES}, {AT_BYTES_SHARE, HEAP_BYTES}, {AT_ALLOCS, HEAP_ALLOCS}, {AT_LIVE_BYTES, HEAP_LIVE_BYTES},
        {AT_LIVE_SHARE, HEAP_LIVE_BYTES}, {AT_LIVE, HEAP_LIVE}, {AT_TEMPORARY, HEAP_TEMPORARY},
    };
    bool is_error = c == AT_BYTES_ERROR || c == AT_LIVE_ERROR || c == AT_PEAK_ERROR;
    bool is_turn = c == AT_GREW_IN || c == AT_OF_TURNS || c == AT_LEFT_BEHIND;
    if (!for_eyes)
        return true;
    if (is_error)
        return v->heap.is_sampled;
    if (is_turn)
        return v->leaks.by_grade[LEAK_A].paths > 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].column == c)
            return heap_has(&v->heap, needs[i].needs);
    return true;
}

struct path_table {
    struct heap_table *table;
    enum path_column at[HEAP_COLUMNS_MOST];
    size_t n;
};

/* `columns` ends with AT_STACK; machines also get function, module and place. */
static struct path_table path_table_new(const struct heap_view *v, const enum path_column *columns, bool for_eyes)
{
    static const enum path_column names[] = {AT_FUNCTION, AT_MODULE, AT_PLACE};
    struct path_table p = {0};
    struct column shown[HEAP_COLUMNS_MOST] = {{0}};
    for (; *columns != AT_STACK; columns++)
        if (is_wanted(v, *columns, for_eyes))
            p.at[p.n++] = *columns;
    for (size_t i = 0; i < 3 && !for_eyes; i++)
        p.at[p.n++] = names[i];
    p.at[p.n++] = AT_STACK;
    for (size_t i = 0; i < p.n; i++)
        shown[i] = path_columns[p.at[i]];
    p.table = heap_table_new(shown, p.n);
    return p;
}

static void path_table_add(struct path_table *p, const struct heap_view *v, const struct path_row *r, bool for_eyes)
{
    for (size_t i = 0; i < p->n; i++) {
        if (column_is_text(&path_columns[p->at[i]]))
            text_cell(p->table->table, v, r, p->at[i], for_eyes);
        else
            table_number(p->table->table, number_cell(v, r, p->at[i]));
    }
}

static struct heap_table *table_of(const struct heap_view *v, const size_t *rows, size_t n, const enum path_column *columns, bool for_eyes)
{
    struct path_table p = path_table_new(v, columns, for_eyes);
    size_t shown = heap_rows_shown(v, n, for_eyes);
    for (size_t i = 0; i < shown; i++) {
        const struct heap_row *r = &v->heap.rows[rows[i]];
        path_table_add(&p, v, &(struct path_row){&r->sums, r->node, NULL}, for_eyes);
    }
    p.table->left_out = n - shown;
    return p.table;
}

static struct heap_table *ranked_table(const struct heap_view *v, enum heap_measure by, const enum path_column *columns, bool for_eyes)
{
    size_t n;
    if (!heap_has(&v->heap, by))
        return NULL;
    own(free) size_t *rows = heap_ranked(&v->heap, by, &n);
    return n ? table_of(v, rows, n, columns, for_eyes) : NULL;
}

/* The tables. */

struct heap_table *heap_table_hotspots(const struct heap_view *v, bool for_eyes)
{
    static const enum path_column eyes[] = {AT_BYTES, AT_BYTES_ERROR, AT_BYTES_SHARE, AT_ALLOCS, AT_MEAN, AT_LIVE_BYTES, AT_STACK};
    static const enum path_column all[] = {AT_BYTES, AT_BYTES_ERROR, AT_BYTES_SHARE, AT_ALLOCS, AT_MEAN, AT_LIVE_BYTES, AT_LIVE_ERROR, AT_LIVE,
                                           AT_PEAK_BYTES, AT_PEAK, AT_TEMPORARY, AT_SAMPLES, AT_STACK};
    enum heap_measure by = heap_has(&v->heap, HEAP_BYTES) ? HEAP_BYTES : HEAP_LIVE_BYTES;
    return ranked_table(v, by, for_eyes ? eyes : all, for_eyes);
}

struct heap_table *heap_table_peak(const struct heap_view *v, bool for_eyes)
{
    static const enum path_column columns[] = {AT_PEAK_BYTES, AT_PEAK_ERROR, AT_PEAK_SHARE, AT_PEAK, AT_STACK};
    return ranked_table(v, HEAP_PEAK_BYTES, columns, for_eyes);
}

struct heap_table *heap_table_temporaries(const struct heap_view *v, bool for_eyes)
{
    static const enum path_column columns[] = {AT_TEMPORARY, AT_TEMPORARY_SHARE, AT_ALLOCS, AT_MEAN, AT_STACK};
    return ranked_table(v, HEAP_TEMPORARY, columns, for_eyes);
}

struct heap_table *heap_table_leaks(const struct heap_view *v, bool for_eyes)
{
    static const enum path_column columns[] = {AT_GRADE, AT_LIVE_BYTES, AT_LIVE_ERROR, AT_LIVE, AT_GREW_IN, AT_OF_TURNS, AT_LEFT_BEHIND, AT_STACK};
    size_t n = 0;
    while (n < v->leaks.n && (!v->look.growing_only || v->leaks.rows[n].grade == LEAK_A)) /* A comes before B */
        n++;
    if (!n)
        return NULL;
    struct path_table p = path_table_new(v, columns, for_eyes);
    size_t shown = heap_rows_shown(v, n, for_eyes);
    for (size_t i = 0; i < shown; i++) {
        const struct heap_row *r = &v->heap.rows[v->leaks.rows[i].row];
        path_table_add(&p, v, &(struct path_row){&r->sums, r->node, &v->leaks.rows[i]}, for_eyes);
    }
    p.table->left_out = n - shown;
    return p.table;
}

struct heap_table *heap_table_changes(const struct heap_view *v, bool for_eyes)
{
    static const enum path_column columns[] = {AT_LIVE_BYTES, AT_LIVE, AT_BYTES, AT_ALLOCS, AT_STACK};
    size_t n;
    own(free) size_t *rows = heap_changed_rows(&v->heap, &n);
    return n ? table_of(v, rows, n, columns, for_eyes) : NULL;
}

struct heap_table *heap_table_growth_paths(const struct heap_view *v, bool for_eyes)
{
    static const struct column columns[] = {
        {"Grew by", "grew_bytes", COLUMN_BYTES, 0}, {"At 25 %", "live_at_25", COLUMN_BYTES, 0}, {"50 %", "live_at_50", COLUMN_BYTES, 0},
        {"75 %", "live_at_75", COLUMN_BYTES, 0},    {"End", "live_at_end", COLUMN_BYTES, 0},    {"Stack", "stack", COLUMN_CODE, 0},
    };
    const struct heap_growth *g = &v->growth;
    if (!v->has_growth || !g->n_rows)
        return NULL;
    struct heap_table *t = heap_table_new(columns, sizeof columns / sizeof *columns);
    size_t shown = heap_rows_shown(v, g->n_rows, for_eyes);
    for (size_t i = 0; i < shown; i++) {
        own(buf) struct buf path;
        buf_init(&path, 1 << 20);
        heap_path_text(v->heap.p, &v->heap.tree, v->heap.rows[g->rows[i].row].node, for_eyes, &path);
        table_number(t->table, (double)heap_grew(&g->rows[i]));
        for (size_t m = 0; m < GROWTH_MARKS; m++)
            table_number(t->table, (double)g->rows[i].live_bytes[m]);
        table_text(t->table, buf_view(&path));
    }
    t->left_out = g->n_rows - shown;
    return t;
}
