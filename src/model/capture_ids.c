#include "model/capture_ids.h"
#include "base/mem.h"

#include <stdlib.h>

void ids_done(struct ids *ids)
{
    free(ids->to);
    free(ids->runs);
    *ids = (struct ids){0};
}

uint64_t ids_end(const struct ids *ids)
{
    if (!ids->n_runs)
        return 1;
    const struct ids_run *last = &ids->runs[ids->n_runs - 1];
    return last->first + last->n;
}

void ids_add(struct ids *ids, uint32_t file_id, uint32_t id)
{
    GROW(ids->to, ids->cap, ids->n + 1);
    ids->to[ids->n] = id;
    if (ids->n_runs && ids_end(ids) == file_id) {
        ids->runs[ids->n_runs - 1].n++;
    } else {
        GROW(ids->runs, ids->cap_runs, ids->n_runs + 1);
        ids->runs[ids->n_runs++] = (struct ids_run){.first = file_id, .at = ids->n, .n = 1};
    }
    ids->n++;
}

uint32_t ids_look_in_runs(const struct ids *ids, uint32_t file_id)
{
    size_t low = 0, high = ids->n_runs; /* the run that holds it, if any, is the last that does not begin behind it */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids->runs[middle].first <= file_id)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return IDS_LOST;
    const struct ids_run *run = &ids->runs[low - 1];
    return file_id - run->first < run->n ? ids->to[run->at + (file_id - run->first)] : IDS_LOST;
}
