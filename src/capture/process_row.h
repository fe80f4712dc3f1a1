/*
 * process_row.h - one row of the profile for a process, whoever meets it first
 *
 * Sources hear of a process in different ways and at slightly different times: from the kernel's news, from a guest inside
 * it. What they say about it must meet in one row. A number may have belonged to another process before; so a source that
 * knows when its process began does not take a row that is older.
 *
 * Threads: one at a time.
 */
#pragma once
#include "model/builder.h"

/* The last row of this number that does not begin before `least_ns`, or a new one that begins at `start_ns`. */
process_id process_row(struct builder *names, int32_t pid, uint64_t least_ns, uint64_t start_ns, struct view name);
