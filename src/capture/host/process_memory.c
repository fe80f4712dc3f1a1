#include "capture/host/process_memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* statm: size resident shared text lib data dt, in pages. Costs the target nothing, unlike smaps. */
double process_rss_bytes(const struct host *h, int32_t pid)
{
    char path[48], text[128];
    unsigned long long size, resident;
    snprintf(path, sizeof path, "/proc/%" PRId32 "/statm", pid);
    if (host_text(h, path, text, sizeof text) != 0 || sscanf(text, "%llu %llu", &size, &resident) != 2)
        return NAN;
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}
