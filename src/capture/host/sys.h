/*
 * sys.h - the questions only a running system can answer
 *
 * Whoever must survive a hostile host asks through this table. In the program it
 * holds the real calls; a test swaps one entry for a liar:
 *
 *     struct sys s = sys_real;
 *     s.perf_event_open = refuses_with_EACCES;
 *
 * No answer changes the system: what is opened is closed, what is forked is
 * gone when the call returns. None waits longer than SYS_PATIENCE_MS.
 *
 * Threads: any, except that loads() takes the risk of every fork in a threaded
 *          program; its child is then killed, and the answer is "no answer".
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SYS_PATIENCE_MS 2000

struct perf_event_attr;
union bpf_attr;
struct statvfs;

/* Whose memory we try to read: Yama tells children from all others. */
enum kin { KIN_CHILD, KIN_STRANGER, KIN_COUNT };

struct sys {
    /* As in the manual: -1 and errno when refused. */
    int (*perf_event_open)(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags);
    int (*bpf)(int command, union bpf_attr *a, unsigned bytes);
    int (*statvfs)(const char *path, struct statvfs *out);
    int (*access)(const char *path, int mode);
    char *(*getenv)(const char *name);

    /* 0, or the errno of the refusal. */
    int (*cpu_timer)(void);      /* may a thread have a timer on its own CPU clock? */
    int (*peek)(enum kin whose); /* may we read the memory of a process of our own user? */

    /*
     * Can this library be loaded? It is tried in a child with its output closed,
     * since loading runs the library's own code. When not, `why` says what the
     * loader said.
     */
    bool (*loads)(const char *library, char *why, size_t size);
};

extern const struct sys sys_real;
