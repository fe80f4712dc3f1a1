/*
 * Which allocations are recorded. In exact mode all; in sampled mode each byte is marked with probability 1 / T,
 * and an allocation is recorded when a byte of it is marked:
 *
 *     P(size) = 1 - exp(-size / T)         a recorded one stands for 1 / P of its size
 *
 * The distance to the next mark is drawn anew behind every recorded block (the distribution has no memory). When a
 * mark falls into an allocation that we could not look at, it is drawn anew as well: postponing it would favour
 * whoever allocates next.
 *
 * In adaptive mode a thread begins with all and goes over to samples when HEAP_WINDOW allocations take it less
 * time than they should, and comes back when they take twice as long as that.
 *
 * No function of libm: the target need not have it. The logarithm and the exponential are series.
 */
#include "agent.h"
#include "common/bare_calls.h"

/* exp(-x) for x >= 0, to 1e-15 of its value. */
static double exp_minus(double x)
{
    if (x > 700)
        return 0;
    int halvings = 0;
    for (; x > 0.5; halvings++)
        x /= 2;
    double term = 1, sum = 1;
    for (int i = 1; i < 16; i++) {
        term *= -x / i;
        sum += term;
    }
    for (; halvings > 0; halvings--)
        sum *= sum;
    return sum;
}

/* -ln(u) for 0 < u <= 1: by the exponent, and the series of atanh for the rest. */
static double minus_log(double u)
{
    int exponent = 0;
    for (; u < 0.70710678118654752; exponent++)
        u *= 2;
    double y = (u - 1) / (u + 1), square = y * y, power = y, sum = 0;
    for (int i = 1; i < 30; i += 2) {
        sum += power / i;
        power *= square;
    }
    return exponent * 0.69314718055994531 - 2 * sum;
}

static uint64_t random_next(void)
{
    uint64_t x = me.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return me.random = x;
}

static int64_t distance(void)
{
    double u = (double)((random_next() >> 11) + 1) / 9007199254740992.0;
    double d = minus_log(u) * (double)agent.period_bytes;
    return (int64_t)d + 1;
}

void sampling_begin(void)
{
    me.random = mix(mix(agent.seed, tick_now()), (uint64_t)me.number << 32 | me.counts->tid) | 1;
    me.until = distance();
    me.is_sampling = agent.mode == HEAP_SAMPLED;
    me.window_tick = tick_now();
    if (me.is_sampling)
        atomic_store_explicit(&area()->is_sampling_seen, 1, memory_order_relaxed);
}

/* The recording is over, or the recorder is gone: from here on everything passes through. */
static bool is_over(void)
{
    const uint64_t patience_ns = UINT64_C(30000000000);
    uint64_t beat_ns = atomic_load_explicit(&agent.region->beat_ns, memory_order_relaxed), now_ns = bare_clock_ns(CLOCK_MONOTONIC);
    return atomic_load_explicit(&agent.region->phase, memory_order_relaxed) == HEAP_STOP ||
           (now_ns > beat_ns && now_ns - beat_ns > patience_ns);
}

void sampling_window(void)
{
    if (is_over())
        agent_stop();
    uint64_t now = tick_now(), took = now - me.window_tick;
    me.window_tick = now;
    if (agent.mode != HEAP_ADAPTIVE)
        return;
    bool wants = took < agent.calm_ticks || (me.is_sampling && took < 2 * agent.calm_ticks);
    if (wants && !me.is_sampling)
        me.until = distance();
    me.is_sampling = wants;
    if (wants)
        atomic_store_explicit(&area()->is_sampling_seen, 1, memory_order_relaxed);
}

uint64_t sampling_weight_256(uint64_t size)
{
    double x = (double)(size ? size : 1) / (double)agent.period_bytes;
    double p = x < 1e-4 ? x - x * x / 2 : 1 - exp_minus(x);
    return (uint64_t)(HEAP_WHOLE / p + 0.5);
}

/* (1 - p) / p^2 * s^2 */
double sampling_variance(uint64_t size)
{
    double x = (double)(size ? size : 1) / (double)agent.period_bytes;
    double p = x < 1e-4 ? x - x * x / 2 : 1 - exp_minus(x);
    return (1 - p) / (p * p) * (double)size * (double)size / 1048576.0;
}

/* A block of no bytes is as rare as one of one byte. */
bool sampling_takes(uint64_t size, uint64_t *out_weight_256)
{
    me.until -= (int64_t)(size ? size : 1);
    if (likely(me.until > 0))
        return false;
    me.until = distance();
    *out_weight_256 = sampling_weight_256(size);
    return true;
}
