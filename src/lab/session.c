#include "base/clock.h"
#include "base/mem.h"
#include "lab/model_inside.h"
#include "lab/sampler.h"

#include <inferom.h>
#include <inttypes.h>
#include <sys/mman.h>

struct session {
    struct model *model;
    struct session_plan plan;
    struct cache cache;
    size_t evaluated;   /* tokens whose keys and values are in the cache */
    bool has_pending;   /* a token that was picked and not evaluated yet */
    uint32_t pending;
    bool has_logits;
    float *logits;
    struct sampler sampler;
    struct session_counts counts;
};

/* Whole blocks. No overflow: the context is at most 2^24, and layers and heads are those of tensors we hold. */
static size_t cache_bytes(const struct model *m, size_t context)
{
    size_t blocks = (context + CACHE_BLOCK - 1) / CACHE_BLOCK;
    return sizeof(float) * blocks * CACHE_BLOCK * m->facts.layers * model_kv_width(m);
}

/* Costs memory only where it is written. */
static float *cache_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "inferom: out of memory (%zu bytes for a context)\n", bytes);
        exit(err_exit_status(ERR_IO));
    }
    madvise(p, bytes, MADV_HUGEPAGE); /* only a wish */
    return p;
}

struct session *session_new(struct model *m, const struct session_plan *p)
{
    struct session *s = mem_new(sizeof *s);
    size_t usual = m->facts.context < SESSION_CONTEXT_USUAL ? m->facts.context : SESSION_CONTEXT_USUAL;
    s->model = m;
    s->plan = *p;
    s->cache.context = p->context && p->context < m->facts.context ? p->context : p->context ? m->facts.context : usual;
    s->cache.bytes = cache_bytes(m, s->cache.context);
    s->cache.keys = cache_memory(s->cache.bytes);
    s->cache.values = cache_memory(s->cache.bytes);
    s->logits = mem_new(m->facts.vocabulary * sizeof *s->logits);
    sampler_init(&s->sampler, p->temperature, p->top_k, p->seed, m->facts.vocabulary);
    return s;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    munmap(s->cache.keys, s->cache.bytes);
    munmap(s->cache.values, s->cache.bytes);
    free(s->logits);
    sampler_done(&s->sampler);
    free(s);
}

/* Evaluating. */

static void evaluate(struct session *s, const uint32_t *tokens, size_t n, bool is_decode, bool wants_logits)
{
    struct pass p = {
        .model = s->model, .cache = &s->cache, .tokens = tokens, .n = n, .position = s->evaluated,
        .is_decode = is_decode, .logits = wants_logits ? s->logits : NULL,
    };
    pthread_mutex_lock(&s->model->lock);
    uint64_t begun_ns = clock_monotonic_ns();
    pass_run(&p);
    uint64_t took_ns = clock_monotonic_ns() - begun_ns;
    pthread_mutex_unlock(&s->model->lock);
    *(is_decode ? &s->counts.decode_ns : &s->counts.prefill_ns) += took_ns;
    *(is_decode ? &s->counts.decode_tokens : &s->counts.prefill_tokens) += n;
    s->evaluated += n;
    s->has_logits = wants_logits;
}

static bool check_room(const struct session *s, size_t n, struct err *e)
{
    if (n <= session_room(s))
        return true;
    return err_set(e, ERR_LIMIT, "%zu tokens do not fit: %zu of the %zu tokens of the context are used", n, session_position(s), s->cache.context);
}

static bool check_tokens(const struct session *s, const uint32_t *tokens, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (tokens[i] >= s->model->facts.vocabulary)
            return err_set(e, ERR_USAGE, "%" PRIu32 " is no token: the vocabulary has %" PRIu32, tokens[i], s->model->facts.vocabulary);
    return true;
}

/* The token that was picked last comes first. */
static void settle(struct session *s)
{
    if (!s->has_pending)
        return;
    s->has_pending = false;
    evaluate(s, &s->pending, 1, true, true);
}

bool session_feed(struct session *s, const uint32_t *tokens, size_t n, struct err *e)
{
    if (!n)
        return true;
    if (!check_room(s, n, e) || !check_tokens(s, tokens, n, e))
        return false;
    settle(s);
    for (size_t i = 0; i < n; i += PASS_TOKENS) {
        size_t some = n - i < PASS_TOKENS ? n - i : PASS_TOKENS;
        evaluate(s, tokens + i, some, false, i + some == n);
    }
    INFEROM_COUNT("tokens.prefill", n);
    return true;
}

bool session_next(struct session *s, uint32_t *out_token, struct err *e)
{
    INFEROM_SCOPE("token");
    if (!s->has_logits && !s->has_pending)
        return err_set(e, ERR_USAGE, "nothing was said yet that could be continued");
    if (!check_room(s, 1, e))
        return false;
    settle(s);
    INFEROM_PHASE("sample");
    uint64_t begun_ns = clock_monotonic_ns();
    s->pending = sampler_pick(&s->sampler, s->model->ops, s->logits, s->model->words->is_silent, s->model->facts.vocabulary);
    s->has_pending = true;
    s->has_logits = false;
    s->counts.sample_ns += clock_monotonic_ns() - begun_ns;
    s->counts.sampled_tokens++;
    INFEROM_COUNT("tokens.decode", 1);
    *out_token = s->pending;
    return true;
}

/* Forgetting. */

void session_cut(struct session *s, size_t position)
{
    if (position >= session_position(s))
        return;
    s->has_pending = s->has_logits = false;
    if (position < s->evaluated)
        s->evaluated = position;
}

void session_reset(struct session *s, uint64_t seed)
{
    session_cut(s, 0);
    s->sampler.dice = seed;
}

/* Asking. */

size_t session_position(const struct session *s) { return s->evaluated + s->has_pending; }
size_t session_room(const struct session *s) { return s->cache.context - session_position(s); }
const struct session_counts *session_counts(const struct session *s) { return &s->counts; }
const float *session_logits(const struct session *s) { return s->evaluated ? s->logits : NULL; }

size_t session_cache_bytes(const struct session *s) { return 2 * s->cache.bytes; }
