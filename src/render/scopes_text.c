#include "render/scopes_text.h"
#include "base/json.h"
#include "base/text.h"

#define NUMBER_COLUMNS(share)            \
    {"Calls", "calls", COLUMN_COUNT},         \
    {"Total", "total_ns", COLUMN_NS},         \
    {"Self", "self_ns", COLUMN_NS},           \
    {share, "self_share", COLUMN_SHARE},      \
    {"Min", "min_ns", COLUMN_NS},             \
    {"Mean", "mean_ns", COLUMN_NS},           \
    {"Max", "max_ns", COLUMN_NS},             \
    {"P50", "p50_ns", COLUMN_NS},             \
    {"P90", "p90_ns", COLUMN_NS},             \
    {"P99", "p99_ns", COLUMN_NS},             \
    {"Deviation", "deviation_ns", COLUMN_NS}, \
    {"Allocs", "allocations", COLUMN_COUNT},  \
    {"Bytes", "bytes", COLUMN_BYTES}

/* On a screen the name comes last, where it has room; in a page first, where it stays in sight and every column has a name to sort by. */
static const struct column screen_columns[] = {NUMBER_COLUMNS(""), {"Scope", "name", COLUMN_TEXT}};
static const struct column page_columns[] = {{"Scope", "name", COLUMN_CODE}, NUMBER_COLUMNS("Self %")};
enum { SCOPE_COLUMNS = sizeof screen_columns / sizeof *screen_columns };
enum name_at { NAME_FIRST, NAME_LAST };

static double known(int64_t n) { return n < 0 ? UNKNOWN : (double)n; }

static void scope_row(struct table *t, const struct profile *p, const struct scope_stats *s, int64_t whole, enum name_at name)
{
    const double cells[] = {
        (double)s->calls, (double)s->total_ns, (double)s->self_ns, whole ? (double)s->self_ns / (double)whole : 0,
        known(s->least_ns), s->mean_ns, known(s->most_ns), s->p50_ns, s->p90_ns, s->p99_ns, s->deviation_ns,
        known(s->allocations), known(s->bytes),
    };
    if (name == NAME_FIRST)
        table_text(t, profile_string(p, s->name));
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        table_number(t, cells[i]);
    if (name == NAME_LAST)
        table_text(t, profile_string(p, s->name));
}

static struct table *scope_table(const struct profile *p, const struct scopes *s, size_t most, enum name_at name)
{
    struct table *t = table_new(name == NAME_FIRST ? page_columns : screen_columns, SCOPE_COLUMNS);
    int64_t whole = 0;
    for (size_t i = 0; i < s->n; i++)
        whole += s->rows[i].self_ns;
    for (size_t i = 0; i < s->n && i < most; i++)
        scope_row(t, p, &s->rows[i], whole, name);
    return t;
}

static const struct column pair_columns[] = {
    {"Calls", "calls", COLUMN_COUNT}, {"From", "caller", COLUMN_TEXT}, {"Scope", "callee", COLUMN_TEXT},
};

static struct table *pair_table(const struct profile *p, const struct scopes *s, size_t most, bool for_eyes)
{
    struct table *t = table_new(pair_columns, sizeof pair_columns / sizeof *pair_columns);
    for (size_t i = 0; i < s->n_pairs && i < most; i++) {
        bool is_entry = !s->pairs[i].caller.i;
        table_number(t, (double)s->pairs[i].calls);
        table_text(t, is_entry && for_eyes ? VIEW("(nobody)") : profile_string(p, s->pairs[i].caller));
        table_text(t, profile_string(p, s->pairs[i].callee));
    }
    return t;
}

/* Series. */

static const struct column series_columns[] = {
    {"Series", "name",  COLUMN_TEXT}, {"Labels", "labels", COLUMN_TEXT}, {"Readings", "readings", COLUMN_COUNT},
    {"Last",   "last",  COLUMN_REAL}, {"Least",  "least",  COLUMN_REAL}, {"Mean",     "mean",     COLUMN_REAL},
    {"Most",   "most",  COLUMN_REAL}, {"Unit",   "unit",   COLUMN_TEXT},
};

struct summary {
    double last, least, mean, most;
};

static struct summary summary_of(const struct series *s)
{
    struct summary v = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        double value = s->readings[i].value;
        if (isnan(value))
            continue;
        v.last = value;
        v.least = fmin(v.least, value); /* passes over NAN */
        v.most = fmax(v.most, value);
        sum += value;
        n++;
    }
    if (n)
        v.mean = sum / (double)n;
    return v;
}

/* request=r-1, tokens=42 */
static void labels_text(const struct profile *p, labels_id id, struct buf *out)
{
    size_t n;
    const struct label *l = profile_labels(p, id, &n);
    for (size_t i = 0; i < n; i++) {
        struct view key = profile_string(p, l[i].key), text = profile_string(p, l[i].text);
        buf_puts(out, i ? ", " : "");
        buf_add(out, key.at, key.n);
        buf_puts(out, "=");
        if (text.n)
            buf_add(out, text.at, text.n);
        else
            buf_printf(out, "%lld", (long long)l[i].number);
    }
}

struct table *series_table(const struct profile *p)
{
    struct table *t = table_new(series_columns, sizeof series_columns / sizeof *series_columns);
    for (uint32_t i = 0; i < profile_series_count(p); i++) {
        const struct series *s = profile_series(p, (series_id){i});
        own(buf) struct buf labels;
        buf_init(&labels, 4096);
        labels_text(p, s->labels, &labels);
        struct summary v = summary_of(s);
        table_text(t, profile_string(p, s->name));
        table_text(t, buf_view(&labels));
        table_number(t, (double)s->n);
        table_number(t, v.last);
        table_number(t, v.least);
        table_number(t, v.mean);
        table_number(t, v.most);
        table_text(t, s->unit_name.i ? profile_string(p, s->unit_name) : view_of(unit_names[s->unit]));
    }
    return t;
}

/* All three. */

static void print_note(struct sink *out, const char *before, int64_t n, const char *after)
{
    char count[32];
    text_count(count, n);
    if (n > 0)
        sink_printf(out, "%s%s%s\n", before, count, after);
}

static void print_notes(const struct scopes *s, struct sink *out)
{
    int64_t calls = 0, timed = 0, cut = 0, left_out = 0, open = 0;
    for (size_t i = 0; i < s->n; i++) {
        calls += s->rows[i].calls;
        timed += s->rows[i].timed;
        cut += s->rows[i].cut;
        left_out += s->rows[i].left_out;
        open += s->rows[i].open;
    }
    print_note(out, "\n", calls - timed - cut - open, " calls of short scopes were counted and not timed; their lengths are taken to be like the others'");
    print_note(out, "\nleft out: ", left_out, " calls of warm-up, and what was inside them");
    print_note(out, "\ncut: ", cut, " calls were left by longjmp; how long they took is not known");
}

static size_t at_most(size_t n, size_t most) { return most && most < n ? most : n; }

void scopes_print(const struct profile *p, enum top_order order, size_t most_rows, const struct table_style *style, struct sink *out)
{
    own(scopes) struct scopes s = scopes_of(p);
    scopes_sort(&s, p, order);
    size_t rows = at_most(s.n, most_rows), pairs = at_most(s.n_pairs, most_rows);
    own(table) struct table *scopes = scope_table(p, &s, rows, NAME_LAST), *calls = pair_table(p, &s, pairs, true), *series = series_table(p);
    table_print(scopes, style, out);
    if (rows < s.n)
        sink_printf(out, "(%zu more scope%s)\n", s.n - rows, s.n - rows == 1 ? "" : "s");
    print_notes(&s, out);
    if (s.n_pairs) {
        sink_char(out, '\n');
        table_print(calls, style, out);
        if (pairs < s.n_pairs)
            sink_printf(out, "(%zu more)\n", s.n_pairs - pairs);
    }
    if (table_rows(series)) {
        sink_char(out, '\n');
        table_print(series, style, out);
    }
}

void scopes_markdown(const struct profile *p, enum top_order order, size_t most_rows, struct sink *out)
{
    own(scopes) struct scopes s = scopes_of(p);
    scopes_sort(&s, p, order);
    own(table) struct table *scopes = scope_table(p, &s, at_most(s.n, most_rows), NAME_LAST), *series = series_table(p);
    own(table) struct table *calls = pair_table(p, &s, at_most(s.n_pairs, most_rows), true);
    table_markdown(scopes, out);
    if (s.n_pairs) {
        sink_puts(out, "\nWho called whom, and how often:\n\n");
        table_markdown(calls, out);
    }
    if (table_rows(series)) {
        sink_puts(out, "\nCounters and gauges:\n\n");
        table_markdown(series, out);
    }
}

static void html_notes(const struct scopes *s, size_t left_out, struct sink *out)
{
    own(buf) struct buf notes;
    struct sink to;
    buf_init(&notes, 4096);
    sink_to_buf(&to, &notes);
    if (left_out)
        sink_printf(&to, "%zu more scope%s\n", left_out, left_out == 1 ? "" : "s");
    print_notes(s, &to);
    if (!sink_flush(&to, NULL))
        return;
    for (char *rest = NULL, *line = strtok_r(notes.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        sink_puts(out, "<p class=\"rest\">");
        text_markup(out, view_of(line), 0);
        sink_puts(out, "</p>\n");
    }
}

void scopes_html(const struct profile *p, enum top_order order, size_t most_rows, struct sink *out)
{
    own(scopes) struct scopes s = scopes_of(p);
    scopes_sort(&s, p, order);
    size_t rows = at_most(s.n, most_rows);
    own(table) struct table *scopes = scope_table(p, &s, rows, NAME_FIRST), *series = series_table(p);
    own(table) struct table *calls = pair_table(p, &s, at_most(s.n_pairs, most_rows), true);
    table_html(scopes, "scope-table", out);
    html_notes(&s, s.n - rows, out);
    if (s.n_pairs) {
        sink_puts(out, "<h3>Who called whom</h3>\n");
        table_html(calls, "scope-calls", out);
    }
    if (table_rows(series)) {
        sink_puts(out, "<h3>Counters and gauges</h3>\n");
        table_html(series, "series", out);
    }
}

void scopes_json(const struct profile *p, enum top_order order, struct json_writer *w)
{
    own(scopes) struct scopes s = scopes_of(p);
    scopes_sort(&s, p, order);
    own(table) struct table *scopes = scope_table(p, &s, s.n, NAME_LAST), *calls = pair_table(p, &s, s.n_pairs, false), *series = series_table(p);
    json_key(w, "scopes");
    table_json(scopes, w);
    json_key(w, "scope_calls");
    table_json(calls, w);
    json_key(w, "metrics");
    table_json(series, w);
}
