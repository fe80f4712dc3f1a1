#include "verbs/lab_roof.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "lab/team.h"

/* Measuring. */

static void at_row(void *self, size_t done, size_t all)
{
    struct progress *p = self;
    p->total = all;
    progress_at(p, done);
}

bool lab_roof_measure(struct roof *out, const struct call *c, unsigned threads, bool is_short, struct err *e)
{
    struct progress progress = progress_begin("measuring the machine", 0);
    struct roof_plan plan = {.threads = threads, .is_short = is_short, .stop = c->stop, .progress = at_row, .self = &progress};
    bool ok = roof_measure(out, &plan, e);
    progress_end(&progress);
    return ok;
}

bool lab_roof(struct roof *out, const struct call *c, struct err *e)
{
    struct err why = {0};
    char path[4096];
    if (roof_load(out, &why))
        return true;
    log_info("%s; a short measurement comes first", why.text);
    if (!lab_roof_measure(out, c, team_processors(), true, e))
        return false;
    if (!roof_save(out, path, sizeof path, &why))
        log_warn("the machine's figures could not be kept: %s", why.text);
    return true;
}

/* Showing: one table for each kind of row. */

static const struct kind {
    const char *kind, *title, *unit, *key;
    double per; /* what one unit is */
} kinds[] = {
    {"memory", "Memory", "GB/s", "gb_per_s", 1e9},
    {"peak", "Arithmetic in registers", "GFLOPS", "gflops", 1e9},
    {"cache", "Reading a set again and again", "GB/s", "gb_per_s", 1e9},
    {"latency", "From pointer to pointer", "ns", "ns", 1},
    {"cost", "One call", "ns", "ns", 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void add_row(struct table *t, const struct roof_row *r, double per)
{
    char text[32];
    if (r->bytes)
        text_bytes(text, (double)r->bytes);
    table_text(t, view_of(r->bytes ? text : r->what));
    table_number(t, r->threads);
    table_number(t, r->f.median / per);
    table_number(t, r->f.least / per);
    table_number(t, r->f.most / per);
    table_number(t, r->f.readings);
}

/* NULL when there is no such row. The caller's to free. */
static struct table *table_of(const struct roof *r, const struct kind *k, struct column columns[6])
{
    const struct column shape[6] = {
        {k->title, "what", COLUMN_TEXT},        {"Threads", "threads", COLUMN_COUNT},
        {k->unit, k->key, COLUMN_FIXED, 1},     {"Least", "least", COLUMN_FIXED, 1},
        {"Most", "most", COLUMN_FIXED, 1},      {"Readings", "readings", COLUMN_COUNT},
    };
    memcpy(columns, shape, sizeof shape);
    struct table *t = table_new(columns, 6);
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->rows[i].kind, k->kind))
            add_row(t, &r->rows[i], k->per);
    if (table_rows(t))
        return t;
    table_free(t);
    return NULL;
}

static void print_head(const struct roof *r, struct sink *out)
{
    text_safe(out, view_of(*r->key.cpu ? r->key.cpu : "a processor without a name"), 0);
    sink_printf(out, ", %u core%s, %u GiB\n", r->key.cores, r->key.cores == 1 ? "" : "s", r->key.memory_gib);
}

static const char method[] =
    "Medians of the readings, with the least and the most of them. Threads are timed by their CPU clocks, several by that of "
    "the slowest: what a busy machine could do, and not how busy it is. Memory was touched first by the thread that uses it, in ordinary pages (\"huge\": in huge ones); "
    "bytes are those the program reads and writes. A multiply-and-add is two operations.";

void lab_roof_print(const struct roof *r, const struct table_style *style, struct sink *out)
{
    print_head(r, out);
    for (size_t i = 0; i < KINDS; i++) {
        struct column columns[6];
        own(table) struct table *t = table_of(r, &kinds[i], columns);
        if (!t)
            continue;
        sink_char(out, '\n');
        table_print(t, style, out);
    }
    sink_printf(out, "\n%s\n", method);
}

void lab_roof_markdown(const struct roof *r, struct sink *out)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct column columns[6];
        own(table) struct table *t = table_of(r, &kinds[i], columns);
        if (!t)
            continue;
        sink_char(out, '\n');
        table_markdown(t, out);
    }
    sink_printf(out, "\n%s\n", method);
}
