/*
 * report_md.c - the report as Markdown
 *
 * Six sections with the columns people know from SmallMind's profiler, and behind them what that one
 * lacks: self values and their intervals. What a profile does not know is "-", and a sentence says why.
 */
#include "analyse/by_thread.h"
#include "base/text.h"
#include "render/heap_view.h"
#include "render/markup.h"
#include "render/memory_text.h"
#include "render/names.h"
#include "render/report_formats.h"
#include "render/system_info.h"
#include "render/scopes_text.h"
#include "render/waits_text.h"

#include <stdarg.h>
#include <time.h>

enum { NAME_COLUMNS = 120, NEIGHBOURS = 5 };

static const char why_no_calls[] =
    "Calls, averages, shortest and longest are `-`: this profile was sampled. Samples say where time goes, not how often a "
    "function is called.";
static const char why_no_bytes[] = "The profile has no samples of memory; what was allocated is not known.";

static void put_name(const struct findings *f, func_id id, struct sink *out)
{
    char room[NAME_ROOM];
    markdown_code(out, name_of_function(f->r->p, id, room), NAME_COLUMNS);
}

static void date_text(int64_t s, char out[40])
{
    time_t t = (time_t)s;
    struct tm tm;
    if (!gmtime_r(&t, &tm) || !strftime(out, 40, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(out, 40, "-");
}

static double average(double whole, int64_t n) { return n > 0 ? whole / (double)n : UNKNOWN; }
static double known(int64_t n) { return n == METHOD_UNKNOWN ? UNKNOWN : (double)n; }
static double known_ms(int64_t ns) { return ns == METHOD_UNKNOWN ? UNKNOWN : (double)ns / 1e6; }

/* The head. */

static void put_bold(struct sink *out, const char *title, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void put_bold(struct sink *out, const char *title, const char *fmt, ...)
{
    char text[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    sink_printf(out, "**%s:** %s  \n", title, text); /* two blanks: a line of its own */
}

static void put_runtime(const struct findings *f, const char *before, const char *after, struct sink *out)
{
    sink_printf(out, "%s**Total Runtime:** ", before);
    if (isnan(f->length_ns))
        sink_printf(out, "- (the profile does not say how long it took)%s", after);
    else
        sink_printf(out, "%.2f ms%s", f->length_ns / 1e6, after);
}

static void put_allocations(const struct findings *f, const char *before, const char *after, struct sink *out)
{
    sink_printf(out, "%s**Total Allocations:** ", before);
    if (f->methods.has_bytes)
        sink_printf(out, "%.2f MB%s", (double)f->methods.bytes_whole / 1e6, after);
    else
        sink_printf(out, "- (not recorded)%s", after);
}

static void put_measured(const struct findings *f, struct sink *out)
{
    char value[32], count[32];
    value_text(value, f->measure, f->methods.whole);
    sink_printf(out, "**Measured:** %s%s", value, f->measure->unit == UNIT_NS || f->measure->unit == UNIT_BYTES ? " of " : " ");
    markdown_text(out, finding_measure(f), NAME_COLUMNS);
    if (f->quality.taken >= 0 && !view_same(finding_measure(f), VIEW("samples"))) {
        text_count(count, f->quality.taken);
        sink_printf(out, " in %s samples", count);
    }
    sink_puts(out, f->r->filtered ? ", a selected part of the file  \n" : "  \n");
}

static void put_tokens(const struct findings *f, struct sink *out)
{
    char each[32];
    double n = (double)f->r->tokens;
    if (!f->r->tokens)
        return;
    sink_printf(out, "**Tokens:** %llu", (unsigned long long)f->r->tokens);
    if (!isnan(f->length_ns) && f->length_ns > 0)
        sink_printf(out, ", %.2f per second, %.3f ms of runtime each", n / (f->length_ns / 1e9), f->length_ns / 1e6 / n);
    if (finding_is_time(f)) {
        text_ns(each, (double)f->methods.whole / n);
        sink_printf(out, ", %s of ", each);
        markdown_text(out, finding_measure(f), NAME_COLUMNS);
        sink_puts(out, " each");
    }
    sink_puts(out, "  \n");
}

static void put_head(const struct findings *f, struct sink *out)
{
    char date[40], start[40];
    date_text(f->r->generated_s, date);
    sink_puts(out, "# Performance Profile Report\n\n");
    put_bold(out, "Generated", "%s UTC", date);
    if (report_start(f->r, "%Y-%m-%d %H:%M:%S", start))
        put_bold(out, "Recorded", "%s UTC", start);
    sink_puts(out, "**Profile:** ");
    markdown_code(out, view_last_part(view_of(f->r->source)), NAME_COLUMNS);
    sink_puts(out, "  \n");
    put_measured(f, out);
    put_tokens(f, out);
    put_runtime(f, "", "  \n", out);
    put_allocations(f, "", "  \n", out);
    sink_printf(out, "**Methods Profiled:** %zu\n", f->hot.all);
}

static void put_system(const struct findings *f, struct sink *out)
{
    sink_puts(out, "\n## System Information\n\n");
    if (!system_is_known(f->r->p)) {
        sink_puts(out, "The profile does not say on which machine it was recorded.\n");
        return;
    }
    for (size_t i = 0; i < system_lines(); i++) {
        char room[SYSTEM_ROOM];
        struct view value = system_value(f->r->p, i, room);
        sink_printf(out, "- **%s:** ", system_line_at(i)->title);
        if (value.n)
            markdown_text(out, value, 0);
        else
            sink_char(out, '-');
        sink_char(out, '\n');
    }
}

/* Tables. A table whose rows nobody could fill keeps its head, and one row that says so. */

static void put_table(struct table *filled, size_t n_columns, struct sink *out)
{
    own(table) struct table *t = filled;
    for (size_t c = 0; !table_rows(t) && c < n_columns; c++) {
        if (column_is_text(table_column(t, c)))
            table_text(t, VIEW("-"));
        else
            table_number(t, UNKNOWN);
    }
    table_markdown(t, out);
}

static void name_cell(struct table *t, const struct findings *f, func_id id)
{
    char room[NAME_ROOM];
    table_text(t, name_of_function(f->r->p, id, room));
}

static void put_hot(const struct findings *f, struct sink *out)
{
    bool is_time = finding_is_time(f);
    const struct column columns[] = {
        {"Rank", "rank", COLUMN_ID, 0}, {"Method", "method", COLUMN_CODE, 0},
        {is_time ? "Total Time (ms)" : "Total", "total", COLUMN_FIXED, is_time ? 3 : f->measure->decimals},
        {"% of Total", "total_share", COLUMN_SHARE, 0}, {"Calls", "calls", COLUMN_ID, 0},
        {"Avg Time (ms)", "average_ms", COLUMN_FIXED, 3}, {"Min (ms)", "min_ms", COLUMN_FIXED, 3}, {"Max (ms)", "max_ms", COLUMN_FIXED, 3},
        {is_time ? "Self Time (ms)" : "Self", "self", COLUMN_FIXED, is_time ? 3 : f->measure->decimals},
        {"Self %", "self_share", COLUMN_SHARE, 0}, {"Self %, 99 % interval", "interval", COLUMN_TEXT, 0},
    };
    enum { N = sizeof columns / sizeof *columns };
    struct table *t = table_new(columns, N);
    for (size_t i = 0; i < f->hot.n; i++) {
        const struct method *m = &f->methods.rows[f->hot.rows[i]];
        char interval[32];
        finding_interval_text(f, m->self, interval);
        table_number(t, (double)i + 1);
        name_cell(t, f, m->function);
        table_number(t, finding_number(f, m->total));
        table_number(t, finding_share(f, m->total));
        table_number(t, known(m->calls));
        table_number(t, is_time ? average(finding_number(f, m->total), m->calls) : UNKNOWN);
        table_number(t, known_ms(m->least_ns));
        table_number(t, known_ms(m->most_ns));
        table_number(t, finding_number(f, m->self));
        table_number(t, finding_share(f, m->self));
        table_text(t, view_of(interval));
    }
    put_table(t, N, out);
}

static const char *const order_words[TOP_ORDER_COUNT] = {
    [TOP_BY_SELF] = "largest self first", [TOP_BY_TOTAL] = "largest total first", [TOP_BY_NAME] = "by name",
};

static void put_hot_section(const struct findings *f, struct sink *out)
{
    sink_puts(out, "\n## Hot Paths (by Time)\n\n");
    sink_printf(out, "Methods that took most, %s. Self is a method's own and adds up to 100 %%; total has in it what the method called, so "
                "totals overlap.\n\n", order_words[f->r->order]);
    put_hot(f, out);
    if (f->hot.n < f->hot.all) {
        char self[32];
        value_text(self, f->measure, f->self_left_out);
        sink_printf(out, "\n%zu more method%s: self %s, %.1f %%.\n", f->hot.all - f->hot.n, f->hot.all - f->hot.n == 1 ? "" : "s", self,
                    100 * finding_share(f, f->self_left_out));
    }
    if (!f->methods.has_calls)
        sink_printf(out, "\n%s\n", why_no_calls);
    else if (!f->methods.has_extremes)
        sink_puts(out, "\nThe tracer added its calls up: shortest and longest are not known.\n");
    if (!finding_is_time(f)) {
        sink_puts(out, f->measure->unit == UNIT_BYTES ? "\nTotal and self are bytes of " : "\nTotal and self are in ");
        markdown_text(out, finding_measure(f), NAME_COLUMNS);
        sink_puts(out, ", not milliseconds: the profile does not say how much time they stand for.\n");
    }
    if (isnan(f->samples))
        sink_puts(out, "\nThere are no intervals: the numbers are not shares of equal samples.\n");
}

static void put_allocators(const struct findings *f, struct sink *out)
{
    static const struct column columns[] = {
        {"Rank", "rank", COLUMN_ID, 0}, {"Method", "method", COLUMN_CODE, 0}, {"Total Alloc (MB)", "total_mb", COLUMN_FIXED, 3},
        {"% of Total", "share", COLUMN_SHARE, 0}, {"Calls", "calls", COLUMN_ID, 0}, {"Avg Alloc (KB)", "average_kb", COLUMN_FIXED, 3},
        {"Self Alloc (MB)", "self_mb", COLUMN_FIXED, 3}, {"Allocations", "allocations", COLUMN_ID, 0},
    };
    enum { N = sizeof columns / sizeof *columns };
    struct table *t = table_new(columns, N);
    for (size_t i = 0; i < f->allocators.n; i++) {
        const struct method *m = &f->methods.rows[f->allocators.rows[i]];
        table_number(t, (double)i + 1);
        name_cell(t, f, m->function);
        table_number(t, (double)m->bytes_total / 1e6);
        table_number(t, f->methods.bytes_whole ? (double)m->bytes_total / (double)f->methods.bytes_whole : 0);
        table_number(t, known(m->calls));
        table_number(t, average((double)m->bytes_total / 1e3, m->calls));
        table_number(t, (double)m->bytes / 1e6);
        table_number(t, known(m->allocations));
    }
    sink_puts(out, "\n## Top Allocators (by Memory)\n\n");
    put_table(t, N, out);
    if (!f->methods.has_bytes)
        sink_printf(out, "\n%s\n", why_no_bytes);
}

static const struct column called_columns[] = {
    {"Rank", "rank", COLUMN_ID, 0}, {"Method", "method", COLUMN_CODE, 0}, {"Calls", "calls", COLUMN_ID, 0},
    {"Total Time (ms)", "total_ms", COLUMN_FIXED, 3}, {"Avg Time (us)", "average_us", COLUMN_FIXED, 3},
};
enum { CALLED_COLUMNS = sizeof called_columns / sizeof *called_columns };

static void called_row(struct table *t, int64_t calls, double total_ms)
{
    table_number(t, (double)calls);
    table_number(t, total_ms);
    table_number(t, isnan(total_ms) ? UNKNOWN : average(total_ms * 1e3, calls));
}

static void put_called(const struct findings *f, struct sink *out)
{
    struct table *t = table_new(called_columns, CALLED_COLUMNS);
    size_t n_scopes = f->r->most_rows && !f->r->deep && f->r->most_rows < f->scopes.n ? f->r->most_rows : f->scopes.n;
    bool is_scopes = f->scopes.n > 0;
    for (size_t i = 0; is_scopes && i < n_scopes; i++) {
        table_number(t, (double)i + 1);
        table_text(t, profile_string(f->r->p, f->scopes.rows[i].name));
        called_row(t, f->scopes.rows[i].calls, (double)f->scopes.rows[i].total_ns / 1e6);
    }
    for (size_t i = 0; !is_scopes && i < f->called.n; i++) {
        const struct method *m = &f->methods.rows[f->called.rows[i]];
        table_number(t, (double)i + 1);
        name_cell(t, f, m->function);
        called_row(t, m->calls, finding_is_time(f) ? finding_number(f, m->total) : UNKNOWN);
    }
    sink_puts(out, "\n## Most Called Methods\n\n");
    put_table(t, CALLED_COLUMNS, out);
    if (is_scopes)
        sink_puts(out, "\nThese are the scopes that the program named itself.\n");
    else if (!f->methods.has_calls)
        sink_puts(out, "\nNobody counted calls: the profile was sampled.\n");
}

/* Who calls whom. */

static void put_neighbours(const struct findings *f, const char *title, const struct neighbour *list, size_t n, int64_t whole,
                           struct sink *out)
{
    size_t most = f->r->deep || n <= NEIGHBOURS ? n : NEIGHBOURS;
    if (n)
        sink_printf(out, "\n**%s:**\n\n", title);
    for (size_t i = 0; i < most; i++) {
        char weight[NEIGHBOUR_TEXT];
        finding_neighbour(f, &list[i], whole, weight);
        sink_puts(out, "- ");
        put_name(f, list[i].function, out);
        sink_printf(out, " (%s)\n", weight);
    }
    if (n > most)
        sink_printf(out, "- and %zu more\n", n - most);
}

static void put_hierarchy(const struct findings *f, struct sink *out)
{
    sink_puts(out, "\n## Call Hierarchy\n\n");
    sink_puts(out, f->hierarchy_counts ? "Direct callers and callees of the first methods above, with the number of calls.\n"
                                       : "Direct callers and callees of the first methods above, with what was measured while the one had "
                                         "called the other, and its part of the method's total.\n");
    for (size_t i = 0; i < f->n_hierarchy; i++) {
        const struct neighbours *h = &f->hierarchy[i];
        const struct method *m = &f->methods.rows[f->hot.rows[i]];
        sink_puts(out, "\n### ");
        put_name(f, h->function, out);
        sink_puts(out, "\n");
        if (!h->n_callers)
            sink_puts(out, "\n*Entry point method*\n");
        put_neighbours(f, "Called by", h->callers, h->n_callers, m->total, out);
        put_neighbours(f, "Calls", h->callees, h->n_callees, m->total, out);
    }
    if (!f->n_hierarchy)
        sink_puts(out, "\nThere is no method to show.\n");
}

static void put_insights(const struct findings *f, struct sink *out)
{
    sink_puts(out, "\n## Performance Insights\n\n");
    for (size_t i = 0; i < f->n_insights; i++) {
        const struct insight *s = &f->insights[i];
        sink_puts(out, s->is_warning ? "- **Note:** " : "- ");
        if (s->function.i) {
            put_name(f, s->function, out);
            sink_puts(out, ": ");
        }
        markdown_text(out, view_of(s->text), 0);
        sink_char(out, '\n');
    }
    for (size_t i = 0; i < f->r->n_limits; i++) {
        sink_printf(out, "- **%s:** ", f->limits[i].is_kept ? "Within the limit" : "Above the limit");
        markdown_code(out, view_of(f->r->limits[i].pattern), NAME_COLUMNS);
        sink_printf(out, " has %.1f %%, at most %.1f %% was allowed\n", 100 * f->limits[i].share, 100 * f->r->limits[i].share);
    }
}

static void put_threads(const struct findings *f, struct sink *out)
{
    static const struct column columns[] = {
        {"Thread", "thread", COLUMN_CODE, 0}, {"Tid", "tid", COLUMN_ID, 0}, {"Time (ms)", "ms", COLUMN_FIXED, 3}, {"% of Total", "share", COLUMN_SHARE, 0},
    };
    own(by_thread) struct by_thread threads = by_thread_of(f->r->p, f->r->set, f->r->measure);
    own(table) struct table *t = table_new(columns, 4);
    for (size_t i = 0; i < threads.n; i++) {
        const struct thread *who = profile_thread(f->r->p, threads.rows[i].thread);
        struct view name = profile_string(f->r->p, who->name);
        table_text(t, name.n ? name : VIEW("-"));
        table_number(t, who->tid ? (double)who->tid : UNKNOWN);
        table_number(t, finding_is_time(f) ? finding_number(f, threads.rows[i].total) : UNKNOWN);
        table_number(t, finding_share(f, threads.rows[i].total));
    }
    sink_puts(out, "\n## Threads\n\n");
    table_markdown(t, out);
}

/* As on a terminal. Four blanks make code of a line, whatever a name in it holds. */
static void put_tree(const struct findings *f, bool inverted, struct sink *out)
{
    struct report plain = *f->r;
    own(buf) struct buf text;
    buf_init(&text, 16 << 20);
    struct sink to;
    sink_to_buf(&to, &text);
    plain.style = (struct table_style){0};
    report_tree(&plain, inverted, &to);
    if (!sink_flush(&to, NULL))
        sink_puts(out, "The tree is too large for a document.\n");
    for (const char *line = text.data; *line;) {
        size_t n = strcspn(line, "\n");
        sink_puts(out, "    ");
        sink_add(out, (struct view){line, n});
        sink_char(out, '\n');
        line += n + (line[n] == '\n');
    }
}

/* What was asked for besides the six. */
static void put_more(const struct findings *f, struct sink *out)
{
    const struct report *r = f->r;
    if (r->threads || r->deep)
        put_threads(f, out);
    if ((r->scopes || r->deep) && f->scopes.n) {
        sink_puts(out, "\n## Scopes\n\n");
        scopes_markdown(r->p, r->order, r->deep ? 0 : r->most_rows, out);
    }
    if ((r->waits || r->deep) && waits_are_there(r->p)) {
        sink_puts(out, "\n## On and off the CPU\n\n");
        waits_markdown(r->p, r->deep ? 0 : r->most_rows, out);
    }
    if ((r->memory || r->deep) && memory_is_there(r->p)) {
        sink_puts(out, "\n## Memory of Processes\n\n");
        memory_markdown(r->p, r->deep ? 0 : r->most_rows, out);
    }
    if (r->tree || r->deep) {
        sink_puts(out, "\n## Call Tree\n\n");
        put_tree(f, false, out);
    }
    if (r->inverted) {
        sink_puts(out, "\n## Inverted Call Tree\n\n");
        put_tree(f, true, out);
    }
}

static void put_memory(const struct findings *f, struct sink *out)
{
    if (!f->r->heap)
        return;
    sink_puts(out, "\n## Heap Memory\n\n");
    heap_markdown(f->r->heap, out);
}

void report_markdown(const struct findings *f, struct sink *out)
{
    if (f->r->enhanced) {
        report_enhanced(f, out);
        return;
    }
    put_head(f, out);
    put_system(f, out);
    if (f->r->heap_only) {
        put_memory(f, out);
        return;
    }
    put_hot_section(f, out);
    put_allocators(f, out);
    put_called(f, out);
    put_hierarchy(f, out);
    put_insights(f, out);
    put_memory(f, out);
    put_more(f, out);
}
