#include "base/progress.h"
#include "base/clock.h"

#include <stdio.h>

#define PATIENCE_NS UINT64_C(500000000)
#define REDRAW_NS UINT64_C(100000000)

static bool enabled;

void progress_enable(bool on) { enabled = on; }

struct progress progress_begin(const char *what, uint64_t total)
{
    return (struct progress){.what = what, .total = total, .begun_ns = enabled ? clock_monotonic_ns() : 0};
}

void progress_at(struct progress *p, uint64_t done)
{
    if (!enabled)
        return;
    uint64_t now = clock_monotonic_ns();
    if (now - p->begun_ns < PATIENCE_NS || now - p->drawn_ns < REDRAW_NS)
        return;
    p->drawn_ns = now;
    p->shown = true;
    double s = (double)(now - p->begun_ns) / 1e9;
    if (p->total)
        fprintf(stderr, "\r\033[K%s  %3.0f %%  %.0f s", p->what, 100.0 * (double)done / (double)p->total, s);
    else
        fprintf(stderr, "\r\033[K%s  %llu  %.0f s", p->what, (unsigned long long)done, s);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (!p->shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->shown = false;
}
