/*
 * Measuring the roof: a list of small jobs, one row each, in an order that warms the processor up before it counts.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "lab/ops.h"
#include "lab/roof.h"
#include "lab/roof_loops.h"
#include "lab/team.h"
#include "lab/timing.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

struct measuring {
    struct roof *out;
    const struct roof_plan *plan;
    struct team *one, *all;
    size_t done, jobs;
};

/*
 * One row: `amount` of one call divided by its time; or its time itself, when there is nothing to divide. What a team does
 * together takes as long as the slowest of it, by its CPU clock: on a busy machine the clock on the wall would tell how
 * busy it is, and not what it could do.
 */
struct job {
    const char *kind, *what;
    uint64_t bytes;
    struct team *team; /* NULL: `call`, by one thread */
    team_job work;
    timing_call call;
    void *arg;
    double amount; /* 0: the row is nanoseconds, of `steps` steps */
    double steps;
};

struct team_run {
    const struct job *job;
    uint64_t busy_ns; /* of the slowest in each call, added up */
    uint64_t took_ns[TEAM_MOST];
};

static void run_worker(void *arg, unsigned worker, unsigned workers)
{
    struct team_run *r = arg;
    uint64_t before = clock_thread_cpu_ns();
    r->job->work(r->job->arg, worker, workers);
    r->took_ns[worker] = clock_thread_cpu_ns() - before;
}

static void run_team(void *arg)
{
    struct team_run *r = arg;
    uint64_t slowest = 0;
    team_run(r->job->team, run_worker, r);
    for (unsigned i = 0; i < team_size(r->job->team); i++)
        slowest = r->took_ns[i] > slowest ? r->took_ns[i] : slowest;
    r->busy_ns += slowest;
}

static uint64_t busy_clock(void *arg) { return ((struct team_run *)arg)->busy_ns; }

static bool time_job(struct timing *out, const struct job *j, struct timing_plan *plan, struct err *e)
{
    if (!j->team)
        return timing_of(out, plan, j->call, j->arg, e);
    own(free) struct team_run *r = mem_new(sizeof *r);
    r->job = j;
    plan->clock_ns = busy_clock;
    return timing_of(out, plan, run_team, r, e);
}

static struct figure figure_of(const struct timing *t, const struct job *j)
{
    if (j->amount > 0) {
        double scale = j->amount * 1e9;
        return (struct figure){scale / t->median_ns, scale / t->most_ns, scale / t->least_ns, t->samples};
    }
    return (struct figure){t->median_ns / j->steps, t->least_ns / j->steps, t->most_ns / j->steps, t->samples};
}

static bool measure_row(struct measuring *m, const struct job *j, struct err *e)
{
    const struct roof_plan *p = m->plan;
    unsigned threads = j->team ? team_size(j->team) : 1;
    struct timing_plan plan = {
        .samples = p->is_short ? 5 : 15,
        .sample_ns = p->is_short ? 3000000 : 10000000,
        .warm_up_ns = p->is_short ? 3000000 : 30000000,
        .stop = p->stop,
    };
    struct timing t;
    if (!time_job(&t, j, &plan, e))
        return false;
    struct roof *r = m->out;
    if (r->n < ROOF_ROWS_MOST) {
        struct roof_row *row = &r->rows[r->n++];
        *row = (struct roof_row){.bytes = j->bytes, .threads = threads, .f = figure_of(&t, j)};
        snprintf(row->kind, sizeof row->kind, "%s", j->kind);
        snprintf(row->what, sizeof row->what, "%s", j->what);
    }
    timing_done(&t);
    m->done++;
    if (p->progress)
        p->progress(p->self, m->done, m->jobs);
    return true;
}

/* Memory. Every worker has a piece of its own, and touches it first: so it lies on its own NUMA node. */

struct pieces {
    struct team *team;
    const struct roof_loops *loops;
    size_t bytes;      /* of a piece; it holds three arrays for the triad */
    bool is_huge;
    void *at[TEAM_MOST];
    float sum[TEAM_MOST];
};

static size_t third(const struct pieces *p)
{
    size_t numbers = p->bytes / sizeof(float) / 3;
    return numbers / ROOF_GRAIN * ROOF_GRAIN;
}

static void touch_piece(void *arg, unsigned worker, unsigned workers)
{
    struct pieces *p = arg;
    (void)workers;
    void *at = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return;
    madvise(at, p->bytes, p->is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(at, 0, p->bytes);
    p->at[worker] = at;
}

static void pieces_done(struct pieces *p)
{
    for (unsigned i = 0; i < team_size(p->team); i++)
        if (p->at[i])
            munmap(p->at[i], p->bytes);
}

static bool pieces_begin(struct pieces *p, struct err *e)
{
    team_run(p->team, touch_piece, p);
    for (unsigned i = 0; i < team_size(p->team); i++)
        if (!p->at[i]) {
            pieces_done(p);
            return err_os(e, "%zu bytes to read", p->bytes);
        }
    return true;
}

static void read_piece(void *arg, unsigned worker, unsigned workers)
{
    struct pieces *p = arg;
    (void)workers;
    p->sum[worker] = p->loops->read(p->at[worker], 3 * third(p));
}

static void copy_piece(void *arg, unsigned worker, unsigned workers)
{
    struct pieces *p = arg;
    float *at = p->at[worker];
    (void)workers;
    p->loops->copy(at, at + third(p), third(p));
}

static void triad_piece(void *arg, unsigned worker, unsigned workers)
{
    struct pieces *p = arg;
    float *at = p->at[worker];
    (void)workers;
    p->loops->triad(at, at + third(p), at + 2 * third(p), 3, third(p));
}

/* Large enough that no cache holds it; with many threads they share the caches, and each may have less. */
static size_t piece_bytes(unsigned threads)
{
    size_t bytes = threads <= 4 ? 192 * MIB : 768 * MIB / threads;
    return bytes < 24 * MIB ? 24 * MIB : bytes;
}

/*
 * The loops that read fastest: narrower registers sometimes do. The middle level that runs here stands for it; with
 * AVX-512 that is AVX2, whose loads need one cycle where those of Zen 4 need two.
 */
static const struct roof_loops *reading_loops(void)
{
    static const char *const levels[] = {"avx2", "neon", "avx512", "scalar", NULL};
    const struct roof_loops *l = NULL;
    for (size_t i = 0; levels[i] && !l; i++)
        l = roof_loops_named(levels[i]);
    return l;
}

static bool measure_memory(struct measuring *m, struct team *team, bool is_huge, struct err *e)
{
    own(free) struct pieces *p = mem_new(sizeof *p);
    *p = (struct pieces){.team = team, .loops = reading_loops(), .bytes = piece_bytes(team_size(team)), .is_huge = is_huge};
    if (!pieces_begin(p, e))
        return false;
    double each = (double)(third(p) * sizeof(float)) * team_size(team);
    const struct job ordinary[] = {
        {.kind = "memory", .what = "read", .team = team, .work = read_piece, .arg = p, .amount = 3 * each},
        {.kind = "memory", .what = "copy", .team = team, .work = copy_piece, .arg = p, .amount = 2 * each},
        {.kind = "memory", .what = "triad", .team = team, .work = triad_piece, .arg = p, .amount = 3 * each},
    };
    const struct job huge = {.kind = "memory", .what = "read huge", .team = team, .work = read_piece, .arg = p, .amount = 3 * each};
    bool ok = true;
    for (size_t i = 0; ok && i < (is_huge ? 1 : 3); i++)
        ok = measure_row(m, is_huge ? &huge : &ordinary[i], e);
    pieces_done(p);
    return ok;
}

/* Arithmetic. */

struct arithmetic {
    struct team *team;
    const struct roof_loops *loops;
    const struct roof_small *small;
    uint64_t rounds;
    float sum[TEAM_MOST];
};

static void compute_one(void *arg, unsigned worker, unsigned workers)
{
    struct arithmetic *a = arg;
    (void)workers;
    a->sum[worker] = a->loops ? a->loops->fma(a->rounds, 0.5f, 1e-3f) : (float)a->small->run(a->rounds, 1, 2);
}

static bool measure_peak(struct measuring *m, struct arithmetic *a, const char *what, double flops_a_round, struct err *e)
{
    a->rounds = 50000;
    double flops = flops_a_round * (double)a->rounds * team_size(a->team);
    struct job j = {.kind = "peak", .what = what, .team = a->team, .work = compute_one, .arg = a, .amount = flops};
    return measure_row(m, &j, e);
}

static bool measure_peaks(struct measuring *m, struct team *team, struct err *e)
{
    static const char *const small[] = {"int8", "bf16"};
    own(free) struct arithmetic *a = mem_new(sizeof *a);
    bool ok = true;
    a->team = team;
    for (size_t i = 0; ok && ops_level_names[i]; i++) {
        a->loops = roof_loops_named(ops_level_names[i]);
        if (a->loops)
            ok = measure_peak(m, a, a->loops->level, a->loops->flops_a_round, e);
    }
    a->loops = NULL;
    for (size_t i = 0; ok && i < 2; i++) {
        a->small = roof_small_named(small[i]);
        if (a->small)
            ok = measure_peak(m, a, a->small->type, a->small->flops_a_round, e);
    }
    return ok;
}

/* Caches: the same set of bytes read over and over, and walked through from pointer to pointer. */

struct set {
    const struct roof_loops *loops;
    void *at;
    size_t bytes;
    void *now;
    uint64_t times;
    float sum;
};

enum { LINE = 64, CHASE_STEPS = 2000 };

static void read_set(void *arg)
{
    struct set *s = arg;
    for (uint64_t i = 0; i < s->times; i++)
        s->sum += s->loops->read(s->at, s->bytes / sizeof(float));
}

static void chase_set(void *arg)
{
    struct set *s = arg;
    s->now = roof_chase(s->now, CHASE_STEPS);
}

/* One ring through all lines, in an order that nobody can guess (Sattolo's shuffle; always the same one). */
static void make_ring(struct set *s)
{
    size_t n = s->bytes / LINE;
    own(free) uint32_t *order = mem_new(n * sizeof *order);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t j = state % i;
        uint32_t other = order[i];
        order[i] = order[j], order[j] = other;
    }
    char *first = s->at;
    for (size_t i = 0; i < n; i++) {
        void *next = first + (size_t)order[i] * LINE;
        memcpy(first + i * LINE, &next, sizeof next);
    }
    s->now = s->at;
}

static bool measure_set(struct measuring *m, size_t bytes, struct err *e)
{
    struct set s = {.loops = reading_loops(), .bytes = bytes};
    s.at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s.at == MAP_FAILED)
        return err_os(e, "%zu bytes to read", bytes);
    memset(s.at, 0, bytes);
    s.times = bytes < MIB ? MIB / bytes : 1;
    struct job read = {.kind = "cache", .what = "read", .bytes = bytes, .call = read_set, .arg = &s, .amount = (double)bytes * (double)s.times};
    struct job chase = {.kind = "latency", .what = "chase", .bytes = bytes, .call = chase_set, .arg = &s, .steps = CHASE_STEPS};
    bool ok = measure_row(m, &read, e);
    make_ring(&s);
    ok = ok && measure_row(m, &chase, e);
    munmap(s.at, bytes);
    return ok;
}

/* What is larger than these has the figures of memory, and only its latency is measured. */
static const size_t set_sizes[] = {16 * KIB, 32 * KIB, 128 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB, 16 * MIB, 24 * MIB, 32 * MIB};
static const size_t memory_sets[] = {64 * MIB, 256 * MIB};
enum { SETS = sizeof set_sizes / sizeof *set_sizes };

static bool measure_memory_latency(struct measuring *m, size_t bytes, struct err *e)
{
    size_t before = m->out->n;
    if (!measure_set(m, bytes, e))
        return false;
    m->out->rows[before] = m->out->rows[before + 1]; /* its bandwidth is told by the memory rows */
    m->out->n--;
    return true;
}

/* Costs. */

enum { LOOKS = 1000 };

static void look_at_clock(void *arg)
{
    struct timespec t;
    (void)arg;
    for (int i = 0; i < LOOKS; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

static void look_at_cpu_clock(void *arg)
{
    struct timespec t;
    (void)arg;
    for (int i = 0; i < LOOKS; i++)
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

static void call_the_system(void *arg)
{
    (void)arg;
    for (int i = 0; i < LOOKS; i++)
        syscall(SYS_getppid);
}

static bool measure_costs(struct measuring *m, struct err *e)
{
    const struct job jobs[] = {
        {.kind = "cost", .what = "clock", .call = look_at_clock, .steps = LOOKS},
        {.kind = "cost", .what = "cpu clock", .call = look_at_cpu_clock, .steps = LOOKS},
        {.kind = "cost", .what = "syscall", .call = call_the_system, .steps = LOOKS},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < 3; i++)
        ok = measure_row(m, &jobs[i], e);
    return ok;
}

/* All of it. */

static size_t count_peaks(void)
{
    size_t n = (roof_small_named("int8") != NULL) + (size_t)(roof_small_named("bf16") != NULL);
    for (size_t i = 0; ops_level_names[i]; i++)
        n += roof_loops_named(ops_level_names[i]) != NULL;
    return n;
}

static bool measure_all(struct measuring *m, struct err *e)
{
    bool ok = measure_peaks(m, m->one, e) && measure_memory(m, m->one, false, e) && measure_memory(m, m->one, true, e);
    for (size_t i = 0; ok && i < SETS; i++)
        ok = measure_set(m, set_sizes[i], e);
    for (size_t i = 0; ok && i < (m->plan->is_short ? 1 : 2); i++)
        ok = measure_memory_latency(m, memory_sets[i], e);
    ok = ok && measure_costs(m, e);
    if (ok && team_size(m->all) > 1)
        ok = measure_peaks(m, m->all, e) && measure_memory(m, m->all, false, e) && measure_memory(m, m->all, true, e);
    return ok;
}

bool roof_measure(struct roof *out, const struct roof_plan *p, struct err *e)
{
    *out = (struct roof){.key = roof_key_here(), .threads = p->threads, .is_short = p->is_short, .measured_at = time(NULL)};
    own(team) struct team *one = NULL;
    own(team) struct team *all = NULL;
    if (!team_new(&one, 1, e) || !team_new(&all, p->threads, e))
        return false;
    struct measuring m = {.out = out, .plan = p, .one = one, .all = all};
    size_t each = count_peaks() + 4;
    m.jobs = each * (p->threads > 1 ? 2 : 1) + 2 * SETS + (p->is_short ? 2 : 4) + 3;
    return measure_all(&m, e);
}
