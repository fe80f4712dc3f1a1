#include "render/live_view.h"
#include "analyse/by_thread.h"
#include "base/json.h"
#include "base/text.h"
#include "render/names.h"

#include <inttypes.h>

enum { THREADS_SHOWN = 6, PROCESSES_SHOWN = 4 };

static double share(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

static struct view text_of(const struct live_view *v, str_id id) { return profile_string(live_names(v->live), id); }

/* Of what is shown: the functions in order, those that do not pass the filter left out. */
static struct top functions_of(const struct live_view *v, const struct sample_set *set)
{
    const struct profile *p = live_names(v->live);
    struct top t = top_of(p, set, 0, NULL, 0);
    size_t kept = 0;
    char room[NAME_ROOM];
    for (size_t i = 0; i < t.n; i++)
        if (!*v->filter || strcasestr(name_of_function(p, t.rows[i].function, room).at, v->filter))
            t.rows[kept++] = t.rows[i];
    t.n = kept;
    top_sort(&t, p, v->order);
    return t;
}

/* CPU time of a thread in the window, as a share of the window: 1 is one core all the time. */
static double use_of(const struct live_view *v, const struct thread_share *t)
{
    uint64_t length = live_length_ns(v->live, v->now_ns);
    return length ? (double)t->total / (double)length : UNKNOWN;
}

/* The sum of what is known; UNKNOWN when nothing is. */
static double sum_of(const struct live_view *v, double (*get)(const struct live_process *))
{
    double sum = UNKNOWN;
    for (size_t i = 0; i < v->live->n_processes; i++) {
        double x = get(&v->live->processes[i]);
        if (!isnan(x))
            sum = (isnan(sum) ? 0 : sum) + x;
    }
    return sum;
}

static double get_cpu(const struct live_process *p) { return p->cpu_ratio; }
static double get_rss(const struct live_process *p) { return p->rss_bytes; }
static double get_anon(const struct live_process *p) { return p->anon_bytes; }
static double get_file(const struct live_process *p) { return p->file_bytes; }
static double get_shared(const struct live_process *p) { return p->shared_bytes; }

/* For eyes. */

static void print_who(const struct live_view *v, struct sink *out)
{
    const struct live *l = v->live;
    if (!l->n_processes) {
        sink_puts(out, "no process yet");
        return;
    }
    text_safe(out, text_of(v, l->processes[0].name), 40);
    sink_printf(out, " (%" PRId32 ")", l->processes[0].pid);
    if (l->n_processes > 1)
        sink_printf(out, " and %zu more", l->n_processes - 1);
}

/* " (300 MiB anonymous, 1.2 GiB files)" */
static void print_split(const struct live_view *v, struct sink *out)
{
    const struct {
        const char *name;
        double bytes;
    } parts[] = {{"anonymous", sum_of(v, get_anon)}, {"files", sum_of(v, get_file)}, {"shared", sum_of(v, get_shared)}};
    const char *before = " (";
    char text[32];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (isnan(parts[i].bytes) || parts[i].bytes <= 0)
            continue;
        text_bytes(text, parts[i].bytes);
        sink_printf(out, "%s%s %s", before, text, parts[i].name);
        before = ", ";
    }
    sink_puts(out, *before == ',' ? ")" : "");
}

static void print_head(const struct live_view *v, const struct sample_set *set, struct sink *out)
{
    double cpu = sum_of(v, get_cpu), rss = sum_of(v, get_rss);
    char text[32];
    print_who(v, out);
    if (!isnan(cpu))
        sink_printf(out, ": CPU %.0f %%", 100 * cpu);
    if (!isnan(rss)) {
        text_bytes(text, rss);
        sink_printf(out, ", memory %s", text);
        print_split(v, out);
    }
    sink_printf(out, "; the last %.1f s, %zu samples, %" PRIu64 " lost\n",
                (double)live_length_ns(v->live, v->now_ns) / 1e9, set->n, v->live->lost);
    if (v->note)
        sink_printf(out, "%s\n", v->note);
}

static size_t print_processes(const struct live_view *v, struct sink *out)
{
    static const struct column columns[] = {
        {"CPU", "cpu", COLUMN_SHARE}, {"Memory", "memory", COLUMN_BYTES}, {"Process", "process", COLUMN_TEXT}, {"pid", "pid", COLUMN_ID}};
    const struct live *l = v->live;
    if (l->n_processes < 2)
        return 0;
    own(table) struct table *t = table_new(columns, 4);
    for (size_t i = 0; i < l->n_processes && i < PROCESSES_SHOWN; i++) {
        table_number(t, l->processes[i].cpu_ratio);
        table_number(t, l->processes[i].rss_bytes);
        table_text(t, text_of(v, l->processes[i].name));
        table_number(t, l->processes[i].pid);
    }
    sink_char(out, '\n');
    table_print(t, &v->style, out);
    return table_rows(t) + 2;
}

static size_t print_threads(const struct live_view *v, const struct sample_set *set, struct sink *out)
{
    static const struct column columns[] = {
        {"CPU", "cpu", COLUMN_SHARE}, {"Thread", "thread", COLUMN_TEXT}, {"tid", "tid", COLUMN_ID}};
    own(by_thread) struct by_thread threads = by_thread_of(live_names(v->live), set, 0);
    own(table) struct table *t = table_new(columns, 3);
    for (size_t i = 0; i < threads.n && i < THREADS_SHOWN; i++) {
        const struct thread *h = profile_thread(live_names(v->live), threads.rows[i].thread);
        table_number(t, use_of(v, &threads.rows[i]));
        table_text(t, text_of(v, h->name));
        table_number(t, h->tid);
    }
    sink_char(out, '\n');
    table_print(t, &v->style, out);
    size_t lines = table_rows(t) + 2;
    if (threads.n > THREADS_SHOWN) {
        sink_printf(out, "(%zu more)\n", threads.n - THREADS_SHOWN);
        lines++;
    }
    return lines;
}

static void print_functions(const struct live_view *v, const struct sample_set *set, size_t most, struct sink *out)
{
    static const struct column columns[] = {{"Self", "self_share", COLUMN_SHARE},
                                            {"Total", "total_share", COLUMN_SHARE},
                                            {"Function", "function", COLUMN_TEXT},
                                            {"Module", "module", COLUMN_TEXT},
                                            {"Where", "place", COLUMN_TEXT}};
    const struct profile *p = live_names(v->live);
    own(top) struct top top = functions_of(v, set);
    own(table) struct table *t = table_new(columns, 5);
    char room[NAME_ROOM];
    for (size_t i = 0; i < top.n && (!most || i < most); i++) {
        table_number(t, share(top.rows[i].self, top.whole));
        table_number(t, share(top.rows[i].total, top.whole));
        table_text(t, name_of_function(p, top.rows[i].function, room));
        table_text(t, name_of_module(p, top.rows[i].function));
        table_text(t, view_last_part(name_of_place(p, top.rows[i].function, room)));
    }
    sink_char(out, '\n');
    table_print(t, &v->style, out);
}

void live_print(const struct live_view *v, struct sink *out)
{
    struct sample_set set = live_set(v->live);
    size_t used = 3 + (v->note != NULL), most = v->most_rows; /* the first lines, and those above the functions */
    print_head(v, &set, out);
    used += print_processes(v, out);
    used += print_threads(v, &set, out);
    if (v->height)
        most = v->height > used ? v->height - used : 1;
    print_functions(v, &set, most, out);
}

/* For machines. */

static void json_number(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void json_pair(struct json_writer *w, const char *key, struct view text)
{
    json_key(w, key);
    json_text(w, text);
}

static void json_processes(const struct live_view *v, struct json_writer *w)
{
    json_key(w, "processes");
    json_open(w, '[');
    for (size_t i = 0; i < v->live->n_processes; i++) {
        const struct live_process *row = &v->live->processes[i];
        json_open(w, '{');
        json_number(w, "pid", row->pid);
        json_pair(w, "process", text_of(v, row->name));
        json_number(w, "cpu_ratio", row->cpu_ratio);
        json_number(w, "rss_bytes", row->rss_bytes);
        json_number(w, "anon_bytes", row->anon_bytes);
        json_number(w, "file_bytes", row->file_bytes);
        json_number(w, "shared_bytes", row->shared_bytes);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void json_threads(const struct live_view *v, const struct sample_set *set, struct json_writer *w)
{
    const struct profile *p = live_names(v->live);
    own(by_thread) struct by_thread threads = by_thread_of(p, set, 0);
    json_key(w, "threads");
    json_open(w, '[');
    for (size_t i = 0; i < threads.n; i++) {
        const struct thread *h = profile_thread(p, threads.rows[i].thread);
        json_open(w, '{');
        json_number(w, "tid", h->tid);
        json_number(w, "pid", profile_process(p, h->process)->pid);
        json_pair(w, "thread", text_of(v, h->name));
        json_number(w, "cpu_ratio", use_of(v, &threads.rows[i]));
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void json_function(const struct live_view *v, const struct hot *h, int64_t whole, struct json_writer *w)
{
    const struct profile *p = live_names(v->live);
    const struct function *f = profile_function(p, h->function);
    char room[NAME_ROOM];
    json_open(w, '{');
    json_pair(w, "function", name_of_function(p, h->function, room));
    json_pair(w, "file", text_of(v, f->file));
    json_number(w, "line", f->line ? (double)f->line : UNKNOWN);
    json_pair(w, "module", name_of_module(p, h->function));
    json_number(w, "self_ns", (double)h->self);
    json_number(w, "self_share", share(h->self, whole));
    json_number(w, "total_ns", (double)h->total);
    json_number(w, "total_share", share(h->total, whole));
    json_close(w, '}');
}

void live_json(const struct live_view *v, struct sink *out)
{
    struct sample_set set = live_set(v->live);
    own(top) struct top top = functions_of(v, &set);
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_number(&w, "duration_ns", (double)live_length_ns(v->live, v->now_ns));
    json_number(&w, "samples", (double)set.n);
    json_number(&w, "lost", (double)v->live->lost);
    json_processes(v, &w);
    json_threads(v, &set, &w);
    json_key(&w, "functions");
    json_open(&w, '[');
    for (size_t i = 0; i < top.n && (!v->most_rows || i < v->most_rows); i++)
        json_function(v, &top.rows[i], top.whole, &w);
    json_close(&w, ']');
    json_close(&w, '}');
    sink_char(out, '\n');
}
