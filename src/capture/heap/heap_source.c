/*
 * The heap of a launched program and of all it starts: a library in each of them counts and remembers what is allocated
 * (guest/heap, docs/internals/heap.md); here the counters are read and become samples of the profile.
 *
 *     drain ── new processes? ── their rings ── names, a little ── once a second: what changed ── who is gone?
 *
 * Reading does not stop or slow anybody. When a process is gone everything it counted is still there: it is
 * written down once more, exactly, and its memory is given to the next.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "capture/cpu/preload.h"
#include "capture/shared_memory.h"
#include "capture/environment.h"
#include "capture/heap/heap_fit.h"
#include "capture/heap/heap_target.h"
#include "capture/inject/inject_watch.h"
#include "capture/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#define WRITE_NS UINT64_C(1000000000)
#define NAMING_NS UINT64_C(10000000)  /* so long we may look for names before others are served */
#define WRITE_SHARE 20                /* writing may take this part of the time; when it takes longer, it comes less often */

static const long hurry_ns = 1000000; /* between visits while targets wait for rules */

enum { BELIEVED = 4096 };

struct heap_source {
    struct plan plan;
    struct recorder *into;
    struct heap_shared *shared;
    struct inject_watch *injected; /* processes that ran already */
    size_t n_injected;
    struct heap_book book;
    struct heap_target *targets[HEAP_PROCESSES];
    uint64_t refused_ns[HEAP_PROCESSES]; /* began_ns of a claim that was not believed */
    int pace_fd;
    bool is_hurried;
    dev_t device;
    ino_t inode;
    uint64_t written_ns, write_every_ns, watched_ns, slices;
    struct heap_totals gone; /* of processes that have ended */
    size_t processes, refused;
    int32_t believed[BELIEVED]; /* processes that had our memory, a ring */
    size_t n_believed;
};

/* Life. */

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    if (!h->sys || !p->want_heap)
        return err_set(why_not, ERR_UNSUPPORTED, "nobody asked for the heap");
    if (p->command)
        return heap_fits(p->command[0], why_not);
    return p->want_inject || err_set(why_not, ERR_UNSUPPORTED, "the allocations of a process that runs already are not seen");
}

static void end_watching(struct heap_source *s)
{
    for (size_t i = 0; i < s->n_injected; i++)
        inject_watch_done(&s->injected[i]);
    free(s->injected);
    s->injected = NULL;
    s->n_injected = 0;
}

static void free_source(void *self)
{
    struct heap_source *s = self;
    for (size_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i]) {
            heap_target_done(s->targets[i]);
            free(s->targets[i]);
        }
    end_watching(s);
    if (s->pace_fd >= 0)
        close(s->pace_fd);
    heap_book_done(&s->book);
    heap_shared_free(s->shared);
    free(s);
}

static void bound_names(void *recorder) { recorder_bound_names(recorder); }

static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    enum { CALM_PER_S = 50000 };
    struct heap_shared_plan plan = {
        .mode = (enum heap_mode)p->heap_mode, .period_bytes = p->heap_period_bytes, .calm_per_s = CALM_PER_S,
        .most_depth = (uint32_t)(p->most_depth && p->most_depth < HEAP_DEPTH_MOST ? p->most_depth : HEAP_DEPTH_MOST),
        .wants_blocks = p->want_heap_blocks,
    };
    struct heap_shared *shared = NULL;
    if (!heap_shared_new(&shared, &plan, e))
        return false;
    struct heap_source *s = mem_new(sizeof *s);
    *s = (struct heap_source){.plan = *p, .into = into, .shared = shared, .pace_fd = -1, .write_every_ns = WRITE_NS};
    heap_book_init(&s->book, recorder_capture(into), shared, p->most_depth);
    s->book.bound_names = bound_names;
    s->book.names_of = into;
    struct stat st;
    if (fstat(heap_shared_fd(shared), &st) == 0) {
        s->device = st.st_dev;
        s->inode = st.st_ino;
    }
    s->pace_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (s->pace_fd >= 0)
        recorder_watch(into, s->pace_fd);
    s->written_ns = clock_monotonic_ns();
    *out_self = s;
    return true;
}

static void set_inherited(const struct heap_source *s, bool is_inherited)
{
    fcntl(heap_shared_fd(s->shared), F_SETFD, is_inherited ? 0 : FD_CLOEXEC);
}

static void hurry(struct heap_source *s, bool want)
{
    struct timespec step = {.tv_nsec = want ? hurry_ns : 0};
    if (s->pace_fd >= 0 && want != s->is_hurried)
        timerfd_settime(s->pace_fd, 0, &(struct itimerspec){step, step}, NULL);
    s->is_hurried = want;
}

static bool launch(void *self, struct environment *env, struct err *e)
{
    struct heap_source *s = self;
    char library[PATH_MAX], text[64];
    if (heap_has_own_new(s->plan.command[0], environment_get(env, "LD_PRELOAD")) &&
        (!preload_library(PRELOAD_HEAP_NEW, library, sizeof library, e) || !preload_add(env, library, e)))
        return false;
    if (!preload_library(PRELOAD_HEAP, library, sizeof library, e) || !preload_add(env, library, e))
        return false;
    int fd = heap_shared_fd(s->shared);
    snprintf(text, sizeof text, "%d", fd);
    environment_set(env, HEAP_FD_VARIABLE, text);
    snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), fd);
    environment_set(env, HEAP_PATH_VARIABLE, text);
    set_inherited(s, true); /* by the child that is forked next; attach() takes it back */
    hurry(s, true);
    return true;
}

/* Into a process that runs already: see inject.h. It fails before anything was measured, and the process goes on. */
static bool put_into(struct heap_source *s, int32_t pid, struct err *e)
{
    char library[PATH_MAX], path[64];
    struct inject_answer said;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), heap_shared_fd(s->shared));
    if (!preload_library(PRELOAD_HEAP, library, sizeof library, e) || !inject(pid, library, "inferom_heap_inject", path, &said, e))
        return false;
    s->injected = mem_resize(s->injected, (s->n_injected + 1) * sizeof *s->injected);
    inject_watch_init(&s->injected[s->n_injected++], pid, library, "inferom_heap_inject", path);
    log_info("the heap agent is in process %" PRId32 ": %" PRIu32 " calls of %" PRIu32 " modules lead to it", pid, said.slots, said.modules);
    return true;
}

static bool attach(void *self, int32_t pid, bool is_launched, struct err *e)
{
    struct heap_source *s = self;
    set_inherited(s, false);
    return is_launched || !s->plan.want_inject || put_into(s, pid, e);
}

/* Coming and going. */

static void finish_target(struct heap_source *s, uint32_t i)
{
    struct heap_target *t = s->targets[i];
    uint64_t now_ns = clock_monotonic_ns();
    heap_target_read(t, &s->book, now_ns);
    heap_target_name(t, &s->book, UINT64_MAX);
    heap_target_write(t, &s->book, now_ns);
    heap_target_end_is_peak(t, &s->book, now_ns);
    if (s->plan.want_heap_blocks)
        heap_target_blocks(t, &s->book);
    heap_target_totals(t, s->shared, &s->gone);
    log_debug("heap of process %" PRId32 ": %u stacks in %u rows, %" PRIu64 " slices unwound, %" PRIu64 " rules given", t->claim.pid,
              heap_look32(&heap_head_of(t)->stacks, HEAP_STACKS_MOST), heap_look32(&heap_head_of(t)->rows, HEAP_ROWS_MOST),
              t->stacks.slices, t->stacks.rules);
    heap_target_done(t);
    free(t);
    s->targets[i] = NULL;
}

static void end_target(struct heap_source *s, uint32_t i)
{
    finish_target(s, i);
    heap_shared_release(s->shared, i);
}

/* The same number again: the process runs another program now, and what it had before is over. */
static void end_older(struct heap_source *s, int32_t pid)
{
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i] && s->targets[i]->claim.pid == pid)
            end_target(s, i);
}

static bool was_believed(const struct heap_source *s, int32_t pid)
{
    for (size_t i = 0; i < s->n_believed && i < BELIEVED; i++)
        if (s->believed[i] == pid)
            return true;
    return false;
}

/* state and parent, behind the name in its brackets, which may hold brackets itself. False: there is no such process. */
static bool read_stat(int32_t pid, char *out_state, int32_t *out_parent)
{
    char path[32], stat[512] = "";
    snprintf(path, sizeof path, "/proc/%" PRId32 "/stat", pid);
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
    const char *behind = n > 0 ? strrchr(stat, ')') : NULL;
    return behind && sscanf(behind + 1, " %c %" SCNd32, out_state, out_parent) == 2;
}

/* It has our memory; or had it, and runs another program since, which it got from one of ours. */
static bool is_believed(const struct heap_source *s, const struct heap_claim *claim)
{
    char state;
    int32_t parent;
    const struct target *launched = recorder_target(s->into);
    if ((launched && launched->pid == claim->pid) || was_believed(s, claim->pid) || !read_stat(claim->pid, &state, &parent))
        return true;
    return (parent == claim->parent_pid && was_believed(s, parent)) || shared_memory_is_in(claim->pid, s->device, s->inode);
}

static void meet(struct heap_source *s, uint32_t i, const struct heap_claim *claim)
{
    if (claim->began_ns == s->refused_ns[i])
        return;
    bool is_wanted = s->plan.want_children || !recorder_target(s->into) || claim->pid == recorder_target(s->into)->pid;
    bool is_true = is_believed(s, claim);
    uint8_t *area = is_wanted && is_true ? heap_shared_area(s->shared, i) : NULL;
    if (!area) {
        s->refused += !is_true;
        s->refused_ns[i] = claim->began_ns;
        return;
    }
    s->believed[s->n_believed++ % BELIEVED] = claim->pid;
    end_older(s, claim->pid);
    s->targets[i] = mem_new(sizeof *s->targets[i]);
    heap_target_init(s->targets[i], &s->book, i, claim, area);
    s->processes++;
}

/* A zombie has ended as well, though it still has a number. */
static bool is_gone(int32_t pid, bool is_second)
{
    char state;
    int32_t parent;
    if (kill(pid, 0) < 0 && errno == ESRCH)
        return true;
    return is_second && (!read_stat(pid, &state, &parent) || state == 'Z' || state == 'X');
}

static void watch(struct heap_source *s, uint64_t now_ns)
{
    bool is_second = now_ns - s->watched_ns >= WRITE_NS;
    if (is_second)
        s->watched_ns = now_ns;
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i] && is_gone(s->targets[i]->claim.pid, is_second))
            end_target(s, i);
    for (uint32_t i = 0; is_second && i < HEAP_PROCESSES; i++) {
        struct heap_claim claim;
        if (!s->targets[i] && heap_shared_process(s->shared, i, &claim) && is_gone(claim.pid, true))
            heap_shared_release(s->shared, i); /* refused, and gone */
    }
}

/* Visits. */

static void meet_all(struct heap_source *s)
{
    struct heap_claim claim;
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (!s->targets[i] && heap_shared_process(s->shared, i, &claim))
            meet(s, i, &claim);
}

static void write_all(struct heap_source *s)
{
    uint64_t begun_ns = clock_monotonic_ns(), cpu_ns = clock_thread_cpu_ns(); /* a busy machine is no reason to come less often */
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i])
            heap_target_write(s->targets[i], &s->book, begun_ns);
    s->written_ns = clock_monotonic_ns();
    uint64_t took_ns = clock_thread_cpu_ns() - cpu_ns;
    s->write_every_ns = took_ns * WRITE_SHARE > WRITE_NS ? took_ns * WRITE_SHARE : WRITE_NS;
}

static void name_some(struct heap_source *s)
{
    uint64_t until_ns = clock_monotonic_ns() + NAMING_NS;
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i] && !heap_target_name(s->targets[i], &s->book, until_ns))
            return;
}

static bool drain(void *self, struct recorder *into, struct err *e)
{
    struct heap_source *s = self;
    (void)into, (void)e;
    uint64_t now_ns = clock_monotonic_ns(), slices = 0, times;
    while (s->pace_fd >= 0 && read(s->pace_fd, &times, sizeof times) > 0)
        ;
    for (size_t i = 0; i < s->n_injected; i++)
        inject_watch_tick(&s->injected[i], now_ns);
    heap_shared_tick(s->shared);
    meet_all(s);
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i]) {
            heap_target_read(s->targets[i], &s->book, now_ns);
            slices += s->targets[i]->stacks.slices;
        }
    bool is_busy = slices != s->slices;
    hurry(s, is_busy || !s->processes);
    s->slices = slices;
    if (!is_busy) /* debug information may be large; whoever waits for rules comes first */
        name_some(s);
    if (now_ns - s->written_ns >= s->write_every_ns)
        write_all(s);
    watch(s, now_ns);
    return true;
}

static void begin_again(void *self, struct recorder *into)
{
    struct heap_source *s = self;
    (void)into;
    heap_book_begin_again(&s->book);
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i])
            heap_target_begin_again(s->targets[i]);
}

/* The end. */

static const char *allocator_name(const char *file)
{
    static const struct {
        const char *part, *name;
    } known[] = {{"libc.so", "glibc"}, {"libc-", "glibc"}, {"jemalloc", "jemalloc"}, {"mimalloc", "mimalloc"}, {"tcmalloc", "tcmalloc"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(file, known[i].part))
            return known[i].name;
    return file;
}

static const char *mode_name(const struct heap_source *s, const struct heap_totals *t)
{
    if (!t->is_sampling)
        return "exact";
    return s->plan.heap_mode == HEAP_SAMPLED ? "sampled" : "exact then sampled";
}

static void fact_number(struct heap_source *s, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    capture_fact(s->book.into, view_of(key), view_of(text));
}

static void fact_text(struct heap_source *s, const char *key, const char *value)
{
    capture_fact(s->book.into, view_of(key), view_of(value));
}

static uint64_t not_negative(int64_t v) { return v > 0 ? (uint64_t)v : 0; }

static void note_what_is_missing(const struct heap_source *s, const struct heap_totals *t, struct heap_result *r)
{
    uint64_t areas = heap_shared_trouble(s->shared, HEAP_NO_AREA), rooms = heap_shared_trouble(s->shared, HEAP_NO_ROOM);
    if (!s->processes)
        snprintf(r->note, sizeof r->note, "the target never answered: it runs without its environment, or started only static programs");
    else if (s->plan.want_inject)
        snprintf(r->note, sizeof r->note, "blocks from before the agent came are not known (%" PRIu64 " of them were freed meanwhile), and libraries "
                 "that were loaded after it are seen a second later", t->unknown_frees);
    else if (!t->allocations)
        snprintf(r->note, sizeof r->note, "no allocation was seen: the program has an allocator that does not ask any library");
    else if (areas || rooms)
        snprintf(r->note, sizeof r->note, "%" PRIu64 " processes are missing: %s", areas + rooms,
                 areas ? "more than 256 ran at once" : "a limit on address space (ulimit -v) left no room for the agent's tables");
    else if (t->is_sampling && s->plan.heap_mode == HEAP_ADAPTIVE)
        snprintf(r->note, sizeof r->note, "%.1f %% of the allocations came faster than 50 000 a second on their thread: of those, one for every %" PRIu64 " bytes was recorded",
                 t->allocations ? 100.0 - 100.0 * (double)t->exact / (double)t->allocations : 0, s->plan.heap_period_bytes);
    size_t n = strlen(r->note);
    if (t->beyond)
        snprintf(r->note + n, sizeof r->note - n, "%s%" PRIu64 " stacks beyond the limit are shown as one row; totals are exact", n ? "; " : "", t->beyond);
}

static void say_losses(struct heap_source *s, const struct heap_totals *t)
{
    const struct {
        uint64_t count;
        struct view reason;
    } losses[] = {
        {t->unseen, VIEW("allocations and frees inside signal handlers that interrupted the agent, or that it could not keep")},
        {t->lost_stacks, VIEW("stacks of which a part did not fit into the agent's ring")},
        {t->lost_blocks, VIEW("freed blocks that did not fit into the agent's ring")},
        {t->lost_maps, VIEW("mappings that did not fit into the agent's ring")},
        {t->lost_slices, VIEW("stacks of which a part is beyond what is kept of one process")},
        {t->lost_mappings, VIEW("mappings, or their names, beyond what is kept of one process")},
        {t->damaged, VIEW("the target spoiled the memory it shares with us")},
        {s->refused, VIEW("somebody else's process number was in the shared memory")},
    };
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count)
            capture_lost(s->book.into, s->book.heap, losses[i].reason, losses[i].count);
}

static void say_facts(struct heap_source *s, const struct heap_totals *t, const struct heap_result *r)
{
    fact_text(s, "heap.mode", r->mode);
    fact_text(s, "heap.allocator", allocator_name(t->allocator));
    if (t->is_sampling)
        fact_number(s, "heap.period", s->plan.heap_period_bytes);
    fact_number(s, "heap.allocations", t->allocations);
    fact_number(s, "heap.frees", t->frees);
    fact_number(s, "heap.allocated_bytes", t->bytes);
    fact_number(s, "heap.freed_bytes", t->is_sampling ? not_negative((int64_t)t->bytes - r->live_bytes) : t->freed_bytes);
    fact_number(s, "heap.live_bytes", not_negative(r->live_bytes));
    fact_number(s, "heap.live_blocks", not_negative(r->live_blocks));
    fact_number(s, "heap.peak_bytes", not_negative(t->peak_bytes));
    fact_number(s, "heap.peak_time_ns", t->peak_ns);
    fact_number(s, "heap.unknown_frees", t->unknown_frees);
    fact_number(s, "heap.unseen", t->unseen);
    if (s->book.knows_requests)
        fact_text(s, "heap.requests", "known");
    if (*r->note)
        fact_text(s, "heap.note", r->note);
}

static void stop(void *self, struct recorder *into)
{
    struct heap_source *s = self;
    struct heap_result *r = &recorder_result(into)->heap;
    end_watching(s);
    heap_shared_stop(s->shared);
    heap_shared_tick(s->shared);
    meet_all(s);
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        if (s->targets[i])
            finish_target(s, i); /* who still runs keeps the memory, which is nobody else's by now */
    const struct heap_totals *t = &s->gone;
    *r = (struct heap_result){
        .is_on = true, .mode = mode_name(s, t), .allocations = t->allocations, .bytes = t->bytes, .frees = t->frees, .unseen = t->unseen,
        .unknown_frees = t->unknown_frees, .samples = t->samples, .period_bytes = s->plan.heap_period_bytes,
        .live_blocks = s->book.sums[2], .live_bytes = s->book.sums[3], .peak_bytes = t->peak_bytes, .processes = s->processes,
    };
    note_what_is_missing(s, t, r);
    say_losses(s, t);
    say_facts(s, t, r);
}

const struct source source_heap = {
    .name = "heap",
    .role = "heap",
    .what = "what a launched program allocates, where, and what it keeps",
    .probe = probe,
    .start = start,
    .launch = launch,
    .attach = attach,
    .drain = drain,
    .begin_again = begin_again,
    .stop = stop,
    .free = free_source,
};
