/*
 * The tables inside the heap agent, with keys that somebody chose to be bad: every key that was put is found once, and no pattern makes
 * them grow beyond what their number asks for.
 */
#include "check.h"
#include "heap/agent.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The parts of the agent that are not tried here. */
struct agent agent;
__thread struct thread me;
static unsigned slices, maps;
void ring_slice(uint32_t stack, const struct here *at, uint64_t stack_end) { (void)stack, (void)at, (void)stack_end, slices++; }
void ring_maps(void) { maps++; }
bool walk_knows_code(const struct walk *w) { return w->n > 0; }
uint64_t clock_slow(void) { return 1; }
void agent_stop(void) {}

static void area_init(uint64_t seed)
{
    void *p = mmap(NULL, HEAP_AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED);
    agent = (struct agent){.area = p, .levels = HEAP_LEVELS, .seed = seed, .mode = HEAP_ADAPTIVE, .period_bytes = 1 << 19};
    static struct heap_region region;
    agent.region = &region;
    me = (struct thread){.number = 1, .counts = thread_at(1)};
    atomic_store(&area()->stacks, 1);
    atomic_store(&area()->rows, 1);
    live_forget();
}

static void area_done(void) { munmap(agent.area, HEAP_AREA_BYTES); }

/* Addresses: one behind the other, far apart by a power of two, all alike but for the high bits, at random. */
static uint64_t pattern(unsigned which, uint64_t i)
{
    switch (which) {
    case 0: return 0x10000 + i * 16;
    case 1: return 0x100000 + i * 4096;
    case 2: return 0x7f0000000000 + i * 65536;
    case 3: return 0x1000 + (i << 21);
    case 4: return ((i & 0xff) << 32 | i >> 8 << 12 | 0x10) + 0x1000;
    default: return (mix(12345, i) & 0x7ffffffffff0) + 0x100000;
    }
}

static void blocks_are_found_once(void)
{
    enum { KEYS = 300000, PATTERNS = 6 };
    for (unsigned which = 0; which < PATTERNS; which++) {
        area_init(which * 77);
        struct heap_block b = {.size = 1}, got;
        unsigned lost = 0, found = 0;
        for (uint64_t i = 0; i < KEYS; i++) {
            atomic_store(&b.address, pattern(which, i));
            b.row = (uint32_t)i;
            lost += !live_put(&b);
        }
        CHECK_EQ(lost, 0);
        CHECK(atomic_load(&area()->levels) <= 5); /* 1.4 million places, of 89 */
        for (uint64_t i = 0; i < KEYS; i++)
            found += live_take(pattern(which, i), &got) && got.row == (uint32_t)i;
        CHECK_EQ(found, KEYS);
        for (uint64_t i = 0; i < KEYS; i += 7)
            CHECK(!live_take(pattern(which, i), &got));
        area_done();
    }
}

/* A table that is used for long holds what it held when it was new. */
static void places_are_used_again(void)
{
    enum { WINDOW = 2000, ROUNDS = 400000 };
    area_init(5);
    static uint64_t window[WINDOW];
    struct heap_block b = {.size = 1}, got;
    unsigned wrong = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t slot = mix(9, i) % WINDOW;
        if (window[slot])
            wrong += !live_take(window[slot], &got) || got.serial != (slot & 0xfffff);
        window[slot] = pattern(5, i);
        atomic_store(&b.address, window[slot]);
        b.serial = slot & 0xfffff;
        wrong += !live_put(&b);
    }
    CHECK_EQ(wrong, 0);
    CHECK(atomic_load(&area()->levels) <= 1);
    area_done();
}

/* Where only samples are recorded, the filter says no for nearly all others. */
static void filter_is_true(void)
{
    area_init(6);
    struct heap_block b = {.size = 1}, got;
    unsigned passed = 0, missed = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        atomic_store(&b.address, pattern(0, i * 64));
        live_put(&b);
        missed += is_only_freed(pattern(0, i * 64));
    }
    CHECK_EQ(missed, 0);
    for (uint64_t i = 0; i < 100000; i++)
        passed += !is_only_freed(pattern(5, i));
    CHECK(passed < 10000); /* of 100 000, with 1 000 blocks in a filter of 16 384 */
    for (uint64_t i = 0; i < 1000; i++)
        CHECK(live_take(pattern(0, i * 64), &got));
    CHECK(is_only_freed(pattern(0, 0)));
    area_done();
}

static uint64_t stack_hash(unsigned which, uint64_t i)
{
    switch (which) {
    case 0: return i + 1;
    case 1: return (i + 1) << 40;
    case 2: return (i + 1) << 10; /* the same place on the first level, for all */
    default: return mix(3, i);
    }
}

static void stacks_and_rows_are_found_again(void)
{
    enum { KEYS = 20000, PATTERNS = 4 };
    static uint32_t rows[KEYS];
    static struct walk w;
    for (unsigned which = 0; which < PATTERNS; which++) {
        area_init(which);
        unsigned wrong = 0;
        w.n = 3;
        for (uint64_t i = 0; i < KEYS; i++) {
            w.hash = stack_hash(which, i);
            w.frames[0] = i + 1;
            rows[i] = row_number(w.hash, &w);
            wrong += rows[i] == 0;
        }
        for (uint64_t i = 0; i < KEYS; i++) {
            w.hash = stack_hash(which, i);
            wrong += row_number(w.hash, &w) != rows[i];
        }
        CHECK_EQ(wrong, 0);
        CHECK_EQ(atomic_load(&area()->rows), KEYS + 1);
        CHECK_EQ(atomic_load(&area()->stacks), KEYS + 1);
        munmap(me.rows, (me.rows_mask + 2) * sizeof *me.rows);
        area_done();
    }
}

/* Weights: a sample of size s stands for 1 / (1 - exp(-s / T)), by series of our own. */
static void weights_are_right(void)
{
    area_init(1);
    for (double size = 1; size < 1e9; size *= 1.7) {
        double x = floor(size) / (double)agent.period_bytes, p = -expm1(-x);
        double got = (double)sampling_weight_256((uint64_t)size) / 256;
        CHECK(fabs(got * p - 1) < 0.0021 + 1e-6); /* to 1/256 of a whole, rounded */
        CHECK(fabs(sampling_variance((uint64_t)size) / ((1 - p) / (p * p) * floor(size) * floor(size) / 1048576.0 + 1e-9) - 1) < 1e-3 || p > 0.99999);
    }
    area_done();
}

/* The mean of many distances is the period; an allocation is taken as often as it should be. */
static void samples_are_unbiased(void)
{
    static const uint64_t sizes[] = {16, 1000, 100000, 1 << 20};
    area_init(42);
    me.is_sampling = true;
    me.random = 88172645463325252u;
    sampling_begin();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        double want = -expm1(-(double)sizes[k] / (double)agent.period_bytes), rounds = 400 / want;
        uint64_t weight, taken = 0;
        for (double i = 0; i < rounds; i++)
            taken += sampling_takes(sizes[k], &weight);
        CHECK(fabs((double)taken - 400) < 6 * 20); /* six standard deviations */
    }
    area_done();
}

int main(void)
{
    blocks_are_found_once();
    places_are_used_again();
    filter_is_true();
    stacks_and_rows_are_found_again();
    weights_are_right();
    samples_are_unbiased();
    return CHECK_DONE();
}
