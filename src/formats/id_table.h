/*
 * id_table.h - from the ids of somebody else's file to rows 0, 1, 2, ...
 *
 * Ids may be any 64-bit numbers but 0. Most writers count from 1, so an id is
 * first looked for in the row before its number and only then in a map.
 */
#pragma once
#include "base/err.h"
#include "base/idmap.h"

struct id_table {
    uint64_t *ids;
    size_t n, cap;
    struct idmap map; /* of those that are not in their place */
};

void id_table_init(struct id_table *t);
void id_table_done(struct id_table *t);
uint32_t id_table_find(const struct id_table *t, uint64_t id); /* the row, or IDMAP_NONE */

/* The next row has this id. `what` is for the message when it is 0 or there already. */
bool id_table_add(struct id_table *t, uint64_t id, const char *what, struct err *e) MUST_CHECK;
