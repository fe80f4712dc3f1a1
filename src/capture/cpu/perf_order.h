/*
 * perf_order.h - the records of all rings, in the order in which things happened
 *
 * Each CPU writes its own rings. A thread that wanders from one CPU to another leaves its
 * fork in one ring and its first sample in the next, so whoever reads wants them merged:
 *
 *     CPU 0  waits  ──•────────•──────────•─┐
 *            news   ───•──•─────•─•────────•┼─ earliest first ── one record after the other
 *     CPU 1  waits  ─────•──────────────────┤
 *            news   •─────•──────────•──────┘
 *
 * A stack taken at a switch comes before the switch it belongs to, also when both have the
 * same time.
 *
 *     perf_order_look(&o);
 *     for (; perf_order_next(&o, horizon_ns, &bytes, &is_wait_stack); perf_order_pass(&o)) ...
 *
 * The rings are emptied by a thread of their own (perf_backlog.h) between perf_order_start() and
 * perf_order_stop(). perf_order_look() says up to which moment all records are there.
 *
 * Owns: its notes and the backlog; rings are borrowed. Threads: one at a time. Fails: never; records
 * that do not say when they were are passed over and counted.
 */
#pragma once
#include "capture/cpu/perf_backlog.h"
#include "capture/cpu/perf_events.h"

struct perf_order {
    struct perf_cpu *cpus;
    struct perf_backlog *backlog;
    size_t n_rings;
    uint64_t *next_ns; /* per ring: when its next record was; UINT64_MAX: none */
    size_t at;         /* the ring whose record was given out */
    uint64_t timeless;
};

void perf_order_init(struct perf_order *o, struct perf_cpu *cpus, size_t n_cpus, const struct perf_layout *layout);
void perf_order_done(struct perf_order *o);

void perf_order_start(struct perf_order *o); /* the rings are open */
void perf_order_stop(struct perf_order *o);

uint64_t perf_order_look(struct perf_order *o); /* how far the kernel has come; what it wrote later may be missing */

/* The earliest record, if it was before the horizon; good until perf_order_pass(). */
bool perf_order_next(struct perf_order *o, uint64_t horizon_ns, struct view *out, bool *out_is_wait_stack);
void perf_order_pass(struct perf_order *o);

uint64_t perf_order_unreadable(const struct perf_order *o); /* so far, in all rings */
