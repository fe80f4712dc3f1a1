/*
 * wait_class.h - what a thread was waiting for, by the names on its stack
 *
 * The kernel's own functions say it best: a thread inside futex_wait_queue() waits for a
 * lock. What the lock is for is known higher up: under take_gil() it is Python's global
 * lock, under libcuda it is the GPU. Both are rules in tables, tried in order.
 *
 *     leaf                                                        root
 *     __schedule │ futex_wait_queue  futex_wait │ syscall  take_gil  ...
 *      no news   │ lock                         │          no: GIL
 *
 * Where the kernel's stack may not be seen, the number of the system call has to do.
 *
 * Owns: nothing. Threads: any. Fails: never; what no rule knows is WAIT_OTHER, and with
 * nothing to go by it is WAIT_UNKNOWN.
 */
#pragma once
#include "base/view.h"

enum wait_class {
    WAIT_UNKNOWN,
    WAIT_CPU, /* could run, if there were a CPU for it */
    WAIT_LOCK, WAIT_GIL, WAIT_GPU, WAIT_FAULT, WAIT_DISK, WAIT_SOCKET, WAIT_POLL, WAIT_SLEEP, WAIT_PIPE,
    WAIT_CHILD, WAIT_KERNEL, WAIT_OTHER,
    WAIT_CLASS_COUNT
};

extern const char *const wait_class_names[WAIT_CLASS_COUNT + 1]; /* as reports say it; ends with NULL */

/* One name: of a kernel function, with the module it is in ("" or "[kernel]": the kernel proper). */
struct wait_name {
    struct view name, module;
};

/*
 * How much a function of the kernel tells about a wait: the lower, the more. Of a stack the lowest counts, so
 * ranks can be kept per function and a stack costs no more than a glance at each.
 */
unsigned wait_rank_of(struct wait_name f);
enum wait_class wait_rank_class(unsigned rank);
extern const unsigned wait_rank_nothing; /* of a function without a name */

/* By the system call the thread is in; WAIT_OTHER for most. */
enum wait_class wait_class_by_call(long number);

/* What a wait turns out to be, seen from a frame of user code. A rule can be kept per function; NULL: most have none. */
struct wait_rule;
const struct wait_rule *wait_rule_of(struct wait_name frame);
enum wait_class wait_rule_class(const struct wait_rule *rule, enum wait_class so_far); /* rule may be NULL */

/* Functions through which every wait goes: they tell nothing about it, and a report without them is clearer. */
bool wait_is_scheduler(struct view kernel_function);
