/*
 * tasks.h - the processes and threads that are alive, by number
 *
 * Numbers are used again, so a task that ended is put aside and forgotten only when
 * TASKS_REMEMBERED others have ended after it: samples taken just before the end may
 * arrive just behind it. Memory grows with the tasks that live at the same time, not
 * with all that ever did.
 *
 * Of a crowd that comes and goes, most live for less than a sampling period and nothing is ever
 * said about them. So a task knows its own name, and the profile has no row for it (0) until
 * somebody needs one.
 *
 * Owns: its tasks. Pointers are good until the task is forgotten. Threads: one at a time.
 */
#pragma once
#include "capture/cpu/address_space.h"
#include "symbols/symbols.h"

enum { TASKS_REMEMBERED = 512, TASK_BUCKETS = 4096, TASK_NAME_ROOM = 64 };

/* How often /proc/PID/maps or a JIT's map file is read again because an address is unknown. */
#define TASK_READ_AGAIN_NS UINT64_C(100000000)

struct task_process {
    struct task_process *next; /* in its bucket */
    int32_t pid;
    uint64_t start_ns;
    char name[TASK_NAME_ROOM];
    process_id id; /* 0: it has no row so far */
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
    char name[TASK_NAME_ROOM];
    thread_id id; /* 0: it has no row so far; then it has no context either */
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
struct task_process *tasks_add_process(struct tasks *t, int32_t pid, uint64_t start_ns, struct view name);
struct task_thread *tasks_add_thread(struct tasks *t, struct task_process *p, int32_t tid, struct view name);
void task_set_name(char into[TASK_NAME_ROOM], struct view name); /* cut where the room ends; the kernel's are shorter */

/* A thread has ended. Whoever is forgotten because of that is given to `last_word` first. */
void tasks_end(struct tasks *t, int32_t tid, void (*last_word)(void *self, struct task_thread *), void *self);
void tasks_forget(struct tasks *t, int32_t tid); /* at once: its number is somebody else's now */

/* Code that is in no file: a just-in-time compiler may have left a list of what it made. Empty: it has not. */
struct view task_jit_name(struct task_process *p, const char *proc, uint64_t address, uint64_t now_ns);

void tasks_each(const struct tasks *t, void (*each)(void *self, struct task_thread *), void *self);
