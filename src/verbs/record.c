#include "base/log.h"
#include "base/text.h"
#include "capture/cpu/perf_events.h"
#include "capture/heap/heap_fit.h"
#include "capture/host/machine.h"
#include "capture/host/revision.h"
#include "capture/recorder.h"
#include "inferom/heap_wire.h"
#include "program_version.h" /* PROGRAM_VERSION, made by the build */
#include "verbs/pid_list.h"
#include "verbs/record_summary.h"
#include "verbs/verb.h"

#include <inttypes.h>
#include <time.h>

struct record_settings {
    uint64_t duration_ns, delay_ns, rate, max_depth;
    struct option_list pid;
    bool no_children, include_kernel, no_kernel, off_cpu, heap_blocks, quiet_command, json, no_memory, pss, touched, inject;
    int event;
    const char *output, *engine, *heap;
};

#define S struct record_settings
static const struct option record_options[] = {
    LIST('p', "pid", S, pid, "PID", "attach to this process; may be repeated"),
    TEXT('o', "output", S, output, "FILE", "where to write; else inferom-DATE-TIME.inferom in this folder"),
    DURATION('d', "duration", S, duration_ns, "stop recording after this long; the program goes on", 0, 0),
    DURATION(0, "delay", S, delay_ns, "begin to record this long after the start", 0, 0),
    NUMBER('r', "rate", S, rate, "HZ", "samples per second of CPU time, for each thread", 1, 20000),
    TEXT(0, "engine", S, engine, "NAME", "sample with this engine; else with the first that can ('inferom overhead' compares them)"),
    CHOICE('e', "event", S, event, "EVENT", perf_event_names, "what to count between two samples"),
    NUMBER(0, "max-depth", S, max_depth, "N", "frames of a stack to keep, from the running function up", 1, 1024),
    FLAG(0, "off-cpu", S, off_cpu, "record waiting too: how long, where, and what for"),
    TEXT_OR(0, "heap", S, heap, "HOW", "auto",
            "record allocations too: 'exact', 'sampled' or 'sampled:BYTES'; else all of them until they come too fast"),
    FLAG(0, "heap-blocks", S, heap_blocks, "with --heap: every block on its own, with address, size, stack and times"),
    FLAG(0, "inject", S, inject, "with --heap and --pid: put the heap agent into the running process; it stays in there, and is silent afterwards"),
    FLAG(0, "no-memory", S, no_memory, "leave out how much memory the processes have; it costs next to nothing"),
    FLAG(0, "pss", S, pss, "read PSS at the beginning and at the end; holds the process up for 15 ms per gigabyte, each time"),
    FLAG(0, "touched", S, touched, "see whether mapped weights are still read; holds the process up for 40 ms per gigabyte, a hundredth of the time at most"),
    FLAG(0, "no-children", S, no_children, "leave out the processes that the program starts"),
    FLAG(0, "include-kernel", S, include_kernel, "insist on samples in the kernel; else they are there when allowed"),
    FLAG(0, "no-kernel", S, no_kernel, "leave out samples in the kernel"),
    FLAG(0, "quiet-command", S, quiet_command, "the command reads nothing, and what it prints is thrown away"),
    FLAG(0, "json", S, json, "print the summary as JSON, on standard output"),
    OPTIONS_END
};
#undef S

/* Into a log the summary goes as wide as this: a C++ name would push everything else out of sight. The report has it whole. */
enum { PATH_ROOM = 64, SUMMARY_WIDTH = 120 };

/* inferom-20260314-150926.inferom, by the clock on the wall. */
static const char *output_path(const struct record_settings *s, char room[PATH_ROOM])
{
    if (*s->output)
        return s->output;
    time_t now = time(NULL);
    struct tm tm;
    if (!localtime_r(&now, &tm) || !strftime(room, PATH_ROOM, "inferom-%Y%m%d-%H%M%S.inferom", &tm))
        snprintf(room, PATH_ROOM, "inferom-%lld.inferom", (long long)now);
    return room;
}

static bool check_request(const struct call *c, const struct record_settings *s, struct err *e)
{
    if (!c->n_args && !s->pid.n) {
        err_set(e, ERR_USAGE, "what should be recorded?");
        return err_hint(e, "inferom record -- COMMAND, or inferom record --pid PID");
    }
    if (c->n_args && s->pid.n)
        return err_set(e, ERR_USAGE, "either a command or --pid, not both");
    if (s->inject && (!*s->heap || !s->pid.n))
        return err_set(e, ERR_USAGE, "--inject is for --heap and --pid together");
    if (s->no_memory && (s->pss || s->touched))
        return err_set(e, ERR_USAGE, "either %s or --no-memory", s->pss ? "--pss" : "--touched");
    if (s->include_kernel && s->no_kernel)
        return err_set(e, ERR_USAGE, "either --include-kernel or --no-kernel");
    return true;
}

/* "exact", "sampled", "sampled:64K", "auto": what --heap asks for. */
static bool plan_heap(struct plan *p, const struct record_settings *s, struct err *e)
{
    enum { PERIOD = 512 << 10 };
    struct view how = view_of(s->heap);
    p->heap_period_bytes = PERIOD;
    p->want_heap_blocks = s->heap_blocks;
    if (s->heap_blocks && !how.n)
        return err_set(e, ERR_USAGE, "--heap-blocks needs --heap");
    if (!how.n)
        return true;
    p->want_heap = true;
    p->heap_mode = view_same(how, VIEW("exact")) ? HEAP_EXACT : view_starts(how, VIEW("sampled")) ? HEAP_SAMPLED : HEAP_ADAPTIVE;
    bool is_known = p->heap_mode == HEAP_EXACT || view_same(how, VIEW("sampled")) || view_same(how, VIEW("auto"));
    if (!is_known && view_starts(how, VIEW("sampled:")))
        is_known = text_to_bytes((struct view){how.at + 8, how.n - 8}, &p->heap_period_bytes) && p->heap_period_bytes > 0 &&
                   p->heap_period_bytes <= (UINT64_C(1) << 40);
    if (is_known)
        return true;
    err_set(e, ERR_USAGE, "--heap: '%s' is no way to record the heap", s->heap);
    return err_hint(e, "--heap, --heap=exact, --heap=sampled or --heap=sampled:BYTES");
}

/* What the recording will not have is said before it begins. */
static void warn_about_heap(const struct plan *p)
{
    struct err why = {0};
    if (p->want_heap && !p->command && !p->want_inject)
        log_warn("the allocations of a process that runs already are recorded with --inject only; its memory is seen from outside ('inferom report --memory')");
    if (!p->want_heap || !p->command || heap_fits(p->command[0], &why))
        return;
    log_warn("the heap will not be recorded: %s%s%s%s", why.text, *why.hint ? " (" : "", why.hint, *why.hint ? ")" : "");
}

static struct plan plan_of(const struct call *c, const struct record_settings *s, const struct host *h, const int32_t *pids)
{
    return (struct plan){
        .host = h,
        .command = c->n_args ? c->args : NULL,
        .is_quiet = s->quiet_command,
        .pids = pids,
        .n_pids = s->pid.n,
        .want_children = !s->no_children,
        .engine = *s->engine ? s->engine : NULL,
        .want_waits = s->off_cpu,
        .want_inject = s->inject,
        .want_memory = !s->no_memory,
        .want_pss = s->pss,
        .want_touched = s->touched,
        .rate_hz = s->rate,
        .delay_ns = s->delay_ns,
        .event = s->event,
        .most_depth = (size_t)s->max_depth,
        .kernel = s->include_kernel ? KERNEL_YES : s->no_kernel ? KERNEL_NO : KERNEL_IF_ALLOWED,
    };
}

/* The command as it was typed; words are set apart by spaces and not quoted: it is there to be recognised. */
static void say_facts(const struct call *c, const struct host *h, struct recorder *r)
{
    struct capture_writer *w = recorder_capture(r);
    own(buf) struct buf command;
    buf_init(&command, 4096);
    for (int i = 0; i < c->n_args; i++)
        buf_printf(&command, "%s%s", i ? " " : "", c->args[i]);
    if (c->n_args)
        capture_fact(w, VIEW("command"), buf_view(&command));
    capture_fact(w, VIEW("recorded by"), VIEW("inferom " PROGRAM_VERSION));
    machine_facts(h, w);
    size_t n;
    const int32_t *pids = recorder_processes(r, &n);
    if (n)
        compiler_fact(pids[0], w);
    revision_facts(".", w);
}

static bool print_summary(const struct call *c, const char *path, struct recorder *r, struct err *e)
{
    const struct record_settings *s = c->settings;
    const struct target *t = recorder_target(r);
    struct record_summary summary = {
        .path = path,
        .rate_hz = s->rate,
        .result = recorder_result(r),
        .is_target_running = t && !t->has_ended,
        .command_cpu_ns = t && t->has_ended ? (double)t->cpu_ns : UNKNOWN,
        .style = {.width = c->look.width ? c->look.width : SUMMARY_WIDTH, .colour = c->look.colour},
    };
    if (s->json)
        return record_summary_json(&summary, c->out, e) && sink_flush(c->out, e);
    struct sink out;
    sink_to_fd(&out, STDERR_FILENO, "standard error");
    return record_summary_print(&summary, &out, e) && sink_flush(&out, e);
}

/* Whatever went wrong with the recording, the program runs to its end, and its status counts where we have none. */
static bool wait_for_target(const struct call *c, struct recorder *r, bool ok, const struct err *e)
{
    struct target *t = recorder_target(r);
    if (!t)
        return ok;
    if (!ok && !target_has_ended(t))
        log_error("%s; the program goes on without being recorded", e->text);
    target_wait(t);
    *c->exit_status = target_exit_status(t);
    return ok;
}

static bool record(const struct call *c, struct err *e)
{
    const struct record_settings *s = c->settings;
    int32_t pids[OPTION_LIST_MOST];
    char room[PATH_ROOM];
    struct host here = host_here();
    if (!check_request(c, s, e) || !pid_list_read(&s->pid, pids, e))
        return false;

    const char *path = output_path(s, room);
    struct plan plan = plan_of(c, s, &here, pids);
    if (!plan_heap(&plan, s, e))
        return false;
    warn_about_heap(&plan);
    own(recorder) struct recorder *r = NULL;
    if (!recorder_open(&r, &plan, path, e))
        return false;
    say_facts(c, &here, r);
    struct recorder_until until = {.duration_ns = s->duration_ns, .stop = c->stop};
    bool ok = recorder_run(r, &until, e);
    if (s->off_cpu && !recorder_result(r)->has_waits)
        log_warn("time off the CPU was not recorded: of the engines only perf_event can, and it was not to be had");
    target_hold_signals();
    if (ok)
        revision_change_facts(".", recorder_capture(r));
    ok = ok && recorder_close(r, e) && print_summary(c, path, r, e);
    return wait_for_target(c, r, ok, e);
}

const struct verb verb_record = {
    .name = "record",
    .args = "[--] COMMAND...",
    .most_args = -1,
    .what = "run a program, or attach to one, and record where its CPU time goes",
    .about = "Starts COMMAND, or attaches to the processes named with --pid, and samples the call stacks of all their "
             "threads until they end, until --duration is over, or until Ctrl-C. The samples go into a capture file; a "
             "summary with the ten busiest functions is printed to standard error.\n"
             "\n"
             "The command keeps its terminal, its output and its exit status, which becomes ours (128 and the signal's "
             "number when a signal ended it). The first Ctrl-C ends the recording and saves it, the next asks the command "
             "to end. A process that was attached to is never stopped.\n"
             "\n"
             "With --heap every allocation of the command is recorded as well, with its call stack: what was allocated, what is "
             "still in use at the end, and what was in use at the peak.\n"
             "\n"
             "No special rights are needed for programs of the same user; 'inferom doctor' says what this machine allows.",
    .example = "inferom record --output sort.inferom -- sort --numeric-sort run.folded",
    .options = record_options,
    .defaults = &(const struct record_settings){.rate = 1000, .max_depth = 512, .output = "", .engine = "", .heap = ""},
    .settings_size = sizeof(struct record_settings),
    .takes_command = true,
    .watches_stop = true,
    .run = record,
};
