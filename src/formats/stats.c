#include "formats/stats.h"
#include "formats/marshal.h"
#include "model/counted_calls.h"

#include <math.h>

#define LARGEST_FILE ((size_t)64 << 20)
#define LARGEST_SECONDS 9e9 /* some 285 years; in ns still a 64-bit number */

struct stats_reader {
    struct builder *b;
    const struct marshal *m;
    bool is_sampled;
    set_id functions;
    size_t pairs_left; /* a file may use the same callers again and again: not more often than it has bytes */
    struct err *e;
};

static bool bad(struct stats_reader *r, const char *what) { return err_set(r->e, ERR_MALFORMED, "%s", what); }

/* Numbers. */

static bool read_count(struct stats_reader *r, const struct marshal_value *v, int64_t *out)
{
    if (v->kind != MARSHAL_INT || v->whole < 0)
        return bad(r, "a count that is not a count");
    *out = v->whole;
    return true;
}

/* Seconds; a function that took none may have a whole 0. */
static bool read_time(struct stats_reader *r, const struct marshal_value *v, int64_t *out)
{
    double s = v->kind == MARSHAL_INT ? (double)v->whole : v->real;
    if (v->kind != MARSHAL_INT && v->kind != MARSHAL_REAL)
        return bad(r, "a time that is not a number");
    if (!(fabs(s) < LARGEST_SECONDS))
        return bad(r, "a time that no clock shows");
    *out = llround(s * 1e9);
    return true;
}

/* Counts and times in the order of the file, which is not that of the measures. */
static bool read_numbers(struct stats_reader *r, const struct marshal_value *tuple, const enum counted order[4], int64_t *out)
{
    for (size_t i = 0; i < 4; i++) {
        const struct marshal_value *v = marshal_at(r->m, tuple, i);
        bool is_count = order[i] == COUNTED_CALLS || order[i] == COUNTED_PRIMITIVE;
        if (is_count ? !read_count(r, v, &out[order[i]]) : !read_time(r, v, &out[order[i]]))
            return false;
    }
    return true;
}

/* Names. */

static bool read_function(struct stats_reader *r, const struct marshal_value *key, frame_id *out)
{
    if (key->kind != MARSHAL_TUPLE || key->n != 3)
        return bad(r, "a key that is not (file, line, function)");
    const struct marshal_value *file = marshal_at(r->m, key, 0), *line = marshal_at(r->m, key, 1);
    const struct marshal_value *name = marshal_at(r->m, key, 2);
    if (file->kind != MARSHAL_TEXT || line->kind != MARSHAL_INT || name->kind != MARSHAL_TEXT)
        return bad(r, "a key that is not (file, line, function)");
    if (line->whole < 0 || line->whole > UINT32_MAX)
        return bad(r, "a line number that is none");
    uint32_t at = (uint32_t)line->whole;
    struct function f = {.name = builder_string(r->b, marshal_text(name)), .file = builder_string(r->b, marshal_text(file)), .line = at};
    bool is_native = !at && view_same(marshal_text(file), VIEW("~"));
    *out = builder_frame(r->b, (struct frame){.function = builder_function(r->b, f), .line = r->is_sampled ? at : 0,
                                              .kind = is_native ? FRAME_NATIVE : FRAME_PYTHON});
    return true;
}

/* Rows. */

static bool read_caller(struct stats_reader *r, frame_id callee, const struct marshal_value *key, const struct marshal_value *value)
{
    static const enum counted order[4] = {COUNTED_CALLS, COUNTED_PRIMITIVE, COUNTED_SELF, COUNTED_CUMULATIVE};
    frame_id caller;
    int64_t values[COUNTED_COUNT] = {0};
    bool only_counts = value->kind == MARSHAL_INT;
    if (!r->pairs_left--)
        return err_set(r->e, ERR_LIMIT, "more callers than there are bytes");
    if (!read_function(r, key, &caller))
        return false;
    if (!only_counts && (value->kind != MARSHAL_TUPLE || value->n != 4))
        return bad(r, "neither a count nor (calls, primitive calls, self, cumulative)");
    if (only_counts ? !read_count(r, value, &values[COUNTED_CALLS]) : !read_numbers(r, value, order, values))
        return false;
    stack_id stack = builder_push(r->b, builder_push(r->b, STACK_ROOT, caller), callee);
    builder_sample(r->b, counted_calls_set(r->b, r->is_sampled, only_counts), TIME_NONE, CONTEXT_NONE, stack, values);
    return true;
}

static bool read_callers(struct stats_reader *r, frame_id callee, const struct marshal_value *callers)
{
    if (callers->kind != MARSHAL_DICT)
        return bad(r, "callers that are not a dict");
    for (size_t i = 0; i < callers->n; i += 2)
        if (!read_caller(r, callee, marshal_at(r->m, callers, i), marshal_at(r->m, callers, i + 1)))
            return err_in(r->e, "caller %zu", i / 2 + 1);
    return true;
}

static bool read_entry(struct stats_reader *r, const struct marshal_value *key, const struct marshal_value *value)
{
    static const enum counted order[4] = {COUNTED_PRIMITIVE, COUNTED_CALLS, COUNTED_SELF, COUNTED_CUMULATIVE};
    frame_id f;
    int64_t values[COUNTED_COUNT];
    if (!read_function(r, key, &f))
        return false;
    if (value->kind != MARSHAL_TUPLE || value->n != 5)
        return bad(r, "not (primitive calls, calls, self, cumulative, callers)");
    if (!read_numbers(r, value, order, values))
        return false;
    builder_sample(r->b, r->functions, TIME_NONE, CONTEXT_NONE, builder_push(r->b, STACK_ROOT, f), values);
    return read_callers(r, f, marshal_at(r->m, value, 4));
}

static bool is_mark(const struct marshal *m, const struct marshal_value *key)
{
    if (key->kind != MARSHAL_TUPLE || key->n != 1)
        return false;
    const struct marshal_value *word = marshal_at(m, key, 0);
    return word->kind == MARSHAL_TEXT && view_same(marshal_text(word), VIEW(STATS_MARK));
}

static bool read_dict(struct stats_reader *r, const struct marshal_value *dict)
{
    if (dict->kind != MARSHAL_DICT)
        return bad(r, "not a dict, as a Python profile is");
    for (size_t i = 0; i < dict->n; i += 2)
        r->is_sampled |= is_mark(r->m, marshal_at(r->m, dict, i));
    r->functions = counted_functions_set(r->b, r->is_sampled);
    for (size_t i = 0; i < dict->n; i += 2) {
        const struct marshal_value *key = marshal_at(r->m, dict, i);
        if (!is_mark(r->m, key) && !read_entry(r, key, marshal_at(r->m, dict, i + 1)))
            return err_in(r->e, "function %zu", i / 2 + 1);
    }
    return true;
}

static bool read_stats(struct builder *into, struct reader *in, struct err *e)
{
    if (!reader_fill(in, LARGEST_FILE + 1, e))
        return false;
    struct view bytes = reader_here(in);
    if (bytes.n > LARGEST_FILE)
        return err_set(e, ERR_LIMIT, "a Python profile of more than %zu MiB", LARGEST_FILE >> 20);
    own(marshal) struct marshal m;
    if (!marshal_read(bytes, &m, e))
        return false;
    struct stats_reader r = {.b = into, .m = &m, .pairs_left = bytes.n, .e = e};
    return read_dict(&r, marshal_root(&m));
}

/* A dict whose first key is a tuple of three (or the mark of one) that begins with a text. */
static int sniff(struct view head)
{
    unsigned char h[7] = {0};
    memcpy(h, head.at, head.n < sizeof h ? head.n : sizeof h);
    if ((h[0] & 0x7f) != '{')
        return 0;
    if (h[1] == '0')
        return head.n == 2 ? 90 : 0;
    bool is_short = (h[1] & 0x7f) == ')';
    bool is_long = (h[1] & 0x7f) == '(' && !h[3] && !h[4] && !h[5];
    unsigned char first = (is_short ? h[3] : h[6]) & 0x7f;
    return (is_short || is_long) && (h[2] == 3 || h[2] == 1) && first && strchr("zZaAuts", first) ? 95 : 0;
}

const struct format format_stats = {
    .name = "stats",
    .suffix = ".stats",
    .what = "call counts and times of Python's cProfile and profile modules",
    .sniff = sniff,
    .read = read_stats,
    .write = stats_write,
};
