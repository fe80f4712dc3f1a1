/*
 * The scopes that launched programs name themselves (libinferom), in two ways: what each cost, as the programs count it; and
 * in which of them a thread was when a sample of it was taken, whoever took it.
 *
 *     inferom record ── INFEROM_SCOPES_PATH ──> program, children
 *           └─────────── shared memory <───────────────────┘
 *
 * A program without the library does not look at the variables. However one ends, what it counted is in the memory; it is
 * written down when the process is gone, and for those that go on when the recording is over. Before that, now and then, so
 * that a recorder that is killed leaves the table as it was not long ago (scopes_pace.h).
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "capture/environment.h"
#include "capture/recorder.h"
#include "capture/scopes/scopes_capture.h"
#include "capture/scopes/scopes_join.h"
#include "capture/scopes/scopes_labels.h"
#include "capture/scopes/scopes_pace.h"
#include "capture/scopes/scopes_requests.h"
#include "capture/source.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

/* Half a gigabyte of addresses, and memory only where somebody writes; less where addresses are limited (ulimit -v). */
enum { PIECES = 8192, PIECES_LEAST = 256 };

/* How often we ask whether processes are still there, and how long samples of one that is gone may still come. */
#define ASK_NS UINT64_C(100000000)
#define LATE_NS UINT64_C(5000000000)

struct scopes_source {
    struct scopes_memory *memory; /* NULL: there is none to share */
    struct scopes_clock clock;
    struct scopes_labels *labels;
    struct recorder *into;
    uint64_t visited_ns, asked_ns, began_ns, tables_due_ns;
    uint64_t pid_namespace;
};

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    (void)h;
    return p->command || err_set(why_not, ERR_UNSUPPORTED, "a program that runs already was not asked to count its scopes");
}

/* Visiting. */

static uint64_t tick_of(const struct scopes_source *s, const struct seen_process *p, uint64_t ns)
{
    return p->head.ticks_are_ns ? ns : scopes_clock_tick(&s->clock, ns);
}

static void visit_process(struct scopes_source *s, struct seen_process *p, uint64_t now_ns)
{
    if (!p->is_over)
        scopes_join_visit(s->memory, p, tick_of(s, p, now_ns > LATE_NS ? now_ns - LATE_NS : 0));
}

static void visit(struct scopes_source *s)
{
    uint64_t now_ns = clock_monotonic_ns();
    scopes_clock_read(&s->clock, now_ns);
    scopes_memory_visit(s->memory);
    for (size_t i = 0; i < s->memory->n_processes; i++)
        visit_process(s, s->memory->processes[i], now_ns);
    s->visited_ns = now_ns;
}

/* A sample of a moment that we have not seen the end of: it has passed by now, so we look again. */
static labels_id labels_at(void *self, thread_id thread, uint64_t time_ns)
{
    struct scopes_source *s = self;
    if (time_ns >= s->visited_ns)
        visit(s);
    return scopes_labels_at(s->labels, s->memory, &s->clock, thread, time_ns);
}

/* By number, as the heap agent asked for it inside the process. One that we have not heard of is new. */
static labels_id labels_of(void *self, thread_id thread, uint32_t number)
{
    struct scopes_source *s = self;
    labels_id labels = scopes_labels_of(s->labels, s->memory, thread, number);
    if (labels.i)
        return labels;
    visit(s);
    return scopes_labels_of(s->labels, s->memory, thread, number);
}

/* Requests. */

static bool has_requests(void *self)
{
    struct scopes_source *s = self;
    bool any = false;
    visit(s);
    for (size_t i = 0; i < s->memory->n_processes; i++) {
        struct seen_process *p = s->memory->processes[i];
        if (!p->is_over)
            scopes_capture_events(s->memory, p, &s->clock, s->visited_ns, recorder_capture(s->into));
        any |= p->n_work > 0;
    }
    return any;
}

static uint32_t request_at(void *self, thread_id thread, struct capture_tick tick)
{
    struct scopes_source *s = self;
    struct seen_process *p = thread.i ? scopes_labels_process(s->labels, s->memory, thread) : NULL;
    if (!p || !p->n_work || (p->head.ticks_are_ns != 0) == tick.is_counter)
        return 0; /* two clocks: what is near a border would be anybody's */
    uint32_t tid = (uint32_t)profile_thread(builder_view(capture_names(recorder_capture(s->into))), thread)->tid;
    return scopes_requests_at(p, tid, tick.tick);
}

static labels_id labels_of_request(void *self, thread_id thread, uint32_t number)
{
    struct scopes_source *s = self;
    struct builder *names = capture_names(recorder_capture(s->into));
    struct seen_process *p = scopes_labels_process(s->labels, s->memory, thread);
    const struct seen_request *r = p ? scopes_requests_named(p, number) : NULL;
    if (!r)
        return LABELS_NONE;
    struct label label = {.key = builder_string(names, VIEW("request")), .text = builder_string(names, view_of(r->id))};
    return builder_labels(names, &label, 1);
}

/* Who is gone. */

/* Its number may mean another process in another namespace: then it is taken to be there until the end. */
static bool is_gone(const struct scopes_source *s, const struct seen_process *p)
{
    return p->head.pid && p->head.pid_namespace == s->pid_namespace && kill((pid_t)p->head.pid, 0) < 0 && errno == ESRCH;
}

/* The same number again, later: the process runs another program now. */
static bool runs_another(const struct scopes_source *s, size_t process)
{
    const struct seen_process *p = s->memory->processes[process];
    for (size_t i = process + 1; p->head.pid && i < s->memory->n_processes; i++)
        if (s->memory->processes[i]->head.pid == p->head.pid &&
            s->memory->processes[i]->head.pid_namespace == p->head.pid_namespace)
            return true;
    return false;
}

static void write_down(struct scopes_source *s, struct seen_process *p)
{
    scopes_capture(s->memory, p, &s->clock, clock_monotonic_ns(), recorder_capture(s->into));
}

/* All are asked first: what one wrote before it was gone is seen by the visit behind. */
static void end_processes(struct scopes_source *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->memory->n_processes; i++) {
        struct seen_process *p = s->memory->processes[i];
        p->is_gone = !p->is_over && (is_gone(s, p) || runs_another(s, i));
        n += p->is_gone;
    }
    if (n)
        visit(s);
    for (size_t i = 0; n && i < s->memory->n_processes; i++) {
        struct seen_process *p = s->memory->processes[i];
        if (!p->is_gone || p->is_over)
            continue;
        write_down(s, p);
        scopes_memory_release(s->memory, p, s->visited_ns);
    }
}

static void forget_processes(struct scopes_source *s)
{
    for (size_t i = s->memory->n_processes; i-- > 0;) {
        struct seen_process *p = s->memory->processes[i];
        if (!p->is_over || s->visited_ns - p->over_ns < LATE_NS)
            continue;
        scopes_labels_forget(s->labels, capture_names(recorder_capture(s->into)));
        scopes_join_forget(p);
        scopes_memory_forget(s->memory, i);
    }
}

/* Life. Memory that cannot be made costs the scopes, not the recording. */

static struct scopes_memory *make_memory(struct err *why_not)
{
    struct scopes_memory *m = NULL;
    for (uint32_t pieces = PIECES; pieces >= PIECES_LEAST; pieces /= 2)
        if (scopes_memory_new(&m, pieces, why_not))
            return m;
    return NULL;
}

static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    struct scopes_source *s = mem_new(sizeof *s);
    struct err why = {0};
    struct stat st;
    (void)p, (void)e;
    s->into = into;
    s->labels = scopes_labels_new(capture_names(recorder_capture(into)));
    s->pid_namespace = stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
    s->began_ns = clock_monotonic_ns();
    s->tables_due_ns = s->began_ns + scopes_pace_ns(0, 0, 0);
    scopes_clock_read(&s->clock, s->began_ns);
    s->memory = make_memory(&why);
    if (s->memory)
        capture_label(recorder_capture(into), (struct capture_labeller){
            .self = s, .labels = labels_at, .scope = labels_of, .has_requests = has_requests, .request = request_at,
            .request_labels = labels_of_request,
        });
    else
        log_info("scopes: %s", why.text);
    *out_self = s;
    return true;
}

/* Who does not want scopes says so. */
static bool launch(void *self, struct environment *env, struct err *e)
{
    const struct scopes_source *s = self;
    const char *wish = environment_get(env, "INFEROM_SCOPES");
    char text[64];
    (void)e;
    if (!s->memory || (wish && !strcmp(wish, "off")))
        return true;
    snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), s->memory->fd);
    environment_set(env, SCOPES_PATH_VARIABLE, text);
    return true;
}

/* Phases, requests and readings, as they come. */
static void write_events(struct scopes_source *s)
{
    for (size_t i = 0; i < s->memory->n_processes; i++)
        if (!s->memory->processes[i]->is_over)
            scopes_capture_events(s->memory, s->memory->processes[i], &s->clock, clock_monotonic_ns(), recorder_capture(s->into));
}

/* What was counted so far, where it is not what was written last. */
static void write_tables(struct scopes_source *s)
{
    uint64_t began_ns = clock_monotonic_ns(), bytes = 0;
    for (size_t i = 0; i < s->memory->n_processes; i++) {
        struct seen_process *p = s->memory->processes[i];
        uint64_t numbers = p->is_over ? p->numbers : scopes_capture_numbers(s->memory, p);
        if (numbers == p->numbers)
            continue;
        p->numbers = numbers;
        bytes += scopes_capture_table(s->memory, p, &s->clock, began_ns, recorder_capture(s->into));
    }
    uint64_t now_ns = clock_monotonic_ns();
    s->tables_due_ns = now_ns + scopes_pace_ns(now_ns - s->began_ns, now_ns - began_ns, bytes);
}

static bool drain(void *self, struct recorder *into, struct err *e)
{
    struct scopes_source *s = self;
    (void)into, (void)e;
    if (!s->memory)
        return true;
    visit(s);
    write_events(s);
    if (s->visited_ns - s->asked_ns >= ASK_NS) {
        s->asked_ns = s->visited_ns;
        end_processes(s);
        forget_processes(s);
    }
    if (s->visited_ns >= s->tables_due_ns)
        write_tables(s);
    return true;
}

static void begin_again(void *self, struct recorder *into)
{
    struct scopes_source *s = self;
    (void)into;
    scopes_labels_forget(s->labels, capture_names(recorder_capture(s->into)));
}

static void stop(void *self, struct recorder *into)
{
    struct scopes_source *s = self;
    (void)into;
    if (!s->memory)
        return;
    visit(s);
    for (size_t i = 0; i < s->memory->n_processes; i++)
        if (!s->memory->processes[i]->is_over)
            write_down(s, s->memory->processes[i]);
    if (s->memory->damaged)
        log_warn("scopes of %llu threads made no sense from some point on; what came before is kept",
                 (unsigned long long)s->memory->damaged);
    if (scopes_memory_refused(s->memory))
        log_warn("there was too little memory for all scopes: %llu times more was wanted",
                 (unsigned long long)scopes_memory_refused(s->memory));
}

static void scopes_free(void *self)
{
    struct scopes_source *s = self;
    capture_label(recorder_capture(s->into), (struct capture_labeller){0});
    for (size_t i = 0; s->memory && i < s->memory->n_processes; i++)
        scopes_join_forget(s->memory->processes[i]);
    scopes_memory_free(s->memory);
    scopes_labels_free(s->labels);
    scopes_clock_done(&s->clock);
    free(s);
}

const struct source source_scopes = {
    .name = "scopes",
    .role = "scopes",
    .what = "the scopes that a launched program names itself",
    .probe = probe,
    .start = start,
    .launch = launch,
    .drain = drain,
    .begin_again = begin_again,
    .stop = stop,
    .free = scopes_free,
};
