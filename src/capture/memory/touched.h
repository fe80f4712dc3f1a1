/*
 * touched.h - which pages of weights a process has used since the last look
 *
 * The processor marks a page when it is used, and the kernel can be asked to take the marks away
 * (/proc/PID/clear_refs) and, later, how many there are (smaps). Nothing else tells from outside
 * whether a file that is mapped is still read.
 *
 *     take the marks away ── the program runs ── count them, take them away ── ...
 *
 * It is for those who ask: the process cannot map memory meanwhile, for about 20 ms per gigabyte
 * that it has in memory, twice each time. So it is done every two seconds for small programs, and less
 * often where it would take more than a hundredth of the time: every eight for two gigabytes.
 *
 * Threads: one at a time. Fails: not ours to look at, or this kernel cannot.
 */
#pragma once
#include "capture/memory/holdings.h"

struct touched {
    uint64_t next_ns; /* when to look again; 0: the marks have not been taken away yet */
};

bool touched_is_due(const struct touched *t, const struct holdings *h, uint64_t now_ns); /* never without weights */

/* Fills touched_bytes of the holdings that are weights; NAN the first time, when the marks mean nothing. */
bool touched_look(struct touched *t, struct holdings *h, const struct host *host, int32_t pid, struct err *e) MUST_CHECK;

bool touched_take(struct holdings *h, struct reader *smaps, struct err *e) MUST_CHECK; /* the counting alone */
