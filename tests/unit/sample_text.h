/*
 * sample_text.h - profiles as text and as dice would have them, for the tests of formats
 *
 *     dump_samples()    every sample on a line of its own: what a reader made of a file
 *     dump_totals()     what each stack carries in one measure, sorted: what no round trip may change
 *     random_profile()  recursion, several threads and labels, always the same for the same seed
 */
#pragma once
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/format.h"

#include <inttypes.h>

static inline bool read_as(const char *format, struct view in, struct profile **out, struct err *e)
{
    own(builder) struct builder *b = builder_new();
    own(reader) struct reader r;
    reader_over(&r, "memory", in);
    return format_named(format)->read(b, &r, e) && builder_finish(take(b), out, e);
}

static inline bool write_as(const char *format, const struct profile *p, struct buf *out, struct err *e)
{
    struct sink s;
    sink_to_buf(&s, out);
    return format_named(format)->write(p, &s, e) && sink_flush(&s, e);
}

static inline void dump_stack(struct buf *to, const struct profile *p, stack_id id)
{
    if (!id.i)
        return;
    const struct stack *s = profile_stack(p, id);
    dump_stack(to, p, s->caller);
    struct view name = profile_frame_name(p, s->frame);
    buf_puts(to, s->caller.i ? ";" : "");
    if (name.n)
        buf_add(to, name.at, name.n);
    else
        buf_printf(to, "0x%" PRIx64, profile_frame(p, s->frame)->address);
    if (profile_frame(p, s->frame)->kind == FRAME_INLINED)
        buf_puts(to, "_[i]");
}

static inline void dump_context(struct buf *to, const struct profile *p, context_id id)
{
    const struct context *c = profile_context(p, id);
    const struct thread *t = profile_thread(p, c->thread);
    struct view name = profile_string(p, t->name);
    buf_printf(to, "%.*s/%d", (int)name.n, name.at, t->tid);
    size_t n;
    const struct label *labels = profile_labels(p, c->labels, &n);
    for (size_t i = 0; i < n; i++) {
        buf_printf(to, " %s=", profile_string(p, labels[i].key).at);
        if (labels[i].text.i)
            buf_printf(to, "%s", profile_string(p, labels[i].text).at);
        else
            buf_printf(to, "%" PRId64 "%s", labels[i].number, profile_string(p, labels[i].unit).at);
    }
}

/* "cpu @5 main/1 request=7 | a;b 3, 40\n" */
static inline void dump_samples(struct buf *to, const struct profile *p)
{
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        for (size_t i = 0; i < set->n; i++) {
            buf_printf(to, "%s ", profile_string(p, set->name).at);
            if (set->time_ns && set->time_ns[i] != TIME_NONE)
                buf_printf(to, "@%" PRIu64 " ", set->time_ns[i]);
            dump_context(to, p, set->contexts ? set->contexts[i] : CONTEXT_NONE);
            buf_puts(to, " | ");
            dump_stack(to, p, set->stacks[i]);
            for (size_t m = 0; m < set->n_measures; m++) {
                char value[32];
                text_decimal(value, set->values[m][i], set->measures[m].decimals);
                buf_printf(to, "%s%s", m ? ", " : " ", value);
            }
            buf_puts(to, "\n");
        }
    }
}

struct stack_total {
    char *stack;
    int64_t value;
};

static inline int by_stack_text(const void *a, const void *b)
{
    return strcmp(((const struct stack_total *)a)->stack, ((const struct stack_total *)b)->stack);
}

static inline void dump_totals(struct buf *to, const struct profile *p, const struct sample_set *set, size_t measure)
{
    own(free) struct stack_total *rows = mem_new((set->n + 1) * sizeof *rows);
    for (size_t i = 0; i < set->n; i++) {
        own(buf) struct buf text;
        buf_init(&text, 1 << 20);
        dump_stack(&text, p, set->stacks[i]);
        rows[i] = (struct stack_total){mem_text(text.data, text.len), set->values[measure][i]};
    }
    qsort(rows, set->n, sizeof *rows, by_stack_text);
    for (size_t i = 0; i < set->n; i++) {
        if (i + 1 < set->n && !strcmp(rows[i].stack, rows[i + 1].stack)) {
            rows[i + 1].value += rows[i].value;
        } else if (rows[i].value) {
            char value[32];
            text_decimal(value, rows[i].value, set->measures[measure].decimals);
            buf_printf(to, "%s %s\n", rows[i].stack, value);
        }
        free(rows[i].stack);
    }
}

static inline uint32_t dice(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static inline stack_id random_stack(struct builder *b, uint64_t *state)
{
    stack_id at = STACK_ROOT;
    for (uint32_t depth = dice(state, 30); depth; depth--) {
        char name[32];
        snprintf(name, sizeof name, "f\"%u\xc3\xa9", dice(state, 5)); /* few names: recursion is common */
        struct function f = {.name = builder_string(b, view_of(name)), .line = 10};
        if (dice(state, 2))
            f.file = builder_string(b, VIEW("a b.c"));
        struct frame frame = {.function = builder_function(b, f), .line = 10 + dice(state, 3)};
        at = builder_push(b, at, builder_frame(b, frame));
    }
    return at;
}

/* One set, its measures in the units given; `least` is the smallest value. */
static inline struct profile *random_profile(uint64_t seed, const struct measure_spec *measures, size_t n, int64_t least)
{
    uint64_t state = seed * 77 + 1;
    own(builder) struct builder *b = builder_new();
    set_id set = builder_set(b, VIEW("cpu"), measures, n);
    bool has_times = dice(&state, 2);
    for (uint32_t i = 0, rows = dice(&state, 400); i < rows; i++) {
        thread_id thread = builder_thread(b, PROCESS_NONE, (int32_t)dice(&state, 4));
        builder_name_thread(b, thread, dice(&state, 2) ? VIEW("worker") : VIEW(""));
        struct label label = {.key = builder_string(b, VIEW("request")), .number = dice(&state, 3)};
        labels_id labels = builder_labels(b, &label, dice(&state, 2));
        int64_t values[MEASURES_MOST];
        for (size_t m = 0; m < n; m++)
            values[m] = dice(&state, 3) ? least + dice(&state, 1000000) : 0;
        builder_sample(b, set, has_times ? 1000 + i : TIME_NONE, builder_context(b, thread, labels),
                       random_stack(b, &state), values);
    }
    struct profile *p = NULL;
    struct err e = {0};
    return builder_finish(take(b), &p, &e) ? p : NULL;
}
