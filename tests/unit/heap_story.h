/*
 * heap_story.h - a heap recording from a story of allocations, as a recorder would write it
 *
 * One event per line, times in milliseconds; whoever reads the story can tell what the numbers must be:
 *
 *     + NAME[*COUNT] BYTES STACK       COUNT blocks of BYTES are allocated; STACK is root;...;leaf
 *     - NAME[*COUNT]                   COUNT of them are freed, the oldest first
 *     at MS                            what has changed since the last time is written down; then it is this late
 *     thread TID NAME                  the thread of what follows
 *     label KEY=VALUE | label KEY      allocations that follow are for this; no longer
 *     span KIND NAME MS MS             a span on this thread, from and to; request spans have their label
 *     fact KEY VALUE
 *     sampled WEIGHT                   each allocation that follows stands for WEIGHT (its sampling probability is 1/WEIGHT)
 *     blocks                           single allocations are kept as well (the set heap.blocks)
 *     cpu STACK MS                     a CPU sample
 *
 * It is the other half of what src/analyse/heap.h reads, written from the same contract: rows are changes, flushed.
 */
#pragma once
#include "base/mem.h"
#include "base/text.h"
#include "check.h"
#include "model/builder.h"

#define STORY_MS UINT64_C(1000000)

struct story_block {
    char name[64];
    int64_t bytes;
    size_t row; /* of the stacks below */
    uint64_t born_ns, serial;
    int64_t weight;
    uint32_t address;
    size_t thread;
    bool is_live;
};

/* What is written for one stack and context: all of it, and as it was when last flushed. */
struct story_row {
    stack_id stack;
    context_id context;
    int64_t now[8], flushed[8], variance, variance_flushed;
};

struct story_thread {
    thread_id id;
    int32_t tid;
    uint64_t allocations;
};

struct heap_story {
    struct builder *b;
    set_id heap, variance, sizes, lifetimes, blocks_set, cpu;
    struct story_block *blocks;
    size_t n_blocks, cap_blocks;
    struct story_row *rows;
    size_t n_rows, cap_rows;
    struct story_thread threads[16];
    size_t n_threads, thread;
    struct { int64_t objects, bytes; } size_classes[64], ages[64];
    char labels[8][2][64];
    size_t n_labels;
    uint64_t now_ns, start_ns;
    int64_t live, peak, live_blocks, allocations, frees, allocated, freed, peak_time_ns;
    int64_t weight;
    bool keeps_blocks;
};

static inline stack_id story_stack(struct builder *b, const char *path)
{
    stack_id at = STACK_ROOT;
    while (*path) {
        size_t n = strcspn(path, ";");
        at = builder_push(b, at, builder_frame_named(b, (struct view){path, n}));
        path += n + (path[n] == ';');
    }
    return at;
}

static inline context_id story_context(struct heap_story *s, const struct label *more)
{
    struct label l[9];
    size_t n = 0;
    for (; n < s->n_labels; n++)
        l[n] = (struct label){.key = builder_string(s->b, view_of(s->labels[n][0])), .text = builder_string(s->b, view_of(s->labels[n][1]))};
    if (more)
        l[n++] = *more;
    return builder_context(s->b, s->threads[s->thread].id, builder_labels(s->b, l, n));
}

static inline size_t story_row(struct heap_story *s, stack_id stack, context_id context)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].stack.i == stack.i && s->rows[i].context.i == context.i)
            return i;
    GROW(s->rows, s->cap_rows, s->n_rows + 1);
    s->rows[s->n_rows] = (struct story_row){.stack = stack, .context = context};
    return s->n_rows++;
}

static inline void story_flush(struct heap_story *s)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        struct story_row *r = &s->rows[i];
        int64_t change[8];
        bool any = false;
        for (size_t m = 0; m < 8; m++) {
            change[m] = r->now[m] - r->flushed[m];
            any |= change[m] != 0;
            r->flushed[m] = r->now[m];
        }
        if (any)
            builder_sample(s->b, s->heap, s->now_ns, r->context, r->stack, change);
        int64_t variance = r->variance - r->variance_flushed;
        if (variance)
            builder_sample(s->b, s->variance, s->now_ns, r->context, r->stack, &variance);
        r->variance_flushed = r->variance;
    }
}

static inline void story_class(struct heap_story *s, set_id set, const char *key, int64_t class, int64_t objects, int64_t bytes)
{
    if (!objects)
        return;
    labels_id l = builder_labels(s->b, &(struct label){.key = builder_string(s->b, view_of(key)), .number = class}, 1);
    builder_sample(s->b, set, TIME_NONE, builder_context(s->b, THREAD_NONE, l), STACK_ROOT, (int64_t[]){objects, bytes});
}

static inline void story_peak(struct heap_story *s)
{
    if (s->live <= s->peak)
        return;
    s->peak = s->live;
    s->peak_time_ns = (int64_t)s->now_ns;
    for (size_t i = 0; i < s->n_rows; i++) {
        s->rows[i].now[4] = s->rows[i].now[2];
        s->rows[i].now[5] = s->rows[i].now[3];
    }
}

static inline void story_alloc(struct heap_story *s, const char *name, int64_t bytes, const char *path)
{
    struct story_block b = {.bytes = bytes, .born_ns = s->now_ns, .weight = s->weight, .thread = s->thread, .is_live = true,
                            .serial = s->threads[s->thread].allocations++, .address = 0x1000 + 0x10 * (uint32_t)s->n_blocks};
    snprintf(b.name, sizeof b.name, "%s", name);
    b.row = story_row(s, story_stack(s->b, path), story_context(s, NULL));
    struct story_row *r = &s->rows[b.row];
    const int64_t add[8] = {b.weight, b.weight * bytes, b.weight, b.weight * bytes, 0, 0, 0, 1};
    for (size_t m = 0; m < 8; m++)
        r->now[m] += add[m];
    r->variance += b.weight * (b.weight - 1) * bytes * bytes / 1048576; /* (1 - p) / p^2 s^2, p = 1 / weight */
    int64_t class = 0;
    while ((INT64_C(1) << class) < bytes)
        class++;
    s->size_classes[class].objects += b.weight;
    s->size_classes[class].bytes += b.weight * bytes;
    s->allocations += b.weight;
    s->allocated += b.weight * bytes;
    s->live += b.weight * bytes;
    s->live_blocks += b.weight;
    GROW(s->blocks, s->cap_blocks, s->n_blocks + 1);
    s->blocks[s->n_blocks++] = b;
    story_peak(s);
}

static inline void story_free(struct heap_story *s, struct story_block *b)
{
    struct story_row *r = &s->rows[b->row];
    r->now[2] -= b->weight;
    r->now[3] -= b->weight * b->bytes;
    if (b->thread == s->thread && s->threads[s->thread].allocations - b->serial <= 2)
        r->now[6] += b->weight;
    int64_t class = 0;
    while (class < 62 && (UINT64_C(2) << class) <= s->now_ns - b->born_ns)
        class++;
    s->ages[class].objects += b->weight;
    s->ages[class].bytes += b->weight * b->bytes;
    s->live -= b->weight * b->bytes;
    s->live_blocks -= b->weight;
    s->frees += b->weight;
    s->freed += b->weight * b->bytes;
    b->is_live = false;
    if (!s->keeps_blocks)
        return;
    struct label at = {.key = builder_string(s->b, VIEW("address")), .number = b->address};
    builder_sample(s->b, s->blocks_set, b->born_ns, story_context(s, &at), r->stack, (int64_t[]){b->bytes, 1, (int64_t)(s->now_ns - b->born_ns)});
}

static inline void story_free_named(struct heap_story *s, const char *name, int64_t count)
{
    for (size_t i = 0; i < s->n_blocks && count; i++)
        if (s->blocks[i].is_live && !strcmp(s->blocks[i].name, name)) {
            story_free(s, &s->blocks[i]);
            count--;
        }
    CHECK_EQ(count, 0); /* the story frees what it never allocated */
}

static inline void story_thread(struct heap_story *s, int32_t tid, const char *name)
{
    for (s->thread = 0; s->thread < s->n_threads; s->thread++)
        if (s->threads[s->thread].tid == tid)
            return;
    s->threads[s->n_threads] = (struct story_thread){.id = builder_thread(s->b, builder_process(s->b, 100, 0), tid), .tid = tid};
    builder_name_thread(s->b, s->threads[s->n_threads++].id, view_of(name));
}

static inline void story_label(struct heap_story *s, const char *key, const char *value)
{
    size_t i = 0;
    while (i < s->n_labels && strcmp(s->labels[i][0], key))
        i++;
    if (!value) {
        memmove(s->labels[i], s->labels[i + 1], (s->n_labels - i - 1) * sizeof s->labels[0]);
        s->n_labels--;
        return;
    }
    snprintf(s->labels[i][0], 64, "%s", key);
    snprintf(s->labels[i][1], 64, "%s", value);
    s->n_labels += i == s->n_labels;
}

static inline void story_span(struct heap_story *s, const char *kind, const char *name, uint64_t from_ms, uint64_t to_ms)
{
    enum span_kind k = SPAN_SCOPE;
    while (strcmp(span_kind_names[k], kind))
        k++;
    struct label l = {.key = builder_string(s->b, view_of(kind)), .text = builder_string(s->b, view_of(name))};
    builder_span(s->b, (struct span){.start_ns = s->start_ns + from_ms * STORY_MS, .length_ns = (to_ms - from_ms) * STORY_MS,
                                     .thread = s->threads[s->thread].id, .name = l.text, .kind = k, .labels = builder_labels(s->b, &l, 1)});
}

static inline void story_line(struct heap_story *s, char *line)
{
    char a[256] = "", b[64] = "", *star;
    long long x = 0, y = 0, count = 1;
    int at = 0, rest = 0;
    if (sscanf(line, "%*1[+-] %63s %n", b, &at) >= 1 && (star = strchr(b, '*'))) {
        count = atoll(star + 1);
        *star = '\0';
    }
    if (*line == '+' && sscanf(line + at, "%lld %n", &x, &rest) == 1)
        for (; count; count--)
            story_alloc(s, b, x, line + at + rest);
    else if (*line == '-')
        story_free_named(s, b, count);
    else if (sscanf(line, "at %lld", &x) == 1) {
        story_flush(s);
        s->now_ns = s->start_ns + (uint64_t)x * STORY_MS;
    } else if (sscanf(line, "thread %lld %63s", &x, b) == 2)
        story_thread(s, (int32_t)x, b);
    else if (sscanf(line, "label %255[^=]=%63s", a, b) == 2)
        story_label(s, a, b);
    else if (sscanf(line, "label %255s", a) == 1)
        story_label(s, a, NULL);
    else if (sscanf(line, "span %255s %63s %lld %lld", a, b, &x, &y) == 4)
        story_span(s, a, b, (uint64_t)x, (uint64_t)y);
    else if (sscanf(line, "fact %255s %n", a, &at) == 1)
        builder_fact(s->b, view_of(a), view_of(line + at));
    else if (sscanf(line, "sampled %lld", &x) == 1)
        s->weight = x;
    else if (!strcmp(line, "blocks"))
        s->keeps_blocks = true;
    else if (sscanf(line, "cpu %255s %lld", a, &x) == 2)
        builder_sample(s->b, s->cpu, s->now_ns, CONTEXT_NONE, story_stack(s->b, a), (int64_t[]){x * (int64_t)STORY_MS});
    else
        CHECK_STR(line, "a line of a story");
}

static inline void story_sets(struct heap_story *s, bool has_cpu, bool keeps_blocks)
{
#define M(n, u) {.name = {n, sizeof n - 1}, .unit = u}
    static const struct measure_spec heap[] = {
        M("alloc_objects", UNIT_COUNT), M("alloc_space", UNIT_BYTES), M("inuse_objects", UNIT_COUNT), M("inuse_space", UNIT_BYTES),
        M("peak_objects", UNIT_COUNT), M("peak_space", UNIT_BYTES), M("temporary", UNIT_COUNT), M("samples", UNIT_COUNT),
    };
    static const struct measure_spec classes[] = {M("objects", UNIT_COUNT), M("bytes", UNIT_BYTES)};
    static const struct measure_spec blocks[] = {M("bytes", UNIT_BYTES), M("freed", UNIT_COUNT), M("lifetime_ns", UNIT_NS)};
    static const struct measure_spec variance[] = {M("variance", UNIT_OTHER)}, cpu[] = {M("cpu", UNIT_NS)};
#undef M
    if (has_cpu)
        s->cpu = builder_set(s->b, VIEW("cpu"), cpu, 1);
    s->heap = builder_set(s->b, VIEW("heap"), heap, 8);
    builder_show(s->b, s->heap, 1, 0);
    s->variance = builder_set(s->b, VIEW("heap.variance"), variance, 1);
    s->sizes = builder_set(s->b, VIEW("heap.sizes"), classes, 2);
    s->lifetimes = builder_set(s->b, VIEW("heap.lifetimes"), classes, 2);
    if (keeps_blocks)
        s->blocks_set = builder_set(s->b, VIEW("heap.blocks"), blocks, 3);
}

static inline void story_fact(struct heap_story *s, const char *key, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)n);
    builder_fact(s->b, view_of(key), view_of(text));
}

static inline void story_end(struct heap_story *s)
{
    story_flush(s);
    for (int64_t k = 0; k < 64; k++) {
        story_class(s, s->sizes, "size_class", k, s->size_classes[k].objects, s->size_classes[k].bytes);
        story_class(s, s->lifetimes, "lifetime_class", k, s->ages[k].objects, s->ages[k].bytes);
    }
    for (size_t i = 0; s->keeps_blocks && i < s->n_blocks; i++) {
        struct label at = {.key = builder_string(s->b, VIEW("address")), .number = s->blocks[i].address};
        if (s->blocks[i].is_live)
            builder_sample(s->b, s->blocks_set, s->blocks[i].born_ns, story_context(s, &at), s->rows[s->blocks[i].row].stack,
                           (int64_t[]){s->blocks[i].bytes, 0, 0});
    }
    builder_clock(s->b, s->start_ns, s->now_ns, INT64_C(1780000000000000000) - (int64_t)s->start_ns);
    story_fact(s, "heap.allocations", s->allocations);
    story_fact(s, "heap.frees", s->frees);
    story_fact(s, "heap.allocated_bytes", s->allocated);
    story_fact(s, "heap.freed_bytes", s->freed);
    story_fact(s, "heap.live_bytes", s->live);
    story_fact(s, "heap.live_blocks", s->live_blocks);
    story_fact(s, "heap.peak_bytes", s->peak);
    story_fact(s, "heap.peak_time_ns", s->peak_time_ns);
}

static inline struct profile *heap_story_told(const char *text)
{
    struct heap_story s = {.b = builder_new(), .start_ns = 1000 * STORY_MS, .now_ns = 1000 * STORY_MS, .weight = 1};
    story_sets(&s, strstr(text, "\ncpu ") != NULL, strstr(text, "blocks\n") != NULL);
    story_thread(&s, 100, "main");
    builder_name_process(s.b, builder_process(s.b, 100, 0), VIEW("story"));
    for (const char *at = text; *at;) {
        char line[8192];
        size_t n = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        if (n && *line != '#')
            story_line(&s, line);
        at += n + (at[n] == '\n');
    }
    story_end(&s);
    free(s.blocks);
    free(s.rows);
    struct profile *p = NULL;
    CHECK(builder_finish(s.b, &p, NULL));
    return p;
}
