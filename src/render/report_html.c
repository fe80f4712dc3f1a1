/*
 * report_html.c - the report as one page: nothing is fetched, nothing needs to run
 *
 * The numbers that matter on top, then insights, functions, who calls whom, threads and the machine.
 * How it looks is report_page.css; the little it can do is report_page.js.
 */
#include "analyse/by_thread.h"
#include "base/text.h"
#include "render/heap_view.h"
#include "render/memory_text.h"
#include "render/names.h"
#include "render/report_formats.h"
#include "render/report_parts.h"
#include "render/scopes_text.h"
#include "render/system_info.h"
#include "render/waits_text.h"
#include "report_page.h" /* REPORT_STYLE and REPORT_SCRIPT, made by the build */

#include <time.h>

enum { NAME_COLUMNS = 200, NEIGHBOURS = 8 };

static double known(int64_t n) { return n == METHOD_UNKNOWN ? UNKNOWN : (double)n; }

static void put_name(const struct findings *f, func_id id, struct sink *out)
{
    char room[NAME_ROOM];
    sink_puts(out, "<code>");
    text_markup(out, name_of_function(f->r->p, id, room), NAME_COLUMNS);
    sink_puts(out, "</code>");
}

/* The head. */

static void put_card(struct sink *out, const char *title, const char *value)
{
    sink_printf(out, "<div><dt>%s</dt><dd>", title);
    text_markup(out, view_of(value), 40);
    sink_puts(out, "</dd></div>\n");
}

static void put_count_card(struct sink *out, const char *title, int64_t n)
{
    char text[32];
    text_count(text, n);
    put_card(out, title, text);
}

static void put_cards(const struct findings *f, struct sink *out)
{
    char value[32], title[64];
    double lost = quality_lost_share(&f->quality);
    sink_puts(out, "<dl class=\"cards\">\n");
    value_text(value, f->measure, f->methods.whole);
    bool is_cpu = view_same(finding_measure(f), VIEW("cpu")), is_samples = view_same(finding_measure(f), VIEW("samples"));
    snprintf(title, sizeof title, "%s", is_cpu ? "CPU time" : is_samples ? "Samples" : "Measured");
    put_card(out, title, value);
    if (!isnan(f->length_ns)) {
        text_ns(value, f->length_ns);
        put_card(out, "Runtime", value);
    }
    if (f->quality.taken >= 0 && !is_samples)
        put_count_card(out, "Samples", f->quality.taken);
    put_count_card(out, "Functions", (int64_t)f->hot.all);
    if (profile_threads(f->r->p) > 1)
        put_count_card(out, "Threads", (int64_t)profile_threads(f->r->p) - 1);
    if (f->methods.has_bytes) {
        text_bytes(value, (double)f->methods.bytes_whole);
        put_card(out, "Allocated", value);
    }
    if (!isnan(lost)) {
        snprintf(value, sizeof value, "%.2f %%", 100 * lost);
        put_card(out, "Samples missing", value);
    }
    if (f->r->tokens) {
        snprintf(value, sizeof value, "%.2f", f->length_ns > 0 ? (double)f->r->tokens / (f->length_ns / 1e9) : UNKNOWN);
        put_card(out, "Tokens per second", isnan(f->length_ns) ? "-" : value);
    }
    sink_puts(out, "</dl>\n");
}

static void put_header(const struct findings *f, struct sink *out)
{
    char start[40], room[SYSTEM_ROOM];
    const struct fact *command = profile_fact_named(f->r->p, VIEW("command"));
    sink_puts(out, "<header>\n<h1>");
    text_markup(out, view_last_part(view_of(f->r->source)), NAME_COLUMNS);
    sink_puts(out, "</h1>\n<p class=\"lead\">Performance report");
    if (report_start(f->r, "%Y-%m-%d %H:%M:%S", start))
        sink_printf(out, ", recorded %s UTC", start);
    if (f->r->filtered)
        sink_puts(out, ", of a selected part of the file");
    sink_puts(out, ".");
    if (command) {
        snprintf(room, sizeof room, "%.*s", 300, profile_string(f->r->p, command->value).at);
        sink_puts(out, "<br><code>");
        text_markup(out, view_of(room), NAME_COLUMNS);
        sink_puts(out, "</code>");
    }
    sink_puts(out, "</p>\n");
    put_cards(f, out);
    sink_puts(out, "</header>\n");
}

/* Sections. */

static void put_insights(const struct findings *f, struct sink *out)
{
    bool has_warnings = false;
    sink_puts(out, "<ul class=\"list\">\n");
    for (size_t i = 0; i < f->n_insights; i++) {
        const struct insight *s = &f->insights[i];
        has_warnings |= s->is_warning;
        if (s->is_warning)
            continue;
        sink_puts(out, "<li>");
        if (s->function.i) {
            put_name(f, s->function, out);
            sink_puts(out, ": ");
        }
        text_markup(out, view_of(s->text), 0);
        sink_puts(out, "</li>\n");
    }
    for (size_t i = 0; i < f->r->n_limits; i++) {
        sink_puts(out, f->limits[i].is_kept ? "<li>Within the limit: <code>" : "<li><strong>Above the limit</strong>: <code>");
        text_markup(out, view_of(f->r->limits[i].pattern), NAME_COLUMNS);
        sink_printf(out, "</code> has %.1f %%, at most %.1f %% was allowed</li>\n", 100 * f->limits[i].share, 100 * f->r->limits[i].share);
    }
    sink_puts(out, "</ul>\n");
    if (!has_warnings)
        return;
    sink_puts(out, "<ul class=\"warn\">\n");
    for (size_t i = 0; i < f->n_insights; i++)
        if (f->insights[i].is_warning) {
            sink_puts(out, "<li>");
            text_markup(out, view_of(f->insights[i].text), 0);
            sink_puts(out, "</li>\n");
        }
    sink_puts(out, "</ul>\n");
}

/* Only the columns about which something is known. */
struct hot_column {
    struct column is;
    bool is_shown;
};

static bool has_places(const struct findings *f, bool modules)
{
    char room[NAME_ROOM];
    for (size_t i = 0; i < f->hot.n; i++) {
        func_id id = f->methods.rows[f->hot.rows[i]].function;
        if (modules ? name_of_module(f->r->p, id).n : name_of_place(f->r->p, id, room).n)
            return true;
    }
    return false;
}

enum hot_at { HOT_RANK, HOT_NAME, HOT_SELF_SHARE, HOT_SELF, HOT_INTERVAL, HOT_TOTAL_SHARE, HOT_TOTAL, HOT_CALLS, HOT_LEAST, HOT_MOST,
              HOT_BYTES, HOT_MODULE, HOT_PLACE, HOT_COUNT };

static void hot_cell(struct table *t, const struct findings *f, const struct method *m, size_t rank, enum hot_at at)
{
    char room[NAME_ROOM], interval[32];
    switch (at) {
    case HOT_RANK: table_number(t, (double)rank); return;
    case HOT_NAME: table_text(t, name_of_function(f->r->p, m->function, room)); return;
    case HOT_SELF_SHARE: table_number(t, finding_share(f, m->self)); return;
    case HOT_SELF: table_number(t, (double)m->self); return;
    case HOT_INTERVAL:
        finding_interval_text(f, m->self, interval);
        table_text(t, view_of(interval));
        return;
    case HOT_TOTAL_SHARE: table_number(t, finding_share(f, m->total)); return;
    case HOT_TOTAL: table_number(t, (double)m->total); return;
    case HOT_CALLS: table_number(t, known(m->calls)); return;
    case HOT_LEAST: table_number(t, known(m->least_ns)); return;
    case HOT_MOST: table_number(t, known(m->most_ns)); return;
    case HOT_BYTES: table_number(t, known(m->bytes)); return;
    case HOT_MODULE: table_text(t, name_of_module(f->r->p, m->function)); return;
    case HOT_PLACE: table_text(t, view_last_part(name_of_place(f->r->p, m->function, room))); return;
    default: return;
    }
}

/* A column that no row of the table has something for only takes room. */
static bool is_called(const struct method *m) { return !isnan(known(m->calls)); }
static bool is_allocator(const struct method *m) { return !isnan(known(m->bytes)); }

static bool knows(const struct findings *f, bool anybody, bool (*does)(const struct method *m))
{
    for (size_t i = 0; anybody && i < f->hot.n; i++)
        if (does(&f->methods.rows[f->hot.rows[i]]))
            return true;
    return false;
}

static void put_hot(const struct findings *f, struct sink *out)
{
    enum column_kind kind = column_of(f->measure);
    unsigned decimals = f->measure->decimals;
    const struct hot_column all[HOT_COUNT] = {
        [HOT_RANK] = {{"#", "rank", COLUMN_ID, 0}, true},
        [HOT_NAME] = {{"Function", "function", COLUMN_CODE, 0}, true},
        [HOT_SELF_SHARE] = {{"Self %", "self_share", COLUMN_SHARE, 0}, true},
        [HOT_SELF] = {{"Self", "self", kind, decimals}, true},
        [HOT_INTERVAL] = {{"99 % interval", "interval", COLUMN_TEXT, 0}, !isnan(f->samples)},
        [HOT_TOTAL_SHARE] = {{"Total %", "total_share", COLUMN_SHARE, 0}, true},
        [HOT_TOTAL] = {{"Total", "total", kind, decimals}, true},
        [HOT_CALLS] = {{"Calls", "calls", COLUMN_COUNT, 0}, knows(f, f->methods.has_calls, is_called)},
        [HOT_LEAST] = {{"Shortest", "min_ns", COLUMN_NS, 0}, knows(f, f->methods.has_extremes, is_called)},
        [HOT_MOST] = {{"Longest", "max_ns", COLUMN_NS, 0}, knows(f, f->methods.has_extremes, is_called)},
        [HOT_BYTES] = {{"Allocated", "alloc_bytes", COLUMN_BYTES, 0}, knows(f, f->methods.has_bytes, is_allocator)},
        [HOT_MODULE] = {{"Module", "module", COLUMN_TEXT, 0}, has_places(f, true)},
        [HOT_PLACE] = {{"Where", "place", COLUMN_TEXT, 0}, has_places(f, false)},
    };
    struct column columns[HOT_COUNT];
    size_t n = 0;
    for (size_t i = 0; i < HOT_COUNT; i++)
        if (all[i].is_shown)
            columns[n++] = all[i].is;
    own(table) struct table *t = table_new(columns, n);
    for (size_t i = 0; i < f->hot.n; i++)
        for (size_t c = 0; c < HOT_COUNT; c++)
            if (all[c].is_shown)
                hot_cell(t, f, &f->methods.rows[f->hot.rows[i]], i + 1, (enum hot_at)c);
    sink_printf(out, "<p class=\"lead\">Self is a function's own and adds up to the whole; total has in it what the function called, so totals "
                "overlap.%s</p>\n", isnan(f->samples) ? "" : " The interval is where the true self share lies, 99 times in 100.");
    table_html(t, "functions", out);
    if (f->hot.n < f->hot.all) {
        char self[32];
        value_text(self, f->measure, f->self_left_out);
        sink_printf(out, "<p class=\"rest\">%zu more function%s: self %s, %.1f %%.</p>\n", f->hot.all - f->hot.n,
                    f->hot.all - f->hot.n == 1 ? "" : "s", self, 100 * finding_share(f, f->self_left_out));
    }
}

static void put_neighbours(const struct findings *f, const char *title, const struct neighbour *list, size_t n, int64_t whole,
                           struct sink *out)
{
    size_t most = n < NEIGHBOURS ? n : NEIGHBOURS;
    sink_printf(out, "<div><h4>%s</h4><ul class=\"list\">\n", title);
    for (size_t i = 0; i < most; i++) {
        char weight[NEIGHBOUR_TEXT];
        finding_neighbour(f, &list[i], whole, weight);
        sink_puts(out, "<li>");
        put_name(f, list[i].function, out);
        sink_printf(out, " %s</li>\n", weight);
    }
    if (n > most)
        sink_printf(out, "<li>and %zu more</li>\n", n - most);
    sink_puts(out, n ? "</ul></div>\n" : "<li>nobody</li></ul></div>\n");
}

static void put_hierarchy(const struct findings *f, struct sink *out)
{
    sink_printf(out, "<p class=\"lead\">Direct callers and callees of the first functions above, with %s.</p>\n",
                f->hierarchy_counts ? "the number of calls" : "what was measured while the one had called the other, and its part of the function's total");
    for (size_t i = 0; i < f->n_hierarchy; i++) {
        const struct neighbours *h = &f->hierarchy[i];
        int64_t total = f->methods.rows[f->hot.rows[i]].total;
        sink_puts(out, "<h3>");
        put_name(f, h->function, out);
        sink_puts(out, "</h3>\n<div class=\"pairs\">\n");
        put_neighbours(f, "Called by", h->callers, h->n_callers, total, out);
        put_neighbours(f, "Calls", h->callees, h->n_callees, total, out);
        sink_puts(out, "</div>\n");
    }
}

static void put_threads(const struct findings *f, struct sink *out)
{
    const struct column columns[] = {
        {"Thread", "thread", COLUMN_CODE, 0}, {"Tid", "tid", COLUMN_ID, 0}, {"Share", "share", COLUMN_SHARE, 0},
        {"Measured", "total", column_of(f->measure), f->measure->decimals}, {"Process", "process", COLUMN_CODE, 0},
    };
    own(by_thread) struct by_thread threads = by_thread_of(f->r->p, f->r->set, f->r->measure);
    own(table) struct table *t = table_new(columns, 5);
    for (size_t i = 0; i < threads.n; i++) {
        const struct thread *who = profile_thread(f->r->p, threads.rows[i].thread);
        const struct process *process = profile_process(f->r->p, who->process);
        struct view name = profile_string(f->r->p, who->name);
        table_text(t, name.n ? name : VIEW("(not known)"));
        table_number(t, who->tid ? (double)who->tid : UNKNOWN);
        table_number(t, finding_share(f, threads.rows[i].total));
        table_number(t, (double)threads.rows[i].total);
        table_text(t, profile_string(f->r->p, process->name));
    }
    table_html(t, "thread-table", out);
}

static void put_waits(const struct findings *f, struct sink *out)
{
    sink_puts(out, "<p class=\"lead\">What threads waited for, and the time of each on and off the CPU.</p>\n");
    waits_html(f->r->p, f->r->deep ? 0 : f->r->most_rows, out);
}

static void put_memory(const struct findings *f, struct sink *out)
{
    sink_puts(out, "<p class=\"lead\">What the processes had in memory, as the kernel says it: anonymous memory is their own, pages of files "
                   "can be read again.</p>\n");
    memory_html(f->r->p, f->r->deep ? 0 : f->r->most_rows, out);
}

static void put_scopes(const struct findings *f, struct sink *out)
{
    sink_puts(out, "<p class=\"lead\">What the program named itself. Calls are exact; self times add up to the whole, totals overlap.</p>\n");
    scopes_html(f->r->p, f->r->order, f->r->deep ? 0 : f->r->most_rows, out);
}

static void put_system(const struct findings *f, struct sink *out)
{
    char room[SYSTEM_ROOM];
    sink_puts(out, "<dl class=\"sys\">\n");
    for (size_t i = 0; i < system_lines(); i++) {
        struct view value = system_value(f->r->p, i, room);
        sink_printf(out, "<dt>%s</dt><dd>", system_line_at(i)->title);
        text_markup(out, value.n ? value : VIEW("-"), 0);
        sink_puts(out, "</dd>\n");
    }
    sink_puts(out, "</dl>\n");
}

/* The picture as it would be a file, without the line that only a file has. */
static void put_flame(const struct findings *f, struct sink *out)
{
    own(buf) struct buf svg;
    buf_init(&svg, 64 << 20);
    struct sink to;
    sink_to_buf(&to, &svg);
    if (!report_flame(f, &to, NULL) || !sink_flush(&to, NULL))
        return;
    const char *from = strstr(svg.data, "<svg");
    sink_puts(out, "<p class=\"lead\">Each box is a function, as wide as its part of what was measured, below the function that called "
                   "it.</p>\n<div class=\"picture\">\n");
    if (from)
        sink_add(out, view_between(from, svg.data + svg.len));
    sink_puts(out, "</div>\n");
}

static void put_heap(const struct findings *f, struct sink *out) { heap_html(f->r->heap, out); }

/* Where only memory is asked for, functions, callers and threads are not. */
static bool always(const struct findings *f) { return f->hot.n > 0 && !f->r->heap_only; }
static bool has_threads(const struct findings *f) { return profile_threads(f->r->p) > 1 && !f->r->heap_only; }
static bool has_waits(const struct findings *f) { return waits_are_there(f->r->p) && !f->r->heap_only; }
static bool has_heap(const struct findings *f) { return f->r->heap; }
static bool has_memory(const struct findings *f) { return memory_is_there(f->r->p); }
static bool has_scopes(const struct findings *f) { return f->scopes.n > 0 && !f->r->heap_only; }
static bool has_system(const struct findings *f) { return system_is_known(f->r->p); }

static const struct {
    const char *id, *title;
    bool (*is_there)(const struct findings *f);
    void (*put)(const struct findings *f, struct sink *out);
} sections[] = {
    {"insights",  "Insights",           always,      put_insights},
    {"hot",       "Functions",          always,      put_hot},
    {"heap",      "Heap memory",        has_heap,    put_heap},
    {"scopes",    "Scopes",             has_scopes,  put_scopes},
    {"flame",     "Flame graph",        report_has_stacks, put_flame},
    {"tree",      "Call tree",          report_has_stacks, report_html_tree},
    {"hierarchy", "Callers and callees", always,     put_hierarchy},
    {"threads",   "Threads",            has_threads, put_threads},
    {"waits",     "Waits",              has_waits,   put_waits},
    {"memory",    "Memory of processes", has_memory,  put_memory},
    {"system",    "System information", has_system,  put_system},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static void put_contents(const struct findings *f, struct sink *out)
{
    sink_puts(out, "<nav class=\"toc\" aria-label=\"Sections\"><div>\n");
    for (size_t i = 0; i < SECTIONS; i++)
        if (sections[i].is_there(f))
            sink_printf(out, "<a href=\"#%s\">%s</a>\n", sections[i].id, sections[i].title);
    sink_puts(out, "</div></nav>\n");
}

static void put_page_head(const struct findings *f, struct sink *out)
{
    sink_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
                   "script-src 'unsafe-inline'; img-src data:\">\n<title>");
    text_markup(out, view_last_part(view_of(f->r->source)), NAME_COLUMNS);
    sink_puts(out, " - performance report</title>\n<style>\n" REPORT_STYLE "</style>\n</head>\n<body>\n");
}

void report_html(const struct findings *f, struct sink *out)
{
    char date[40] = "-";
    time_t at = (time_t)f->r->generated_s;
    struct tm tm;
    if (gmtime_r(&at, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    put_page_head(f, out);
    put_header(f, out);
    put_contents(f, out);
    sink_puts(out, "<main>\n");
    for (size_t i = 0; i < SECTIONS; i++) {
        if (!sections[i].is_there(f))
            continue;
        sink_printf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", sections[i].id, sections[i].title);
        sections[i].put(f, out);
        sink_puts(out, "</section>\n");
    }
    sink_printf(out, "</main>\n<footer>Made by inferom report, %s UTC. This page is complete: it fetches nothing.</footer>\n", date);
    sink_puts(out, "<script>\n" REPORT_SCRIPT "</script>\n</body>\n</html>\n");
}
