#include "render/report.h"
#include "analyse/by_thread.h"
#include "analyse/sampling.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/heap_view.h"
#include "render/memory_text.h"
#include "render/names.h"
#include "render/report_formats.h"
#include "render/scopes_text.h"
#include "render/tree_text.h"
#include "render/waits_text.h"

#include <time.h>

#define TREE_SHARE 0.005 /* a tree shows what is at least this much of the whole, unless told otherwise */

static const struct measure *measure_of(const struct report *r) { return &r->set->measures[r->measure]; }
static struct view text_of(const struct report *r, str_id id) { return profile_string(r->p, id); }
static double share(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* The first lines: what was measured, when, by whom, and what is missing. */

static void print_measured(const struct report *r, struct sink *out)
{
    const struct measure *m = measure_of(r);
    char value[32], count[32];
    value_text(value, m, m->total);
    sink_puts(out, r->style.colour ? "\033[1m" : "");
    text_safe(out, view_of(r->source), 0);
    sink_puts(out, r->style.colour ? "\033[0m" : "");
    sink_printf(out, ": %s%s", value, m->unit == UNIT_NS || m->unit == UNIT_BYTES ? " of " : " ");
    text_safe(out, text_of(r, m->name), 0);
    int64_t taken = samples_taken(r->p, r->set);
    if (taken >= 0 && !view_same(text_of(r, m->name), VIEW("samples"))) {
        text_count(count, taken);
        sink_printf(out, " in %s samples", count);
    }
    sink_char(out, '\n');
}

double report_length_ns(const struct report *r)
{
    uint64_t from = profile_start_ns(r->p), to = profile_end_ns(r->p);
    return from == TIME_NONE || to == TIME_NONE ? UNKNOWN : (double)(to - from);
}

bool report_start(const struct report *r, const char *format, char out[40])
{
    if (!profile_has_wall_offset(r->p) || profile_start_ns(r->p) == TIME_NONE)
        return false;
    time_t s = (time_t)(((int64_t)profile_start_ns(r->p) + profile_wall_offset_ns(r->p)) / INT64_C(1000000000));
    struct tm tm;
    return gmtime_r(&s, &tm) && strftime(out, 40, format, &tm) > 0;
}

static bool is_timed(const struct report *r) { return !isnan(report_length_ns(r)); }
static bool wall_start(const struct report *r, char out[40]) { return report_start(r, "%Y-%m-%dT%H:%M:%SZ", out); }

static void print_who_and_when(const struct report *r, struct sink *out)
{
    size_t threads = profile_threads(r->p) - 1, processes = profile_processes(r->p) - 1;
    if (threads)
        sink_printf(out, "%zu thread%s in %zu process%s", threads, threads == 1 ? "" : "s", processes,
                    processes == 1 ? "" : "es");
    char length[32], start[40];
    if (is_timed(r)) {
        text_ns(length, report_length_ns(r));
        sink_printf(out, "%s%s long", threads ? ", " : "", length);
    }
    if (wall_start(r, start))
        sink_printf(out, "%sfrom %s", threads || is_timed(r) ? ", " : "", start);
    if (threads || is_timed(r) || profile_has_wall_offset(r->p))
        sink_char(out, '\n');
}

static void print_missing(const struct report *r, struct sink *out)
{
    int64_t taken = samples_taken(r->p, r->set);
    for (size_t i = 0; i < profile_losses(r->p); i++) {
        const struct loss *l = profile_loss(r->p, i);
        char count[32];
        text_count(count, (int64_t)(l->count > INT64_MAX ? INT64_MAX : l->count));
        sink_printf(out, "lost: %s", count);
        if (profile_set(r->p, l->set) != r->set) { /* a share of what is shown it is not */
            sink_puts(out, " of ");
            text_safe(out, text_of(r, profile_set(r->p, l->set)->name), 0);
        } else if (taken > 0) {
            sink_printf(out, " (%.2f %%)", 100 * (double)l->count / ((double)l->count + (double)taken));
        }
        sink_puts(out, ", ");
        text_safe(out, text_of(r, l->reason), 0);
        sink_char(out, '\n');
    }
    for (size_t i = 0; i < profile_damages(r->p); i++) {
        sink_puts(out, "damaged: ");
        text_safe(out, profile_damage(r->p, i), 0);
        sink_char(out, '\n');
    }
}

/* Top functions, of everything or of one thread. */

enum { TOP_COLUMNS = 7, WITHOUT_PLACE = 6, NAMES_ONLY = 5 };

struct top_table {
    struct column columns[TOP_COLUMNS];
    struct table *table;
    size_t left_out; /* functions, and their self value */
    int64_t left_out_self;
};

static void top_columns(const struct report *r, struct column out[TOP_COLUMNS])
{
    enum column_kind kind = column_of(measure_of(r));
    unsigned decimals = measure_of(r)->decimals;
    const struct column columns[TOP_COLUMNS] = {
        {"Self",     "self",        kind, decimals},
        {"",         "self_share",  COLUMN_SHARE},
        {"Total",    "total",       kind, decimals},
        {"",         "total_share", COLUMN_SHARE},
        {"Function", "function",    COLUMN_TEXT},
        {"Module",   "module",      COLUMN_TEXT},
        {"Where",    "place",       COLUMN_TEXT},
    };
    memcpy(out, columns, sizeof columns);
}

/* Module and place are columns only where something is known about them. */
static size_t useful_columns(const struct report *r, const struct top *top)
{
    char room[NAME_ROOM];
    size_t n = NAMES_ONLY;
    for (size_t i = 0; i < top->n; i++) {
        if (name_of_place(r->p, top->rows[i].function, room).n)
            return TOP_COLUMNS;
        if (name_of_module(r->p, top->rows[i].function).n)
            n = WITHOUT_PLACE;
    }
    return n;
}

static void add_row(struct table *t, const struct report *r, const struct hot *h, int64_t whole, size_t n_columns)
{
    char room[NAME_ROOM];
    table_number(t, (double)h->self);
    table_number(t, share(h->self, whole));
    table_number(t, (double)h->total);
    table_number(t, share(h->total, whole));
    table_text(t, name_of_function(r->p, h->function, room));
    if (n_columns >= WITHOUT_PLACE)
        table_text(t, name_of_module(r->p, h->function));
    if (n_columns >= TOP_COLUMNS)
        table_text(t, name_of_place(r->p, h->function, room));
}

static struct top_table *top_table_new(const struct report *r, const size_t *which, size_t n, bool every_column)
{
    own(top) struct top top = top_of(r->p, r->set, r->measure, which, n);
    top_sort(&top, r->p, r->order);
    struct top_table *t = mem_new(sizeof *t);
    size_t n_columns = every_column ? TOP_COLUMNS : useful_columns(r, &top);
    top_columns(r, t->columns);
    t->table = table_new(t->columns, n_columns);
    for (size_t i = 0; i < top.n; i++) {
        const struct hot *h = &top.rows[i];
        if (h->total >= r->min_total && (!r->most_rows || table_rows(t->table) < r->most_rows)) {
            add_row(t->table, r, h, top.whole, n_columns);
        } else {
            t->left_out++;
            t->left_out_self += h->self;
        }
    }
    return t;
}

static void top_table_free(struct top_table *t)
{
    table_free(t->table);
    free(t);
}
DEFINE_OWN(top_table, struct top_table *)

static void print_top(const struct report *r, const size_t *which, size_t n, int64_t whole, struct sink *out)
{
    own(top_table) struct top_table *t = top_table_new(r, which, n, false);
    table_print(t->table, &r->style, out);
    if (!t->left_out)
        return;
    char self[32];
    value_text(self, measure_of(r), t->left_out_self);
    sink_printf(out, "(%zu more function%s, self %s, %.1f %%)\n", t->left_out, t->left_out == 1 ? "" : "s", self, 100 * share(t->left_out_self, whole));
}

/* Trees. */

static struct tree_look tree_look_of(const struct report *r, bool inverted)
{
    int64_t readable = (int64_t)((double)measure_of(r)->total * TREE_SHARE);
    return (struct tree_look){.style = r->style, .measure = measure_of(r),
                              .self_title = inverted ? "No caller" : "Self",
                              .min_total = r->min_total ? r->min_total : readable, .most_depth = r->most_depth};
}

void report_tree(const struct report *r, bool inverted, struct sink *out)
{
    own(call_tree) struct call_tree t = call_tree_of(r->p, r->set, r->measure, inverted);
    struct tree_look look = tree_look_of(r, inverted);
    tree_print(&t, r->p, &look, out);
}

/* Threads. */

static void print_thread_title(const struct report *r, const struct thread_share *s, const struct wait_times *times,
                               struct sink *out)
{
    const struct thread *t = profile_thread(r->p, s->thread);
    const struct process *proc = profile_process(r->p, t->process);
    char value[32];
    value_text(value, measure_of(r), s->total);
    sink_puts(out, "\nthread ");
    struct view name = text_of(r, t->name);
    text_safe(out, s->thread.i ? name.n ? name : VIEW("(no name)") : VIEW("(not known)"), 0);
    if (t->tid)
        sink_printf(out, ", tid %d", t->tid);
    if (proc->pid)
        sink_printf(out, ", pid %d", proc->pid);
    sink_printf(out, ": %s, %.1f %%", value, 100 * share(s->total, measure_of(r)->total));
    const struct wait_thread *both = wait_times_thread(times, s->thread);
    if (both)
        waits_print_life(both, out);
    sink_char(out, '\n');
}

static void print_threads(const struct report *r, struct sink *out)
{
    own(by_thread) struct by_thread threads = by_thread_of(r->p, r->set, r->measure);
    own(wait_times) struct wait_times times;
    wait_times_of(r->p, &times); /* without waits no thread has any */
    for (size_t i = 0; i < threads.n; i++) {
        print_thread_title(r, &threads.rows[i], &times, out);
        print_top(r, threads.rows[i].samples, threads.rows[i].n, threads.rows[i].total, out);
    }
}

static void print_title(const struct report *r, const char *title, struct sink *out)
{
    sink_printf(out, "\n%s%s%s\n", r->style.colour ? "\033[1m" : "", title, r->style.colour ? "\033[0m" : "");
}

static const char *const order_titles[TOP_ORDER_COUNT] = {
    [TOP_BY_SELF] = "Functions by self",
    [TOP_BY_TOTAL] = "Functions by total",
    [TOP_BY_NAME] = "Functions by name",
};

void report_print(const struct report *r, struct sink *out)
{
    print_measured(r, out);
    print_who_and_when(r, out);
    print_missing(r, out);
    if (!r->memory)
        memory_print_findings(r->p, out);
    if (r->top) {
        print_title(r, order_titles[r->order], out);
        print_top(r, NULL, 0, measure_of(r)->total, out);
    }
    if (r->tree) {
        print_title(r, "Call tree", out);
        report_tree(r, false, out);
    }
    if (r->inverted) {
        print_title(r, "Inverted call tree: where it was spent, then who called", out);
        report_tree(r, true, out);
    }
    if (r->threads)
        print_threads(r, out);
    if (r->scopes) {
        print_title(r, "Scopes", out);
        scopes_print(r->p, r->order, r->most_rows, &r->style, out);
    }
    if (r->waits) {
        print_title(r, "On and off the CPU", out);
        waits_print(r->p, r->most_rows, &r->style, out);
    }
    if (r->memory) {
        print_title(r, "Memory of processes", out);
        memory_print(r->p, r->most_rows, &r->style, out);
    }
    if (r->heap)
        heap_print(r->heap, &r->style, out);
}

void report_top(const struct report *r, struct sink *out) { print_top(r, NULL, 0, measure_of(r)->total, out); }

/* The same for machines. */

void report_top_json(const struct report *r, struct json_writer *w)
{
    own(top_table) struct top_table *t = top_table_new(r, NULL, 0, true);
    table_json(t->table, w);
}

static void json_value(struct json_writer *w, const struct report *r, const char *key, int64_t value)
{
    json_key(w, key);
    if (measure_of(r)->decimals)
        json_decimal(w, value, measure_of(r)->decimals);
    else
        json_int(w, value);
}

static void json_pair(struct json_writer *w, const char *key, struct view text)
{
    json_key(w, key);
    json_text(w, text);
}

static void json_measured(struct json_writer *w, const struct report *r)
{
    const struct measure *m = measure_of(r);
    struct view unit = text_of(r, m->unit_name);
    json_pair(w, "source", view_of(r->source));
    json_pair(w, "set", text_of(r, r->set->name));
    json_pair(w, "measure", text_of(r, m->name));
    json_pair(w, "unit", unit.n ? unit : view_of(unit_names[m->unit]));
    json_value(w, r, "total", m->total);
    int64_t taken = samples_taken(r->p, r->set);
    json_key(w, "samples");
    json_double(w, taken < 0 ? UNKNOWN : (double)taken);
    json_key(w, "duration_ns");
    json_double(w, report_length_ns(r));
    char start[40];
    json_key(w, "start");
    if (wall_start(r, start))
        json_text(w, view_of(start));
    else
        json_null(w);
}

static void json_missing(struct json_writer *w, const struct report *r)
{
    json_key(w, "lost");
    json_open(w, '[');
    for (size_t i = 0; i < profile_losses(r->p); i++) {
        json_open(w, '{');
        json_pair(w, "reason", text_of(r, profile_loss(r->p, i)->reason));
        json_key(w, "count");
        json_uint(w, profile_loss(r->p, i)->count);
        json_close(w, '}');
    }
    json_close(w, ']');
    json_key(w, "damage");
    json_open(w, '[');
    for (size_t i = 0; i < profile_damages(r->p); i++)
        json_text(w, profile_damage(r->p, i));
    json_close(w, ']');
}

static void json_top(struct json_writer *w, const struct report *r, const size_t *which, size_t n)
{
    own(top_table) struct top_table *t = top_table_new(r, which, n, true);
    json_key(w, "functions");
    table_json(t->table, w);
    json_key(w, "functions_left_out");
    json_uint(w, t->left_out);
    json_value(w, r, "self_left_out", t->left_out_self);
}

static void json_tree(struct json_writer *w, const struct report *r, const char *key, bool inverted)
{
    own(call_tree) struct call_tree t = call_tree_of(r->p, r->set, r->measure, inverted);
    struct tree_look look = tree_look_of(r, inverted);
    look.min_total = r->min_total ? r->min_total : 1; /* machines do not tire of small nodes */
    json_key(w, key);
    tree_json(&t, r->p, &look, w);
}

static void json_threads(struct json_writer *w, const struct report *r)
{
    own(by_thread) struct by_thread threads = by_thread_of(r->p, r->set, r->measure);
    json_key(w, "threads");
    json_open(w, '[');
    for (size_t i = 0; i < threads.n; i++) {
        const struct thread_share *s = &threads.rows[i];
        const struct thread *t = profile_thread(r->p, s->thread);
        const struct process *proc = profile_process(r->p, t->process);
        json_open(w, '{');
        json_pair(w, "thread", text_of(r, t->name));
        json_key(w, "tid");
        json_int(w, t->tid);
        json_pair(w, "process", text_of(r, proc->name));
        json_key(w, "pid");
        json_int(w, proc->pid);
        json_value(w, r, "total", s->total);
        json_key(w, "share");
        json_double(w, share(s->total, measure_of(r)->total));
        json_top(w, r, s->samples, s->n);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void report_json(const struct findings *f, struct sink *out)
{
    const struct report *r = f->r;
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_measured(&w, r);
    json_missing(&w, r);
    if (!r->heap_only)
        report_contract_json(f, &w);
    if (r->top)
        json_top(&w, r, NULL, 0);
    if (r->tree)
        json_tree(&w, r, "tree", false);
    if (r->inverted)
        json_tree(&w, r, "inverted", true);
    if (r->threads)
        json_threads(&w, r);
    if (r->scopes)
        scopes_json(r->p, r->order, &w);
    if (r->waits)
        waits_json(r->p, &w);
    if (r->memory)
        memory_json(r->p, &w);
    if (r->heap)
        heap_json(r->heap, &w);
    json_close(&w, '}');
}
