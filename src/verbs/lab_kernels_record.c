#include "base/clock.h"
#include "capture/host/machine.h"
#include "program_version.h" /* PROGRAM_VERSION, made by the build */
#include "verbs/lab_kernels_show.h"

#include <stdio.h>

/* The figures everything is held against travel with the file. */
static void roof_facts(struct capture_writer *w, const struct roof *roof)
{
    for (size_t i = 0; i < roof->n; i++) {
        const struct roof_row *r = &roof->rows[i];
        char key[96], value[64];
        if (r->bytes)
            continue;
        snprintf(key, sizeof key, "roof: %s, %s, %u thread%s", r->kind, r->what, r->threads, r->threads == 1 ? "" : "s");
        snprintf(value, sizeof value, "%.4g", r->f.median);
        capture_fact(w, view_of(key), view_of(value));
    }
}

bool kernel_recording_open(struct kernel_recording *r, const char *path, const struct roof *roof, struct err *e)
{
    uint64_t now_ns = clock_monotonic_ns();
    if (!capture_open(&r->to, path, now_ns, e))
        return false;
    struct host here = host_here();
    struct builder *names = capture_names(r->to);
    process_id process = builder_process(names, getpid(), 0);
    builder_name_process(names, process, VIEW("inferom lab kernels"));
    r->thread = builder_thread(names, process, getpid());
    capture_clock(r->to, now_ns, TIME_NONE, clock_wall_offset_ns());
    capture_fact(r->to, VIEW("command"), VIEW("inferom lab kernels"));
    capture_fact(r->to, VIEW("recorded by"), VIEW("inferom " PROGRAM_VERSION));
    machine_facts(&here, r->to);
    roof_facts(r->to, roof);
    return true;
}

static labels_id labels_of(struct builder *names, const struct kernel_result *k)
{
    const struct label labels[] = {
        {.key = builder_string(names, VIEW("kernel")), .text = builder_string(names, view_of(k->name))},
        {.key = builder_string(names, VIEW("size")), .text = builder_string(names, view_of(k->shape))},
        {.key = builder_string(names, VIEW("level")), .text = builder_string(names, view_of(k->level))},
        {.key = builder_string(names, VIEW("threads")), .number = k->threads},
        {.key = builder_string(names, VIEW("calls")), .number = (int64_t)k->timing.calls_a_sample},
    };
    return builder_labels(names, labels, sizeof labels / sizeof *labels);
}

static span_id add_span(struct kernel_recording *r, const char *name, uint64_t from_ns, uint64_t length_ns, span_id parent, labels_id labels)
{
    return capture_span(r->to, (struct span){
        .start_ns = from_ns, .length_ns = length_ns, .thread = r->thread, .name = builder_string(capture_names(r->to), view_of(name)),
        .labels = labels, .parent = parent, .kind = SPAN_SCOPE,
    });
}

static void add_spans(struct kernel_recording *r, const struct kernel_result *k, labels_id labels)
{
    const struct timing *t = &k->timing;
    char name[192];
    int n = snprintf(name, sizeof name, "%s %s, %s", k->name, k->shape, k->level);
    if (k->threads > 1)
        snprintf(name + n, sizeof name - (size_t)n, ", %u threads", k->threads);
    span_id all = add_span(r, k->name, t->begun_ns, t->ended_ns - t->begun_ns, (span_id){0}, labels);
    add_span(r, "warm-up", t->begun_ns, t->timed_from_ns - t->begun_ns, all, labels);
    for (unsigned i = 0; i < t->samples; i++)
        add_span(r, name, t->rows[i].at_ns, t->rows[i].wall_ns, all, labels);
}

static void add_reading(struct kernel_recording *r, const char *series, const char *unit, labels_id labels, uint64_t at_ns, double value)
{
    struct builder *names = capture_names(r->to);
    capture_reading(r->to, builder_series(names, view_of(series), UNIT_OTHER, view_of(unit), labels), at_ns, value);
}

bool kernel_recording_add(struct kernel_recording *r, const struct kernel_result *k, const struct roof *roof, struct err *e)
{
    struct builder *names = capture_names(r->to);
    const struct timing *t = &k->timing;
    labels_id labels = labels_of(names, k);
    struct limit limit = kernel_limit(k, roof);
    add_spans(r, k, labels);
    series_id times = builder_series(names, VIEW("kernel time"), UNIT_NS, VIEW(""), labels);
    for (unsigned i = 0; i < t->samples; i++)
        capture_reading(r->to, times, t->rows[i].at_ns, t->rows[i].ns);
    if (k->amount.flops > 0)
        add_reading(r, "kernel rate", "GFLOPS", labels, t->ended_ns, k->amount.flops / t->median_ns);
    if (k->amount.bytes > 0)
        add_reading(r, "kernel bandwidth", "GB/s", labels, t->ended_ns, k->amount.bytes / t->median_ns);
    if (*limit.by)
        add_reading(r, "share of roof", "", labels, t->ended_ns, limit.ns / t->median_ns);
    return capture_flush(r->to, e);
}

bool kernel_recording_close(struct kernel_recording *r, struct err *e)
{
    capture_clock(r->to, TIME_NONE, clock_monotonic_ns(), clock_wall_offset_ns());
    return capture_close(r->to, e);
}

void kernel_recording_done(struct kernel_recording *r) { capture_writer_free(r->to); }
