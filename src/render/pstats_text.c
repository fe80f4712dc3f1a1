/*
 * Sums and quotients are those of Python's doubles: cProfile wrote nanoseconds
 * times 1e-9, and so the seconds here are the very numbers it wrote.
 */
#include "render/pstats_text.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/counted_calls.h"

#include <sys/stat.h>
#include <time.h>

const char *const pstats_order_names[PSTATS_ORDER_COUNT + 1] = {
    [PSTATS_TIME] = "time",         [PSTATS_CUMULATIVE] = "cumulative", [PSTATS_CALLS] = "calls",
    [PSTATS_PCALLS] = "pcalls",     [PSTATS_NAME] = "name",             [PSTATS_FILENAME] = "filename",
    [PSTATS_LINE] = "line",         [PSTATS_NFL] = "nfl",               [PSTATS_STDNAME] = "stdname",
    [PSTATS_UNSORTED] = "unsorted",
};

static const char *const order_words[PSTATS_ORDER_COUNT] = {
    [PSTATS_TIME] = "internal time",          [PSTATS_CUMULATIVE] = "cumulative time", [PSTATS_CALLS] = "call count",
    [PSTATS_PCALLS] = "primitive call count", [PSTATS_NAME] = "function name",         [PSTATS_FILENAME] = "file name",
    [PSTATS_LINE] = "line number",            [PSTATS_NFL] = "name/file/line",         [PSTATS_STDNAME] = "standard name",
};

struct pstats_row {
    size_t at; /* in the file: equals keep its order */
    int64_t calls, primitive;
    double self_s, cumulative_s;
    struct view file, name, standard;
    uint32_t line;
};

struct pstats_rows {
    struct pstats_row *rows;
    size_t n;
    struct arena names;
};

static void pstats_rows_done(struct pstats_rows *r)
{
    free(r->rows);
    arena_done(&r->names);
}
DEFINE_OWN_IN_PLACE(pstats_rows, struct pstats_rows)

/* "work.py:3(fib)" */
static struct view place_and_name(struct arena *names, const struct pstats_row *r)
{
    char line[16];
    size_t digits = (size_t)snprintf(line, sizeof line, ":%u(", r->line);
    struct view parts[] = {r->file, {line, digits}, r->name, VIEW(")")};
    char *text = arena_new(names, r->file.n + digits + r->name.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; n += parts[i++].n)
        memcpy(text + n, parts[i].at, parts[i].n);
    return (struct view){text, n};
}

/* Functions in C have no file: "{built-in method builtins.len}" */
static struct view standard_name(struct arena *names, const struct pstats_row *r)
{
    if (r->line || !view_same(r->file, VIEW("~")))
        return place_and_name(names, r);
    if (!view_starts(r->name, VIEW("<")) || !view_ends(r->name, VIEW(">")))
        return r->name;
    char *text = arena_text(names, r->name);
    text[0] = '{';
    text[r->name.n - 1] = '}';
    return (struct view){text, r->name.n};
}

static void gather(const struct profile *p, const struct sample_set *set, struct pstats_rows *into)
{
    *into = (struct pstats_rows){.rows = mem_new((set->n + 1) * sizeof *into->rows)};
    for (size_t i = 0; i < set->n; i++) {
        if (set->stacks[i].i == STACK_ROOT.i)
            continue;
        const struct frame *frame = profile_frame(p, profile_stack(p, set->stacks[i])->frame);
        const struct function *f = profile_function(p, frame->function);
        struct pstats_row *r = &into->rows[into->n];
        *r = (struct pstats_row){
            .at = into->n++, .calls = set->values[COUNTED_CALLS][i], .primitive = set->values[COUNTED_PRIMITIVE][i],
            .self_s = (double)set->values[COUNTED_SELF][i] * 1e-9,
            .cumulative_s = (double)set->values[COUNTED_CUMULATIVE][i] * 1e-9,
            .file = profile_string(p, f->file), .name = profile_string(p, f->name), .line = f->line,
        };
        r->standard = standard_name(&into->names, r);
    }
}

/* Numbers come largest first, names and lines in their order. */
static int compare_by(enum pstats_order by, const struct pstats_row *a, const struct pstats_row *b)
{
    switch (by) {
    case PSTATS_TIME:       return (a->self_s < b->self_s) - (a->self_s > b->self_s);
    case PSTATS_CUMULATIVE: return (a->cumulative_s < b->cumulative_s) - (a->cumulative_s > b->cumulative_s);
    case PSTATS_CALLS:      return (a->calls < b->calls) - (a->calls > b->calls);
    case PSTATS_PCALLS:     return (a->primitive < b->primitive) - (a->primitive > b->primitive);
    case PSTATS_NAME:       return view_compare(a->name, b->name);
    case PSTATS_FILENAME:   return view_compare(a->file, b->file);
    case PSTATS_LINE:       return (a->line > b->line) - (a->line < b->line);
    case PSTATS_STDNAME:    return view_compare(a->standard, b->standard);
    default:                return 0;
    }
}

static int compare(const void *pa, const void *pb, void *order)
{
    static const enum pstats_order nfl[] = {PSTATS_NAME, PSTATS_FILENAME, PSTATS_LINE};
    const struct pstats_row *a = pa, *b = pb;
    enum pstats_order by = *(const enum pstats_order *)order;
    int is = by == PSTATS_NFL ? 0 : compare_by(by, a, b);
    for (size_t i = 0; by == PSTATS_NFL && !is && i < 3; i++)
        is = compare_by(nfl[i], a, b);
    return is ? is : (a->at > b->at) - (a->at < b->at);
}

/* Printing. */

/* The file and when it was written, in local time, as Python's time.ctime() has it. */
static void print_heading(const char *source, struct sink *out)
{
    struct stat st;
    char when[32];
    if (stat(source, &st) == 0 && ctime_r(&st.st_mtime, when))
        sink_printf(out, "%.24s    ", when);
    text_safe(out, view_of(source), 0);
    sink_puts(out, "\n\n");
}

static void print_sums(const struct pstats_rows *r, struct sink *out)
{
    int64_t calls = 0, primitive = 0;
    double seconds = 0;
    for (size_t i = 0; i < r->n; i++) {
        calls += r->rows[i].calls;
        primitive += r->rows[i].primitive;
        seconds += r->rows[i].self_s;
    }
    sink_printf(out, "         %lld function calls ", (long long)calls);
    if (calls != primitive)
        sink_printf(out, "(%lld primitive calls) ", (long long)primitive);
    sink_printf(out, "in %.3f seconds\n\n", seconds);
}

static void print_order(const struct pstats_look *look, size_t n, size_t shown, struct sink *out)
{
    if (look->order == PSTATS_UNSORTED)
        sink_puts(out, "   Random listing order was used\n");
    else
        sink_printf(out, "   Ordered by: %s\n", order_words[look->order]);
    if (shown < n)
        sink_printf(out, "   List reduced from %zu to %zu due to restriction <%zu>\n", n, shown, shown);
    sink_char(out, '\n');
}

static void print_per_call(double seconds, int64_t calls, struct sink *out)
{
    if (calls)
        sink_printf(out, "%8.3f ", seconds / (double)calls);
    else
        sink_puts(out, "         ");
}

static void print_row(const struct pstats_row *r, struct sink *out)
{
    char calls[48];
    if (r->calls == r->primitive)
        snprintf(calls, sizeof calls, "%lld", (long long)r->calls);
    else
        snprintf(calls, sizeof calls, "%lld/%lld", (long long)r->calls, (long long)r->primitive);
    sink_printf(out, "%9s %8.3f ", calls, r->self_s);
    print_per_call(r->self_s, r->calls, out);
    sink_printf(out, "%8.3f ", r->cumulative_s);
    print_per_call(r->cumulative_s, r->primitive, out);
    text_safe(out, r->standard, 0);
    sink_char(out, '\n');
}

bool pstats_print(const struct profile *p, const struct pstats_look *look, struct sink *out, struct err *e)
{
    struct counted_calls counted;
    if (!counted_calls_of(p, &counted))
        return err_set(e, ERR_UNSUPPORTED, "the table of pstats is about counted calls, and this profile has none");
    if (counted.is_sampled)
        return err_set(e, ERR_UNSUPPORTED, "the table of pstats is about calls, and this profile counted samples");
    own(pstats_rows) struct pstats_rows all;
    gather(p, counted.functions, &all);
    if (look->source)
        print_heading(look->source, out);
    print_sums(&all, out);
    if (!all.n)
        return true;
    enum pstats_order order = look->order;
    if (order != PSTATS_UNSORTED)
        qsort_r(all.rows, all.n, sizeof *all.rows, compare, &order);
    size_t shown = look->most_rows && look->most_rows < all.n ? look->most_rows : all.n;
    print_order(look, all.n, shown, out);
    sink_puts(out, "   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n");
    for (size_t i = 0; i < shown; i++)
        print_row(&all.rows[i], out);
    sink_puts(out, "\n\n");
    return true;
}
