/*
 * processes.h - who is running, what they have mapped, and what a raw sample means
 *
 * An engine (perf_event, timers in the target) delivers what it saw: a thread, a
 * time, registers and a slice of its stack. Everything after that is the same for
 * all engines and is here:
 *
 *     raw sample ── the process's maps ── walk ── addresses │ frames ── stack ── capture file
 *                         │                                 │   │
 *                    images and unwind tables,              │ resolved once per
 *                    one per file, shared by           at   │ (image, address):
 *                    all processes                    once  │ names, lines, inlines
 *
 * The walk is done at once, while the maps are as they were. Names may take long the
 * first time (debug information is large), so they wait until processes_settle() has
 * time for them; meanwhile the engine can empty its buffers.
 *
 * What is mapped is known in one of two ways, and they mix: the engine passes on
 * mmap, fork, exec and exit as it learns of them, or nobody says anything and the
 * maps are read from /proc when a process is met and again when an address is met
 * that no map covers.
 *
 *     own(processes) struct processes *ps = processes_new(&plan);
 *     if (!processes_attach(ps, pid, now_ns, e)) ...      // optional: a sample of a stranger attaches it
 *     processes_sample(ps, &raw);
 *     processes_thread_cpu(ps, pid, tid, cpu_ns);         // what the thread's own clock says
 *     processes_finish(ps);                               // the losses, into the file
 *
 * Every sample is kept. A stack that could not be walked to a thread's start still
 * counts with what was found, and why it ended is counted. CPU time of a thread
 * that no sample stands for (taken in the kernel when that may not be seen, shorter
 * than a period) is counted as lost when the engine tells the thread's real time.
 *
 * Owns:     address spaces, images, tables. The capture writer and the raw sample's
 *           pointers are borrowed, the latter for the call only.
 * Threads:  one at a time.
 * Fails:    processes_attach(): no such process, not ours to look at. Everything
 *           else makes do with less and counts it.
 */
#pragma once
#include "capture/cpu/maps_line.h"
#include "model/capture_writer.h"
#include "unwind/unwind.h"

struct processes;

struct processes_plan {
    struct capture_writer *into;
    set_id set;           /* whose one measure `weight` is of */
    int64_t period;       /* of that measure; what one lost sample would have stood for */
    size_t most_depth;    /* frames kept, leaf first; 1..1024 */
    const char *proc;     /* "/proc"; a test plants another */
    const char *kallsyms; /* names of kernel addresses; NULL: there will be none */
};

struct processes *processes_new(const struct processes_plan *plan);
void processes_free(struct processes *ps); /* NULL is fine */
DEFINE_OWN(processes, struct processes *)

/* What an engine saw. */
struct raw_sample {
    int32_t pid, tid;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    int64_t weight;   /* what it stands for: CPU time of the thread since its last sample, or counts of an event */

    bool has_user; /* registers and stack are there: not for kernel threads */
    struct unwind_registers registers;
    struct unwind_stack stack;

    const uint64_t *kernel; /* leaf first; the first is exact, the others are return addresses */
    size_t n_kernel;
};

/* How a walk ended, for engines that can do something about it (copy more of the stack). */
enum unwind_end processes_sample(struct processes *ps, const struct raw_sample *raw);

/* Would its stack have been walked as far with only so many bytes of it? Of a sample that was taken. */
bool processes_walks(const struct processes *ps, const struct raw_sample *raw, size_t bytes);

/*
 * For what is no sample of the CPU: its stack is handed over when the names are known, by a later
 * processes_settle(), in the order of all that waits. `raw` may be NULL: the turn alone matters.
 */
typedef void (*stack_taker)(void *self, stack_id stack);
void processes_stack(struct processes *ps, const struct raw_sample *raw, stack_taker give_to, void *self);

stack_id processes_last_stack(const struct processes *ps, int32_t tid); /* of its last settled sample; the root: none was */
thread_id processes_thread(struct processes *ps, int32_t pid, int32_t tid, uint64_t now_ns);

/* Finds names for what waits and writes it down, until this long has passed or nothing waits. */
void processes_settle(struct processes *ps, uint64_t most_ns);

/* The capture has begun again with no names: everybody gets a new row, every address a new frame. Nothing may wait. */
void processes_begin_again(struct processes *ps);

/* A process that was there before us: its name, threads and maps. */
bool processes_attach(struct processes *ps, int32_t pid, uint64_t now_ns, struct err *e) MUST_CHECK;

/* News from the kernel, in order of time. */
void processes_map(struct processes *ps, int32_t pid, const struct map_news *m);
void processes_fork(struct processes *ps, int32_t parent_pid, int32_t pid, int32_t tid, uint64_t time_ns);
void processes_exec(struct processes *ps, int32_t pid, struct view name, uint64_t time_ns); /* all old maps are gone */
void processes_name(struct processes *ps, int32_t pid, int32_t tid, struct view name, uint64_t time_ns);
void processes_exit(struct processes *ps, int32_t pid, int32_t tid);

/*
 * The thread's CPU time since it was first watched, as its own clock says; may be told again and
 * again, the last counts. What its samples do not add up to is lost, in units of the period.
 */
void processes_thread_cpu(struct processes *ps, int32_t pid, int32_t tid, uint64_t cpu_ns);
void processes_all_cpu(struct processes *ps, uint64_t cpu_ns); /* for engines that know only the sum of all threads */

/* Samples the engine itself had to drop. */
void processes_lost(struct processes *ps, struct view reason, uint64_t count);

/* Settles everything and writes down what was lost. Once, at the end. */
void processes_finish(struct processes *ps);

/* So far. */
struct processes_count {
    uint64_t samples;
    int64_t weight;                   /* of all samples */
    uint64_t ends[UNWIND_END_COUNT];  /* of user stacks, by how the walk ended */
    uint64_t no_user;                 /* samples without a user part */
    uint64_t lost, unsampled;         /* dropped by the engine; CPU time without a sample, in samples (after finish) */
    uint64_t cpu_ns;                  /* told by processes_thread_cpu() or processes_all_cpu() */
    size_t processes, threads;        /* alive or lately so */
    size_t files, held_bytes;         /* opened for names and unwinding, and the memory they take */
};

struct processes_count processes_counts(const struct processes *ps);
