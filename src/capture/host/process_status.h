/*
 * process_status.h - how much memory a process has, as /proc/PID/status says it
 *
 *     struct process_status s;
 *     if (process_status_read(&here, pid, &s) == 0 && !isnan(s.anon_bytes))
 *         ...
 *
 * The kernel keeps these numbers ready: reading them takes ten microseconds whatever the size
 * of the process, and none of its locks. (smaps would tell more, and holds the process up for
 * 15 to 22 ms per gigabyte that it has in memory.)
 *
 * A process that has ended and waits to be collected, and a kernel thread, have no memory:
 * everything is NAN. Kernels before 4.5 do not tell anonymous memory from files.
 *
 * Threads: any. Fails: the errno of the refusal; EBADMSG for what is no such file.
 */
#pragma once
#include "capture/host/host.h"

struct process_status {
    double rss_bytes;                           /* in memory; the sum of the next three */
    double anon_bytes, file_bytes, shared_bytes; /* shared: memory of several processes that is no file */
    double swap_bytes;
    double peak_bytes; /* the most that rss_bytes ever was */
    double size_bytes; /* of addresses, whether there is memory behind them or not */
};

int process_status_read(const struct host *h, int32_t pid, struct process_status *out); /* 0 is this process */

/*
 * Memory that several processes share, divided among them (/proc/PID/smaps_rollup). The kernel goes through all pages for it
 * while the process may not map any: 15 ms per gigabyte. Once, when somebody asks; never again and again.
 */
int process_pss_read(const struct host *h, int32_t pid, double *out_bytes);

bool process_status_parse(struct view text, struct process_status *out); /* false: it is not such a text */
bool process_kib_line(struct view line, struct view key, double *out_bytes); /* "Rss:     884 kB"; false: another line */
bool process_pss_parse(struct view text, double *out_bytes);
