#include "lab/sampler.h"
#include "base/mem.h"

#include <math.h>

void sampler_init(struct sampler *s, double temperature, uint32_t top_k, uint64_t seed, size_t vocabulary)
{
    *s = (struct sampler){.temperature = temperature, .top_k = top_k < vocabulary ? top_k : 0, .dice = seed};
    if (temperature > 0)
        s->weights = mem_new(vocabulary * sizeof *s->weights);
    if (temperature > 0 && s->top_k)
        s->order = mem_new(s->top_k * sizeof *s->order);
}

void sampler_done(struct sampler *s)
{
    free(s->weights);
    free(s->order);
}

static bool may_be(const bool *is_silent, size_t i) { return !is_silent || !is_silent[i]; }

static uint32_t likeliest(const float *logits, const bool *is_silent, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (may_be(is_silent, i) && (best == n || logits[i] > logits[best]))
            best = i;
    return best == n ? 0 : (uint32_t)best;
}

/* The k largest, as a heap with the smallest of them on top: what is smaller than that never gets in. */
static void sink_down(uint32_t *heap, size_t n, const float *x, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && x[heap[child + 1]] < x[heap[child]])
            child++;
        if (!(x[heap[child]] < x[heap[i]]))
            return;
        uint32_t t = heap[i];
        heap[i] = heap[child];
        heap[child] = t;
    }
}

/* Everything but the k largest weights becomes 0. */
static void keep_largest(struct sampler *s, size_t n)
{
    size_t k = s->top_k;
    for (uint32_t i = 0; i < k; i++)
        s->order[i] = i;
    for (size_t i = k / 2; i-- > 0;)
        sink_down(s->order, k, s->weights, i);
    for (uint32_t i = s->top_k; i < n; i++) {
        if (!(s->weights[i] > s->weights[s->order[0]])) {
            s->weights[i] = 0;
            continue;
        }
        s->weights[s->order[0]] = 0;
        s->order[0] = i;
        sink_down(s->order, k, s->weights, 0);
    }
}

static void weigh(struct sampler *s, const struct ops *o, const float *logits, const bool *is_silent, size_t n)
{
    float most = logits[likeliest(logits, is_silent, n)];
    for (size_t i = 0; i < n; i++)
        s->weights[i] = (float)((double)(logits[i] - most) / s->temperature);
    o->exp(s->weights, s->weights, n);
    for (size_t i = 0; i < n; i++)
        if (!may_be(is_silent, i) || isnan(s->weights[i]))
            s->weights[i] = 0;
}

uint32_t sampler_pick(struct sampler *s, const struct ops *o, const float *logits, const bool *is_silent, size_t n)
{
    if (!(s->temperature > 0))
        return likeliest(logits, is_silent, n);
    weigh(s, o, logits, is_silent, n);
    if (s->top_k)
        keep_largest(s, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)s->weights[i];
    double thrown = (double)(splitmix64(&s->dice) >> 11) * 0x1p-53 * sum;
    for (size_t i = 0; i < n; i++) {
        thrown -= (double)s->weights[i];
        if (thrown < 0)
            return (uint32_t)i;
    }
    return likeliest(logits, is_silent, n);
}
