/*
 * insights.c - sentences that follow from the numbers, each with its number
 *
 * First what the program did, then what to keep in mind about the measuring. A sentence stands
 * only where its number is known; none guesses at a cause.
 */
#include "analyse/by_thread.h"
#include "analyse/wait_times.h"
#include "base/text.h"
#include "render/findings.h"
#include "render/heap_view.h"
#include "render/memory_text.h"
#include "render/names.h"

#include <stdarg.h>

static void add(struct findings *f, const char *key, bool is_warning, double number, const char *fmt, ...) PRINTF_LIKE(5, 6);

static void add(struct findings *f, const char *key, bool is_warning, double number, const char *fmt, ...)
{
    if (f->n_insights == INSIGHTS_MOST)
        return;
    struct insight *i = &f->insights[f->n_insights++];
    *i = (struct insight){.key = key, .is_warning = is_warning, .number = number};
    va_list args;
    va_start(args, fmt);
    vsnprintf(i->text, sizeof i->text, fmt, args);
    va_end(args);
}

/* Measures are called what others call them: at most so much of it goes into a sentence. */
static const char *what(const struct findings *f, char room[64])
{
    struct view name = finding_measure(f);
    own(buf) struct buf safe;
    buf_init(&safe, 256);
    struct sink to;
    sink_to_buf(&to, &safe);
    text_safe(&to, name, 40);
    (void)!sink_flush(&to, NULL);
    if (view_same(name, VIEW("cpu")))
        return "CPU time";
    if (view_same(name, VIEW("self")) && finding_is_time(f))
        return "time";
    snprintf(room, 64, "%.60s", safe.data);
    return room;
}

/* "51.6 % of the CPU time is", "51.6 % of the samples are" */
static const char *is(const struct findings *f) { return finding_is_time(f) || f->measure->unit == UNIT_BYTES ? "is" : "are"; }

/* The program. */

static void concentration(struct findings *f)
{
    enum { FEW = 5 };
    size_t all;
    own(free) size_t *rows = methods_ranked(&f->methods, f->r->p, METHODS_BY_SELF, &all);
    int64_t self = 0;
    size_t n = all < FEW ? all : FEW;
    for (size_t i = 0; i < n; i++)
        self += f->methods.rows[rows[i]].self;
    char room[64];
    double share = finding_share(f, self);
    if (n)
        add(f, "concentration", false, share, "Top %zu function%s account%s for %.1f %% of the %s, by self values, which do not overlap", n,
            n == 1 ? "" : "s", n == 1 ? "s" : "", 100 * share, what(f, room));
}

static void hot_functions(struct findings *f)
{
    enum { MOST = 5 };
    size_t all;
    own(free) size_t *rows = methods_ranked(&f->methods, f->r->p, METHODS_BY_SELF, &all);
    for (size_t i = 0; i < all && i < MOST; i++) {
        const struct method *m = &f->methods.rows[rows[i]];
        const char *severity = finding_severity(f, m->self);
        char room[64], between[32];
        double share = finding_share(f, m->self);
        if (!severity || f->n_insights == INSIGHTS_MOST)
            return;
        finding_interval_text(f, m->self, between);
        bool is_sure = strcmp(between, "-") != 0;
        add(f, "hot function", false, share, "%s, %.1f %% of the %s %s its own%s%s%s", severity, 100 * share, what(f, room), is(f),
            is_sure ? " (99 % interval " : "", is_sure ? between : "", is_sure ? ")" : "");
        f->insights[f->n_insights - 1].function = m->function;
    }
}

static void busy_cores(struct findings *f)
{
    struct view name = finding_measure(f);
    if (!finding_is_time(f) || !view_same(name, VIEW("cpu")) || isnan(f->length_ns) || f->length_ns <= 0 || f->r->filtered)
        return;
    char cpu[32], length[32];
    double cores = (double)f->methods.whole / f->length_ns;
    text_ns(cpu, (double)f->methods.whole);
    text_ns(length, f->length_ns);
    const struct fact *has = profile_fact_named(f->r->p, VIEW("cores"));
    struct view of = has ? profile_string(f->r->p, has->value) : VIEW("");
    add(f, "cores", false, cores, "%s of CPU time in %s: %.2f cores were busy%s%.*s", cpu, length, cores, of.n ? " of " : "",
        (int)(of.n < 12 ? of.n : 12), of.n ? of.at : "");
}

static void threads(struct findings *f)
{
    own(by_thread) struct by_thread t = by_thread_of(f->r->p, f->r->set, f->r->measure);
    if (t.n < 2)
        return;
    char room[64];
    double share = finding_share(f, t.rows[0].total);
    add(f, "threads", false, share, "%zu threads; the busiest, tid %d, has %.1f %% of the %s", t.n,
        profile_thread(f->r->p, t.rows[0].thread)->tid, 100 * share, what(f, room));
}

static void waiting(struct findings *f)
{
    own(wait_times) struct wait_times w;
    if (!wait_times_of(f->r->p, &w) || !w.n_waits || w.on_ns + w.off_ns <= 0 || w.off_ns <= 0)
        return;
    double share = (double)w.off_ns / (double)(w.on_ns + w.off_ns);
    struct view most = w.waits[0].wait;
    add(f, "off the CPU", false, share, "Threads were off the CPU for %.1f %% of their time; %.1f %% of that is called %.*s", 100 * share,
        100 * (double)w.waits[0].ns / (double)w.off_ns, (int)(most.n < 60 ? most.n : 60), most.at);
}

static void kernel(struct findings *f)
{
    char room[64];
    double share = finding_share(f, f->quality.kernel);
    if (f->quality.kernel > 0)
        add(f, "kernel", false, share, "%.1f %% of the %s %s in the kernel", 100 * share, what(f, room), is(f));
}

/* Of functions where calls are known, else of the scopes that the program named itself. */
static void allocations_and_calls(struct findings *f)
{
    size_t large = 0, often = 0;
    for (size_t i = 0; i < f->methods.n; i++) {
        const struct method *m = &f->methods.rows[i];
        large += m->calls > 0 && m->bytes_total > 0 && (double)m->bytes_total / (double)m->calls > 1e6;
        often += m->calls > 10000;
    }
    bool are_large_scopes = !large, are_frequent_scopes = !often; /* what no function does, a scope may */
    for (size_t i = 0; i < f->scopes.n; i++) {
        const struct scope_stats *s = &f->scopes.rows[i];
        large += are_large_scopes && s->calls > 0 && s->bytes > 0 && (double)s->bytes / (double)s->calls > 1e6;
        often += are_frequent_scopes && s->calls > 10000;
    }
    if (large)
        add(f, "large allocations", false, (double)large, "%zu %s%s allocate%s more than 1 MB per call", large, are_large_scopes ? "scope" : "function",
            large == 1 ? "" : "s", large == 1 ? "s" : "");
    if (often)
        add(f, "frequent calls", false, (double)often, "%zu %s%s called more than 10 000 times", often, are_frequent_scopes ? "scope" : "function",
            often == 1 ? " is" : "s are");
}

static void weights_twice(struct findings *f)
{
    own(memory_use) struct memory_use m;
    struct weights_twice found[MEMORY_FINDINGS_MOST];
    char text[MEMORY_FINDING_TEXT];
    size_t n = memory_use_of(f->r->p, &m) ? weights_twice_of(&m, found, MEMORY_FINDINGS_MOST) : 0;
    for (size_t i = 0; i < n; i++) {
        memory_finding_text(&found[i], text);
        add(f, "weights twice", false, found[i].saving_bytes, "%s", text);
    }
}

/* The measuring. */

static void few_samples(struct findings *f)
{
    enum { ENOUGH = 1000 };
    if (isnan(f->samples) || f->samples >= ENOUGH)
        return;
    if (f->samples < 1) {
        add(f, "few samples", true, 0, "There is not one sample");
        return;
    }
    struct interval half = share_interval(0.5, f->samples);
    add(f, "few samples", true, f->samples, "Only %.0f samples: a share of 50 %% could as well be %.0f %% or %.0f %%", f->samples,
        100 * half.low, 100 * half.high);
}

static void missing(struct findings *f)
{
    char room[64], count[32];
    double lost = quality_lost_share(&f->quality), cut = finding_share(f, f->quality.cut), unnamed = finding_share(f, f->quality.unnamed);
    text_count(count, (int64_t)(f->quality.lost > INT64_MAX ? INT64_MAX : f->quality.lost));
    if (f->quality.lost && isnan(lost))
        add(f, "lost", true, (double)f->quality.lost, "%s samples are missing", count);
    else if (f->quality.lost)
        add(f, "lost", true, lost, "%s samples are missing, %.2f %% of all that should be here", count, 100 * lost);
    if (f->quality.cut)
        add(f, "cut stacks", true, cut, "%.2f %% of the %s %s in stacks whose first callers are missing: totals of those are too small",
            100 * cut, what(f, room), is(f));
    if (f->quality.unnamed)
        add(f, "unnamed", true, unnamed, "%.1f %% of the %s %s in functions without a name; debug symbols would give them one", 100 * unnamed,
            what(f, room), is(f));
    if (f->quality.damages)
        add(f, "damaged", true, (double)f->quality.damages, "%zu place%s of the file could not be read; this is about the rest",
            f->quality.damages, f->quality.damages == 1 ? "" : "s");
}

/* ", called by remember, answer": the next two on a path, as text that moves no cursor. */
static void callers_of(const struct heap *h, uint32_t node, char out[128])
{
    enum { SAID = 2, COLUMNS = 40 };
    func_id path[SAID + 1];
    size_t n = heap_path(&h->tree, node, path, SAID + 1);
    own(buf) struct buf text;
    buf_init(&text, 127);
    struct sink to;
    sink_to_buf(&to, &text);
    for (size_t i = 1; i < n && i <= SAID; i++) {
        char room[NAME_ROOM];
        sink_puts(&to, i == 1 ? ", called by " : ", ");
        text_safe(&to, name_of_function(h->p, path[i], room), COLUMNS);
    }
    bool fits = sink_flush(&to, NULL);
    snprintf(out, 128, "%s", fits ? text.data : "");
}

/* Of leaks only those that grow: what is live at the end need not be a mistake. The function is the one that allocates. */
static void growing_leaks(struct findings *f)
{
    enum { LEAKS_SAID = 3 };
    const struct heap_view *v = f->r->heap;
    for (size_t i = 0; v && i < v->leaks.n && i < LEAKS_SAID && v->leaks.rows[i].grade == LEAK_A; i++) {
        const struct leak *l = &v->leaks.rows[i];
        const struct heap_row *row = &v->heap.rows[l->row];
        char each[32], bytes[32], callers[128];
        callers_of(&v->heap, row->node, callers);
        double by_a_turn = (double)l->left_behind / (double)l->grew_in;
        text_bytes(each, by_a_turn);
        text_bytes(bytes, (double)row->sums.of[HEAP_LIVE_BYTES]);
        size_t before = f->n_insights;
        add(f, "leak", false, by_a_turn, "a leak that grows%s: every turn leaves %s behind; %s live at the end", callers, each, bytes);
        if (f->n_insights > before)
            f->insights[before].function = v->heap.tree.nodes[row->node].function;
    }
}

void find_insights(struct findings *f)
{
    concentration(f);
    hot_functions(f);
    busy_cores(f);
    threads(f);
    waiting(f);
    kernel(f);
    allocations_and_calls(f);
    weights_twice(f);
    growing_leaks(f);
    few_samples(f);
    missing(f);
}
