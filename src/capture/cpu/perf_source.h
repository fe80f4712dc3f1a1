/*
 * perf_source.h - the engine that lets the kernel sample; for perf_event.c, which takes what the kernel says, and
 * perf_attach.c, which finds the threads it should speak about
 */
#pragma once
#include "capture/cpu/perf_events.h"
#include "capture/cpu/perf_order.h"
#include "capture/cpu/processes.h"
#include "capture/cpu/waits.h"
#include "capture/recorder.h"

struct perf_source {
    struct plan plan;
    struct recorder *into;
    struct perf_events events;
    struct processes *ps;
    struct waits *waits; /* NULL: not wanted */
    struct perf_order order;
    int32_t *watched;  /* threads that have events, their own or inherited; filled while attaching */
    size_t n_watched, watched_cap;
    bool is_attaching, is_launched;
    uint64_t unreadable, throttled;
    uint64_t stolen_before_ns;
};

/* Everything there is, up to this moment; not while the rings are emptied by their own thread. */
void perf_take_all(struct perf_source *s);

/* Attaching. A thread that is gone already is no failure. */
void perf_note_watched(struct perf_source *s, int32_t tid); /* it has inherited our events */
bool perf_watch(struct perf_source *s, int32_t pid, int32_t tid, bool at_exec, struct err *e) MUST_CHECK;
bool perf_attach_running(struct perf_source *s, int32_t pid, struct err *e) MUST_CHECK; /* all threads of a process */
