/* The engine that lets the kernel sample. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "capture/cpu/perf_source.h"

#include <errno.h>
#include <inttypes.h>

/* What is younger than this waits for the next drain: another CPU may still be writing something older. */
#define SETTLED_NS UINT64_C(5000000)

/* So long we may look for names before the rings are looked at again. */
#define NAMING_NS UINT64_C(10000000)

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    (void)p;
    if (!h->sys)
        return err_set(why_not, ERR_UNSUPPORTED, "there is no running system to ask");
    struct perf_event_attr a = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_CPU_CLOCK, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
    };
    own(close) int fd = h->sys->perf_event_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        return true;
    err_set(why_not, ERR_DENIED, "perf_event_open is refused: %s", strerror(errno));
    return err_hint(why_not, "'inferom doctor' says why, and what to type");
}

static void free_source(void *self)
{
    struct perf_source *s = self;
    perf_order_done(&s->order); /* its thread reads the rings */
    perf_events_close(&s->events);
    waits_free(s->waits);
    processes_free(s->ps);
    free(s->watched);
    free(s);
}

/* Time is in nanoseconds and needs no word; other events are counts of something. */
static set_id make_set(struct recorder *into, const struct perf_events *pe)
{
    struct builder *names = capture_names(recorder_capture(into));
    struct view event = view_of(perf_event_names[pe->wish.event]);
    struct measure_spec time = {VIEW("cpu"), UNIT_NS}, count = {event, UNIT_COUNT, .unit_name = event};
    set_id set = builder_set(names, VIEW("cpu"), pe->period_ns ? &time : &count, 1);
    builder_show(names, set, 0, (int64_t)pe->period_ns);
    return set;
}

static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    struct perf_source *s = mem_new(sizeof *s);
    s->plan = *p;
    s->into = into;
    struct perf_wish w = {
        .host = p->host,
        .event = (enum perf_event_choice)p->event,
        .rate_hz = p->rate_hz,
        .want_kernel = p->kernel != KERNEL_NO,
        .want_children = p->want_children,
        .want_waits = p->want_waits,
    };
    if (!perf_events_open(&s->events, &w, e)) {
        free_source(s);
        return false;
    }
    perf_order_init(&s->order, s->events.cpus, s->events.n_cpus, &s->events.layout);
    s->ps = processes_new(&(struct processes_plan){
        .into = recorder_capture(into),
        .set = make_set(into, &s->events),
        .period = (int64_t)s->events.period_ns,
        .most_depth = p->most_depth,
        .proc = "/proc",
        .kallsyms = w.want_kernel || w.want_waits ? "/proc/kallsyms" : NULL,
    });
    if (p->want_waits)
        s->waits = waits_new(&(struct waits_plan){
            .into = recorder_capture(into), .ps = s->ps, .proc = "/proc", .want_kernel_frames = w.want_kernel,
        });
    *out_self = s;
    return true;
}

/* Records. */

/*
 * What a sample stands for: the period, exactly. The timer of a CPU-clock event runs only while the
 * thread does and keeps its remainder when the thread leaves the CPU, so samples times period is the
 * thread's CPU time up to one period per CPU it ran on.
 *
 * The event also counts how long it was on, and the difference to the sample before looks like the
 * better weight. It is not: that clock runs on while a hypervisor has taken the CPU away, and the
 * thread's own CPU clock does not. Measured on a shared virtual machine: pauses of 100 ms of wall time
 * in which the thread's clock stood still; by differences, the function that ran into one got them all.
 * Ticks that fell into such a pause are dropped by the timer, which is just right.
 */
static int64_t weight_of(const struct perf_source *s, const struct perf_record *r)
{
    return (int64_t)(s->events.period_ns ? s->events.period_ns : r->sample.period);
}

/* CPU time that the hypervisor kept for others, of all CPUs, in the ticks of /proc/stat. */
static uint64_t stolen_ns(void)
{
    enum { STOLEN = 7 };
    char line[256] = "";
    own(fclose) FILE *f = fopen("/proc/stat", "re");
    if (!f || !fgets(line, sizeof line, f))
        return 0;
    char *at = line + strcspn(line, " ");
    uint64_t ticks = 0;
    for (int i = 0; i <= STOLEN; i++)
        ticks = strtoull(at, &at, 10);
    return ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

/*
 * What the events counted, less what was stolen: the CPU time that samples should add up to. Others
 * than the target may have suffered from the stealing, so this errs towards calling less unsampled.
 */
static uint64_t real_cpu_ns(const struct perf_source *s)
{
    uint64_t counted = perf_events_counted(&s->events), stolen = stolen_ns() - s->stolen_before_ns;
    uint64_t sampled = (uint64_t)processes_counts(s->ps).weight;
    uint64_t least = counted > stolen ? counted - stolen : 0;
    return least > sampled ? least : sampled < counted ? sampled : counted;
}

/* The smallest slice of which this stack needs no more than half: what comes later may be deeper. */
static size_t size_needed(const struct perf_source *s, const struct raw_sample *raw)
{
    size_t size = 0;
    while (size + 1 < SLICE_COUNT && !processes_walks(s->ps, raw, slice_bytes[size] / 2))
        size++;
    return size;
}

/* A stack that ends before the slice does is not cut by it, whatever else is wrong; nor is one from before the last change. */
static void judge_slice(struct perf_source *s, const struct raw_sample *raw, enum unwind_end end)
{
    if (raw->has_user && slice_wants_look(&s->events.slice))
        perf_events_needed(&s->events, size_needed(s, raw));
    perf_events_saw(&s->events, end == UNWIND_CUT && raw->stack.n == perf_events_stack_bytes(&s->events));
}

static struct raw_sample raw_of(const struct perf_record *r)
{
    return (struct raw_sample){
        .pid = r->pid, .tid = r->tid, .time_ns = r->time_ns,
        .has_user = r->sample.has_user, .registers = r->sample.registers, .stack = r->sample.stack,
        .kernel = r->sample.kernel, .n_kernel = r->sample.n_kernel,
    };
}

static void take_sample(struct perf_source *s, const struct perf_record *r)
{
    struct raw_sample raw = raw_of(r);
    raw.weight = weight_of(s, r);
    enum unwind_end end = processes_sample(s->ps, &raw);
    judge_slice(s, &raw, end);
}

static void take_map(struct perf_source *s, const struct perf_record *r)
{
    processes_map(s->ps, r->pid, &(struct map_news){
        .start = r->map.start, .length = r->map.length, .file_offset = r->map.file_offset, .inode = r->map.inode,
        .device_major = r->map.device_major, .device_minor = r->map.device_minor, .path = r->map.path,
        .build_id = r->map.build_id, .is_code = r->map.is_code,
    });
}

static void take_fork(struct perf_source *s, const struct perf_record *r)
{
    if (s->is_attaching)
        perf_note_watched(s, r->task.tid);
    bool is_process = r->task.pid != r->task.parent_pid;
    if (is_process && !s->plan.want_children)
        return;
    processes_fork(s->ps, r->task.parent_pid, r->task.pid, r->task.tid, r->time_ns);
    if (is_process)
        recorder_add_process(s->into, r->task.pid);
    if (s->waits)
        waits_born(s->waits, r->task.pid, r->task.tid, r->time_ns);
}

static void take_exit(struct perf_source *s, const struct perf_record *r)
{
    if (s->waits)
        waits_exit(s->waits, r->task.tid, r->time_ns);
    processes_exit(s->ps, r->task.pid, r->task.tid);
    if (r->task.pid == r->task.tid)
        recorder_remove_process(s->into, r->task.pid);
}

/* With its own program, at that very moment; else begin() says when. */
static bool begins_itself(const struct perf_source *s)
{
    return s->is_launched && s->plan.n_pids == 0 && s->plan.delay_ns == 0;
}

/* A kernel that cannot keep children out hands them in all the same. */
static bool is_ours(const struct perf_source *s, int32_t pid)
{
    if (s->plan.want_children)
        return true;
    for (size_t i = 0; i < s->plan.n_pids; i++)
        if (s->plan.pids[i] == pid)
            return true;
    const struct target *launched = recorder_target(s->into);
    return launched && launched->pid == pid;
}

/* A launched program is measured from its first instruction on, and that is here. */
static void take_name(struct perf_source *s, const struct perf_record *r)
{
    if (!r->comm.is_exec) {
        processes_name(s->ps, r->pid, r->tid, r->comm.name, r->time_ns);
        return;
    }
    processes_exec(s->ps, r->pid, r->comm.name, r->time_ns);
    if (s->waits && begins_itself(s) && !waits_have_begun(s->waits))
        waits_begin(s->waits, r->time_ns);
}

static void take_switch(struct perf_source *s, const struct perf_record *r)
{
    if (r->switched.is_out)
        waits_out(s->waits, r->pid, r->tid, r->time_ns, r->switched.is_preempted);
    else
        waits_in(s->waits, r->pid, r->tid, r->time_ns);
}

/* Where switches are told too, most of what did not fit were switches; the CPU time of lost samples is noticed at the end. */
static void take_loss(struct perf_source *s, uint64_t count)
{
    if (s->waits)
        waits_lost_switches(s->waits, count);
    else
        processes_lost(s->ps, VIEW("the kernel's ring was full"), count);
}

/* Of the ring that holds nothing but stacks. */
static void take_wait_stack(struct perf_source *s, struct view bytes)
{
    static const struct perf_layout layout = {.has_callchain = true};
    struct perf_record r;
    if (!perf_record_parse(&r, &layout, bytes)) {
        s->unreadable++;
        return;
    }
    struct raw_sample raw = raw_of(&r);
    if (r.type == PERF_RECORD_LOST)
        waits_lost_stacks(s->waits, r.lost);
    else if (r.type == PERF_RECORD_SAMPLE && is_ours(s, r.pid))
        waits_stack(s->waits, &raw);
}

static void take_record(struct perf_source *s, struct view bytes)
{
    struct perf_record r;
    if (!perf_record_parse(&r, &s->events.layout, bytes)) {
        s->unreadable++;
        return;
    }
    switch (r.type) {
    case PERF_RECORD_LOST: take_loss(s, r.lost); return;
    case PERF_RECORD_THROTTLE: s->throttled++; return;
    case PERF_RECORD_FORK: take_fork(s, &r); return;
    case PERF_RECORD_EXIT: take_exit(s, &r); return;
    default: break;
    }
    if (!is_ours(s, r.pid))
        return;
    switch (r.type) {
    case PERF_RECORD_SAMPLE: take_sample(s, &r); break;
    case PERF_RECORD_MMAP2: take_map(s, &r); break;
    case PERF_RECORD_COMM: take_name(s, &r); break;
    case PERF_RECORD_SWITCH: take_switch(s, &r); break;
    default: break;
    }
}

static void take_until(struct perf_source *s, uint64_t horizon_ns)
{
    struct view bytes;
    bool is_wait_stack;
    for (; perf_order_next(&s->order, horizon_ns, &bytes, &is_wait_stack); perf_order_pass(&s->order))
        is_wait_stack ? take_wait_stack(s, bytes) : take_record(s, bytes);
}

void perf_take_all(struct perf_source *s)
{
    perf_order_look(&s->order);
    take_until(s, UINT64_MAX);
}

static bool drain(void *self, struct recorder *into, struct err *e)
{
    struct perf_source *s = self;
    uint64_t horizon_ns = perf_order_look(&s->order) - SETTLED_NS;
    (void)into;
    (void)e;
    take_until(s, horizon_ns);
    if (s->waits)
        waits_tick(s->waits, horizon_ns);
    processes_settle(s->ps, NAMING_NS);
    return true;
}

static void settle(void *self)
{
    struct perf_source *s = self;
    processes_settle(s->ps, UINT64_MAX);
}

static void begin_again(void *self, struct recorder *into)
{
    struct perf_source *s = self;
    (void)into;
    processes_begin_again(s->ps);
    if (s->waits)
        waits_begin_again(s->waits);
}

/* Beginning. */

static bool attach(void *self, int32_t pid, bool is_launched, struct err *e)
{
    struct perf_source *s = self;
    s->is_launched |= is_launched;
    if (is_launched ? !perf_watch(s, pid, pid, s->plan.delay_ns == 0, e) : !perf_attach_running(s, pid, e))
        return false;
    if (s->plan.kernel != KERNEL_YES || s->events.has_kernel)
        return true;
    err_set(e, ERR_DENIED, "samples in the kernel are not allowed for this user");
    return err_hint(e, "'inferom doctor' says what would help; without --include-kernel user code is recorded");
}

static bool begin(void *self, struct err *e)
{
    struct perf_source *s = self;
    (void)e;
    s->stolen_before_ns = stolen_ns();
    perf_order_start(&s->order);
    if (begins_itself(s))
        return true;
    perf_events_on(&s->events);
    if (s->waits)
        waits_begin(s->waits, clock_monotonic_ns());
    return true;
}

/* The end. */

static void say_facts(struct perf_source *s, struct recorder *into)
{
    struct capture_writer *w = recorder_capture(into);
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 " Hz", s->plan.rate_hz);
    capture_fact(w, VIEW("engine"), VIEW("perf_event"));
    capture_fact(w, VIEW("event"), view_of(perf_event_names[s->events.wish.event]));
    capture_fact(w, VIEW("rate"), view_of(text));
    capture_fact(w, VIEW("kernel samples"), s->events.has_kernel ? VIEW("yes") : VIEW("no"));
    snprintf(text, sizeof text, "%zu KiB", perf_events_stack_bytes(&s->events) >> 10);
    capture_fact(w, VIEW("stack slice"), view_of(text));
    snprintf(text, sizeof text, "%zu KiB per CPU", s->events.ring_bytes >> 10);
    capture_fact(w, VIEW("ring"), view_of(text));
}

static void fill_result(const struct perf_source *s, struct recording *out)
{
    struct processes_count c = processes_counts(s->ps);
    out->engine = "perf_event";
    if (!s->events.has_kernel && s->plan.kernel != KERNEL_NO)
        snprintf(out->engine_note, sizeof out->engine_note, "user code only; root, or CAP_PERFMON, would add the kernel's");
    recording_count(out, &c);
    if (!s->events.period_ns)
        out->cpu_ns = -1;
}

static void say_waits(struct perf_source *s, struct recorder *into)
{
    struct capture_writer *w = recorder_capture(into);
    struct recording *out = recorder_result(into);
    struct waits_count c = waits_counts(s->waits);
    out->has_waits = true;
    out->has_wait_stacks = s->events.has_wait_stacks;
    out->waits = c;
    capture_fact(w, VIEW("off-cpu stacks"), s->events.has_wait_stacks ? VIEW("taken at each switch from a CPU")
                                                                     : VIEW("looked at from outside, every 20 ms"));
    if (c.lost_stacks)
        capture_lost(w, waits_set(s->waits), VIEW("stacks of waits: the kernel's ring was full"), c.lost_stacks);
    if (c.lost_switches)
        capture_lost(w, waits_set(s->waits), VIEW("records of switches and samples: the kernel's ring was full"), c.lost_switches);
}

static void stop(void *self, struct recorder *into)
{
    struct perf_source *s = self;
    perf_events_off(&s->events);
    perf_order_stop(&s->order);
    perf_take_all(s);
    if (s->events.period_ns)
        processes_all_cpu(s->ps, real_cpu_ns(s));
    s->unreadable += perf_order_unreadable(&s->order);
    if (s->unreadable)
        processes_lost(s->ps, VIEW("the kernel's record could not be read"), s->unreadable);
    if (s->throttled)
        log_warn("the kernel slowed the sampling down %" PRIu64 " times; a lower --rate would help", s->throttled);
    if (s->waits)
        waits_end(s->waits, recorder_result(into)->end_ns);
    processes_finish(s->ps);
    if (s->waits)
        say_waits(s, into);
    say_facts(s, into);
    fill_result(s, recorder_result(into));
}

const struct source source_perf_event = {
    .name = "perf_event",
    .role = "cpu",
    .what = "where threads spend their time, with call stacks, sampled by the kernel",
    .probe = probe,
    .start = start,
    .attach = attach,
    .begin = begin,
    .drain = drain,
    .settle = settle,
    .begin_again = begin_again,
    .stop = stop,
    .free = free_source,
};
