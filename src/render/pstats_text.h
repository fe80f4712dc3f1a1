/*
 * pstats_text.h - the table that Python prints of a cProfile profile
 *
 *     ncalls  tottime  percall  cumtime  percall filename:lineno(function)
 *     1973/1    0.001    0.000    0.001    0.001 work.py:3(fib)
 *
 * The same bytes as pstats.Stats(path).sort_stats(order).print_stats(most_rows) of
 * Python 3.11, so that scripts and people who read those go on reading. Only names
 * with control characters differ: they are shown as \x1b and the like.
 *
 * Fails: for profiles that did not count calls.
 */
#pragma once
#include "base/sink.h"
#include "model/profile.h"

enum pstats_order {
    PSTATS_TIME, PSTATS_CUMULATIVE, PSTATS_CALLS, PSTATS_PCALLS, PSTATS_NAME, PSTATS_FILENAME, PSTATS_LINE, PSTATS_NFL,
    PSTATS_STDNAME, PSTATS_UNSORTED,
    PSTATS_ORDER_COUNT
};

extern const char *const pstats_order_names[PSTATS_ORDER_COUNT + 1]; /* as sort_stats() spells them; "unsorted"; ends with NULL */

struct pstats_look {
    const char *source; /* the file, for the heading with its time; NULL: no heading */
    enum pstats_order order;
    size_t most_rows; /* 0: all */
};

bool pstats_print(const struct profile *p, const struct pstats_look *look, struct sink *out, struct err *e) MUST_CHECK;
