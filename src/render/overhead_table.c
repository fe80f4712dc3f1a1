#include "render/overhead_table.h"
#include "base/json.h"
#include "base/text.h"

enum { COLUMNS = 9 };

static const struct column columns[COLUMNS] = {
    {"Engine",            "engine",    COLUMN_TEXT},
    {"Rate",              "rate",      COLUMN_TEXT},
    {"CPU time",          "cpu",       COLUMN_TEXT},
    {"",                  "verdict",   COLUMN_TEXT},
    {"Recorder",          "share",     COLUMN_SHARE},
    {"to begin and end",  "fixed",     COLUMN_NS},
    {"its memory",        "peak",      COLUMN_BYTES},
    {"Samples/CPU-s",     "samples",   COLUMN_COUNT},
    {"Wall time",         "wall",      COLUMN_TEXT},
};

/* 1.014 [1.008..1.021] */
static void add_ratio(struct table *t, const struct verdict *v)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%.3f [%.3f..%.3f]", v->ratio, v->low, v->high);
    table_text(t, (struct view){text, (size_t)n});
}

static void add_row(struct table *t, const struct overhead_row *r, bool has_wall)
{
    char rate[32] = "", engine[64];
    snprintf(engine, sizeof engine, "%s%s", r->engine ? r->engine : "none, again", r->with_heap ? " + heap" : "");
    if (r->engine)
        snprintf(rate, sizeof rate, "%llu Hz", (unsigned long long)r->rate_hz);
    table_text(t, view_of(engine));
    table_text(t, view_of(rate));
    add_ratio(t, &r->cpu);
    table_text(t, view_of(verdict_words[r->cpu.is]));
    table_number(t, r->recorder_share);
    table_number(t, r->recorder_fixed_ns);
    table_number(t, r->recorder_peak_bytes);
    table_number(t, r->samples_per_cpu_s);
    if (has_wall)
        add_ratio(t, &r->wall);
}

static double spread(const struct verdict *v) { return v->high - v->low; }

/* The first row is the load against itself: what it shows is not our doing. */
static void print_reading_help(const struct overhead_answer *a, struct sink *out)
{
    const struct verdict *noise = &a->rows[0].cpu;
    sink_printf(out, "\nRatios with recording to without, middle [lowest..highest] of %zu pair%s; ", noise->pairs,
                noise->pairs == 1 ? "" : "s");
    if (noise->pairs < VERDICT_PAIRS)
        sink_printf(out, "fewer than %d decide nothing.\n", VERDICT_PAIRS);
    else
        sink_printf(out, "within %.0f %% is stable.\n", 100 * a->tolerance);
    if (spread(noise) > 2 * a->tolerance)
        sink_printf(out, "Noisy: the same load without recording differs from itself by up to %.1f %%. "
                         "More --rounds, or a quieter machine, would say more.\n", 100 * spread(noise));
}

void overhead_print(const struct overhead_answer *a, const struct table_style *style, struct sink *out)
{
    char cpu[32];
    text_ns(cpu, a->load_cpu_ns);
    sink_puts(out, "load: ");
    text_safe(out, view_of(a->load), 0);
    sink_printf(out, ", %s of CPU time\n\n", cpu);
    own(table) struct table *t = table_new(columns, a->has_wall ? COLUMNS : COLUMNS - 1);
    for (size_t i = 0; i < a->n; i++)
        add_row(t, &a->rows[i], a->has_wall);
    table_print(t, style, out);
    print_reading_help(a, out);
}

/* For machines. */

static void json_number(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void json_verdict(struct json_writer *w, const char *key, const struct verdict *v)
{
    json_key(w, key);
    json_open(w, '{');
    json_number(w, "ratio", v->ratio);
    json_number(w, "low", v->low);
    json_number(w, "high", v->high);
    json_key(w, "pairs");
    json_uint(w, v->pairs);
    json_key(w, "verdict");
    json_text(w, view_of(verdict_words[v->is]));
    json_close(w, '}');
}

static void json_row(struct json_writer *w, const struct overhead_row *r)
{
    json_open(w, '{');
    json_key(w, "engine");
    if (r->engine)
        json_text(w, view_of(r->engine));
    else
        json_null(w);
    json_number(w, "rate_hz", r->engine ? (double)r->rate_hz : UNKNOWN);
    json_key(w, "heap");
    json_bool(w, r->with_heap);
    json_verdict(w, "cpu", &r->cpu);
    json_verdict(w, "wall", &r->wall);
    json_number(w, "recorder_share", r->recorder_share);
    json_number(w, "recorder_fixed_ns", r->recorder_fixed_ns);
    json_number(w, "recorder_peak_bytes", r->recorder_peak_bytes);
    json_number(w, "samples_per_cpu_s", r->samples_per_cpu_s);
    json_close(w, '}');
}

void overhead_json(const struct overhead_answer *a, struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_key(&w, "load");
    json_text(&w, view_of(a->load));
    json_number(&w, "load_cpu_ns", a->load_cpu_ns);
    json_number(&w, "tolerance", a->tolerance);
    json_key(&w, "rows");
    json_open(&w, '[');
    for (size_t i = 0; i < a->n; i++)
        json_row(&w, &a->rows[i]);
    json_close(&w, ']');
    json_close(&w, '}');
    sink_char(out, '\n');
}
