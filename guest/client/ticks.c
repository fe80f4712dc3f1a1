/*
 * The clock of scopes: the processor's counter where the kernel itself trusts it (its clock source
 * is "tsc"; on arm64 the counter is part of the architecture), CLOCK_MONOTONIC elsewhere. Durations are kept in
 * ticks and become nanoseconds when somebody asks, from two moments at which both clocks were read.
 */
#include "client.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool ticks_are_tsc;
static uint64_t first_tick, first_ns;
static double cost;

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t ticks_slow(void) { return monotonic_ns(); }

static bool kernel_uses_tsc(void)
{
#if defined(__x86_64__)
    char text[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && (!strcmp(text, "tsc\n") || !strcmp(text, "tsc"));
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

/* Both clocks at one moment: we may lose the processor between the readings; the tightest of a few did not. */
static void both(uint64_t *tick, uint64_t *ns)
{
    uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = ticks_now(), now = monotonic_ns(), after = ticks_now();
        if (after - before >= tightest)
            continue;
        tightest = after - before;
        *tick = before + tightest / 2;
        *ns = now;
    }
}

static double clock_cost(void)
{
    enum { ROUNDS = 64 };
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t from = ticks_now(), to = from;
        for (int k = 0; k < ROUNDS; k++)
            to = ticks_now();
        if (to - from < least)
            least = to - from;
    }
    return (double)least / ROUNDS;
}

void ticks_start(void)
{
    ticks_are_tsc = kernel_uses_tsc();
    both(&first_tick, &first_ns);
    cost = clock_cost();
}

/* Roughly, from what is known by now: it is only about how often. */
uint64_t ticks_in_a_millisecond(void)
{
    static uint64_t known;
    uint64_t ticks = GET(known), passed_ns = ticks ? 0 : monotonic_ns() - first_ns;
    if (ticks)
        return ticks;
    if (!ticks_are_tsc || passed_ns < 100000)
        return 1000000;
    ticks = (uint64_t)((double)(ticks_now() - first_tick) * 1e6 / (double)passed_ns);
    PUT(known, ticks);
    return ticks;
}

double ticks_cost(void) { return cost; }

/* Two moments too close together say little about how long a tick is; a few milliseconds make it good to 1 in 10,000. */
struct ticks_scale ticks_scale_now(void)
{
    struct ticks_scale s = {.tick = first_tick, .ns = first_ns, .ns_per_tick = 1};
    if (!ticks_are_tsc)
        return s;
    uint64_t tick, ns;
    do
        both(&tick, &ns);
    while (ns - first_ns < 3000000);
    s.ns_per_tick = (double)(ns - first_ns) / (double)(tick - first_tick);
    return s;
}

uint64_t ticks_to_ns(const struct ticks_scale *s, uint64_t tick)
{
    return s->ns + (uint64_t)(int64_t)((double)(int64_t)(tick - s->tick) * s->ns_per_tick);
}
