#include "lab/model_run.h"
#include "base/clock.h"
#include "base/mem.h"
#include "lab/model_inside.h"
#include "lab/roof_loops.h"

#include <math.h>
#include <sys/mman.h>
#include <time.h>

#define ROOF_BYTES ((size_t)256 << 20) /* many times what the caches hold */

static double cpu_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* FNV-1a */
static uint64_t checksum(uint64_t sum, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}
#define CHECKSUM_FIRST UINT64_C(0xcbf29ce484222325)

struct state {
    struct model *m;
    struct session *session;
    const struct model_run_plan *p;
    struct model_run *out;
    const struct roof_loops *loops;
    float *memory; /* to be read; NULL: no roof is wanted */
    double *steps;
    double shares[MODEL_RUN_PAIRS], roofs[MODEL_RUN_PAIRS];
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted numbers, the nearest rank. */
static double at_share(const double *sorted, size_t n, double share)
{
    return n ? sorted[(size_t)((double)(n - 1) * share + 0.5)] : NAN;
}

static double read_roof(const struct state *s)
{
    size_t n = ROOF_BYTES / sizeof(float);
    double begun = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    s->loops->read(s->memory, n);
    return (double)ROOF_BYTES / (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begun) * 1e9;
}

static bool wants_end(const struct state *s) { return s->p->stop && *s->p->stop; }

/* One token. False: this was the last. */
static bool step(struct state *s, bool is_timed, struct err *e)
{
    uint32_t token;
    uint64_t begun = clock_monotonic_ns();
    s->out->is_stopped = wants_end(s);
    s->out->is_full = !session_room(s->session);
    if (s->out->is_stopped || s->out->is_full || !session_next(s->session, &token, e))
        return false;
    if (is_timed)
        s->steps[s->out->decode.tokens++] = (double)(clock_monotonic_ns() - begun);
    s->out->checksum = checksum(s->out->checksum, &token, sizeof token);
    s->out->made++;
    if (s->p->said)
        s->p->said(s->p->self, model_piece(s->m, token));
    if (s->p->progress)
        s->p->progress(s->p->self, s->out->made);
    return !model_ends(s->m, token);
}

/* Some tokens, and the roof right behind them: both have the same neighbours on the machine. */
static bool decode_some(struct state *s, size_t n, struct err *e)
{
    double wall = (double)clock_monotonic_ns(), cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t before = s->out->decode.tokens;
    bool goes_on = true;
    for (size_t i = 0; i < n && goes_on; i++)
        goes_on = step(s, true, e);
    double took = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    uint64_t made = s->out->decode.tokens - before;
    s->out->decode.wall_ns += (double)clock_monotonic_ns() - wall;
    s->out->decode.cpu_ns += took;
    if (s->memory && made && s->out->pairs < MODEL_RUN_PAIRS) {
        double roof = read_roof(s);
        s->roofs[s->out->pairs] = roof;
        s->shares[s->out->pairs++] = (double)(made * s->m->facts.step_bytes) / took * 1e9 / roof;
    }
    return goes_on;
}

static bool decode(struct state *s, struct err *e)
{
    size_t left = s->p->tokens;
    if (!left || !step(s, false, e)) /* the first comes out of what was fed */
        return !e->kind;
    left--;
    for (size_t part = MODEL_RUN_PAIRS; left && part; part--) {
        size_t some = (left + part - 1) / part;
        if (!decode_some(s, some, e))
            break;
        left -= some;
    }
    return !e->kind;
}

static bool prefill(struct state *s, struct err *e)
{
    double wall = (double)clock_monotonic_ns(), cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!session_feed(s->session, s->p->prompt, s->p->n_prompt, e))
        return false;
    s->out->prefill = (struct model_phase){s->p->n_prompt, (double)clock_monotonic_ns() - wall, cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu};
    return true;
}

static void figures(struct state *s)
{
    struct model_run *r = s->out;
    size_t n = (size_t)r->decode.tokens;
    qsort(s->steps, n, sizeof *s->steps, ascending);
    r->step_p50_ns = at_share(s->steps, n, 0.5);
    r->step_p90_ns = at_share(s->steps, n, 0.9);
    r->step_p99_ns = at_share(s->steps, n, 0.99);
    r->step_least_ns = at_share(s->steps, n, 0);
    r->step_most_ns = at_share(s->steps, n, 1);
    qsort(s->shares, r->pairs, sizeof *s->shares, ascending);
    qsort(s->roofs, r->pairs, sizeof *s->roofs, ascending);
    r->roof_bytes_per_s = at_share(s->roofs, r->pairs, 0.5);
    r->share = at_share(s->shares, r->pairs, 0.5);
    r->share_low = at_share(s->shares, r->pairs, 0);
    r->share_high = at_share(s->shares, r->pairs, 1);
    r->sample_ns = (double)session_counts(s->session)->sample_ns;
    r->cache_bytes = session_cache_bytes(s->session);
    r->bytes_per_token = 2.0 * sizeof(float) * s->m->facts.layers * (double)model_kv_width(s->m);
    if (session_logits(s->session))
        r->logits_checksum = checksum(CHECKSUM_FIRST, session_logits(s->session), s->m->facts.vocabulary * sizeof(float));
}

/* In large pages if they can be had, like the weights of a preset; all of it written once. */
static float *roof_memory(void)
{
    void *p = mmap(NULL, ROOF_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    madvise(p, ROOF_BYTES, MADV_HUGEPAGE);
    memset(p, 1, ROOF_BYTES);
    return p;
}

bool model_run(struct model *m, const struct model_run_plan *p, struct model_run *out, struct err *e)
{
    *out = (struct model_run){.checksum = CHECKSUM_FIRST};
    own(session) struct session *session = session_new(m, &p->session);
    own(free) double *steps = mem_new(p->tokens * sizeof *steps);
    struct state s = {.m = m, .session = session, .p = p, .out = out, .steps = steps, .loops = roof_loops_named(m->ops->name)};
    if (p->wants_roof && s.loops) {
        s.memory = roof_memory();
        if (!s.memory)
            return err_os(e, "no memory for the bandwidth to be measured in");
    }
    bool ok = prefill(&s, e) && decode(&s, e);
    if (ok)
        figures(&s);
    if (s.memory)
        munmap(s.memory, ROOF_BYTES);
    return ok;
}
