/*
 * scopes_pace.h - how long until the table of scopes is written once more
 *
 * Each time it is written whole, for a recorder that may be killed, and the one before is void. So that a long recording is not made of void
 * tables, the next one comes after
 *
 *     a second                          at least
 *     a thousandth of the recording     so their number grows as the logarithm of its length: 5,500 in a day
 *     as long as 8 KiB/s would take     so a large table comes less often
 *     20 times what the last took       so the recorder has time for other things
 *
 * whichever is longest. What a killed recorder owes is that much of the table.
 */
#pragma once
#include <stdint.h>

#define SCOPES_PACE_LEAST_NS UINT64_C(1000000000)
#define SCOPES_PACE_PART UINT64_C(1000)
#define SCOPES_PACE_BYTES_PER_S UINT64_C(8192)
#define SCOPES_PACE_REST UINT64_C(20)

static inline uint64_t scopes_pace_ns(uint64_t recorded_ns, uint64_t took_ns, uint64_t bytes)
{
    uint64_t waits[] = {recorded_ns / SCOPES_PACE_PART, bytes * (SCOPES_PACE_LEAST_NS / SCOPES_PACE_BYTES_PER_S), took_ns * SCOPES_PACE_REST};
    uint64_t longest = SCOPES_PACE_LEAST_NS;
    for (int i = 0; i < 3; i++)
        longest = waits[i] > longest ? waits[i] : longest;
    return longest;
}
