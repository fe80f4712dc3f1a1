/*
 * The rows of the table in the order of "functions"; under each, its callers in
 * the order of "calls". Rows of the same function are added up, as happens when
 * profiles were put together.
 */
#include "base/mem.h"
#include "base/text.h"
#include "formats/stats.h"
#include "model/counted_calls.h"

#define LARGEST_NS (INT64_C(1) << 50) /* 13 days: up to here the roundings of * 1e-9 and * 1e9 together stay below half a ns */

/* One way a function was called. Rows of the same callee are a chain. */
struct caller_row {
    frame_id caller;
    uint32_t next; /* + 1; 0: the last */
    bool only_count;
    int64_t values[COUNTED_COUNT];
};

struct function_row {
    frame_id frame;
    uint32_t first, last; /* of its callers, + 1 */
    int64_t values[COUNTED_COUNT];
};

struct stats_writer {
    const struct profile *p;
    struct sink *to;
    struct counted_calls what;
    uint32_t *row_of; /* by frame: row + 1 */
    struct function_row *functions;
    struct caller_row *callers;
    size_t n_functions, cap_functions, n_callers, cap_callers;
    struct err *e;
};

static void stats_writer_done(struct stats_writer *w)
{
    free(w->row_of);
    free(w->functions);
    free(w->callers);
}
DEFINE_OWN_IN_PLACE(stats_writer, struct stats_writer)

/* Gathering. */

static bool add_values(struct stats_writer *w, int64_t *to, const struct sample_set *set, size_t sample)
{
    for (size_t m = 0; m < set->n_measures; m++)
        if (__builtin_add_overflow(to[m], set->values[m][sample], &to[m]))
            return err_set(w->e, ERR_LIMIT, "the values of a function add up past 2^63");
    return true;
}

static bool gather_function(struct stats_writer *w, size_t sample)
{
    stack_id s = w->what.functions->stacks[sample];
    if (s.i == STACK_ROOT.i || profile_stack(w->p, s)->caller.i != STACK_ROOT.i)
        return err_set(w->e, ERR_UNSUPPORTED, "a function without a name, or a stack, cannot be in a .stats file");
    frame_id f = profile_stack(w->p, s)->frame;
    if (!w->row_of[f.i]) {
        GROW(w->functions, w->cap_functions, w->n_functions + 1);
        w->functions[w->n_functions] = (struct function_row){.frame = f};
        w->row_of[f.i] = (uint32_t)++w->n_functions;
    }
    return add_values(w, w->functions[w->row_of[f.i] - 1].values, w->what.functions, sample);
}

static struct caller_row *caller_row(struct stats_writer *w, struct function_row *of, frame_id caller, bool only_count)
{
    GROW(w->callers, w->cap_callers, w->n_callers + 1);
    w->callers[w->n_callers++] = (struct caller_row){.caller = caller, .only_count = only_count};
    if (of->last)
        w->callers[of->last - 1].next = (uint32_t)w->n_callers;
    else
        of->first = (uint32_t)w->n_callers;
    of->last = (uint32_t)w->n_callers;
    return &w->callers[w->n_callers - 1];
}

static bool gather_pairs(struct stats_writer *w, const struct sample_set *set)
{
    own(free) uint32_t *row_of = mem_new(profile_stacks(w->p) * sizeof *row_of); /* by stack, + 1 */
    for (size_t i = 0; i < set->n; i++) {
        frame_id caller, callee;
        uint32_t *row = &row_of[set->stacks[i].i];
        if (!counted_pair(w->p, set->stacks[i], &caller, &callee))
            continue; /* a frame was hidden: there is no pair any more */
        if (!w->row_of[callee.i])
            return err_set(w->e, ERR_UNSUPPORTED, "a function has callers, but no times");
        if (!*row) {
            caller_row(w, &w->functions[w->row_of[callee.i] - 1], caller, set->n_measures == 1);
            *row = (uint32_t)w->n_callers;
        }
        if (!add_values(w, w->callers[*row - 1].values, set, i))
            return false;
    }
    return true;
}

static bool gather(struct stats_writer *w)
{
    w->row_of = mem_new(profile_frames(w->p) * sizeof *w->row_of);
    for (size_t i = 0; i < w->what.functions->n; i++)
        if (!gather_function(w, i))
            return false;
    for (uint32_t i = 0; i < profile_sets(w->p); i++) {
        const struct sample_set *set = profile_set(w->p, (set_id){i});
        if (counted_is_calls(w->p, set, &w->what) && !gather_pairs(w, set))
            return false;
    }
    return true;
}

/* Writing. */

static void put_number(struct sink *to, uint64_t n, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        sink_char(to, (char)(n >> 8 * i));
}

/* Digits of 15 bits where 32 bits do not suffice. */
static void put_int(struct sink *to, int64_t n)
{
    if (n >= INT32_MIN && n <= INT32_MAX) {
        sink_char(to, 'i');
        put_number(to, (uint32_t)(int32_t)n, 4);
        return;
    }
    uint64_t rest = n < 0 ? 0u - (uint64_t)n : (uint64_t)n;
    unsigned digits = 0;
    for (uint64_t left = rest; left; left >>= 15)
        digits++;
    sink_char(to, 'l');
    put_number(to, n < 0 ? 0u - digits : digits, 4);
    for (; rest; rest >>= 15)
        put_number(to, rest & 0x7fff, 2);
}

static bool put_time(struct stats_writer *w, int64_t ns)
{
    if (ns > LARGEST_NS || ns < -LARGEST_NS)
        return err_set(w->e, ERR_LIMIT, "a time too long for the seconds of a .stats file");
    double s = (double)ns * 1e-9;
    uint64_t bits;
    memcpy(&bits, &s, sizeof bits);
    sink_char(w->to, 'g');
    put_number(w->to, bits, 8);
    return true;
}

static bool is_utf8(struct view text)
{
    for (size_t n; text.n; text = (struct view){text.at + n, text.n - n})
        if (!(n = text_utf8_length(text)))
            return false;
    return true;
}

/* What is no text to Python stays bytes. */
static void put_text(struct sink *to, struct view text)
{
    sink_char(to, is_utf8(text) ? 'u' : 's');
    put_number(to, text.n, 4);
    sink_add(to, text);
}

static void put_key(struct stats_writer *w, frame_id id)
{
    const struct function *f = profile_function(w->p, profile_frame(w->p, id)->function);
    sink_puts(w->to, ")\003");
    put_text(w->to, profile_string(w->p, f->file));
    put_int(w->to, f->line);
    put_text(w->to, profile_string(w->p, f->name));
}

static bool put_caller(struct stats_writer *w, const struct caller_row *c)
{
    put_key(w, c->caller);
    if (!c->only_count) {
        sink_puts(w->to, ")\004");
        put_int(w->to, c->values[COUNTED_CALLS]);
        put_int(w->to, c->values[COUNTED_PRIMITIVE]);
        return put_time(w, c->values[COUNTED_SELF]) && put_time(w, c->values[COUNTED_CUMULATIVE]);
    }
    put_int(w->to, c->values[COUNTED_CALLS]);
    return true;
}

static bool put_function(struct stats_writer *w, const struct function_row *f)
{
    put_key(w, f->frame);
    sink_puts(w->to, ")\005");
    put_int(w->to, f->values[COUNTED_PRIMITIVE]);
    put_int(w->to, f->values[COUNTED_CALLS]);
    if (!put_time(w, f->values[COUNTED_SELF]) || !put_time(w, f->values[COUNTED_CUMULATIVE]))
        return false;
    sink_char(w->to, '{');
    for (uint32_t c = f->first; c; c = w->callers[c - 1].next)
        if (!put_caller(w, &w->callers[c - 1]))
            return false;
    sink_char(w->to, '0');
    return true;
}

static void put_mark(struct sink *to)
{
    sink_puts(to, ")\001");
    put_text(to, VIEW(STATS_MARK));
    sink_char(to, 'T');
}

bool stats_write(const struct profile *p, struct sink *out, struct err *e)
{
    own(stats_writer) struct stats_writer w = {.p = p, .to = out, .e = e};
    if (!counted_calls_of(p, &w.what)) {
        err_set(e, ERR_UNSUPPORTED, "a .stats file holds counts of calls, and this profile has none");
        return err_hint(e, "pprof, speedscope and folded hold stacks");
    }
    if (!gather(&w))
        return false;
    sink_char(out, '{');
    for (size_t i = 0; i < w.n_functions; i++)
        if (!put_function(&w, &w.functions[i]))
            return false;
    if (w.what.is_sampled)
        put_mark(out);
    sink_char(out, '0');
    return true;
}
