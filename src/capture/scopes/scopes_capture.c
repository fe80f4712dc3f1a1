#include "capture/scopes/scopes_capture.h"
#include "base/clock.h"
#include "base/mem.h"
#include "capture/process_row.h"
#include "capture/scopes/scopes_inside.h"
#include "capture/scopes/scopes_join.h"
#include "inferom/scope_times.h"

#include <math.h>

enum { MEASURES = 5, MEASURES_WITHOUT_MEMORY = 3 };

/* No program does so much: what is larger was not counted but invented. Sums of these stay far from the end of 64 bits. */
#define COUNT_MOST (UINT64_C(1) << 45)

static int64_t sane(uint64_t n) { return n <= COUNT_MOST ? (int64_t)n : 0; }

/* Names. */

/* The program does not know when it was started. It is the process with this number that came last. */
process_id scopes_process_row(struct builder *names, const struct seen_process *p)
{
    return process_row(names, (int32_t)p->head.pid, 0, clock_monotonic_ns(), view_of(p->head.program));
}

static const struct seen_site *site_of(const struct seen_process *p, uint32_t site)
{
    return site < p->n_sites && p->sites[site].name ? &p->sites[site] : NULL;
}

frame_id scopes_frame(struct builder *names, const struct seen_process *p, uint32_t site)
{
    const struct seen_site *s = site_of(p, site);
    func_id f = builder_function(names, (struct function){.name = builder_string(names, view_of(s ? s->name : "(no name)")),
                                                          .file = builder_string(names, view_of(s ? s->file : "")), .line = s ? s->line : 0});
    return builder_frame(names, (struct frame){.function = f, .line = s ? s->line : 0, .kind = FRAME_SCOPE});
}

str_id writing_site_name(const struct writing *w, uint32_t site)
{
    const struct seen_site *s = site_of(w->p, site);
    return s ? builder_string(w->names, view_of(s->name)) : STR_EMPTY;
}

thread_id writing_thread(const struct writing *w, const struct scopes_thread *shared)
{
    char name[SCOPES_NAME_BYTES + 1] = "";
    thread_id id = builder_thread(w->names, w->process, (int32_t)(shared->tid & INT32_MAX));
    memcpy(name, shared->name, SCOPES_NAME_BYTES);
    if (!profile_thread(builder_view(w->names), id)->name.i && *name)
        builder_name_thread(w->names, id, view_of(name));
    return id;
}

/* Numbers. */

uint64_t writing_ns(const struct writing *w, uint64_t tick) { return w->clock ? scopes_clock_ns(w->clock, tick) : tick; }
static double ns_per_tick(const struct writing *w) { return w->clock ? scopes_clock_ns_per_tick(w->clock) : 1; }

static int64_t rounded(double v) { return fabs(v) < 0x1p60 ? (int64_t)llround(v) : 0; }
static int64_t to_ps(const struct writing *w, double ticks) { return rounded(ticks * ns_per_tick(w) * 1000); }

/* One thread: nodes as they are now, and what each took. */
struct counted {
    struct scopes_thread shared;
    struct scopes_node *nodes; /* by number; all zero: nothing in this epoch */
    struct scope_time *times;
    stack_id *stacks;
    frame_id *frames;
    size_t n;
};

static void counted_done(struct counted *c)
{
    free(c->nodes);
    free(c->times);
    free(c->stacks);
    free(c->frames);
}
DEFINE_OWN_IN_PLACE(counted, struct counted)

static void read_node(const struct writing *w, const struct seen_thread *t, struct counted *c, size_t i)
{
    struct scopes_node *n = &c->nodes[i];
    scopes_memory_copy(w->m, t->nodes[i].place, n, sizeof *n);
    scopes_memory_copy(w->m, t->nodes[i].place + offsetof(struct scopes_node, left), &n->left, sizeof n->left); /* behind `skipped` */
    if (n->epoch != w->head.epoch)
        *n = (struct scopes_node){0};
    n->timed = (uint64_t)sane(n->timed);
    n->skipped = n->skipped > n->left ? (uint64_t)sane(n->skipped - n->left) : 0;
    n->cut = (uint64_t)sane(n->cut);
    struct scope_spread spread = scope_spread_of(n->timed, (uint64_t)sane(n->total), n->middle, n->squares);
    uint32_t caller = t->nodes[i].caller;
    c->times[i] = (struct scope_time){
        .caller = caller ? caller : SCOPE_NO_CALLER, .is_partly_known = !n->timed || n->cut,
        .total = spread.mean * (double)(n->timed + n->skipped),
    };
}

/* Row 0 is nobody's, and takes no time. What is open is known in part. */
static void read_thread(const struct writing *w, const struct seen_thread *t, struct counted *c)
{
    scopes_memory_copy(w->m, t->place, &c->shared, sizeof c->shared);
    c->n = t->n_nodes ? t->n_nodes : 1;
    c->nodes = mem_new(c->n * sizeof *c->nodes);
    c->times = mem_new(c->n * sizeof *c->times);
    c->stacks = mem_new(c->n * sizeof *c->stacks);
    c->frames = mem_new(c->n * sizeof *c->frames);
    c->times[0].caller = SCOPE_NO_CALLER;
    for (size_t i = 1; i < c->n; i++)
        read_node(w, t, c, i);
    for (uint32_t open = c->shared.now < t->n_nodes ? c->shared.now : 0; open; open = t->nodes[open].caller)
        c->times[open].is_partly_known = true;
    scope_times_share(c->times, c->n);
    for (size_t i = 1; i < c->n; i++) {
        c->frames[i] = scopes_frame(w->names, w->p, t->nodes[i].site);
        c->stacks[i] = builder_push(w->names, c->stacks[t->nodes[i].caller], c->frames[i]);
    }
}

/* Into the file. */

static set_id count_set(const struct writing *w, struct view name)
{
    struct measure_spec calls = {VIEW("calls"), UNIT_COUNT};
    return builder_set(w->names, name, &calls, 1);
}

static set_id scopes_set(const struct writing *w)
{
    static const struct measure_spec measures[MEASURES] = {
        {VIEW("self"), UNIT_NS}, {VIEW("calls"), UNIT_COUNT}, {VIEW("timed calls"), UNIT_COUNT},
        {VIEW("allocations"), UNIT_COUNT}, {VIEW("allocated"), UNIT_BYTES},
    };
    return builder_set(w->names, VIEW("scopes"), measures, w->head.memory_is_told ? MEASURES : MEASURES_WITHOUT_MEMORY);
}

static struct label number_label(const struct writing *w, struct view key, int64_t number, struct view unit)
{
    return (struct label){.key = builder_string(w->names, key), .number = number, .unit = builder_string(w->names, unit)};
}

enum { NODE_LABELS = 6 };

static size_t lengths_of(const struct writing *w, const struct scopes_node *n, struct label labels[NODE_LABELS])
{
    size_t k = 0;
    if (n->timed) {
        struct scope_spread spread = scope_spread_of(n->timed, (uint64_t)sane(n->total), n->middle, n->squares);
        labels[k++] = number_label(w, VIEW("shortest"), to_ps(w, (double)n->least), VIEW("ps"));
        labels[k++] = number_label(w, VIEW("longest"), to_ps(w, (double)n->most), VIEW("ps"));
        labels[k++] = number_label(w, VIEW("mean"), to_ps(w, spread.mean), VIEW("ps"));
        labels[k++] = number_label(w, VIEW("deviation"), to_ps(w, sqrt(spread.squares / (double)n->timed)), VIEW("ps"));
    }
    if (n->cut)
        labels[k++] = number_label(w, VIEW("cut"), (int64_t)n->cut, VIEW(""));
    if (n->left_out)
        labels[k++] = number_label(w, VIEW("left out"), sane(n->left_out), VIEW(""));
    return k;
}

static void write_node(const struct writing *w, const struct seen_thread *t, const struct counted *c, size_t i, thread_id thread)
{
    const struct scopes_node *n = &c->nodes[i];
    int64_t calls = (int64_t)(n->timed + n->skipped + n->cut), self = rounded(c->times[i].self * ns_per_tick(w));
    if (!calls && !n->left_out && self <= 0 && !n->allocations)
        return;
    int64_t values[MEASURES] = {self, calls, (int64_t)n->timed, sane(n->allocations), sane(n->bytes)};
    struct label labels[NODE_LABELS];
    capture_latest_row(w->into, scopes_set(w), thread, c->stacks[i], labels, lengths_of(w, n, labels), values);
    uint32_t caller = t->nodes[i].caller;
    stack_id pair = builder_push(w->names, caller ? builder_push(w->names, STACK_ROOT, c->frames[caller]) : STACK_ROOT, c->frames[i]);
    if (calls)
        capture_latest_row(w->into, count_set(w, VIEW("calls")), thread, pair, NULL, 0, &calls);
}

static void write_bucket(const struct writing *w, thread_id thread, stack_id stack, size_t octave, size_t step, int64_t calls)
{
    const struct label labels[] = {
        number_label(w, VIEW("from"), to_ps(w, (double)scopes_bucket_from(octave, step)), VIEW("ps")),
        number_label(w, VIEW("to"), to_ps(w, (double)scopes_bucket_to(octave, step) - 1), VIEW("ps")),
    };
    if (calls > 0)
        capture_latest_row(w->into, count_set(w, VIEW("scope times")), thread, stack, labels, 2, &calls);
}

/* The length of the last call is in no bucket yet. */
static void write_last(const struct writing *w, const struct counted *c, size_t i, thread_id thread)
{
    uint64_t last = c->nodes[i].last;
    size_t octave = 60 - (size_t)__builtin_clzll(last | 8);
    if (c->nodes[i].timed && octave < SCOPES_OCTAVES)
        write_bucket(w, thread, c->stacks[i], octave, last >> (octave ? octave - 1 : 0) & (SCOPES_STEPS - 1), 1);
}

static void write_buckets(const struct writing *w, const struct seen_thread *t, const struct counted *c, thread_id thread)
{
    for (size_t k = 0; k < t->n_buckets; k++) {
        struct scopes_buckets b;
        scopes_memory_copy(w->m, t->buckets[k], &b, sizeof b);
        if (!b.node || b.node >= c->n || b.octave >= SCOPES_OCTAVES || !c->nodes[b.node].timed)
            continue;
        for (size_t step = 0; step < SCOPES_STEPS; step++)
            write_bucket(w, thread, c->stacks[b.node], b.octave, step, sane(b.counts[step]));
    }
    for (size_t i = 1; i < c->n; i++)
        write_last(w, c, i, thread);
}

/* What is new since it was told last; losses add up. What begins again at 0 does so with a new epoch. */
static void write_losses(const struct writing *w, struct seen_thread *t, const struct scopes_thread *s)
{
    const struct {
        struct view reason;
        uint64_t count;
    } losses[SCOPES_LOSSES] = {
        {VIEW("calls of scopes: too deep, or too many different ones"), s->lost_scopes},
        {VIEW("phases, requests and readings: more than there is room for"), s->events_epoch == w->head.epoch ? s->lost_events : 0},
        {VIEW("records of scopes: samples in them are their callers'"), s->lost_records},
    };
    for (size_t i = 0; i < SCOPES_LOSSES; i++) {
        uint64_t now = (uint64_t)sane(losses[i].count), told = now < t->lost_told[i] ? 0 : t->lost_told[i];
        t->lost_told[i] = now;
        if (now > told)
            capture_lost(w->into, scopes_set(w), losses[i].reason, now - told);
    }
}

static void write_thread(const struct writing *w, struct seen_thread *t)
{
    own(counted) struct counted c = {0};
    read_thread(w, t, &c);
    thread_id thread = writing_thread(w, &c.shared);
    for (size_t i = 1; i < c.n; i++)
        write_node(w, t, &c, i, thread);
    write_buckets(w, t, &c, thread);
    write_losses(w, t, &c.shared);
}

static void write_facts(const struct writing *w)
{
    char cost[32], timing[32];
    scope_timing_text(timing, sizeof timing, w->head.stride);
    double ns = w->head.clock_cost * ns_per_tick(w);
    snprintf(cost, sizeof cost, "%.1f ns", isfinite(ns) && ns >= 0 && ns < 1e6 ? ns : 0);
    const char *const facts[][2] = {
        {"scopes by", "libinferom"},
        {"scopes clock", w->clock ? "the processor's counter" : "CLOCK_MONOTONIC"},
        {"scopes clock cost", cost},
        {"scopes timing", timing},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        capture_fact(w->into, view_of(facts[i][0]), view_of(facts[i][1]));
}

/* False: it never said who it is. */
static bool begin_writing(struct writing *w, struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock,
                          uint64_t now_ns, struct capture_writer *into)
{
    if (!p->place)
        return false;
    *w = (struct writing){.m = m, .p = p, .now_ns = now_ns, .into = into, .names = capture_names(into)};
    scopes_memory_copy(m, p->place, &w->head, sizeof w->head);
    w->head.pid = p->head.pid;
    w->clock = w->head.ticks_are_ns ? NULL : clock;
    w->process = scopes_process_row(w->names, p);
    return true;
}

void scopes_capture_events(struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock, uint64_t now_ns,
                           struct capture_writer *into)
{
    struct writing w;
    if (begin_writing(&w, m, p, clock, now_ns, into))
        scopes_write_events(&w);
}

static uint64_t write_table(const struct writing *w)
{
    capture_latest_begin(w->into, w->p->subject);
    for (size_t i = 0; i < w->p->n_threads; i++)
        if (w->p->threads[i]->place)
            write_thread(w, w->p->threads[i]);
    write_facts(w);
    return capture_latest_end(w->into);
}

/* FNV-1a, over words. */
static uint64_t folded(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)bytes + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t scopes_capture_numbers(const struct scopes_memory *m, const struct seen_process *p)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint32_t epoch = 0;
    if (p->place)
        scopes_memory_copy(m, p->place + offsetof(struct scopes_process, epoch), &epoch, sizeof epoch);
    hash = (hash ^ epoch) * UINT64_C(0x100000001b3);
    for (size_t k = 0; k < p->n_threads; k++)
        for (size_t i = 1; i < p->threads[k]->n_nodes; i++) {
            struct scopes_node n;
            scopes_memory_copy(m, p->threads[k]->nodes[i].place, &n, sizeof n);
            hash = folded(hash, &n, sizeof n);
        }
    return hash;
}

uint64_t scopes_capture_table(struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock, uint64_t now_ns,
                              struct capture_writer *into)
{
    struct writing w;
    return begin_writing(&w, m, p, clock, now_ns, into) ? write_table(&w) : 0;
}

void scopes_capture(struct scopes_memory *m, struct seen_process *p, const struct scopes_clock *clock, uint64_t now_ns,
                    struct capture_writer *into)
{
    struct writing w;
    if (!begin_writing(&w, m, p, clock, now_ns, into))
        return;
    scopes_write_events(&w);
    scopes_write_last(&w);
    write_table(&w);
}
