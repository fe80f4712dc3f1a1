/*
 * capture_fixture.h - a profile with one of everything, and a way to compare two
 *
 * The same story can be told to a builder or to a capture writer; what comes out
 * of a file must then be what the builder made of it, word for word.
 */
#pragma once
#include "check.h"
#include "model/capture_reader.h"
#include "model/capture_writer.h"

#define SECOND_NS UINT64_C(1000000000)

/* Whoever listens: the builder itself, or a writer that has one. */
struct story {
    struct builder *names;
    struct capture_writer *writer; /* NULL: the builder takes everything */
};

static inline void tell_sample(struct story *s, set_id set, uint64_t t, context_id c, stack_id at, const int64_t *v)
{
    if (s->writer)
        capture_sample(s->writer, set, t, c, at, v);
    else
        builder_sample(s->names, set, t, c, at, v);
}

static inline span_id tell_span(struct story *s, struct span span)
{
    return s->writer ? capture_span(s->writer, span) : builder_span(s->names, span);
}

static inline void tell_length(struct story *s, span_id id, uint64_t ns)
{
    s->writer ? capture_span_length(s->writer, id, ns) : builder_span_length(s->names, id, ns);
}

static inline void tell_kin(struct story *s, span_id id, span_id parent, span_id link)
{
    s->writer ? capture_span_relate(s->writer, id, parent, link) : builder_span_relate(s->names, id, parent, link);
}

static inline void tell_reading(struct story *s, series_id id, uint64_t t, double v)
{
    s->writer ? capture_reading(s->writer, id, t, v) : builder_reading(s->names, id, t, v);
}

static inline void tell_fact(struct story *s, struct view key, struct view value)
{
    s->writer ? capture_fact(s->writer, key, value) : builder_fact(s->names, key, value);
}

static inline void tell_lost(struct story *s, set_id set, struct view reason, uint64_t n)
{
    s->writer ? capture_lost(s->writer, set, reason, n) : builder_lost(s->names, set, reason, n);
}

static inline void tell_clock(struct story *s, uint64_t start, uint64_t end, int64_t offset)
{
    s->writer ? capture_clock(s->writer, start, end, offset) : builder_clock(s->names, start, end, offset);
}

/* A chapter ends: what was told so far is in the file. */
static inline void tell_pause(struct story *s)
{
    struct err e = {0};
    if (s->writer && !capture_flush(s->writer, &e))
        CHECK(e.kind != ERR_NONE);
}

static inline labels_id tell_labels(struct builder *b, const char *request, int64_t tokens)
{
    struct label l[] = {
        {.key = builder_string(b, VIEW("request")), .text = builder_string(b, view_of(request))},
        {.key = builder_string(b, VIEW("tokens")), .number = tokens, .unit = builder_string(b, VIEW("tokens"))},
    };
    return builder_labels(b, l, 2);
}

static inline void tell_first_chapter(struct story *s, context_id *out_context, span_id *out_open)
{
    struct builder *b = s->names;
    process_id process = builder_process(b, 4123, 77);
    thread_id worker = builder_thread(b, process, 4124);
    builder_name_thread(b, worker, VIEW("worker \xe2\x9c\x93"));
    *out_context = builder_context(b, worker, tell_labels(b, "r-1", 42));
    mapping_id lib = builder_mapping(b, (struct mapping){.path = builder_string(b, VIEW("/lib/libggml.so")),
                                                         .build_id = builder_string(b, VIEW("c0ffee")),
                                                         .start = 0x7f0000001000, .limit = 0x7f0000009000, .offset = 4096});
    func_id f = builder_function(b, (struct function){.name = builder_string(b, VIEW("mat\0mul")),
                                                      .file = builder_string(b, VIEW("ops.c")), .line = 10, .mapping = lib});
    frame_id leaf = builder_frame(b, (struct frame){.function = f, .line = 17, .address = 0x7f0000001234, .kind = FRAME_INLINED});
    stack_id at = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
    at = builder_push(b, at, leaf);

    struct measure_spec cpu[] = {{VIEW("cpu"), UNIT_NS, VIEW(""), 0}, {VIEW("cost"), UNIT_OTHER, VIEW("EUR"), 3}};
    set_id set = builder_set(b, VIEW("cpu"), cpu, 2);
    builder_show(b, set, 1, 1000);
    tell_sample(s, set, 5 * SECOND_NS, *out_context, at, (int64_t[]){10100, -1500});
    tell_sample(s, set, 5 * SECOND_NS + 3, CONTEXT_NONE, STACK_ROOT, (int64_t[]){INT64_MAX / 4, INT64_MIN / 4});
    tell_sample(s, set, TIME_NONE, *out_context, at, (int64_t[]){1, 2});
    struct measure_spec bytes = {VIEW("inuse"), UNIT_BYTES, VIEW(""), 0};
    builder_set(b, VIEW("empty"), &bytes, 1);

    *out_open = tell_span(s, (struct span){.start_ns = 5 * SECOND_NS, .length_ns = TIME_NONE, .thread = worker,
                                           .name = builder_string(b, VIEW("request")), .kind = SPAN_REQUEST,
                                           .labels = tell_labels(b, "r-1", 42)});
    tell_fact(s, VIEW("command"), VIEW("llama-server -m \xff.gguf"));
    tell_fact(s, VIEW("replaced"), VIEW("old"));
}

static inline void tell_second_chapter(struct story *s, context_id context, span_id open)
{
    struct builder *b = s->names;
    thread_id worker = profile_context(builder_view(b), context)->thread;
    builder_name_thread(b, worker, VIEW("renamed"));
    builder_name_process(b, profile_thread(builder_view(b), worker)->process, VIEW("llama-server"));
    struct measure_spec heap = {VIEW("space"), UNIT_BYTES, VIEW(""), 0};
    set_id set = builder_set(b, VIEW("heap"), &heap, 1);
    stack_id at = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("\xe6\xb5\x8b\xe8\xaf\x95")));
    tell_sample(s, set, TIME_NONE, CONTEXT_NONE, at, (int64_t[]){4096});

    span_id phase = tell_span(s, (struct span){.start_ns = 5 * SECOND_NS + 10, .length_ns = 5, .thread = worker,
                                               .name = builder_string(b, VIEW("decode")), .kind = SPAN_PHASE, .parent = open});
    span_id early = tell_span(s, (struct span){.start_ns = 4 * SECOND_NS, .length_ns = 0, .kind = SPAN_GPU, .link = phase});
    tell_length(s, open, 2 * SECOND_NS);
    tell_kin(s, open, (span_id){0}, early);

    series_id rss = builder_series(b, VIEW("rss"), UNIT_BYTES, VIEW(""), tell_labels(b, "", 0));
    builder_series(b, VIEW("never read"), UNIT_OTHER, VIEW("W"), LABELS_NONE);
    tell_reading(s, rss, 5 * SECOND_NS, 1.5e9);
    tell_reading(s, rss, 6 * SECOND_NS, __builtin_nan(""));
    tell_reading(s, rss, 7 * SECOND_NS, -0.0);
    tell_fact(s, VIEW("replaced"), VIEW("new"));
    tell_lost(s, set, VIEW("the ring was full"), 3);
    tell_lost(s, set, VIEW("the ring was full"), 4);
    tell_clock(s, 3 * SECOND_NS, 9 * SECOND_NS, -1234567890123);
}

static inline void tell_everything(struct story *s)
{
    context_id context;
    span_id open;
    tell_first_chapter(s, &context, &open);
    tell_pause(s);
    tell_second_chapter(s, context, open);
}

static inline struct profile *told_profile(void)
{
    struct story s = {.names = builder_new()};
    tell_everything(&s);
    struct profile *p = NULL;
    CHECK(builder_finish(s.names, &p, NULL));
    return p;
}

/* n samples over a few hundred stacks on four threads, told in chapters of `chapter` samples. */
static inline void tell_many(struct story *s, size_t n, size_t chapter)
{
    struct builder *b = s->names;
    struct measure_spec cpu = {VIEW("cpu"), UNIT_NS, VIEW(""), 0};
    set_id set = builder_set(b, VIEW("cpu"), &cpu, 1);
    process_id process = builder_process(b, 1, 0);
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        char name[32];
        stack_id at = STACK_ROOT;
        for (unsigned depth = 0; depth < 8; depth++) {
            int len = snprintf(name, sizeof name, "function_%u_%u", depth, (unsigned)(random >> (4 * depth)) & (depth < 5 ? 1 : 3));
            at = builder_push(b, at, builder_frame_named(b, (struct view){name, (size_t)len}));
        }
        context_id c = builder_context(b, builder_thread(b, process, (int32_t)(10 + random % 4)), LABELS_NONE);
        tell_sample(s, set, SECOND_NS + i * 250000 + random % 5000, c, at, (int64_t[]){1000000 + (int64_t)(random % 700)});
        if (chapter && i % chapter == chapter - 1)
            tell_pause(s);
    }
}

/* Reading back. */

static inline struct profile *read_bytes(struct view bytes, struct capture_report *report, struct err *e)
{
    own(reader) struct reader in;
    reader_over(&in, "test", bytes);
    own(builder) struct builder *b = builder_new();
    struct profile *p = NULL;
    if (capture_read(b, &in, report, e) && builder_finish(take(b), &p, e))
        return p;
    return NULL;
}

static inline void write_bytes(const struct profile *p, enum chunk_packing packing, struct buf *out)
{
    struct sink sink;
    struct err e = {0};
    sink_to_buf(&sink, out);
    CHECK(capture_write_profile(p, packing, &sink, &e));
    CHECK_STR(e.text, "");
}

static inline size_t count_samples(const struct profile *p)
{
    size_t n = 0;
    for (uint32_t i = 0; p && i < profile_sets(p); i++)
        n += profile_set(p, (set_id){i})->n;
    return n;
}

/* Comparing: everything a profile says, as text. */

static inline void dump_text(struct buf *out, const struct profile *p, str_id s)
{
    struct view v = profile_string(p, s);
    buf_puts(out, "'");
    for (size_t i = 0; i < v.n; i++)
        buf_printf(out, v.at[i] >= ' ' && v.at[i] < 127 ? "%c" : "\\%02x", (unsigned char)v.at[i]);
    buf_puts(out, "' ");
}

static inline void dump_labels(struct buf *out, const struct profile *p, labels_id id)
{
    size_t n;
    const struct label *l = profile_labels(p, id, &n);
    for (; n; n--, l++) {
        dump_text(out, p, l->key);
        dump_text(out, p, l->text);
        buf_printf(out, "%lld ", (long long)l->number);
        dump_text(out, p, l->unit);
    }
}

static inline void dump_thread(struct buf *out, const struct profile *p, thread_id id)
{
    const struct thread *t = profile_thread(p, id);
    const struct process *s = profile_process(p, t->process);
    buf_printf(out, "%d/%llu ", s->pid, (unsigned long long)s->start_ns);
    dump_text(out, p, s->name);
    buf_printf(out, "%d ", t->tid);
    dump_text(out, p, t->name);
}

static inline void dump_stack(struct buf *out, const struct profile *p, stack_id id)
{
    for (; id.i; id = profile_stack(p, id)->caller) {
        const struct frame *f = profile_frame(p, profile_stack(p, id)->frame);
        const struct function *g = profile_function(p, f->function);
        const struct mapping *m = profile_mapping(p, g->mapping);
        dump_text(out, p, g->name);
        dump_text(out, p, g->file);
        buf_printf(out, "%u %u %llx %d ", g->line, f->line, (unsigned long long)f->address, (int)f->kind);
        dump_text(out, p, m->path);
        dump_text(out, p, m->build_id);
        buf_printf(out, "%llx %llx %llx < ", (unsigned long long)m->start, (unsigned long long)m->limit, (unsigned long long)m->offset);
    }
}

static inline void dump_set(struct buf *out, const struct profile *p, const struct sample_set *s)
{
    dump_text(out, p, s->name);
    buf_printf(out, "shown %zu period %lld\n", s->shown, (long long)s->period);
    for (size_t m = 0; m < s->n_measures; m++) {
        dump_text(out, p, s->measures[m].name);
        dump_text(out, p, s->measures[m].unit_name);
        buf_printf(out, "%d %u total %lld\n", (int)s->measures[m].unit, s->measures[m].decimals, (long long)s->measures[m].total);
    }
    for (size_t i = 0; i < s->n; i++) {
        buf_printf(out, "%llu ", s->time_ns ? (unsigned long long)s->time_ns[i] : 0);
        const struct context *c = profile_context(p, s->contexts ? s->contexts[i] : CONTEXT_NONE);
        dump_thread(out, p, c->thread);
        dump_labels(out, p, c->labels);
        dump_stack(out, p, s->stacks[i]);
        for (size_t m = 0; m < s->n_measures; m++)
            buf_printf(out, "%lld ", (long long)s->values[m][i]);
        buf_puts(out, "\n");
    }
}

static inline void dump_events(struct buf *out, const struct profile *p)
{
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        buf_printf(out, "span %llu %llu %d %u %u ", (unsigned long long)s->start_ns, (unsigned long long)s->length_ns,
                   (int)s->kind, s->parent.i, s->link.i);
        dump_text(out, p, s->name);
        dump_thread(out, p, s->thread);
        dump_labels(out, p, s->labels);
        buf_puts(out, "\n");
    }
    for (uint32_t i = 0; i < profile_series_count(p); i++) {
        const struct series *s = profile_series(p, (series_id){i});
        dump_text(out, p, s->name);
        dump_text(out, p, s->unit_name);
        dump_labels(out, p, s->labels);
        for (size_t r = 0; r < s->n; r++)
            buf_printf(out, "%llu=%g ", (unsigned long long)s->readings[r].time_ns, s->readings[r].value);
        buf_printf(out, "%d\n", (int)s->unit);
    }
}

static inline void dump(struct buf *out, const struct profile *p)
{
    buf_init(out, (size_t)1 << 30);
    for (uint32_t i = 0; i < profile_sets(p); i++)
        dump_set(out, p, profile_set(p, (set_id){i}));
    dump_events(out, p);
    for (size_t i = 0; i < profile_facts(p); i++) {
        dump_text(out, p, profile_fact(p, i)->key);
        dump_text(out, p, profile_fact(p, i)->value);
    }
    for (size_t i = 0; i < profile_losses(p); i++) {
        const struct loss *l = profile_loss(p, i);
        buf_printf(out, "lost %u %llu ", l->set.i, (unsigned long long)l->count);
        dump_text(out, p, l->reason);
    }
    for (size_t i = 0; i < profile_damages(p); i++)
        buf_printf(out, "\ndamage %s", profile_damage(p, i).at);
    buf_printf(out, "\nclock %llu %llu %d %lld\n", (unsigned long long)profile_start_ns(p), (unsigned long long)profile_end_ns(p),
               profile_has_wall_offset(p), profile_has_wall_offset(p) ? (long long)profile_wall_offset_ns(p) : 0);
}
