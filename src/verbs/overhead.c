#include "analyse/verdict.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "bench/spin.h"
#include "capture/heap/heap_fit.h"
#include "capture/source.h"
#include "render/overhead_table.h"
#include "verbs/overhead_runs.h"
#include "verbs/verb.h"

#include <inttypes.h>

#define TOLERANCE 0.01 /* closer to one than this nobody minds */

enum { ROUNDS_MOST = 1000 };

struct overhead_settings {
    struct option_list rate;
    uint64_t rounds, length_ns, spin;
    bool json;
};

#define S struct overhead_settings
static const struct option overhead_options[] = {
    LIST('r', "rate", S, rate, "HZ", "rate to try; may be repeated (else 99, 1000 and 4000)"),
    NUMBER('n', "rounds", S, rounds, "N", "how often each is tried; fewer than 5 decide nothing", 1, ROUNDS_MOST),
    DURATION(0, "length", S, length_ns, "CPU time of each of the two threads of the built-in load", 1000000, UINT64_C(3600000000000)),
    NUMBER(0, "spin", S, spin, "UNITS", "only run the built-in load, this much of it: to try another profiler on it", 0, 0),
    FLAG(0, "json", S, json, "print JSON"),
    OPTIONS_END
};
#undef S

/* Numbers of one way to measure, a row of each per round. */
struct way {
    struct recording_way how; /* engine NULL: without recording */
    double *cpu, *wall; /* ratios */
    double *share, *fixed_ns, *peak_bytes, *samples;
    size_t n;
};

struct overhead {
    const struct call *c;
    const struct overhead_settings *s;
    struct scratch scratch;
    char *const *command;
    char *const *brief; /* the same load with less to do; NULL: the command is the user's */
    struct way *ways;
    size_t n_ways, cap_ways;
    double *load_cpu_ns;
    size_t n_loads;
    struct progress progress;
    uint64_t runs;
};

static void overhead_done(struct overhead *o)
{
    for (size_t i = 0; i < o->n_ways; i++)
        free(o->ways[i].cpu);
    free(o->ways);
    free(o->load_cpu_ns);
    scratch_done(&o->scratch);
}
DEFINE_OWN_IN_PLACE(overhead, struct overhead)

/* Ways. */

static void add_way(struct overhead *o, struct recording_way how)
{
    enum { ROWS = 6 };
    size_t rounds = (size_t)o->s->rounds;
    GROW(o->ways, o->cap_ways, o->n_ways + 1);
    double *room = mem_new(ROWS * rounds * sizeof *room);
    o->ways[o->n_ways++] = (struct way){
        .how = how, .cpu = room, .wall = room + rounds, .share = room + 2 * rounds,
        .fixed_ns = room + 3 * rounds, .peak_bytes = room + 4 * rounds, .samples = room + 5 * rounds,
    };
}

static bool add_engine(struct overhead *o, const char *engine, struct err *e)
{
    static const uint64_t usual[] = {99, 1000, 4000};
    for (size_t i = 0; !o->s->rate.n && i < sizeof usual / sizeof *usual; i++)
        add_way(o, (struct recording_way){engine, usual[i], false});
    for (size_t i = 0; i < o->s->rate.n; i++) {
        uint64_t hz;
        if (!text_to_uint(view_of(o->s->rate.at[i]), &hz) || hz < 1 || hz > 20000)
            return err_set(e, ERR_USAGE, "--rate: '%s' is not a number from 1 to 20000", o->s->rate.at[i]);
        add_way(o, (struct recording_way){engine, hz, false});
    }
    return true;
}

/* The CPU by the engine of choice and the heap together; what processes have in memory, and scopes, are in every recording. */
static void add_all_at_once(struct overhead *o, const struct plan *plan)
{
    struct err refusal = {0};
    if (heap_fits(plan->command[0], &refusal))
        add_way(o, (struct recording_way){o->ways[1].how.engine, 1000, true});
    else
        log_info("not tried with the heap: %s", refusal.text);
}

/* Every engine that can sample this command here. The load against itself comes first: it shows the noise. */
static bool add_ways(struct overhead *o, struct err *e)
{
    struct host here = host_here();
    struct plan plan = {.host = &here, .command = o->command, .want_children = true, .rate_hz = 1000, .most_depth = 512};
    struct err refusal = {0};
    add_way(o, (struct recording_way){0});
    for (const struct source *const *s = sources; *s; s++) {
        if (strcmp((*s)->role, "cpu") != 0 || !(*s)->probe(&here, &plan, &refusal))
            continue;
        if (!add_engine(o, (*s)->name, e))
            return false;
    }
    if (o->n_ways > 1) {
        add_all_at_once(o, &plan);
        return true;
    }
    *e = refusal;
    return err_in(e, "CPU sampling is not possible here");
}

/* Rounds. */

static bool measure_alone(struct overhead *o, struct timed_run *out, struct err *e)
{
    progress_at(&o->progress, o->runs++);
    return timed_run(out, o->command, NULL, o->c->stop, e);
}

static double not_below_zero(double x) { return x > 0 ? x : 0; }

/*
 * The recorder takes something to begin and to end, and something all the time. Where the load is ours
 * a shorter run tells the two apart: a line through two points.
 */
static bool measure_recorder(struct overhead *o, struct way *w, const struct recorded_run *run, struct err *e)
{
    struct recorded_run brief;
    w->fixed_ns[w->n] = UNKNOWN;
    w->share[w->n] = run->recorder_cpu_ns / run->wall_ns;
    if (!o->brief)
        return true;
    if (!run_recorded(&brief, &o->scratch, &w->how, o->brief, o->c->stop, e))
        return false;
    double longer_ns = run->wall_ns - brief.wall_ns;
    double share = longer_ns > 0 ? not_below_zero(run->recorder_cpu_ns - brief.recorder_cpu_ns) / longer_ns : 0;
    w->share[w->n] = share;
    w->fixed_ns[w->n] = not_below_zero(brief.recorder_cpu_ns - share * brief.wall_ns);
    return true;
}

static bool measure_recorded(struct overhead *o, struct way *w, const struct timed_run *alone, struct err *e)
{
    struct recorded_run run;
    progress_at(&o->progress, o->runs++);
    if (!run_recorded(&run, &o->scratch, &w->how, o->command, o->c->stop, e) ||
        !measure_recorder(o, w, &run, e))
        return false;
    w->cpu[w->n] = run.command_cpu_ns / (double)alone->cpu_ns;
    w->wall[w->n] = run.wall_ns / (double)alone->wall_ns;
    w->peak_bytes[w->n] = run.recorder_peak_bytes;
    w->samples[w->n] = run.samples / run.command_cpu_ns * 1e9;
    w->n++;
    return true;
}

static bool measure_again(struct overhead *o, struct way *w, const struct timed_run *alone, struct err *e)
{
    struct timed_run again;
    if (!measure_alone(o, &again, e))
        return false;
    w->cpu[w->n] = (double)again.cpu_ns / (double)alone->cpu_ns;
    w->wall[w->n] = (double)again.wall_ns / (double)alone->wall_ns;
    w->share[w->n] = w->fixed_ns[w->n] = w->peak_bytes[w->n] = w->samples[w->n] = UNKNOWN;
    w->n++;
    return true;
}

/* Once without, once with each way; who comes first changes from round to round. */
static bool measure_round(struct overhead *o, size_t round, struct err *e)
{
    struct timed_run alone;
    if (!measure_alone(o, &alone, e))
        return false;
    if (!alone.cpu_ns)
        return err_set(e, ERR_USAGE, "%s takes no CPU time that could be compared", o->command[0]);
    o->load_cpu_ns[o->n_loads++] = (double)alone.cpu_ns;
    for (size_t i = 0; i < o->n_ways; i++) {
        struct way *w = &o->ways[(i + round) % o->n_ways];
        if (w->how.engine ? !measure_recorded(o, w, &alone, e) : !measure_again(o, w, &alone, e))
            return false;
    }
    return true;
}

static bool measure(struct overhead *o, struct err *e)
{
    bool ok = true;
    o->progress = progress_begin("measuring", o->s->rounds * (o->n_ways + 1));
    for (size_t round = 0; ok && round < o->s->rounds; round++)
        ok = measure_round(o, round, e);
    progress_end(&o->progress);
    return ok;
}

/* The answer. */

static struct overhead_row row_of(struct way *w)
{
    return (struct overhead_row){
        .engine = w->how.engine,
        .rate_hz = w->how.rate_hz,
        .with_heap = w->how.with_heap,
        .cpu = verdict_of(w->cpu, w->n, TOLERANCE),
        .wall = verdict_of(w->wall, w->n, TOLERANCE),
        .recorder_share = median_of(w->share, w->n),
        .recorder_fixed_ns = median_of(w->fixed_ns, w->n),
        .recorder_peak_bytes = median_of(w->peak_bytes, w->n),
        .samples_per_cpu_s = median_of(w->samples, w->n),
    };
}

static void print_answer(struct overhead *o)
{
    const struct call *c = o->c;
    own(free) struct overhead_row *rows = mem_new(o->n_ways * sizeof *rows);
    struct overhead_answer a = {
        .load = o->brief ? "two spinning threads, stacks of 13 frames" : o->command[0],
        .tolerance = TOLERANCE,
        .has_wall = !o->brief,
        .rows = rows,
    };
    a.load_cpu_ns = median_of(o->load_cpu_ns, o->n_loads);
    for (size_t i = 0; i < o->n_ways; i++)
        if (o->ways[i].n)
            rows[a.n++] = row_of(&o->ways[i]);
    if (!a.n)
        return;
    struct table_style style = {.width = c->look.width, .colour = c->look.colour};
    if (o->s->json)
        overhead_json(&a, c->out);
    else
        overhead_print(&a, &style, c->out);
}

static bool overhead(const struct call *c, struct err *e)
{
    const struct overhead_settings *s = c->settings;
    if (s->spin)
        return spin(s->spin, e);
    enum { BRIEF_PART = 8 };
    char units[32], few_units[32];
    uint64_t n_units = spin_units(s->length_ns);
    snprintf(units, sizeof units, "%" PRIu64, n_units);
    snprintf(few_units, sizeof few_units, "%" PRIu64, n_units / BRIEF_PART + 1);
    const char *const load[] = {"/proc/self/exe", "overhead", "--spin", units, NULL};
    const char *const brief[] = {"/proc/self/exe", "overhead", "--spin", few_units, NULL};
    own(overhead) struct overhead o = {
        .c = c,
        .s = s,
        .command = c->n_args ? c->args : (char *const *)load,
        .brief = c->n_args ? NULL : (char *const *)brief,
        .load_cpu_ns = mem_new((size_t)s->rounds * sizeof *o.load_cpu_ns),
    };
    if (!scratch_make(&o.scratch, e) || !add_ways(&o, e))
        return false;
    bool ok = measure(&o, e);
    print_answer(&o); /* what is finished, whatever came between */
    return ok;
}

const struct verb verb_overhead = {
    .name = "overhead",
    .args = "[--] [COMMAND...]",
    .most_args = -1,
    .what = "measure how much recording slows programs down on this machine",
    .about = "Runs a load without and with recording, in turns, for every engine that works here and for several "
             "rates, and with the heap as well, and compares the CPU time it took. Without COMMAND the load is built in: two threads that do nothing "
             "but arithmetic, at the bottom of a deep stack. That is the precise way: such a load takes the same CPU "
             "time again and again. With COMMAND its CPU time and its wall time are compared; it has no input, what "
             "it prints is thrown away, and it must do the same work each time.\n"
             "\n"
             "The first row is the load compared with itself: what it shows is the noise of the machine. The recorder "
             "runs as a process of its own, and its own CPU use and memory are shown too. Ctrl-C ends the measuring and "
             "shows what is finished.",
    .example = "inferom overhead --rounds 1 --length 20ms --rate 99",
    .options = overhead_options,
    .defaults = &(const struct overhead_settings){.rounds = 5, .length_ns = UINT64_C(1000000000)},
    .settings_size = sizeof(struct overhead_settings),
    .takes_command = true,
    .watches_stop = true,
    .run = overhead,
};
