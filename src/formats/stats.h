/*
 * stats.h - what Python's cProfile and profile modules save (.stats, .pstats, .prof)
 *
 * One marshalled dict (marshal.h), with no header and no version:
 *
 *     {(file, line, function): (primitive calls, calls, self s, cumulative s, callers)}
 *     callers = {(file, line, function): (calls, primitive calls, self s, cumulative s)}
 *
 * where the two counts change places between the first line and the second. The
 * pure Python `profile` module writes a whole number, the calls, for each caller.
 * Functions in C have the file "~" and line 0.
 *
 * Python 3.15's sampling profiler writes the same table with samples for calls and
 * an extra entry ("__sampled__",): True. There the first count is the samples on
 * top, the second those on the stack, and the line is where it was, not where the
 * function begins.
 *
 * It is a call graph, not stacks; counted_calls.h says how a profile holds it.
 *
 * Times are doubles of seconds and become whole nanoseconds, which is what cProfile
 * measured: the doubles it wrote are those of the nanoseconds times 1e-9, so they
 * can be written again as they were, to the last bit.
 */
#pragma once
#include "formats/format.h"

bool stats_write(const struct profile *p, struct sink *out, struct err *e) MUST_CHECK;

#define STATS_MARK "__sampled__"
