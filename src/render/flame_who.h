/*
 * flame_who.h - threads, processes, phases and requests of the samples in a flame graph
 *
 * A context here is (thread, process, phase, request), each a number from 1 of its
 * list; 0 is "not known". Two recordings have other thread ids for the same
 * threads: with two sides, threads and processes are told apart by name only.
 *
 * Owns: its tables.
 */
#pragma once
#include "base/intern.h"
#include "base/json.h"
#include "render/flame_tree.h"

struct flame_thread {
    int32_t tid;
    uint32_t process;
    struct view name;
};

struct flame_process {
    int32_t pid;
    struct view name;
};

struct flame_who {
    bool by_name;
    struct interner thread_keys, process_keys, phases, requests, context_keys; /* numbers from 1 */
    struct flame_thread *threads;
    struct flame_process *processes;
    size_t cap_threads, cap_processes, n_threads, n_processes;
    struct { uint32_t thread, process, phase, request; } *contexts; /* row 0: nothing is known */
    size_t n_contexts, cap_contexts;
    uint32_t *context_of[FLAME_SIDES_MOST]; /* by context id of that side's profile */
};

/* Only contexts that samples have. */
void flame_who_of(const struct flame_side *sides, size_t n_sides, struct flame_who *out);
void flame_who_done(struct flame_who *w);
DEFINE_OWN_IN_PLACE(flame_who, struct flame_who)

void flame_who_json(const struct flame_who *who, struct json_writer *w); /* "threads", "processes", "phases", "requests" */
