#include "capture/scopes/scopes_clock.h"
#include "base/clock.h"
#include "base/mem.h"

#define EVERY_NS UINT64_C(1000000000)

static uint64_t counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#else
    return clock_monotonic_ns();
#endif
}

/* We may lose the processor between the readings; the tightest of a few did not. */
static struct tick_pair both(void)
{
    struct tick_pair best = {0};
    uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = counter(), ns = clock_monotonic_ns(), took = counter() - before;
        if (took >= tightest)
            continue;
        tightest = took;
        best = (struct tick_pair){before + took / 2, ns};
    }
    return best;
}

/* One that is too close to the last takes its place: two moments close together say little about how long a tick is. */
void scopes_clock_add(struct scopes_clock *c, struct tick_pair pair)
{
    if (c->n && (pair.tick <= c->pairs[c->n - 1].tick || pair.ns <= c->pairs[c->n - 1].ns))
        return;
    if (c->n > 1 && pair.ns - c->pairs[c->n - 2].ns < EVERY_NS)
        c->n--;
    GROW(c->pairs, c->cap, c->n + 1);
    c->pairs[c->n++] = pair;
}

void scopes_clock_read(struct scopes_clock *c, uint64_t now_ns)
{
    if (c->n > 1 && now_ns - c->pairs[c->n - 1].ns < EVERY_NS / 8)
        return;
    scopes_clock_add(c, both());
}

static double rate(const struct tick_pair *a, const struct tick_pair *b)
{
    return b->tick > a->tick ? (double)(b->ns - a->ns) / (double)(b->tick - a->tick) : 1;
}

/* The pair from which on it runs evenly to the next one; the first and the last reach on for ever. */
static const struct tick_pair *stretch_of(const struct scopes_clock *c, uint64_t value, size_t member)
{
    size_t low = 0, high = c->n - 1; /* the first that comes after the value, but the last one */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (*(const uint64_t *)(const void *)((const char *)&c->pairs[middle] + member) <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return &c->pairs[low ? low - 1 : 0];
}

uint64_t scopes_clock_ns(const struct scopes_clock *c, uint64_t tick)
{
    if (c->n < 2)
        return tick;
    const struct tick_pair *p = stretch_of(c, tick, offsetof(struct tick_pair, tick));
    return p->ns + (uint64_t)(int64_t)((double)(int64_t)(tick - p->tick) * rate(p, p + 1));
}

uint64_t scopes_clock_tick(const struct scopes_clock *c, uint64_t ns)
{
    if (c->n < 2)
        return ns;
    const struct tick_pair *p = stretch_of(c, ns, offsetof(struct tick_pair, ns));
    return p->tick + (uint64_t)(int64_t)((double)(int64_t)(ns - p->ns) / rate(p, p + 1));
}

double scopes_clock_ns_per_tick(const struct scopes_clock *c) { return c->n < 2 ? 1 : rate(&c->pairs[0], &c->pairs[c->n - 1]); }

void scopes_clock_done(struct scopes_clock *c) { free(c->pairs); }
