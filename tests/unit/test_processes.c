/*
 * Everything after a raw sample, with ourselves as the target: registers and stack are
 * taken by hand, at a place whose callers are known.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "capture/cpu/address_space.h"
#include "capture/cpu/processes.h"
#include "check.h"
#include "model/capture_reader.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define FILE_NAME "test_processes.inferom"
#define KEPT __attribute__((noinline))

/* Maps: a new one takes the place of what it covers. */

static void show(const struct address_space *s, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < s->n && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%" PRIx64 "-%" PRIx64 "@%" PRIx64, i ? " " : "", s->maps[i].start,
                              s->maps[i].end, s->maps[i].file_offset);
}

static void test_space(void)
{
    static const struct {
        const char *what;
        struct code_map add;
        const char *then;
    } rows[] = {
        {"the first",           {10, 20, 100}, "a-14@64"},
        {"behind it",           {30, 40, 300}, "a-14@64 1e-28@12c"},
        {"between them",        {20, 30, 200}, "a-14@64 14-1e@c8 1e-28@12c"},
        {"inside one",          {12, 14, 0},   "a-c@64 c-e@0 e-14@68 14-1e@c8 1e-28@12c"},
        {"over several",        {13, 35, 500}, "a-c@64 c-d@0 d-23@1f4 23-28@131"},
        {"nothing",             {50, 50, 0},   "a-c@64 c-d@0 d-23@1f4 23-28@131"},
        {"backwards",           {60, 50, 0},   "a-c@64 c-d@0 d-23@1f4 23-28@131"},
        {"over all",            {0, 100, 1},   "0-64@1"},
    };
    struct address_space s = {0};
    char text[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        space_add(&s, &rows[i].add);
        show(&s, text, sizeof text);
        CHECK_STR(text, rows[i].then);
    }
    CHECK(space_at(&s, 99) && !space_at(&s, 100));
    space_done(&s);
}

/* A place to stand. */

static struct raw_sample here;
static uint64_t *stack_copy;

/* The kernel copies whatever is there; so does this, across what a sanitizer has put between variables. */
__attribute__((no_sanitize("address"))) static void copy_words(uint64_t *to, const volatile uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

/* What an engine would see: the state at the interruption, and the stack from there on. */
static void take_registers(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    const ucontext_t *u = context;
    struct unwind_registers *r = &here.registers;
#if defined(__x86_64__)
    static const int from[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (size_t i = 0; i < 17; i++)
        r->at[i] = (uint64_t)u->uc_mcontext.gregs[from[i]];
    uint64_t sp = r->at[7];
#else
    memcpy(r->at, u->uc_mcontext.regs, 31 * sizeof *r->at);
    r->at[31] = u->uc_mcontext.sp;
    r->at[32] = u->uc_mcontext.pc;
    uint64_t sp = r->at[31];
#endif
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    size_t n = (size_t)((uint64_t)(uintptr_t)low + size - sp);
    stack_copy = mem_resize(stack_copy, n);
    copy_words(stack_copy, (const volatile uint64_t *)(uintptr_t)sp, n / sizeof(uint64_t)); /* NOLINT(performance-no-int-to-ptr) */
    here.stack = (struct unwind_stack){.start = sp, .bytes = (const uint8_t *)stack_copy, .n = n};
}

#define STAY() __asm__ volatile("") /* behind a call, keeps it a call */
static KEPT void inner(void) { raise(SIGUSR1); STAY(); }
static KEPT void middle(void) { inner(); STAY(); }
static KEPT void outer(void) { middle(); STAY(); }

static void be_sampled(void)
{
    struct sigaction a = {.sa_sigaction = take_registers, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &a, NULL);
    outer();
    here.pid = getpid();
    here.tid = gettid();
    here.time_ns = clock_monotonic_ns();
    here.weight = 1000000;
    here.has_user = true;
}

/* A recording of nothing but what the test hands in. */

struct bench {
    struct capture_writer *w;
    struct processes *ps;
    set_id set;
};

static struct bench bench_new(size_t most_depth)
{
    struct bench b = {0};
    struct err e = {0};
    CHECK(capture_open(&b.w, FILE_NAME, clock_monotonic_ns(), &e));
    b.set = builder_set(capture_names(b.w), VIEW("cpu"), &(struct measure_spec){VIEW("cpu"), UNIT_NS}, 1);
    b.ps = processes_new(&(struct processes_plan){.into = b.w, .set = b.set, .period = 1000000, .most_depth = most_depth, .proc = "/proc"});
    return b;
}

static struct profile *bench_end(struct bench *b)
{
    struct err e = {0};
    struct profile *p = NULL;
    processes_finish(b->ps);
    processes_free(b->ps);
    CHECK(capture_close(b->w, &e));
    capture_writer_free(b->w);
    own(reader) struct reader in;
    struct capture_report report;
    struct builder *into = builder_new();
    CHECK(reader_open(&in, FILE_NAME, &e) && capture_read(into, &in, &report, &e) && builder_finish(into, &p, &e));
    unlink(FILE_NAME);
    return p;
}

/* root;...;leaf of a sample. */
static const char *stack_text(const struct profile *p, size_t sample)
{
    static char text[8192];
    const char *names[256];
    size_t n = 0, at = 0;
    for (stack_id s = profile_set(p, (set_id){0})->stacks[sample]; s.i && n < 256; s = profile_stack(p, s)->caller)
        names[n++] = profile_frame_name(p, profile_stack(p, s)->frame).at;
    text[0] = '\0';
    for (; n > 0; n--)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", names[n - 1], n > 1 ? ";" : "");
    return text;
}

static void test_own_stack(void)
{
    struct bench b = bench_new(128);
    struct err e = {0};
    CHECK(processes_attach(b.ps, getpid(), 1, &e));
    CHECK_EQ(processes_sample(b.ps, &here), UNWIND_COMPLETE);
    uint64_t kernel[] = {0xffffffff81000010};
    here.kernel = kernel;
    here.n_kernel = 1;
    CHECK_EQ(processes_sample(b.ps, &here), UNWIND_COMPLETE);
    here.n_kernel = 0;

    processes_settle(b.ps, UINT64_MAX);
    struct processes_count c = processes_counts(b.ps);
    CHECK_EQ(c.samples, 2);
    CHECK_EQ(c.weight, 2000000);
    CHECK_EQ(c.ends[UNWIND_COMPLETE], 2);
    own(profile) struct profile *p = bench_end(&b);
    CHECK(strstr(stack_text(p, 0), "main;be_sampled;outer;middle;inner;") || strstr(stack_text(p, 0), "main;outer;middle;inner;"));
    CHECK(strstr(stack_text(p, 1), "middle;inner;"));
    CHECK(view_ends(view_of(stack_text(p, 1)), VIEW(";[kernel]")));
}

static void test_depth(void)
{
    struct bench b = bench_new(3);
    processes_sample(b.ps, &here);
    processes_settle(b.ps, UINT64_MAX);
    CHECK_EQ(processes_counts(b.ps).ends[UNWIND_TOO_DEEP], 1);
    own(profile) struct profile *p = bench_end(&b);
    const char *text = stack_text(p, 0);
    size_t frames = 1;
    for (const char *at = text; (at = strchr(at, ';')); at++)
        frames++;
    CHECK(view_starts(view_of(text), VIEW("[truncated];")));
    CHECK_EQ(frames, 3 + 1);
}

/* A slice of 16 bytes ends inside the first frames; it says so, and the sample still counts. */
static void test_cut(void)
{
    struct bench b = bench_new(128);
    struct raw_sample cut = here;
    cut.stack.n = 16;
    CHECK_EQ(processes_sample(b.ps, &cut), UNWIND_CUT);
    own(profile) struct profile *p = bench_end(&b);
    CHECK_EQ(profile_set(p, (set_id){0})->n, 1);
    CHECK(view_starts(view_of(stack_text(p, 0)), VIEW("[truncated];")));
}

/* Processes that come and go, and numbers that are used again. Nobody is there to look at: these numbers are not given out. */
static void test_life(void)
{
    enum { NOBODY = 2000000000, LATER = 2000000000 }; /* numbers do not come again within a second */
    struct bench b = bench_new(128);
    struct raw_sample s = {.weight = 1000000, .time_ns = 5};
    processes_fork(b.ps, getpid(), NOBODY, NOBODY, 10);
    processes_fork(b.ps, NOBODY, NOBODY, NOBODY + 1, 11);
    processes_name(b.ps, NOBODY, NOBODY + 1, VIEW("worker"), 12);
    s.pid = NOBODY;
    s.tid = NOBODY + 1;
    processes_sample(b.ps, &s);
    processes_thread_cpu(b.ps, NOBODY, NOBODY + 1, 4000000); /* three periods more than there are samples of */
    processes_exit(b.ps, NOBODY, NOBODY + 1);
    processes_exit(b.ps, NOBODY, NOBODY);
    processes_sample(b.ps, &s); /* a late one, of the thread that has ended */

    processes_fork(b.ps, getpid(), NOBODY, NOBODY, LATER); /* the same number, another process */
    processes_exec(b.ps, NOBODY, VIEW("other"), LATER + 1);
    s.tid = NOBODY;
    processes_sample(b.ps, &s);

    for (int32_t i = 0; i < 100000; i++) { /* memory does not grow with all that ever were */
        processes_fork(b.ps, getpid(), NOBODY + 10 + i, NOBODY + 10 + i, 30);
        processes_exit(b.ps, NOBODY + 10 + i, NOBODY + 10 + i);
    }
    CHECK(processes_counts(b.ps).processes < 1000);
    CHECK_EQ(profile_processes(builder_view(capture_names(b.w))), 1 + 2); /* nobody's row, and the two that were sampled */
    CHECK_EQ(profile_threads(builder_view(capture_names(b.w))), 1 + 2);
    processes_lost(b.ps, VIEW("for a test"), 7);

    own(profile) struct profile *p = bench_end(&b);
    const struct sample_set *set = profile_set(p, (set_id){0});
    CHECK_EQ(set->n, 3);
    const struct thread *worker = profile_thread(p, profile_context(p, set->contexts[0])->thread);
    const struct thread *late = profile_thread(p, profile_context(p, set->contexts[1])->thread);
    const struct thread *other = profile_thread(p, profile_context(p, set->contexts[2])->thread);
    CHECK_STR(profile_string(p, worker->name).at, "worker");
    CHECK(worker == late);
    CHECK(worker->process.i != other->process.i);
    CHECK_STR(profile_string(p, profile_process(p, other->process)->name).at, "other");
    CHECK_EQ(profile_losses(p), 1); /* two of unsampled time hide behind the seven that were dropped */
    CHECK_EQ(profile_loss(p, 0)->count, 7);
}

static void test_nobody(void)
{
    struct bench b = bench_new(128);
    struct err e = {0};
    CHECK(!processes_attach(b.ps, 2000000000, 1, &e));
    CHECK_EQ(e.kind, ERR_NOT_FOUND);
    CHECK_STR(e.text, "there is no process 2000000000");
    profile_free(bench_end(&b));
}

int main(void)
{
    be_sampled();
    test_space();
    test_own_stack();
    test_depth();
    test_cut();
    test_life();
    test_nobody();
    free(stack_copy);
    return CHECK_DONE();
}
