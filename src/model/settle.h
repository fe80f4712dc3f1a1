/*
 * settle.h - changes as what they add up to
 *
 * Rows of some sets are changes: a stack comes again whenever it allocated or freed something, with a minus for what is
 * gone. Views and formats that know only amounts want one row for each stack and context, without a time:
 *
 *     1 s  main > load  +8 MiB                main > load  5 MiB
 *     2 s  main > load  -3 MiB      becomes
 *
 * Sets that only say more about another one ("heap.sizes" about "heap") are left out: nobody else knows what they mean.
 */
#pragma once
#include "base/err.h"
#include "model/profile.h"

bool set_has_changes(const struct sample_set *set);                /* over time, some of them below zero */
bool set_is_detail(const struct profile *p, const struct sample_set *set); /* of a set whose name is its own up to a dot */

/*
 * Counters that were read now and then: the time of a row is when it was read, and what it tells of may have happened long before. So a
 * moment says nothing about it; its labels do.
 */
bool set_is_of_readings(const struct profile *p, const struct sample_set *set);

/* Whether settling would change anything. */
bool profile_is_settled(const struct profile *p);

/* A new profile; p stays as it is. Fails only as builder_finish() does. */
bool profile_settled(const struct profile *p, struct profile **out, struct err *e) MUST_CHECK;
