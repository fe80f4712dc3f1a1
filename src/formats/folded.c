/*
 * Folded stacks: one line per distinct stack, root first.
 *
 *     main;decode;matmul_q8 142
 *
 * Frames may hold spaces but not semicolons; the count is the last word and may
 * have decimals. "_[k]" behind a name says kernel, "_[i]" inlined. Lines that
 * begin with "# " are remarks.
 *
 * Files are often sorted, and even where they are not, neighbours have callers
 * in common. So a line is first compared with the one before it as plain bytes,
 * and only what differs is looked up:
 *
 *     main;decode;attention;softmax 7
 *     main;decode;matmul_q8 142
 *     ~~~~~~~~~~~~ the same two frames as above: start at "matmul_q8"
 */
#include "base/mem.h"
#include "base/text.h"
#include "formats/format.h"
#include "model/weights.h"

#include <ctype.h>

#define MOST_DECIMALS 9

static const struct {
    struct view suffix;
    enum frame_kind kind;
    struct view module;
} marks[] = {{{"_[k]", 4}, FRAME_KERNEL, {"[kernel]", 8}}, {{"_[i]", 4}, FRAME_INLINED, {"", 0}}};

/* Where a frame of the last line ended, and the stack up to there. */
struct step {
    size_t end;
    stack_id stack;
};

struct folded_reader {
    struct builder *b;
    set_id set;
    unsigned decimals;
    char *last; /* the stack of the line before */
    size_t last_n, last_cap;
    struct step *steps;
    size_t n_steps, cap_steps;
};

/* Behind the stack: one blank and the count. */
static bool split(struct view line, struct view *out_stack, struct view *out_count, struct err *e)
{
    const char *space = memrchr(line.at, ' ', line.n);
    if (!space)
        return err_set(e, ERR_MALFORMED, "no count after the stack");
    *out_count = view_between(space + 1, line.at + line.n);
    *out_stack = view_between(line.at, space);
    if (!out_count->n || !isdigit((unsigned char)out_count->at[0]))
        return err_set(e, ERR_MALFORMED, "no count after the stack");
    if (!out_stack->n)
        return err_set(e, ERR_MALFORMED, "no stack before the count");
    return true;
}

static bool read_count(struct folded_reader *r, struct view text, int64_t *out, struct err *e)
{
    unsigned decimals;
    if (!text_to_decimal(text, out, &decimals) || decimals > MOST_DECIMALS)
        return err_set(e, ERR_MALFORMED, "'%.*s' is not a count", (int)(text.n < 40 ? text.n : 40), text.at);
    if (decimals > r->decimals) {
        builder_set_decimals(r->b, r->set, 0, decimals);
        r->decimals = decimals;
    }
    for (; decimals < r->decimals; decimals++)
        if (__builtin_mul_overflow(*out, INT64_C(10), out))
            return err_set(e, ERR_LIMIT, "the count is too large");
    return true;
}

static frame_id read_frame(struct builder *b, struct view name)
{
    if (!name.n)
        return builder_frame_named(b, VIEW("[unknown]"));
    if (name.at[name.n - 1] != ']')
        return builder_frame_named(b, name);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!view_ends(name, marks[i].suffix) || name.n == marks[i].suffix.n)
            continue;
        struct view bare = {name.at, name.n - marks[i].suffix.n};
        mapping_id module = builder_mapping(b, (struct mapping){.path = builder_string(b, marks[i].module)});
        func_id f = builder_function(b, (struct function){.name = builder_string(b, bare), .mapping = module});
        return builder_frame(b, (struct frame){.function = f, .kind = marks[i].kind});
    }
    return builder_frame_named(b, name);
}

static size_t common_bytes(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t x, y;
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            return i + (size_t)__builtin_ctzll(x ^ y) / 8;
    }
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* How many frames the stack shares with the last one: those that end, semicolon included, inside the common bytes. */
static size_t shared_steps(const struct folded_reader *r, struct view stack)
{
    size_t common = common_bytes(r->last, stack.at, stack.n < r->last_n ? stack.n : r->last_n);
    if (common == stack.n && common == r->last_n)
        return r->n_steps;
    size_t shared = 0;
    while (shared < r->n_steps && r->steps[shared].end < common)
        shared++;
    return shared;
}

static stack_id read_stack(struct folded_reader *r, struct view stack)
{
    size_t n = shared_steps(r, stack);
    stack_id at = n ? r->steps[n - 1].stack : STACK_ROOT;
    size_t from = n ? r->steps[n - 1].end + 1 : 0;
    while (from <= stack.n) {
        const char *semi = from < stack.n ? memchr(stack.at + from, ';', stack.n - from) : NULL;
        size_t end = semi ? (size_t)(semi - stack.at) : stack.n;
        at = builder_push(r->b, at, read_frame(r->b, (struct view){stack.at + from, end - from}));
        GROW(r->steps, r->cap_steps, n + 1);
        r->steps[n++] = (struct step){.end = end, .stack = at};
        from = end + 1;
    }
    r->n_steps = n;
    GROW(r->last, r->last_cap, stack.n);
    memcpy(r->last, stack.at, stack.n);
    r->last_n = stack.n;
    return at;
}

static bool read_line(struct folded_reader *r, struct view line, struct err *e)
{
    struct view stack, count;
    int64_t value;
    if (!split(line, &stack, &count, e) || !read_count(r, count, &value, e))
        return false;
    builder_sample(r->b, r->set, TIME_NONE, CONTEXT_NONE, read_stack(r, stack), &value);
    return true;
}

static bool read_lines(struct folded_reader *r, struct reader *in, struct err *e)
{
    struct view line;
    struct err failed = {0};
    while (reader_line(in, &line, &failed)) {
        if (!line.n || view_starts(line, VIEW("# ")))
            continue;
        if (!read_line(r, line, e))
            return err_in(e, "line %llu", (unsigned long long)in->line_no);
    }
    if (failed.kind && e)
        *e = failed;
    return !failed.kind;
}

static bool read_folded(struct builder *into, struct reader *in, struct err *e)
{
    static const struct measure_spec samples = {.name = {"samples", 7}, .unit = UNIT_COUNT};
    struct folded_reader r = {.b = into, .set = builder_set(into, VIEW("samples"), &samples, 1)};
    bool read = read_lines(&r, in, e);
    free(r.last);
    free(r.steps);
    return read;
}

/* Writing. */

/* What a name may not hold: the separator, line breaks, and what makes the line a remark. */
static char written(struct view name, size_t i, bool begins_line)
{
    char c = name.at[i];
    if (c == ';')
        return ':';
    bool is_blank = c == ' ' || c == '\n' || c == '\r';
    if (is_blank && begins_line && i == 1 && name.at[0] == '#')
        return '_';
    return is_blank ? ' ' : c;
}

static void write_frame(const struct profile *p, frame_id id, bool begins_line, struct sink *out)
{
    const struct frame *f = profile_frame(p, id);
    struct view name = profile_frame_name(p, id);
    if (!name.n) {
        struct view module = profile_frame_module(p, id);
        sink_printf(out, "[%.*s+0x%llx]", (int)module.n, module.n ? module.at : "", (unsigned long long)f->address);
        return;
    }
    for (size_t i = 0; i < name.n; i++)
        sink_char(out, written(name, i, begins_line));
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (f->kind == marks[i].kind)
            sink_add(out, marks[i].suffix);
}

/* The frames from the root down; a stack may be deeper than ours, so no recursion. */
static void write_path(const struct profile *p, stack_id leaf, frame_id **path, size_t *cap, struct sink *out)
{
    size_t n = 0;
    for (stack_id s = leaf; s.i != STACK_ROOT.i; s = profile_stack(p, s)->caller) {
        GROW(*path, *cap, n + 1);
        (*path)[n++] = profile_stack(p, s)->frame;
    }
    for (size_t i = n; i-- > 0;) {
        write_frame(p, (*path)[i], i == n - 1, out);
        sink_puts(out, i ? ";" : "");
    }
}

static bool write_folded(const struct profile *p, struct sink *out, struct err *e)
{
    if (!profile_sets(p))
        return err_set(e, ERR_USAGE, "there are no samples to write");
    const struct sample_set *set = profile_set(p, (set_id){0});
    own(weights) struct weights w = weights_of(p, set, set->shown);
    own(free) frame_id *path = NULL;
    size_t cap = 0;
    for (uint32_t s = 0; s < profile_stacks(p); s++) {
        if (!w.self[s])
            continue;
        if (w.self[s] < 0)
            return err_set(e, ERR_UNSUPPORTED, "folded stacks cannot hold negative values");
        if (s == STACK_ROOT.i)
            sink_puts(out, "[no stack]");
        write_path(p, (stack_id){s}, &path, &cap, out);
        char count[32];
        text_decimal(count, w.self[s], set->measures[set->shown].decimals);
        sink_printf(out, " %s\n", count);
    }
    return true;
}

/* A first line that ends in a count; semicolons make it likely, their absence possible. */
static int sniff(struct view head)
{
    const char *end = head.at + head.n;
    const char *line = head.at;
    while (line < end && (*line == '\n' || *line == '\r' || (*line == '#' && line + 1 < end && line[1] == ' '))) {
        const char *eol = memchr(line, '\n', (size_t)(end - line));
        line = eol ? eol + 1 : end;
    }
    const char *eol = memchr(line, '\n', (size_t)(end - line));
    struct view first = view_between(line, eol ? eol : end);
    if (first.n && first.at[first.n - 1] == '\r')
        first.n--;
    bool semicolons = memchr(first.at, ';', first.n) != NULL;
    if (memchr(first.at, '\0', first.n))
        return 0;
    if (!eol && head.n == FORMAT_HEAD)
        return semicolons ? 30 : 0; /* one long line: the count is out of sight */
    struct view stack, count;
    int64_t value;
    unsigned decimals;
    if (first.n && split(first, &stack, &count, NULL) && text_to_decimal(count, &value, &decimals))
        return semicolons ? 60 : 20;
    return semicolons ? 10 : 0; /* folded, perhaps, with a fault on its first line that the reader will name */
}

const struct format format_folded = {
    .name = "folded",
    .suffix = ".folded",
    .what = "one line per stack, semicolons between frames, a count at the end",
    .sniff = sniff,
    .read = read_folded,
    .write = write_folded,
};
