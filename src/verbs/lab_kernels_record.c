#include "base/clock.h"
#include "capture/host/machine.h"
#include "program_version.h" /* PROGRAM_VERSION, made by the build */
#include "verbs/lab_kernels_show.h"

#include <math.h>
#include <stdio.h>

enum { FULL_NAME = 192 };

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

/* "matmul f32 512 x 512 x 512, avx2, 4 threads" */
static void full_name(const struct kernel_result *k, char out[FULL_NAME])
{
    int n = snprintf(out, FULL_NAME, "%s %s, %s", k->name, k->shape, k->level);
    if (k->threads > 1)
        snprintf(out + n, FULL_NAME - (size_t)n, ", %u threads", k->threads);
}

static span_id add_span(struct kernel_recording *r, const char *name, uint64_t from_ns, uint64_t length_ns, span_id parent, labels_id labels)
{
    return capture_span(r->to, (struct span){
        .start_ns = from_ns, .length_ns = length_ns, .thread = r->thread, .name = builder_string(capture_names(r->to), view_of(name)),
        .labels = labels, .parent = parent, .kind = SPAN_SCOPE,
    });
}

static void add_spans(struct kernel_recording *r, const struct kernel_result *k, const char *name, labels_id labels)
{
    const struct timing *t = &k->timing;
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

static frame_id scope_frame(struct builder *names, const char *name)
{
    func_id f = builder_function(names, (struct function){.name = builder_string(names, view_of(name))});
    return builder_frame(names, (struct frame){.function = f, .kind = FRAME_SCOPE});
}

/* The timed calls as samples too, so that every view of a profile has something to show: the time of each is its weight. */
static void add_samples(struct kernel_recording *r, const struct kernel_result *k, const char *name, labels_id labels)
{
    struct builder *names = capture_names(r->to);
    const struct timing *t = &k->timing;
    set_id set = builder_set(names, VIEW("kernels"), &(struct measure_spec){.name = VIEW("time"), .unit = UNIT_NS}, 1);
    const frame_id frames[] = {scope_frame(names, k->name), scope_frame(names, name)};
    stack_id stack = builder_stack(names, frames, 2);
    context_id context = builder_context(names, r->thread, labels);
    for (unsigned i = 0; i < t->samples; i++) {
        int64_t ns = llround(t->rows[i].ns * (double)t->calls_a_sample);
        capture_sample(r->to, set, t->rows[i].at_ns, context, stack, &ns);
    }
}

bool kernel_recording_add(struct kernel_recording *r, const struct kernel_result *k, const struct roof *roof, struct err *e)
{
    struct builder *names = capture_names(r->to);
    const struct timing *t = &k->timing;
    labels_id labels = labels_of(names, k);
    struct limit limit = kernel_limit(k, roof);
    char name[FULL_NAME];
    full_name(k, name);
    add_spans(r, k, name, labels);
    add_samples(r, k, name, labels);
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
