#include "capture/recorder.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "capture/hurry.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/epoll.h>

/* Sources are drained at least this often, whether they asked for it or not. */
#define DRAIN_NS UINT64_C(20000000)

/* More names than this are not held; the capture begins again with none. Beside them there are symbols, tables and rings. */
#define NAMES_MOST ((size_t)8 << 20)

/* So many times as much is too much even between two drains. */
#define NAMES_IN_BETWEEN 4

enum { SOURCES_MOST = 16, TARGETS_MOST = 64 };

struct running {
    const struct source *is;
    void *self;
};

struct recorder {
    struct plan plan;
    char *path; /* NULL: nothing is written */
    struct capture_writer *capture;
    struct running sources[SOURCES_MOST];
    size_t n_sources;
    struct target targets[TARGETS_MOST];
    size_t n_targets;
    int32_t *pids;
    size_t n_pids, pids_cap;
    int poll_fd;
    bool has_begun, has_stopped;
    struct recording result;
};

void recorder_free(struct recorder *r)
{
    if (!r)
        return;
    for (size_t i = r->n_sources; i-- > 0;)
        r->sources[i].is->free(r->sources[i].self);
    for (size_t i = 0; i < r->n_targets; i++)
        target_done(&r->targets[i]);
    capture_writer_free(r->capture);
    if (r->poll_fd >= 0)
        close(r->poll_fd);
    free(r->pids);
    free(r->path);
    free(r);
}

/* Processes. */

void recorder_remove_process(struct recorder *r, int32_t pid)
{
    for (size_t i = 0; i < r->n_pids; i++)
        if (r->pids[i] == pid)
            r->pids[i] = r->pids[--r->n_pids];
}

void recorder_add_process(struct recorder *r, int32_t pid)
{
    recorder_remove_process(r, pid);
    GROW(r->pids, r->pids_cap, r->n_pids + 1);
    r->pids[r->n_pids++] = pid;
}

const int32_t *recorder_processes(const struct recorder *r, size_t *out_n)
{
    *out_n = r->n_pids;
    return r->pids;
}

/* Sources. */

static bool has_role(const struct recorder *r, const char *role)
{
    for (size_t i = 0; i < r->n_sources; i++)
        if (!strcmp(r->sources[i].is->role, role))
            return true;
    return false;
}

/* One reason for each way that was tried. The last way needs least, so its advice is the easiest to follow. */
static void add_refusal(struct err *all, const struct err *why)
{
    if (!all->kind) {
        *all = *why;
        return;
    }
    size_t n = strlen(all->text);
    snprintf(all->text + n, sizeof all->text - n, "; %s", why->text);
    if (*why->hint)
        memcpy(all->hint, why->hint, sizeof all->hint);
}

/* The user may insist on one of the engines. */
static bool is_wanted(const struct recorder *r, const struct source *s)
{
    return !r->plan.engine || strcmp(s->role, "cpu") != 0 || !strcmp(s->name, r->plan.engine);
}

static bool no_such_engine(const char *name, struct err *e)
{
    char known[sizeof e->hint] = "";
    for (const struct source *const *s = sources; *s; s++)
        if (!strcmp((*s)->role, "cpu"))
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s", (*s)->name);
    err_set(e, ERR_NOT_FOUND, "no engine is called '%s'", name);
    return err_hint(e, "there are:%s", known);
}

/* The first of each role that can. Nobody who samples the CPU: then there is nothing to record. */
static bool choose_sources(struct recorder *r, struct err *e)
{
    struct err refusals = {0};
    for (const struct source *const *s = sources; *s; s++) {
        struct err why = {0};
        if (has_role(r, (*s)->role) || !is_wanted(r, *s))
            continue;
        if (!(*s)->probe(r->plan.host, &r->plan, &why)) {
            log_info("%s: %s", (*s)->name, why.text);
            if (!strcmp((*s)->role, "cpu"))
                add_refusal(&refusals, &why);
            continue;
        }
        struct running *now = &r->sources[r->n_sources];
        now->is = *s;
        if (!(*s)->start(&now->self, &r->plan, r, e))
            return err_in(e, "%s", (*s)->name);
        r->n_sources++;
    }
    if (has_role(r, "cpu"))
        return true;
    if (!refusals.kind)
        return no_such_engine(r->plan.engine, e);
    *e = refusals;
    return err_in(e, "CPU sampling is not possible here");
}

static bool attach(struct recorder *r, const struct target *t, struct err *e)
{
    for (size_t i = 0; i < r->n_sources; i++) {
        const struct running *s = &r->sources[i];
        if (s->is->attach && !s->is->attach(s->self, t->pid, t->is_ours, e))
            return false;
    }
    return true;
}

static bool begin(struct recorder *r, struct err *e)
{
    r->has_begun = true;
    if (r->plan.delay_ns || !r->result.start_ns)
        r->result.start_ns = clock_monotonic_ns();
    for (size_t i = 0; i < r->n_sources; i++) {
        const struct running *s = &r->sources[i];
        if (s->is->begin && !s->is->begin(s->self, e))
            return err_in(e, "%s", s->is->name);
    }
    return true;
}

static void begin_again(struct recorder *r)
{
    for (size_t i = 0; i < r->n_sources; i++)
        if (r->sources[i].is->settle)
            r->sources[i].is->settle(r->sources[i].self);
    if (!capture_begin_again(r->capture))
        return;
    log_debug("there were too many names to hold; beginning again with none");
    for (size_t i = 0; i < r->n_sources; i++)
        if (r->sources[i].is->begin_again)
            r->sources[i].is->begin_again(r->sources[i].self, r);
}

void recorder_bound_names(struct recorder *r)
{
    if (capture_names_bytes(r->capture) > NAMES_IN_BETWEEN * r->plan.names_most_bytes)
        begin_again(r);
}

static bool drain(struct recorder *r, struct err *e)
{
    for (size_t i = 0; i < r->n_sources; i++) {
        const struct running *s = &r->sources[i];
        if (s->is->drain && !s->is->drain(s->self, r, e))
            return err_in(e, "%s", s->is->name);
    }
    if (capture_names_bytes(r->capture) > r->plan.names_most_bytes)
        begin_again(r);
    return capture_tick(r->capture, clock_monotonic_ns(), e);
}

/* Targets. */

static bool find_targets(struct recorder *r, struct err *e)
{
    if (r->plan.n_pids >= TARGETS_MOST)
        return err_set(e, ERR_LIMIT, "%d processes at most can be attached to at once", TARGETS_MOST - 1);
    for (size_t i = 0; i < r->plan.n_pids; i++, r->n_targets++)
        if (!target_find(&r->targets[r->n_targets], r->plan.pids[i], e))
            return false;
    return true;
}

static bool launch_target(struct recorder *r, struct err *e)
{
    own(environment) struct environment env;
    environment_init(&env, environ);
    for (size_t i = 0; i < r->n_sources; i++) {
        const struct running *s = &r->sources[i];
        if (s->is->launch && !s->is->launch(s->self, &env, e))
            return err_in(e, "%s", s->is->name);
    }
    struct target *t = &r->targets[r->n_targets];
    if (!target_launch(t, r->plan.command, &env, r->plan.is_quiet, e))
        return false;
    r->n_targets++;
    return true;
}

struct target *recorder_target(struct recorder *r)
{
    struct target *last = r->n_targets ? &r->targets[r->n_targets - 1] : NULL;
    return last && last->is_ours ? last : NULL;
}

/* The recording is about the launched program, or about those attached to: over when all of them are. */
static bool targets_have_ended(struct recorder *r)
{
    struct target *launched = recorder_target(r);
    bool all = true;
    for (size_t i = 0; i < r->n_targets; i++)
        all &= target_has_ended(&r->targets[i]);
    return launched ? launched->has_ended : all;
}

/* Life. */

static bool prepare(struct recorder *r, struct err *e)
{
    r->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (r->poll_fd < 0)
        return err_os(e, "waiting for events");
    if (!find_targets(r, e) || !choose_sources(r, e) || (r->plan.command && !launch_target(r, e)))
        return false;
    for (size_t i = 0; i < r->n_targets; i++) {
        recorder_add_process(r, r->targets[i].pid);
        if (!attach(r, &r->targets[i], e))
            return false;
        if (r->targets[i].ended_fd >= 0)
            recorder_watch(r, r->targets[i].ended_fd);
    }
    return true;
}

bool recorder_open(struct recorder **out, const struct plan *p, const char *path, struct err *e)
{
    struct recorder *r = mem_new(sizeof *r);
    *r = (struct recorder){.plan = *p, .path = path ? mem_text(path, strlen(path)) : NULL, .poll_fd = -1};
    r->result.cpu_ns = -1;
    if (!r->plan.names_most_bytes)
        r->plan.names_most_bytes = NAMES_MOST;
    if (!capture_open(&r->capture, path, clock_monotonic_ns(), e)) {
        recorder_free(r);
        return false;
    }
    struct target *launched = NULL;
    bool ok = prepare(r, e);
    if (ok && (launched = recorder_target(r))) {
        r->result.start_ns = clock_monotonic_ns(); /* it begins now, and the measuring with it */
        ok = target_go(launched, p->command[0], e);
    }
    if (ok) {
        *out = r;
        return true;
    }
    recorder_free(r);
    if (path)
        unlink(path); /* nothing was measured: no file stands in for it */
    return false;
}

struct capture_writer *recorder_capture(struct recorder *r) { return r->capture; }
struct recording *recorder_result(struct recorder *r) { return &r->result; }

void recorder_watch(struct recorder *r, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(r->poll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
        log_debug("descriptor %d is drained by the clock only: %s", fd, strerror(errno));
}

/* Somebody has something, or the time is up. Who hangs up is not asked again: it would answer at once, for ever. */
static void wait_for_something(const struct recorder *r, uint64_t most_ns)
{
    struct epoll_event got[64];
    int n = epoll_wait(r->poll_fd, got, sizeof got / sizeof *got, (int)(most_ns / 1000000) + 1);
    for (int i = 0; i < n; i++) {
        bool is_over = got[i].events & (EPOLLHUP | EPOLLERR);
        for (size_t t = 0; t < r->n_targets; t++)
            is_over |= got[i].data.fd == r->targets[t].ended_fd;
        if (is_over)
            epoll_ctl(r->poll_fd, EPOLL_CTL_DEL, got[i].data.fd, NULL);
    }
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t until_ns(uint64_t deadline, uint64_t now) { return deadline > now ? deadline - now : 0; }

/* One turn of the loop; false with no error: it is over. */
static bool turn(struct recorder *r, const struct recorder_until *until, uint64_t begin_ns, struct err *e)
{
    uint64_t now = clock_monotonic_ns(), patience = DRAIN_NS;
    if (!r->has_begun && now >= begin_ns && !begin(r, e))
        return false;
    uint64_t end_ns = r->has_begun && until->duration_ns ? r->result.start_ns + until->duration_ns : UINT64_MAX;
    patience = least(patience, until_ns(r->has_begun ? end_ns : begin_ns, now));
    if (patience)
        wait_for_something(r, patience);
    if (!drain(r, e))
        return false;

    if (*until->stop || (until->turned && !until->turned(until->self)))
        r->result.end = RECORDER_STOPPED;
    else if (clock_monotonic_ns() >= end_ns)
        r->result.end = RECORDER_DURATION;
    else if (targets_have_ended(r))
        r->result.end = RECORDER_TARGET_ENDED;
    else
        return true;
    return false;
}

static void stop_sources(struct recorder *r)
{
    if (r->has_stopped)
        return;
    r->has_stopped = true;
    if (!r->has_begun)
        r->result.start_ns = clock_monotonic_ns();
    r->result.end_ns = clock_monotonic_ns();
    for (size_t i = 0; i < r->n_sources; i++)
        if (r->sources[i].is->stop)
            r->sources[i].is->stop(r->sources[i].self, r);
}

bool recorder_run(struct recorder *r, const struct recorder_until *until, struct err *e)
{
    struct err failed = {0};
    hurry();
    uint64_t begin_ns = clock_monotonic_ns() + r->plan.delay_ns;
    while (turn(r, until, begin_ns, &failed))
        ;
    if (failed.kind)
        r->result.end = RECORDER_FAILED;
    stop_sources(r);
    if (failed.kind && e)
        *e = failed;
    return !failed.kind;
}

bool recorder_close(struct recorder *r, struct err *e)
{
    stop_sources(r);
    capture_clock(r->capture, r->result.start_ns, r->result.end_ns, clock_wall_offset_ns());
    return capture_close(r->capture, e);
}

void recording_count(struct recording *out, const struct processes_count *c)
{
    out->cpu_ns = (int64_t)c->cpu_ns;
    out->samples = c->samples;
    out->lost = c->lost;
    out->unsampled = c->unsampled;
    out->truncated = c->ends[UNWIND_CUT] + c->ends[UNWIND_TOO_DEEP];
    out->guessed = c->ends[UNWIND_GUESSED];
    out->complete = c->ends[UNWIND_COMPLETE] + c->ends[UNWIND_GUESSED];
    for (enum unwind_end end = 0; end < UNWIND_END_COUNT; end++)
        out->with_stack += c->ends[end];
    out->processes = c->processes;
    out->threads = c->threads;
}
