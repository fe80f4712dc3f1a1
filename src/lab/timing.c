#include "lab/timing.h"
#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Between two samples the line that connects them. */
static double percentile(const double *sorted, unsigned n, double share)
{
    double at = share * (n - 1);
    unsigned below = (unsigned)at;
    return below + 1 < n ? sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]) : sorted[n - 1];
}

void timing_figures(struct timing *t, double *sorted, unsigned n)
{
    double sum = 0, squares = 0;
    qsort(sorted, n, sizeof *sorted, ascending);
    for (unsigned i = 0; i < n; i++)
        sum += sorted[i];
    t->mean_ns = sum / n;
    for (unsigned i = 0; i < n; i++)
        squares += (sorted[i] - t->mean_ns) * (sorted[i] - t->mean_ns);
    t->deviation_ns = n > 1 ? sqrt(squares / (n - 1)) : NAN;
    t->median_ns = percentile(sorted, n, 0.5);
    t->p90_ns = percentile(sorted, n, 0.9);
    t->least_ns = sorted[0];
    t->most_ns = sorted[n - 1];
}

void timing_done(struct timing *t) { free(t->rows); }

struct both_clocks {
    uint64_t cpu_ns, wall_ns;
};

static struct both_clocks read_clocks(const struct timing_plan *p, void *arg)
{
    return (struct both_clocks){p->clock_ns ? p->clock_ns(arg) : clock_thread_cpu_ns(), clock_monotonic_ns()};
}

static struct both_clocks run_calls(const struct timing_plan *p, uint64_t n, timing_call call, void *arg)
{
    struct both_clocks before = read_clocks(p, arg);
    for (uint64_t i = 0; i < n; i++)
        call(arg);
    struct both_clocks after = read_clocks(p, arg);
    return (struct both_clocks){after.cpu_ns - before.cpu_ns, after.wall_ns - before.wall_ns};
}

static bool is_over(const struct timing_plan *p, struct err *e)
{
    if (!p->stop || !*p->stop)
        return false;
    err_set(e, ERR_INTERRUPTED, "interrupted");
    return true;
}

/* Doubles the calls until a sample of them is long enough to be judged, and goes on until it is warm. */
static bool warm_up(struct timing *t, const struct timing_plan *p, timing_call call, void *arg, struct err *e)
{
    uint64_t calls = 1, spent_ns = 0;
    for (;;) {
        if (is_over(p, e))
            return false;
        struct both_clocks took = run_calls(p, calls, call, arg);
        uint64_t ns = p->on_the_wall ? took.wall_ns : took.cpu_ns;
        t->warm_up_calls += calls;
        spent_ns += took.wall_ns;
        if (ns * 4 < p->sample_ns) {
            calls *= 2;
            continue;
        }
        double more = ns ? (double)p->sample_ns / (double)ns * (double)calls : 1;
        t->calls_a_sample = more > 1 ? (uint64_t)ceil(more) : 1;
        if (spent_ns >= p->warm_up_ns)
            return true;
    }
}

bool timing_of(struct timing *out, const struct timing_plan *p, timing_call call, void *arg, struct err *e)
{
    *out = (struct timing){.begun_ns = clock_monotonic_ns()};
    if (!warm_up(out, p, call, arg, e))
        return false;
    double *ns = mem_new(p->samples * sizeof *ns), *wall = mem_new(p->samples * sizeof *wall);
    out->rows = mem_new(p->samples * sizeof *out->rows);
    out->timed_from_ns = clock_monotonic_ns();
    for (; out->samples < p->samples && !is_over(p, e); out->samples++) {
        uint64_t at_ns = clock_monotonic_ns();
        struct both_clocks took = run_calls(p, out->calls_a_sample, call, arg);
        double total_ns = (double)(p->on_the_wall ? took.wall_ns : took.cpu_ns);
        out->calls += out->calls_a_sample;
        out->total_ns += total_ns;
        ns[out->samples] = total_ns / (double)out->calls_a_sample;
        out->rows[out->samples] = (struct timing_sample){at_ns, took.wall_ns, ns[out->samples]};
        wall[out->samples] = (double)took.wall_ns / (double)out->calls_a_sample;
    }
    out->ended_ns = clock_monotonic_ns();
    bool ok = out->samples == p->samples;
    if (ok) {
        timing_figures(out, wall, p->samples);
        out->wall_ns = out->median_ns;
        timing_figures(out, ns, p->samples);
    } else {
        timing_done(out);
    }
    free(ns);
    free(wall);
    return ok;
}
