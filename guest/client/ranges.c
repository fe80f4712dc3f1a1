#include "ranges.h"

enum { RANGES_MOST = 128 };

static __thread struct {
    uint64_t open[RANGES_MOST];
    int depth;
} ranges;

int range_push(const char *name)
{
    uint64_t handle = name ? inferom_begin(name) : 0;
    if (ranges.depth < RANGES_MOST)
        ranges.open[ranges.depth] = handle;
    else
        inferom_end(handle);
    return ranges.depth++;
}

int range_pop(void)
{
    if (!ranges.depth)
        return -1;
    if (--ranges.depth < RANGES_MOST)
        inferom_end(ranges.open[ranges.depth]);
    return ranges.depth;
}
