#include "base/clock.h"

#include <time.h>

static uint64_t read_ns(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

uint64_t clock_monotonic_ns(void) { return read_ns(CLOCK_MONOTONIC); }
uint64_t clock_thread_cpu_ns(void) { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

/* We may lose the processor between the two readings; the tightest of five tries did not. */
int64_t clock_wall_offset_ns(void)
{
    uint64_t tightest = UINT64_MAX;
    int64_t offset = 0;
    for (int i = 0; i < 5; i++) {
        uint64_t before = clock_monotonic_ns();
        uint64_t wall = read_ns(CLOCK_REALTIME);
        uint64_t after = clock_monotonic_ns();
        if (after - before >= tightest)
            continue;
        tightest = after - before;
        offset = (int64_t)(wall - (before + tightest / 2));
    }
    return offset;
}
