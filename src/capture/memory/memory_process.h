/*
 * memory_process.h - the memory of one process, watched from outside
 *
 * Two things at two speeds:
 *
 *     status    how much is in memory, of which kind      ten times a second, 10 us each
 *     a pass    what is mapped, and how much of each       now and then, a millisecond at a time,
 *               is in memory                               the largest first
 *
 * A pass reads /proc/PID/maps and counts pages (pages.h). The next one comes when a second has
 * passed and the last was at most PASS_SHARE of the time since; earlier when the process has
 * mapped or unmapped something. So it is one in a second for a small program, and one in
 * some minutes for forty gigabytes.
 *
 *     series  memory.rss, memory.anon, memory.file, memory.shared, memory.swap   bytes
 *                 labels process, pid
 *             memory.pss   the same, where several processes have a page each has a part of it
 *             memory.mapped, memory.resident                                     bytes
 *                 labels process, pid, map_kind; path of a file; weights = 1;
 *                 region = 0x7f10a2c28000 of anonymous memory;
 *                 without path and region: the rest of its kind
 *             memory.touched   of weights, where somebody asked
 *
 * Owns:     its lists and a descriptor while a pass goes on.
 * Threads:  one at a time.
 * Fails:    what cannot be seen has no series, and `why_not` says why.
 */
#pragma once
#include "capture/host/process_status.h"
#include "capture/memory/touched.h"
#include "model/capture_writer.h"

enum memory_series { MEMORY_RSS, MEMORY_ANON, MEMORY_FILE, MEMORY_SHARED, MEMORY_SWAP, MEMORY_SERIES_COUNT };

struct memory_process {
    int32_t pid;
    bool is_main; /* has series from its first reading on; others from the second, since most are gone by then */
    bool has_series;
    series_id series[MEMORY_SERIES_COUNT];
    struct process_status status; /* the last */
    uint64_t status_ns;           /* 0: none yet */

    struct holdings holdings;
    struct pages pages; /* fd -1: no pass goes on */
    size_t at_stretch;
    uint64_t at;
    uint64_t pass_cpu_ns, pass_ended_ns; /* of the last pass */
    double pass_size_bytes;              /* of addresses, when it began */
    bool lacks_scan;                     /* the kernel does not count: words are read */
    size_t passes;
    struct touched touched;
    char why_not[160]; /* maps or pages cannot be seen; "" */
};

/* What all processes of a recording share. */
struct memory_watch {
    const struct host *host;
    struct capture_writer *into;
};

void memory_process_init(struct memory_process *p, int32_t pid, bool is_main);
void memory_process_done(struct memory_process *p);

bool memory_process_look(struct memory_process *p, const struct memory_watch *w, uint64_t now_ns); /* false: it has no memory any more */

bool memory_process_pss(const struct memory_process *p, const struct memory_watch *w, uint64_t now_ns); /* slow: see process_status.h */

/* Goes on with a pass, or begins one when it is due, until `until_ns`. */
void memory_process_pass(struct memory_process *p, const struct memory_watch *w, uint64_t until_ns);

void memory_process_touched(struct memory_process *p, const struct memory_watch *w, uint64_t now_ns); /* for those who asked: touched.h */

void memory_process_begin_again(struct memory_process *p); /* ids of series are void */
