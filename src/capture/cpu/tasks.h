/*
 * tasks.h - the processes and threads that are alive, by number
 *
 * Numbers are used again, so a task that ended is put aside and forgotten only when
 * TASKS_REMEMBERED others have ended after it: samples taken just before the end may
 * arrive just behind it. Memory grows with the tasks that live at the same time, not
 * with all that ever did.
 *
 * Owns: its tasks. Pointers are good until the task is forgotten. Threads: one at a time.
 */
#pragma once
#include "capture/cpu/address_space.h"
#include "symbols/symbols.h"

enum { TASKS_REMEMBERED = 512, TASK_BUCKETS = 4096 };

struct task_process {
    struct task_process *next; /* in its bucket */
    int32_t pid;
    process_id id;
    struct address_space space;
    uint64_t maps_read_ns;  /* when /proc/PID/maps was last read; 0: never */
    struct jit_symbols *jit; /* NULL: none found so far */
    uint64_t jit_read_ns;
    uint32_t threads;        /* alive */
};

struct task_thread {
    struct task_thread *next;
    int32_t tid;
    struct task_process *process;
    thread_id id;
    context_id context;
    int64_t weight; /* of its samples */
    stack_id last;  /* of its last one; the root before the first */
    uint64_t cpu_ns; /* as its own clock says; 0: nobody told */
    bool has_ended;
};

struct tasks {
    struct task_process *processes[TASK_BUCKETS];
    struct task_thread *threads[TASK_BUCKETS];
    int32_t ended[TASKS_REMEMBERED]; /* threads, a ring: the oldest is forgotten next */
    size_t n_ended;
    size_t n_processes, n_threads; /* alive or remembered */
};

void tasks_done(struct tasks *t);

struct task_process *tasks_process(const struct tasks *t, int32_t pid); /* NULL: unknown */
struct task_thread *tasks_thread(const struct tasks *t, int32_t tid);
const struct task_thread *tasks_any_thread(const struct tasks *t, int32_t pid); /* of this process; NULL: none is left */
struct task_process *tasks_add_process(struct tasks *t, int32_t pid, process_id id);
struct task_thread *tasks_add_thread(struct tasks *t, struct task_process *p, int32_t tid, thread_id id, context_id context);

/* A thread has ended. Whoever is forgotten because of that is given to `last_word` first. */
void tasks_end(struct tasks *t, int32_t tid, void (*last_word)(void *self, const struct task_thread *), void *self);
void tasks_forget(struct tasks *t, int32_t tid); /* at once: its number is somebody else's now */

void tasks_each(const struct tasks *t, void (*each)(void *self, const struct task_thread *), void *self);
