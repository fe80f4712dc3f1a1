/*
 * What /proc says about a process's memory. The process names files and itself, so some of it is its own choice.
 * An input is read as a status, as a rollup, and as a list of maps: twice, the second time cut, so that there are
 * heirs and those without.
 */
#include "capture/host/process_status.h"
#include "capture/memory/touched.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_maps(struct holdings *h, struct view text)
{
    own(reader) struct reader r;
    reader_over(&r, "maps", text);
    if (!holdings_take(h, &r, NULL))
        return;
    for (size_t i = 0; i < h->n_stretches; i++)
        if (h->stretches[i].holding >= h->n || h->stretches[i].end <= h->stretches[i].start)
            abort();
    for (size_t i = 0; i < h->n; i++)
        h->rows[i].has_mapped = i % 2 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view text = {(const char *)data, size};
    struct process_status s;
    double bytes;
    struct holdings h = {0};
    if (process_status_parse(text, &s) && s.rss_bytes < 0)
        abort();
    if (process_pss_parse(text, &bytes) && bytes < 0)
        abort();
    take_maps(&h, text);
    take_maps(&h, (struct view){text.at, text.n / 2});
    take_maps(&h, text);
    own(reader) struct reader smaps;
    reader_over(&smaps, "smaps", text);
    (void)!touched_take(&h, &smaps, NULL);
    holdings_done(&h);
    return 0;
}
