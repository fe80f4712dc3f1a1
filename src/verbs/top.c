#include "base/clock.h"
#include "base/log.h"
#include "capture/host/process_status.h"
#include "capture/recorder.h"
#include "render/live_view.h"
#include "render/screen.h"
#include "verbs/pid_list.h"
#include "verbs/top_keys.h"
#include "verbs/verb.h"

struct top_settings {
    struct option_list pid;
    uint64_t interval_ns, window_ns, rate, top;
    int sort;
    const char *filter;
    bool once, json, no_children;
};

#define NS_PER_S UINT64_C(1000000000)

static const char *const orders[] = {"self", "total", "name", NULL};

#define S struct top_settings
static const struct option top_options[] = {
    LIST('p', "pid", S, pid, "PID", "watch this process; may be repeated"),
    DURATION('i', "interval", S, interval_ns, "draw this often", NS_PER_S / 2, 3600 * NS_PER_S),
    DURATION('w', "window", S, window_ns, "show what happened in the last so many seconds", NS_PER_S / 2, 3600 * NS_PER_S),
    NUMBER('r', "rate", S, rate, "HZ", "samples per second of CPU time, for each thread", 1, 20000),
    CHOICE('s', "sort", S, sort, "ORDER", orders, "order of the functions"),
    TEXT('f', "filter", S, filter, "TEXT", "only functions whose name contains this"),
    FLAG(0, "no-children", S, no_children, "leave out the processes that the program starts"),
    FLAG('1', "once", S, once, "print once, after one interval, and end; needs no terminal"),
    NUMBER('n', "top", S, top, "N", "functions to print with --once; 0 is all", 0, 1000000),
    FLAG(0, "json", S, json, "print JSON, once"),
    OPTIONS_END
};
#undef S

struct watching {
    const struct call *c;
    const struct top_settings *s;
    struct host here;
    struct live live;
    struct top_keys keys;
    uint64_t next_ns; /* when to look again */
    bool is_once, is_stale, has_printed;
};

/* Looking and drawing. */

static void look_at_memory(const struct watching *w, struct live_process *p)
{
    struct process_status s = {NAN, NAN, NAN, NAN, NAN, NAN, NAN}; /* it has ended, or is not ours to ask */
    (void)process_status_read(&w->here, p->pid, &s);
    p->rss_bytes = s.rss_bytes;
    p->anon_bytes = s.anon_bytes;
    p->file_bytes = s.file_bytes;
    p->shared_bytes = s.shared_bytes;
}

static void look(struct watching *w, uint64_t now_ns)
{
    live_tick(&w->live, now_ns);
    for (size_t i = 0; i < w->live.n_processes; i++)
        look_at_memory(w, &w->live.processes[i]);
    w->next_ns = now_ns + w->keys.interval_ns;
    w->is_stale = true;
}

static struct live_view view_of_now(const struct watching *w)
{
    return (struct live_view){
        .live = &w->live,
        .now_ns = clock_monotonic_ns(),
        .order = w->keys.order,
        .filter = w->keys.filter,
        .most_rows = (size_t)w->s->top,
        .style = {.width = w->c->look.width, .colour = w->c->look.colour},
    };
}

static void draw(struct watching *w)
{
    enum { FRAME_MOST = 1 << 20, NOTE_MOST = 512 };
    own(buf) struct buf frame, note;
    struct sink out;
    buf_init(&frame, FRAME_MOST);
    buf_init(&note, NOTE_MOST);
    sink_to_buf(&out, &frame);
    struct screen_size size = screen_size();
    struct live_view v = view_of_now(w);
    top_keys_note(&w->keys, &note);
    v.note = note.data;
    v.height = size.rows;
    v.style.width = size.columns;
    if (w->keys.is_help)
        top_keys_help(&out);
    else
        live_print(&v, &out);
    if (sink_flush(&out, NULL))
        screen_show(buf_view(&frame));
    w->is_stale = false;
}

static void print_once(struct watching *w)
{
    struct live_view v = view_of_now(w);
    if (w->s->json)
        live_json(&v, w->c->out);
    else
        live_print(&v, w->c->out);
    w->is_stale = false;
    w->has_printed = true;
}

static void take_keys(struct watching *w)
{
    char typed[256];
    bool is_gone = false;
    size_t n = screen_keys(typed, sizeof typed, &is_gone);
    w->keys.has_quit |= is_gone;
    if (!n)
        return;
    top_keys_press(&w->keys, (struct view){typed, n});
    live_pause(&w->live, w->keys.is_paused, clock_monotonic_ns());
    w->is_stale = true;
}

/* Called by the recorder several times a second, and when a key is pressed. */
static bool turned(void *self)
{
    struct watching *w = self;
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns >= w->next_ns)
        look(w, now_ns);
    if (w->is_once) {
        if (w->is_stale)
            print_once(w);
        return !w->has_printed;
    }
    take_keys(w);
    w->is_stale |= screen_was_resized();
    if (w->keys.has_quit || !screen_is_open())
        return false;
    if (w->is_stale)
        draw(w);
    return true;
}

/* The request. */

static bool check_request(const struct call *c, const struct top_settings *s, struct err *e)
{
    if (!c->n_args && !s->pid.n) {
        err_set(e, ERR_USAGE, "what should be watched?");
        return err_hint(e, "inferom top --pid PID, or inferom top -- COMMAND");
    }
    if (c->n_args && s->pid.n)
        return err_set(e, ERR_USAGE, "either a command or --pid, not both");
    if (strlen(s->filter) >= sizeof ((struct top_keys *)0)->filter)
        return err_set(e, ERR_USAGE, "--filter: '%s' is too long", s->filter);
    if (!s->once && !s->json && !screen_is_possible(e))
        return err_hint(e, "--once prints a snapshot and needs none");
    return true;
}

static struct plan plan_of(const struct call *c, const struct top_settings *s, const struct host *here, const int32_t *pids)
{
    return (struct plan){
        .host = here,
        .command = c->n_args ? c->args : NULL,
        .is_quiet = true, /* the terminal is ours */
        .pids = pids,
        .n_pids = s->pid.n,
        .want_children = !s->no_children,
        .rate_hz = s->rate,
        .most_depth = 512,
    };
}

/* A program that ends before the interval does is shown as far as it came. */
static bool watch_once(struct watching *w, struct recorder *r, const struct recorder_until *until, struct err *e)
{
    if (!recorder_run(r, until, e))
        return false;
    if (!w->has_printed && *w->c->stop)
        return err_set(e, ERR_INTERRUPTED, "stopped before there was anything to show");
    if (!w->has_printed) {
        look(w, clock_monotonic_ns());
        print_once(w);
    }
    return true;
}

static bool watch(struct watching *w, struct recorder *r, struct err *e)
{
    struct recorder_until until = {.stop = w->c->stop, .turned = turned, .self = w};
    if (w->is_once)
        return watch_once(w, r, &until, e);
    if (!screen_open(e))
        return false;
    if (isatty(STDERR_FILENO))
        log_set_level(LOG_ERROR); /* a warning would be drawn over */
    recorder_watch(r, STDIN_FILENO);
    bool ok = recorder_run(r, &until, e);
    screen_close();
    return ok;
}

/* A command that was started to be watched ends with the watching; one that ended before says how. */
static void end_command(const struct call *c, struct recorder *r)
{
    struct target *t = recorder_target(r);
    if (!t)
        return;
    if (target_has_ended(t)) {
        *c->exit_status = target_exit_status(t);
        return;
    }
    kill(t->pid, SIGTERM);
    target_wait(t);
}

static bool top(const struct call *c, struct err *e)
{
    const struct top_settings *s = c->settings;
    int32_t pids[OPTION_LIST_MOST];
    struct watching w = {.c = c, .s = s, .here = host_here(), .is_once = s->once || s->json};
    if (!check_request(c, s, e) || !pid_list_read(&s->pid, pids, e))
        return false;
    struct plan plan = plan_of(c, s, &w.here, pids);
    own(recorder) struct recorder *r = NULL;
    if (!recorder_open(&r, &plan, NULL, e))
        return false;
    w.keys = (struct top_keys){.order = (enum top_order)s->sort, .interval_ns = s->interval_ns};
    memcpy(w.keys.filter, s->filter, strlen(s->filter) + 1);
    w.next_ns = clock_monotonic_ns() + s->interval_ns;
    w.is_stale = !w.is_once; /* something to look at from the first moment */
    live_init(&w.live, recorder_capture(r), s->window_ns, clock_monotonic_ns());
    bool ok = watch(&w, r, e);
    live_done(&w.live);
    end_command(c, r);
    return ok;
}

const struct verb verb_top = {
    .name = "top",
    .args = "[--] COMMAND...",
    .most_args = -1,
    .what = "watch where a running program's CPU time goes, live",
    .about = "Shows the functions that took the CPU time of the last seconds, the busiest threads, CPU use and memory, "
             "and draws them again every few seconds. Nothing is written to disk. Keys: s, t and n sort by self, total and "
             "name; f filters; p pauses; + and - change the interval; ? explains; q quits. The terminal is put back as "
             "it was, however the program ends.\n"
             "\n"
             "A process named with --pid is never stopped. COMMAND is started without input and what it prints is thrown "
             "away; it ends when the watching does. With --once or --json one snapshot is printed, and no terminal is "
             "needed.",
    .example = "inferom top --once --interval 500ms -- sh -c 'while :; do :; done'",
    .options = top_options,
    .defaults = &(const struct top_settings){.interval_ns = 2 * NS_PER_S, .window_ns = 10 * NS_PER_S, .rate = 99, .top = 20, .filter = ""},
    .settings_size = sizeof(struct top_settings),
    .takes_command = true,
    .watches_stop = true,
    .run = top,
};
