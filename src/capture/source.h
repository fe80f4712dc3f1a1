/*
 * source.h - where measurements come from
 *
 * A source is one file that defines one `const struct source source_NAME`, and one
 * word NAME in this folder's meson.build: an engine that samples the CPU, the heap
 * hooks, a GPU vendor, /proc.
 *
 *     probe ── start ── launch? ── attach ── begin ── drain ── drain ── ... ── stop ── free
 *                └────────────────────── on failure ──────────────────────────────────────┘
 *
 * Sources with the same role do the same thing in different ways; the first in the list
 * whose probe agrees is taken, the others stay out. probe() has no effects; the words it
 * leaves in `why_not` are for the user.
 *
 * start() comes before the target exists; launch() may add to the environment the target
 * will get; attach() is called for every process to be watched, when it is there: a
 * launched one stands still just before its own program begins. begin() starts the
 * measuring of what is already running (a launched target begins by itself when it starts
 * its program, unless there is a delay). drain() runs on the recorder's thread a few times
 * a second, and whenever a watched descriptor has something; it never waits. stop() is the
 * last drain and counts what was lost.
 *
 * When there are too many names, the capture begins again with none (capture_begin_again()).
 * settle() comes before: whatever waits and refers to names is written down. begin_again()
 * comes behind: every id of a name, thread, stack or series that the source kept is void.
 *
 * Members that make no sense for a source are NULL.
 */
#pragma once
#include "base/err.h"
#include "capture/host/host.h"
#include <stdint.h>

enum kernel_choice { KERNEL_IF_ALLOWED, KERNEL_YES, KERNEL_NO, KERNEL_CHOICE_COUNT };

/* What is to be measured, and how. */
struct plan {
    const struct host *host;
    char *const *command; /* to launch; NULL: none */
    bool is_quiet;        /* the command has no input, and what it prints is thrown away */
    const int32_t *pids;  /* to attach to */
    size_t n_pids;
    bool want_children;
    const char *engine; /* the source to sample the CPU with; NULL: the first that can */
    bool want_waits; /* time off the CPU as well */
    bool want_inject; /* the heap agent may be put into a process that runs already */
    bool want_memory; /* of its processes, seen from outside */
    bool want_touched; /* and which pages of weights are used, every few seconds */
    bool want_pss;    /* and how much of it is its own, once at the beginning and once at the end */
    uint64_t rate_hz, delay_ns;
    int event; /* enum perf_event_choice */
    size_t most_depth;
    size_t names_most_bytes; /* that are held in memory; 0: as many as is usual */
    enum kernel_choice kernel;
    bool want_heap;             /* allocations of a launched command */
    int heap_mode;              /* enum heap_mode of inferom/heap_wire.h */
    uint64_t heap_period_bytes; /* between two samples, where samples are taken */
    bool want_heap_blocks;      /* every block on its own as well */
};

struct recorder;
struct environment; /* environment.h */

struct source {
    const char *name; /* "perf_event" */
    const char *role; /* "cpu" */
    const char *what; /* "where threads spend their time, with call stacks" */

    bool (*probe)(const struct host *h, const struct plan *p, struct err *why_not);
    bool (*start)(void **out_self, const struct plan *p, struct recorder *into, struct err *e);
    bool (*launch)(void *self, struct environment *env, struct err *e);
    bool (*attach)(void *self, int32_t pid, bool is_launched, struct err *e);
    bool (*begin)(void *self, struct err *e);
    bool (*drain)(void *self, struct recorder *into, struct err *e);
    void (*settle)(void *self);
    void (*begin_again)(void *self, struct recorder *into);
    void (*stop)(void *self, struct recorder *into);
    void (*free)(void *self);
};

extern const struct source *const sources[]; /* in order of preference; ends with NULL */
