#include "verbs/lab_kernels_show.h"
#include "base/json.h"
#include "base/text.h"
#include "verbs/lab_roof.h"

static const struct column kernel_columns[] = {
    {"Kernel",     "kernel",         COLUMN_TEXT},
    {"Size",       "shape",          COLUMN_TEXT},
    {"Level",      "level",          COLUMN_TEXT},
    {"Threads",    "threads",        COLUMN_COUNT},
    {"Median",     "median_ns",      COLUMN_NS},
    {"P90",        "p90_ns",         COLUMN_NS},
    {"Min",        "min_ns",         COLUMN_NS},
    {"Stddev",     "stddev_ns",      COLUMN_NS},
    {"GFLOPS",     "gflops",         COLUMN_FIXED, 1},
    {"GB/s",       "gb_per_s",       COLUMN_FIXED, 1},
    {"ns/elem",    "ns_per_element", COLUMN_FIXED, 3},
    {"Of roof",    "share_of_roof",  COLUMN_SHARE},
    {"Bound by",   "bound_by",       COLUMN_TEXT},
    {"Right",      "right",          COLUMN_TEXT},
    {"Error",      "error",          COLUMN_REAL}, /* on paper only: a screen is narrow */
};
enum { COLUMNS = sizeof kernel_columns / sizeof *kernel_columns };

/* Of one call: an amount per nanosecond is as many billions per second. */
static double rate(double amount, const struct kernel_result *k) { return amount > 0 ? amount / k->timing.median_ns : UNKNOWN; }

static const char *right_word(const struct kernel_result *k)
{
    return !k->check.is_checked ? "not checked" : kernel_is_right(k) ? "yes" : "NO";
}

static void add_row(struct table *t, const struct kernel_result *k, const struct roof *roof, bool on_paper)
{
    struct limit limit = kernel_limit(k, roof);
    const double cells[] = {
        k->timing.median_ns, k->timing.p90_ns, k->timing.least_ns, k->timing.deviation_ns, rate(k->amount.flops, k),
        rate(k->amount.bytes, k), k->timing.median_ns / k->amount.elements, limit.ns / k->timing.median_ns,
    };
    table_text(t, view_of(k->name));
    table_text(t, view_of(k->shape));
    table_text(t, view_of(k->level));
    table_number(t, k->threads);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        table_number(t, cells[i]);
    table_text(t, view_of(limit.by));
    table_text(t, view_of(right_word(k)));
    if (on_paper)
        table_number(t, k->check.is_checked ? k->check.worst : UNKNOWN);
}

static struct table *table_of(const struct kernel_answer *a, bool on_paper)
{
    struct table *t = table_new(kernel_columns, on_paper ? COLUMNS : COLUMNS - 1);
    for (size_t i = 0; i < a->n; i++)
        add_row(t, &a->rows[i], a->roof, on_paper);
    return t;
}

/* More threads: how much quicker than one, for the same kernel, size and level. */

static const struct column scaling_columns[] = {
    {"Kernel", "kernel", COLUMN_TEXT},          {"Size", "shape", COLUMN_TEXT},        {"Level", "level", COLUMN_TEXT},
    {"Threads", "threads", COLUMN_COUNT},       {"Median", "median_ns", COLUMN_NS},    {"Speed-up", "speed_up", COLUMN_FIXED, 2},
    {"Efficiency", "efficiency", COLUMN_SHARE},
};

static const struct kernel_result *with_one_thread(const struct kernel_answer *a, const struct kernel_result *k)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct kernel_result *other = &a->rows[i];
        if (other->threads == 1 && other->size == k->size && !strcmp(other->name, k->name) && !strcmp(other->level, k->level))
            return other;
    }
    return NULL;
}

/* By the clock on the wall on both sides. */
static struct table *scaling_table(const struct kernel_answer *a)
{
    struct table *t = table_new(scaling_columns, sizeof scaling_columns / sizeof *scaling_columns);
    for (size_t i = 0; i < a->n; i++) {
        const struct kernel_result *k = &a->rows[i], *one = k->threads > 1 ? with_one_thread(a, k) : NULL;
        if (!one)
            continue;
        double speed_up = one->timing.wall_ns / k->timing.wall_ns;
        table_text(t, view_of(k->name));
        table_text(t, view_of(k->shape));
        table_text(t, view_of(k->level));
        table_number(t, k->threads);
        table_number(t, k->timing.wall_ns);
        table_number(t, speed_up);
        table_number(t, speed_up / k->threads);
    }
    return t;
}

static const char method[] =
    "A time is that of one call: median, 90th percentile, least and standard deviation of the samples; warm-up is in none "
    "of them. One thread is timed by its CPU clock, several by the clock on the wall. GFLOPS and GB/s are of exactly the "
    "timed calls. The roof is the least time in which this machine can do the arithmetic and move the bytes ('inferom lab "
    "machine'); above 100 % the machine was quicker than when it was measured. Right: against double precision.";

static void print_end(const struct kernel_answer *a, struct sink *out)
{
    if (a->n < a->planned)
        sink_printf(out, "\nInterrupted: %zu of %zu are finished.\n", a->n, a->planned);
    sink_printf(out, "\n%s\n", method);
}

void kernel_answer_print(const struct kernel_answer *a, const struct table_style *style, struct sink *out)
{
    own(table) struct table *t = table_of(a, false);
    own(table) struct table *scaling = scaling_table(a);
    table_print(t, style, out);
    if (table_rows(scaling)) {
        sink_char(out, '\n');
        table_print(scaling, style, out);
    }
    print_end(a, out);
}

void kernel_answer_markdown(const struct kernel_answer *a, struct sink *out)
{
    own(table) struct table *t = table_of(a, true);
    own(table) struct table *scaling = scaling_table(a);
    sink_printf(out, "# Kernels, %s\n\n", kernel_mode_names[a->mode]);
    table_markdown(t, out);
    if (table_rows(scaling)) {
        sink_puts(out, "\n## With more threads\n\n");
        table_markdown(scaling, out);
    }
    print_end(a, out);
    sink_puts(out, "\n## The machine\n");
    lab_roof_markdown(a->roof, out);
}

/* JSON: everything, with the names of docs/guide/lab.md. */

static void number(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void count(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

static void text(struct json_writer *w, const char *key, const char *value)
{
    json_key(w, key);
    json_text(w, view_of(value));
}

static void result_times(const struct timing *t, struct json_writer *w)
{
    number(w, "median_ns", t->median_ns);
    number(w, "p90_ns", t->p90_ns);
    number(w, "min_ns", t->least_ns);
    number(w, "max_ns", t->most_ns);
    number(w, "mean_ns", t->mean_ns);
    number(w, "stddev_ns", t->deviation_ns);
    number(w, "wall_ns", t->wall_ns);
    count(w, "samples", t->samples);
    count(w, "calls_per_sample", t->calls_a_sample);
    count(w, "calls", t->calls);
    count(w, "warm_up_calls", t->warm_up_calls);
    number(w, "total_ns", t->total_ns);
}

static void result_json(const struct kernel_result *k, const struct roof *roof, struct json_writer *w)
{
    struct limit limit = kernel_limit(k, roof);
    json_open(w, '{');
    text(w, "kernel", k->name);
    text(w, "shape", k->shape);
    count(w, "size", k->size);
    text(w, "level", k->level);
    count(w, "threads", k->threads);
    result_times(&k->timing, w);
    number(w, "flops", k->amount.flops);
    number(w, "bytes", k->amount.bytes);
    number(w, "gflops", rate(k->amount.flops, k));
    number(w, "gb_per_s", rate(k->amount.bytes, k));
    number(w, "ns_per_element", k->timing.median_ns / k->amount.elements);
    number(w, "roof_ns", limit.ns);
    number(w, "share_of_roof", limit.ns / k->timing.median_ns);
    text(w, "bound_by", limit.by);
    number(w, "checksum", k->check.is_checked ? k->check.checksum : UNKNOWN);
    number(w, "reference", k->check.is_checked ? k->check.want : UNKNOWN);
    number(w, "error", k->check.is_checked ? k->check.worst : UNKNOWN);
    json_key(w, "right");
    if (k->check.is_checked)
        json_bool(w, kernel_is_right(k));
    else
        json_null(w);
    json_close(w, '}');
}

void kernel_answer_json(const struct kernel_answer *a, struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    text(&w, "mode", kernel_mode_names[a->mode]);
    json_key(&w, "finished");
    json_bool(&w, a->n == a->planned);
    json_key(&w, "results");
    json_open(&w, '[');
    for (size_t i = 0; i < a->n; i++)
        result_json(&a->rows[i], a->roof, &w);
    json_close(&w, ']');
    json_key(&w, "machine");
    roof_json(a->roof, &w);
    json_close(&w, '}');
    sink_char(out, '\n');
}
