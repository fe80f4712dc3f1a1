/*
 * What scopes look like in a capture file (docs/formats/inferom.md, "Scopes"):
 *
 *     set "scopes"        a sample per path and thread: self, calls, timed calls; shortest, longest, mean and deviation as labels
 *     set "scope times"   a sample per path, thread and bucket: how many calls were about so long
 *     set "calls"         a sample per caller and callee: how often
 *     spans               phases and requests
 *     series              counters and gauges
 */
#include "profile.h"
#include "inferom/scope_times.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void sample_add(struct saving *s, struct samples *to, struct sample row)
{
    if (to->n == to->cap) {
        size_t cap = 2 * to->cap + 64;
        struct sample *more = realloc(to->rows, cap * sizeof *more);
        if (!more) {
            s->failed = true;
            return;
        }
        to->rows = more;
        to->cap = cap;
    }
    to->rows[to->n++] = row;
}

static int64_t to_ps(const struct saving *s, double ticks) { return rounded(ticks * s->r->scale.ns_per_tick * 1000); }

/* Who. */

uint32_t profile_thread(struct saving *s, const struct block *b)
{
    uint32_t id, name = capture_string(&s->c, b->w->name);
    struct bytes *row = capture_row(&s->c, CAPTURE_THREADS, &id);
    put_varint(row, s->process);
    put_signed(row, (int64_t)GET(b->w->tid));
    put_varint(row, name);
    return id;
}

static uint32_t context_row(struct saving *s, uint32_t thread, uint32_t labels)
{
    uint32_t id;
    struct bytes *row = capture_row(&s->c, CAPTURE_CONTEXTS, &id);
    put_varint(row, thread);
    put_varint(row, labels);
    return id;
}

struct number_label {
    uint32_t key;
    int64_t number;
    uint32_t unit;
};

static uint32_t labels_row(struct saving *s, const struct number_label *labels, size_t n)
{
    uint32_t id;
    struct bytes *row = capture_row(&s->c, CAPTURE_LABELS, &id);
    put_varint(row, n);
    for (size_t i = 0; i < n; i++) {
        put_varint(row, labels[i].key);
        put_varint(row, 0);
        put_signed(row, labels[i].number);
        put_varint(row, labels[i].unit);
    }
    return id;
}

/* Where. */

static uint32_t frame_row(struct saving *s, const inferom_site *site)
{
    uint32_t function, frame, name = capture_string(&s->c, site_name(site)), file = capture_string(&s->c, site->file);
    struct bytes *row = capture_row(&s->c, CAPTURE_FUNCTIONS, &function);
    put_varint(row, name);
    put_varint(row, file);
    put_varint(row, site->line);
    put_varint(row, 0);
    row = capture_row(&s->c, CAPTURE_FRAMES, &frame);
    put_varint(row, function);
    put_varint(row, site->line);
    put_varint(row, 0);
    put_varint(row, FRAME_SCOPE);
    return frame;
}

static uint32_t stack_row(struct saving *s, uint32_t caller, uint32_t frame)
{
    uint32_t id;
    struct bytes *row = capture_row(&s->c, CAPTURE_STACKS, &id);
    put_varint(row, id - caller);
    put_varint(row, frame);
    return id;
}

/* How much. */

static void add_scope(struct saving *s, const struct path *p, uint32_t stack, uint32_t thread)
{
    struct number_label labels[6];
    size_t n = 0;
    if (p->timed) {
        labels[n++] = (struct number_label){s->key_least, to_ps(s, (double)p->least), s->unit_ps};
        labels[n++] = (struct number_label){s->key_most, to_ps(s, (double)p->most), s->unit_ps};
        labels[n++] = (struct number_label){s->key_mean, to_ps(s, p->mean), s->unit_ps};
        labels[n++] = (struct number_label){s->key_deviation, to_ps(s, __builtin_sqrt(p->squares / (double)p->timed)), s->unit_ps};
    }
    if (p->cut)
        labels[n++] = (struct number_label){s->key_cut, (int64_t)p->cut, 0};
    if (p->left_out)
        labels[n++] = (struct number_label){s->key_left_out, (int64_t)p->left_out, 0};
    uint32_t context = context_row(s, thread, n ? labels_row(s, labels, n) : 0);
    sample_add(s, &s->scopes, (struct sample){stack, context, {rounded(p->self * s->r->scale.ns_per_tick), (int64_t)p->calls,
                                              (int64_t)p->timed, (int64_t)p->allocations, (int64_t)p->bytes}});
}

static void add_times(struct saving *s, const struct path *p, uint32_t stack, uint32_t thread)
{
    for (size_t o = 0; o < OCTAVES; o++)
        for (size_t k = 0; k < STEPS; k++) {
            uint64_t n = bucket_of(p, o, k);
            if (!n)
                continue;
            const struct number_label labels[] = {{s->key_from, to_ps(s, (double)scopes_bucket_from(o, k)), s->unit_ps},
                                                  {s->key_to, to_ps(s, (double)scopes_bucket_to(o, k) - 1), s->unit_ps}};
            uint32_t context = context_row(s, thread, labels_row(s, labels, 2));
            sample_add(s, &s->times, (struct sample){stack, context, {(int64_t)n}});
        }
}

static void add_paths(struct saving *s)
{
    uint32_t thread = 0, *frames = calloc(s->r->n + 1, sizeof *frames);
    const struct block *last = NULL;
    s->stacks = calloc(s->r->n + 1, sizeof *s->stacks);
    if (!frames || !s->stacks) {
        s->failed = true;
        free(frames);
        return;
    }
    for (size_t i = 0; i < s->r->n; i++) {
        const struct path *p = &s->r->paths[i];
        bool has_caller = p->caller != NO_CALLER;
        if (p->thread != last)
            thread = profile_thread(s, last = p->thread);
        frames[i] = frame_row(s, p->site);
        s->stacks[i] = stack_row(s, has_caller ? s->stacks[p->caller] : 0, frames[i]);
        if (!p->calls && !p->left_out && p->self <= 0 && !p->allocations)
            continue;
        add_scope(s, p, s->stacks[i], thread);
        add_times(s, p, s->stacks[i], thread);
        uint32_t pair = stack_row(s, has_caller ? stack_row(s, 0, frames[p->caller]) : 0, frames[i]);
        if (p->calls)
            sample_add(s, &s->calls, (struct sample){pair, context_row(s, thread, 0), {(int64_t)p->calls}});
    }
    free(frames);
}

static const struct measure {
    const char *name;
    int unit;
} scope_measures[MEASURES] = {{"self", UNIT_NS}, {"calls", UNIT_COUNT}, {"timed calls", UNIT_COUNT}, {"allocations", UNIT_COUNT}, {"allocated", UNIT_BYTES}},
  count_measure[1] = {{"calls", UNIT_COUNT}};

static void put_set(struct saving *s, uint32_t number, const char *name, const struct measure *measures, size_t m, const struct samples *from)
{
    for (size_t at = 0; at < from->n; at += SLICE) {
        size_t n = from->n - at < SLICE ? from->n - at : SLICE;
        const struct sample *rows = from->rows + at;
        struct bytes *out = capture_payload(&s->c, CAPTURE_SAMPLES, (uint32_t)n);
        put_varint(out, number);
        put_text(out, name);
        put_varint(out, m);
        for (size_t i = 0; i < m; i++) {
            put_text(out, measures[i].name);
            put_varint(out, (uint64_t)measures[i].unit);
            put_text(out, "");
            put_varint(out, 0);
        }
        put_varint(out, 0); /* shown, period */
        put_signed(out, 0);
        put_varint(out, n);
        put_varint(out, 2); /* contexts, no times */
        for (size_t i = 0; i < n; i++)
            put_varint(out, rows[i].context);
        for (size_t i = 0; i < n; i++)
            put_varint(out, rows[i].stack);
        for (size_t v = 0; v < m; v++)
            for (size_t i = 0; i < n; i++)
                put_signed(out, rows[i].values[v]);
    }
}

/* About the run. */

static void add_process(struct saving *s)
{
    uint32_t name = capture_string(&s->c, run_facts.program);
    struct bytes *row = capture_row(&s->c, CAPTURE_PROCESSES, &s->process);
    put_signed(row, getpid());
    put_varint(row, 0);
    put_varint(row, name);
}

static void add_facts(struct saving *s)
{
    char cost[32], now[32], timing[32];
    scope_timing_text(timing, sizeof timing, GET(timing_stride));
    time_t t = time(NULL);
    struct tm tm;
    snprintf(cost, sizeof cost, "%.1f ns", ticks_cost() * s->r->scale.ns_per_tick);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    const char *const facts[][2] = {
        {"scopes by", "libinferom " INFEROM_VERSION},
        {"scopes clock", ticks_are_tsc ? "the processor's counter" : "CLOCK_MONOTONIC"},
        {"scopes clock cost", cost},
        {"scopes timing", timing},
        {"scopes written", now},
    };
    struct bytes *out = capture_payload(&s->c, CAPTURE_FACTS, sizeof facts / sizeof *facts);
    put_varint(out, sizeof facts / sizeof *facts);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        put_text(out, facts[i][0]);
        put_text(out, facts[i][1]);
    }
}

static void add_losses(struct saving *s)
{
    const struct {
        const char *reason;
        uint64_t count;
    } losses[] = {
        {"calls of scopes: too deep, or too many different ones", s->r->lost_scopes},
        {"phases, requests and readings: more than there is room for", s->r->lost_events},
    };
    for (size_t i = 0; s->scopes.n && i < sizeof losses / sizeof *losses; i++) {
        if (!losses[i].count)
            continue;
        struct bytes *out = capture_payload(&s->c, CAPTURE_LOSSES, 1);
        put_varint(out, 1);
        put_varint(out, 0); /* of the set "scopes" */
        put_text(out, losses[i].reason);
        put_varint(out, losses[i].count);
    }
}

static void add_clock(struct saving *s)
{
    struct timespec wall, mono;
    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_REALTIME, &wall);
    struct bytes *out = capture_payload(&s->c, CAPTURE_CLOCK, 1);
    put_varint(out, run_facts.began_ns + 1);
    put_varint(out, ticks_to_ns(&s->r->scale, s->r->now) + 1);
    put_varint(out, 1);
    put_signed(out, (wall.tv_sec - mono.tv_sec) * INT64_C(1000000000) + (wall.tv_nsec - mono.tv_nsec));
}

static void add_keys(struct saving *s)
{
    const struct {
        uint32_t *id;
        const char *text;
    } words[] = {
        {&s->key_least, "shortest"}, {&s->key_most, "longest"}, {&s->key_mean, "mean"},
        {&s->key_deviation, "deviation"}, {&s->key_cut, "cut"},
        {&s->key_left_out, "left out"}, {&s->key_from, "from"}, {&s->key_to, "to"}, {&s->key_phase, "phase"},
        {&s->key_request, "request"}, {&s->unit_ps, "ps"}, {&s->key_allocations, "allocations"}, {&s->key_allocated, "allocated"},
        {&s->unit_bytes, "bytes"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *words[i].id = capture_string(&s->c, words[i].text);
}

static int write_results(const char *path)
{
    struct results r;
    int error = results_take(&r);
    if (error)
        return error;
    struct saving s = {.r = &r};
    add_keys(&s);
    add_process(&s);
    add_paths(&s);
    put_set(&s, 0, "scopes", scope_measures, GET(process->memory_is_told) ? MEASURES : MEASURES - 2, &s.scopes);
    put_set(&s, 1, "calls", count_measure, 1, &s.calls);
    put_set(&s, 2, "scope times", count_measure, 1, &s.times);
    profile_spans(&s);
    profile_series(&s);
    add_facts(&s);
    add_losses(&s);
    add_clock(&s);
    results_free(&r);
    s.c.failed |= s.failed;
    error = capture_save(&s.c, path);
    capture_done(&s.c);
    free(s.stacks);
    free(s.scopes.rows);
    free(s.times.rows);
    free(s.calls.rows);
    return error;
}

int inferom_write(const char *path)
{
    if (!path || !*path)
        return -EINVAL;
    heap_looks_away();
    int error = write_results(path);
    heap_looks_again();
    return error;
}
