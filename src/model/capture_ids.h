/*
 * capture_ids.h - from the ids in a file to the ids in a builder
 *
 * Rows of a table come in order of their ids, in runs; a damaged chunk leaves a
 * hole. Runs that meet are one, so in a healthy file there is a single run and
 * looking up is an addition. Memory is for rows that were there, whatever
 * numbers a file may claim.
 *
 *     file ids:    1 2 3 4 5 . . . 9 10 11          two runs
 *     to:          1 2 3 4 5       6  7  8
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDS_LOST UINT32_MAX

struct ids {
    uint32_t *to;
    size_t n, cap;
    struct ids_run {
        uint32_t first;
        size_t at, n; /* where in `to`, and how many */
    } *runs;
    size_t n_runs, cap_runs;
};

void ids_done(struct ids *ids);

/* The id that the next row must at least have. */
uint64_t ids_end(const struct ids *ids);

/* file_id must not be below ids_end(). */
void ids_add(struct ids *ids, uint32_t file_id, uint32_t id);

uint32_t ids_look_in_runs(const struct ids *ids, uint32_t file_id);

/* IDS_LOST: was never there. Row 0 means "none" everywhere and is always 0. */
static inline uint32_t ids_look(const struct ids *ids, uint32_t file_id)
{
    if (!file_id)
        return 0;
    if (ids->n_runs == 1 && file_id >= ids->runs->first)
        return file_id - ids->runs->first < ids->n ? ids->to[file_id - ids->runs->first] : IDS_LOST;
    return ids_look_in_runs(ids, file_id);
}
