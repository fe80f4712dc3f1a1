/* heap_result.h - what came of recording the heap, for the summary */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_result {
    bool is_on;
    const char *mode; /* "exact", "sampled", "exact then sampled" */
    uint64_t allocations, bytes, frees, unseen, unknown_frees, samples, period_bytes;
    int64_t live_bytes, live_blocks, peak_bytes;
    size_t processes;
    char note[240]; /* what could not be seen; "" */
};
