#include "render/waits_text.h"
#include "base/json.h"
#include "base/text.h"

static double share(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

static const struct column wait_columns[] = {
    {"Time",     "ns",         COLUMN_NS},
    {"Off CPU",  "off_share",  COLUMN_SHARE},
    {"All time", "wall_share", COLUMN_SHARE},
    {"Samples",  "samples",    COLUMN_COUNT},
    {"Wait",     "wait",       COLUMN_TEXT},
};

static struct table *wait_table(const struct wait_times *w)
{
    struct table *t = table_new(wait_columns, sizeof wait_columns / sizeof *wait_columns);
    for (size_t i = 0; i < w->n_waits; i++) {
        const struct wait_share *s = &w->waits[i];
        table_number(t, (double)s->ns);
        table_number(t, share(s->ns, w->off_ns));
        table_number(t, share(s->ns, w->on_ns + w->off_ns));
        table_number(t, (double)s->samples);
        table_text(t, s->wait);
    }
    return t;
}

static const struct column thread_columns[] = {
    {"On CPU",    "on_ns",   COLUMN_NS},
    {"Off CPU",   "off_ns",  COLUMN_NS},
    {"Together",  "wall_ns", COLUMN_NS},
    {"Mostly",    "most_ns", COLUMN_NS},
    {"Wait",      "most",    COLUMN_TEXT},
    {"Tid",       "tid",     COLUMN_ID},
    {"Thread",    "thread",  COLUMN_TEXT},
};

static struct table *thread_table(const struct profile *p, const struct wait_times *w, size_t most)
{
    struct table *t = table_new(thread_columns, sizeof thread_columns / sizeof *thread_columns);
    for (size_t i = 0; i < w->n_threads && i < most; i++) {
        const struct wait_thread *h = &w->threads[i];
        const struct thread *thread = profile_thread(p, h->thread);
        table_number(t, (double)h->on_ns);
        table_number(t, (double)h->off_ns);
        table_number(t, (double)(h->on_ns + h->off_ns));
        table_number(t, (double)h->most_ns);
        table_text(t, h->most);
        table_number(t, thread->tid);
        table_text(t, profile_string(p, thread->name));
    }
    return t;
}

/* How one of the two tables is written; `which` is 0 or 1. */
typedef void (*put_table)(const struct table *t, size_t which, const void *how, struct sink *out);

/* Returns how many threads were left out. */
static size_t put_both(const struct profile *p, size_t most_threads, put_table put, const void *how, struct sink *out)
{
    own(wait_times) struct wait_times w;
    if (!wait_times_of(p, &w))
        return 0;
    size_t most = most_threads && most_threads < w.n_threads ? most_threads : w.n_threads;
    own(table) struct table *waits = wait_table(&w), *threads = thread_table(p, &w, most);
    put(waits, 0, how, out);
    sink_char(out, '\n');
    put(threads, 1, how, out);
    return w.n_threads - most;
}

bool waits_are_there(const struct profile *p)
{
    own(wait_times) struct wait_times w;
    return wait_times_of(p, &w);
}

static void put_text(const struct table *t, size_t which, const void *how, struct sink *out)
{
    (void)which;
    table_print(t, how, out);
}

static void put_markdown(const struct table *t, size_t which, const void *how, struct sink *out)
{
    (void)which, (void)how;
    table_markdown(t, out);
}

static void put_html(const struct table *t, size_t which, const void *how, struct sink *out)
{
    (void)how;
    table_html(t, which ? "lives" : "waits-for", out);
}

void waits_print(const struct profile *p, size_t most_threads, const struct table_style *style, struct sink *out)
{
    size_t more = put_both(p, most_threads, put_text, style, out);
    if (more)
        sink_printf(out, "(%zu more thread%s)\n", more, more == 1 ? "" : "s");
}

void waits_markdown(const struct profile *p, size_t most_threads, struct sink *out)
{
    size_t more = put_both(p, most_threads, put_markdown, NULL, out);
    if (more)
        sink_printf(out, "\n%zu more thread%s.\n", more, more == 1 ? "" : "s");
}

void waits_html(const struct profile *p, size_t most_threads, struct sink *out)
{
    size_t more = put_both(p, most_threads, put_html, NULL, out);
    if (more)
        sink_printf(out, "<p class=\"rest\">%zu more thread%s.</p>\n", more, more == 1 ? "" : "s");
}

void waits_json(const struct profile *p, struct json_writer *w)
{
    own(wait_times) struct wait_times times;
    if (!wait_times_of(p, &times))
        return;
    own(table) struct table *waits = wait_table(&times), *threads = thread_table(p, &times, times.n_threads);
    json_key(w, "waits");
    table_json(waits, w);
    json_key(w, "thread_times");
    table_json(threads, w);
}

void waits_print_life(const struct wait_thread *t, struct sink *out)
{
    char on[32], off[32], both[32];
    text_ns(on, (double)t->on_ns);
    text_ns(off, (double)t->off_ns);
    text_ns(both, (double)(t->on_ns + t->off_ns));
    sink_printf(out, "; on CPU %s + off CPU %s = %s", on, off, both);
}
