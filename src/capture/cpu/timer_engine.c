/*
 * The engine for machines where perf_event_open is refused, containers above all: a
 * library in the target takes the samples, by timers on the CPU clocks of its threads
 * (guest/sampler, docs/internals/timers.md).
 *
 * The kernel looks at such timers when it ticks, 100 to 1000 times a second, whatever
 * rate was asked for. So a sample is worth what the thread's clock says, and not a period.
 */
#include "capture/cpu/timer_engine.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "capture/cpu/maps_line.h"
#include "capture/cpu/perf_events.h"
#include "capture/cpu/preload.h"
#include "capture/environment.h"
#include "capture/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>

enum { SLOTS = 1024, RING_BYTES = 1 << 19 };

/* So long we may look for names before the rings are looked at again. */
#define NAMING_NS UINT64_C(10000000)

/* Above the first a ring may overflow before the recorder's own clock asks again; below the second it is calm. */
static const double hurry_ratio = 0.25, calm_ratio = 0.05;
static const long hurry_ns = 8000000;

/* Life. */

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    if (!h->sys)
        return err_set(why_not, ERR_UNSUPPORTED, "there is no running system to ask");
    if (!p->command) {
        err_set(why_not, ERR_UNSUPPORTED, "timers can be put only into a program that inferom starts itself");
        return err_hint(why_not, "start it with 'inferom record -- COMMAND'; 'inferom doctor' says how to allow the attaching");
    }
    if (p->event != PERF_EVENT_CPU_CLOCK || p->kernel == KERNEL_YES)
        return err_set(why_not, ERR_UNSUPPORTED, "timers sample the CPU time of user code, and nothing else");
    int refused = h->sys->cpu_timer();
    if (refused) {
        errno = refused;
        return err_os(why_not, "timers on the CPU clock of a thread");
    }
    char path[PATH_MAX];
    return preload_library(PRELOAD_SAMPLER, path, sizeof path, why_not) && preload_check(p->command[0], why_not);
}

static void free_engine(void *self)
{
    struct timer_engine *te = self;
    if (te->pace_fd >= 0)
        close(te->pace_fd);
    sampler_region_free(te->region);
    processes_free(te->ps);
    free(te->threads);
    free(te);
}

static set_id make_set(struct recorder *into, uint64_t period_ns)
{
    struct builder *names = capture_names(recorder_capture(into));
    struct measure_spec time = {VIEW("cpu"), UNIT_NS};
    set_id set = builder_set(names, VIEW("cpu"), &time, 1);
    builder_show(names, set, 0, (int64_t)period_ns);
    return set;
}

static uint64_t timeval_ns(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u; }

static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    struct timer_engine *te = mem_new(sizeof *te);
    *te = (struct timer_engine){.plan = *p, .into = into, .pace_fd = -1, .start_ns = clock_monotonic_ns()};
    te->threads = mem_new(SLOTS * sizeof *te->threads);
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used) == 0)
        te->others_ns = timeval_ns(used.ru_utime) + timeval_ns(used.ru_stime);
    uint64_t period_ns = UINT64_C(1000000000) / (p->rate_hz ? p->rate_hz : 1);
    struct timespec tick = {0};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick); /* as coarse as the kernel's tick */
    te->tick_ns = (uint64_t)tick.tv_nsec > period_ns ? (uint64_t)tick.tv_nsec : period_ns;
    struct sampler_region_plan shared = {
        .slots = SLOTS, .ring_bytes = RING_BYTES, .period_ns = period_ns, .phase = p->delay_ns ? WIRE_PAUSE : WIRE_GO,
    };
    struct stat st;
    if (!sampler_region_new(&te->region, &shared, e)) {
        free_engine(te);
        return false;
    }
    if (fstat(sampler_region_fd(te->region), &st) == 0) {
        te->device = st.st_dev;
        te->inode = st.st_ino;
    }
    te->pace_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (te->pace_fd >= 0)
        recorder_watch(into, te->pace_fd);
    te->ps = processes_new(&(struct processes_plan){
        .into = recorder_capture(into),
        .set = make_set(into, te->tick_ns),
        .period = (int64_t)te->tick_ns, /* what one sample stands for, whatever was asked for */
        .most_depth = p->most_depth,
        .proc = "/proc",
    });
    *out_self = te;
    return true;
}

static void set_inherited(const struct timer_engine *te, bool is_inherited)
{
    fcntl(sampler_region_fd(te->region), F_SETFD, is_inherited ? 0 : FD_CLOEXEC);
}

static bool launch(void *self, struct environment *env, struct err *e)
{
    struct timer_engine *te = self;
    char library[PATH_MAX], text[64];
    if (!preload_library(PRELOAD_SAMPLER, library, sizeof library, e) || !preload_add(env, library, e))
        return false;
    int fd = sampler_region_fd(te->region);
    snprintf(text, sizeof text, "%d", fd);
    environment_set(env, WIRE_FD_VARIABLE, text);
    snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), fd);
    environment_set(env, WIRE_PATH_VARIABLE, text);
    set_inherited(te, true); /* by the child that is forked next; attach() takes it back */
    return true;
}

static bool attach(void *self, int32_t pid, bool is_launched, struct err *e)
{
    struct timer_engine *te = self;
    if (!is_launched)
        return err_set(e, ERR_UNSUPPORTED, "timers cannot be put into process %" PRId32 ": it runs already", pid);
    te->launched = pid;
    set_inherited(te, false);
    return true;
}

static bool begin(void *self, struct err *e)
{
    struct timer_engine *te = self;
    (void)e;
    sampler_region_phase(te->region, WIRE_GO);
    return true;
}

/* What samplers wrote. */

static void began(void *self, const struct sampler_thread *t)
{
    struct timer_engine *te = self;
    struct timer_thread *mine = &te->threads[t->slot];
    *mine = (struct timer_thread){.is_trusted = timer_watch_trusts(te, t), .stack_bytes = WIRE_STACK_FIRST};
    mine->is_ignored = !mine->is_trusted || (!te->plan.want_children && t->pid != te->launched);
    te->refused += !mine->is_trusted;
    if (mine->is_ignored)
        return;
    switch (t->origin) {
    case WIRE_BY_EXEC: processes_exec(te->ps, t->pid, (struct view){0}, t->began_ns); break; /* its name comes with its maps */
    case WIRE_BY_FORK: processes_fork(te->ps, t->parent_pid, t->pid, t->tid, t->began_ns); break;
    default:
        if (t->tid != t->pid) /* a first thread that had to be asked for is no news of a process */
            processes_fork(te->ps, t->pid, t->pid, t->tid, t->began_ns);
        break;
    }
    if (t->pid == t->tid)
        recorder_add_process(te->into, t->pid);
}

static struct view last_part(struct view path)
{
    const char *slash = memrchr(path.at, '/', path.n);
    return slash ? view_between(slash + 1, path.at + path.n) : path;
}

/* The first code in the list is the program's own; a process that is gone before we can ask is called by that. */
static void map(void *self, const struct sampler_thread *t, struct view line)
{
    struct timer_engine *te = self;
    struct timer_thread *mine = &te->threads[t->slot];
    struct map_news m;
    if (mine->is_ignored || !maps_line_parse(line, &m))
        return;
    processes_map(te->ps, t->pid, &m);
    if (mine->is_named || !m.path.n || m.path.at[0] != '/')
        return;
    processes_name(te->ps, t->pid, t->tid, last_part(m.path), t->began_ns);
    timer_watch_name(te, t);
    mine->is_named = true;
}

/* What lies between two samples of a thread: the mean so far, or the tick of the kernel's clock until there is one. */
static uint64_t usual_step_ns(const struct timer_engine *te)
{
    enum { ENOUGH = 50 };
    return te->steps < ENOUGH ? te->tick_ns : te->steps_ns / te->steps;
}

/*
 * A sample is worth what the thread's clock says has gone by since its last one, within what is possible:
 * nobody used more than there was. The first sample of a thread is worth a usual step instead. It comes
 * somewhere inside that step, and as much is missing at the thread's end as is too much at its beginning:
 *
 *     began ──│────────│────────│────── ended        seen: 3 steps, and the truth is 3 on average
 *
 * Counting from the beginning, threads that live shorter than a step would be paid half at most, and a
 * pool that starts a thread for each request would vanish beside the thread that waits for it.
 */
static int64_t weight_of(struct timer_engine *te, const struct sampler_thread *t, const struct sampler_sample *s)
{
    uint64_t most_ns = te->now_ns - te->start_ns, step_ns = s->cpu_ns > t->cpu_ns ? s->cpu_ns - t->cpu_ns : 0;
    if (step_ns > most_ns)
        step_ns = most_ns;
    if (!te->threads[t->slot].heard_ns)
        return (int64_t)usual_step_ns(te);
    te->steps++;
    te->steps_ns += step_ns;
    return (int64_t)step_ns;
}

static uint64_t within(uint64_t v, uint64_t least, uint64_t most) { return v < least ? least : v > most ? most : v; }

/* Where the sampler knows the end of a stack it copies all of it at once; elsewhere it waits to be asked. */
static void enlarge(struct timer_engine *te, const struct sampler_thread *t)
{
    struct timer_thread *mine = &te->threads[t->slot];
    if (mine->stack_bytes >= WIRE_STACK_MOST)
        return;
    mine->stack_bytes *= 2;
    sampler_region_stack_bytes(te->region, t, mine->stack_bytes);
}

static void sample(void *self, const struct sampler_thread *t, const struct sampler_sample *s)
{
    struct timer_engine *te = self;
    struct timer_thread *mine = &te->threads[t->slot];
    if (mine->is_ignored)
        return;
    struct raw_sample raw = {
        .pid = t->pid, .tid = t->tid, .time_ns = within(s->when_ns, te->start_ns, te->now_ns), .weight = weight_of(te, t, s),
        .has_user = true, .stack = {.start = s->stack_start, .bytes = s->stack, .n = s->stack_bytes},
    };
    static_assert(sizeof raw.registers.at == WIRE_REGISTERS * sizeof *raw.registers.at, "the unwinder's registers are the wire's");
    memcpy(raw.registers.at, s->registers, sizeof raw.registers.at);
    mine->heard_ns = te->now_ns;
    if (processes_sample(te->ps, &raw) == UNWIND_CUT && s->is_cut)
        enlarge(te, t);
}

static void ended(void *self, const struct sampler_thread *t)
{
    struct timer_engine *te = self;
    if (te->threads[t->slot].is_ignored)
        return;
    if (*t->name)
        processes_name(te->ps, t->pid, t->tid, view_of(t->name), te->now_ns);
    uint64_t most = te->now_ns - te->start_ns;
    processes_thread_cpu(te->ps, t->pid, t->tid, within(t->cpu_ns - t->cpu_began_ns, 0, most));
    processes_exit(te->ps, t->pid, t->tid);
    if (t->pid == t->tid)
        recorder_remove_process(te->into, t->pid);
}

static void visit(struct timer_engine *te)
{
    struct sampler_listener to = {.self = te, .began = began, .map = map, .sample = sample, .ended = ended};
    te->now_ns = clock_monotonic_ns();
    sampler_region_visit(te->region, te->now_ns, &to);
}

/* Deep stacks fill a ring in less time than the recorder's own clock leaves between two visits. */
static void adapt_pace(struct timer_engine *te)
{
    uint64_t times;
    while (te->pace_fd >= 0 && read(te->pace_fd, &times, sizeof times) > 0)
        ;
    double fullest = sampler_region_counts(te->region).fullest_ratio;
    bool want_hurry = fullest > (te->is_hurried ? calm_ratio : hurry_ratio);
    if (te->pace_fd < 0 || want_hurry == te->is_hurried)
        return;
    struct timespec step = {.tv_nsec = want_hurry ? hurry_ns : 0};
    timerfd_settime(te->pace_fd, 0, &(struct itimerspec){step, step}, NULL);
    te->is_hurried = want_hurry;
}

static void settle(void *self) { processes_settle(((struct timer_engine *)self)->ps, UINT64_MAX); }

static void begin_again(void *self, struct recorder *into)
{
    (void)into;
    processes_begin_again(((struct timer_engine *)self)->ps);
}

static bool drain(void *self, struct recorder *into, struct err *e)
{
    struct timer_engine *te = self;
    (void)into;
    (void)e;
    visit(te);
    timer_watch(te);
    adapt_pace(te);
    processes_settle(te->ps, NAMING_NS);
    return true;
}

/* The end. */

static const struct {
    enum wire_trouble is;
    const char *what;
} troubles[] = {
    {WIRE_NO_SLOT, "threads began when all places for threads were taken"},
    {WIRE_NO_TIMER, "threads were refused a timer; a higher 'ulimit -i' may help"},
    {WIRE_NO_SIGNAL, "processes have no signal left for a timer"},
    {WIRE_NO_RECORDER, "threads stopped their timers because nobody read their rings"},
};

static void say_troubles(const struct sampler_region_count *c)
{
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (c->trouble[troubles[i].is])
            log_warn("%" PRIu64 " %s", c->trouble[troubles[i].is], troubles[i].what);
}

static void say_facts(const struct timer_engine *te, const struct sampler_region_count *c)
{
    struct capture_writer *w = recorder_capture(te->into);
    char text[64];
    capture_fact(w, VIEW("engine"), VIEW("timers"));
    capture_fact(w, VIEW("event"), VIEW("cpu-clock"));
    snprintf(text, sizeof text, "%" PRIu64 " Hz", te->plan.rate_hz);
    capture_fact(w, VIEW("rate"), view_of(text));
    capture_fact(w, VIEW("kernel samples"), VIEW("no"));
    snprintf(text, sizeof text, "%" PRIu64, c->threads);
    capture_fact(w, VIEW("threads sampled"), view_of(text));
}

static void fill_result(const struct timer_engine *te, const struct sampler_region_count *shared, struct recording *out)
{
    struct processes_count c = processes_counts(te->ps);
    out->engine = "timers";
    snprintf(out->engine_note, sizeof out->engine_note, "%s%s", /* who asked for timers knows nothing of a refusal */
             shared->threads && !te->plan.engine ? "perf_event_open is refused here; " : "",
             shared->threads ? "timers in the target see user code, a few hundred times a second"
                             : "the target never answered: it runs without its environment, or started only static programs");
    recording_count(out, &c);
}

/*
 * When the target has ended, the kernel's account of it and all its children is there, whoever of them
 * had our sampler inside; the recorder waits for no other. Else the threads' own clocks are what we have.
 */
static void tell_cpu(struct timer_engine *te)
{
    const struct target *launched = recorder_target(te->into);
    struct rusage used;
    bool is_whole = launched && launched->has_ended && te->plan.want_children && te->plan.delay_ns == 0;
    if (is_whole && getrusage(RUSAGE_CHILDREN, &used) == 0) {
        uint64_t all_ns = timeval_ns(used.ru_utime) + timeval_ns(used.ru_stime);
        processes_all_cpu(te->ps, all_ns > te->others_ns ? all_ns - te->others_ns : 0);
        return;
    }
    for (const struct sampler_thread *t = NULL; (t = sampler_region_next(te->region, t));)
        if (!te->threads[t->slot].is_ignored)
            timer_watch_cpu(te, t);
}

static void stop(void *self, struct recorder *into)
{
    struct timer_engine *te = self;
    sampler_region_phase(te->region, WIRE_STOP);
    visit(te);
    tell_cpu(te);
    struct sampler_region_count c = sampler_region_counts(te->region);
    if (c.lost)
        processes_lost(te->ps, VIEW("the sampler's ring was full"), c.lost);
    if (c.damaged)
        processes_lost(te->ps, VIEW("the target spoiled the memory it shares with us"), c.damaged);
    if (te->refused)
        log_warn("%" PRIu64 " times somebody else's process number was in the shared memory; ignored", te->refused);
    say_troubles(&c);
    processes_finish(te->ps);
    say_facts(te, &c);
    fill_result(te, &c, recorder_result(into));
}

const struct source source_timers = {
    .name = "timers",
    .role = "cpu",
    .what = "where threads spend their time, with call stacks, sampled by timers in a launched program",
    .probe = probe,
    .start = start,
    .launch = launch,
    .attach = attach,
    .begin = begin,
    .drain = drain,
    .settle = settle,
    .begin_again = begin_again,
    .stop = stop,
    .free = free_engine,
};
