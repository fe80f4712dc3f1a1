/*
 * agent.h - inside the preloaded heap agent: who does what
 *
 *     malloc() ── hooks.c ── the real one (real.c; early.c before that is known)
 *                    └── track.c: counted always; recorded if its turn has come (sampling.c)
 *                           ├── walk.c    by the recorder's rules, from return address to return address
 *                           ├── stacks.c  hash of the walk ──> number of the stack; new ones are written down
 *                           ├── rows.c    (thread, stack) ──> counters
 *                           └── live.c    address ──> block
 *     mmap()   ── hooks_map.c ── ring.c ──> the recorder
 *
 * We are a guest in somebody's allocator. On this path: no allocation, no lock that is waited for without
 * bound, no function of libc but the real ones we stand in for, no loader, no unwinder of a library; errno stays as
 * it was. What cannot be kept is counted in the area. On anything unexpected at the start the agent says one
 * line, or nothing where nobody records, and passes everything through.
 *
 * Threads: `agent` is written when the first hook is called, and by a child of fork() before it has a second
 *          thread. `me` is the calling thread's own.
 */
#pragma once
#include "inferom/heap_wire.h"

#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((noinline, cold))

enum agent_state { AGENT_ASLEEP, AGENT_STARTING, AGENT_ON, AGENT_OFF };

struct agent {
    _Atomic uint32_t state;
    uint32_t mode, most_depth, wants_blocks, clock;
    uint64_t period_bytes, ns_per_tick_32, calm_ticks; /* calm_ticks: that a full window of allocations takes at least, else it is sampled */
    uint64_t seed;
    uint32_t pid, process; /* number of our row in the region */
    struct heap_region *region;
    struct heap_process *row;
    uint8_t *area;          /* NULL: there is none for us */
    uint32_t levels;        /* of live blocks, as many as we could map */
    _Atomic uint32_t *here; /* 1: we are on; 0 also in a child of fork() that has not begun yet */
    uint64_t device, inode; /* of the region */
    int fd;                 /* as we were told at the start: a program may empty its environment */
    char path[64];
};

extern struct agent agent;

/* From where a hook was called: the caller's registers once the hook has returned. */
struct here {
    uint64_t pc, sp, fp;
};

#define HERE()                                                                                                        \
    {                                                                                                                 \
        (uint64_t)__builtin_return_address(0), (uint64_t)__builtin_dwarf_cfa(), *(uint64_t *)__builtin_frame_address(0) \
    }

/* What a thread keeps to itself. */
enum { GUARD_OURS = 1 }; /* as a guard: what happens now is not the target's doing, and is not counted as unseen */

struct thread {
    struct heap_thread *counts; /* NULL: this thread has no place so far */
    uint64_t guard;             /* stack address of the hook we are in; 0: none */
    int64_t until;              /* bytes to the next sample */
    int64_t delta;              /* live bytes that are not in the area's sum yet */
    uint64_t random;
    uint64_t window_tick;
    uint32_t number;
    bool is_sampling, has_ended;
    uint64_t *rows; /* of the place: the next thread that takes it goes on with them */
    uint64_t rows_mask;
    uint64_t stack_low, stack_end, other_low, other_end;
};

extern __thread struct thread me __attribute__((tls_model("initial-exec")));

static inline struct heap_area *area(void) { return (struct heap_area *)(void *)agent.area; }
static inline struct heap_thread *thread_at(uint32_t i)
{
    return (struct heap_thread *)(void *)(agent.area + HEAP_THREADS_AT + i * HEAP_THREAD_STRIDE);
}
static inline struct heap_row *row_at(uint32_t i)
{
    return (struct heap_row *)(void *)(agent.area + HEAP_ROWS_AT + i * sizeof(struct heap_row));
}
static inline struct heap_row_rest *rest_at(uint32_t i)
{
    return (struct heap_row_rest *)(void *)(agent.area + HEAP_RESTS_AT + i * sizeof(struct heap_row_rest));
}
static inline void count_up(_Atomic uint64_t *what, uint64_t by)
{
    atomic_fetch_add_explicit(what, by, memory_order_relaxed);
}

static inline uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

uint64_t clock_slow(void);
static inline uint64_t tick_now(void)
{
#if defined(__x86_64__)
    if (likely(agent.clock == HEAP_CLOCK_COUNTER)) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        return (uint64_t)high << 32 | low;
    }
#elif defined(__aarch64__)
    if (likely(agent.clock == HEAP_CLOCK_COUNTER)) {
        uint64_t v;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
        return v;
    }
#endif
    return clock_slow();
}

/* agent.c */
bool agent_slow(void); /* before the start, in a child of fork(), or off; true: go on */
void agent_stop(void);
bool agent_wake_for(const char *path); /* inject.c; once in a process's life */
static inline bool agent_is_on(void)
{
    return likely(atomic_load_explicit(agent.here, memory_order_acquire)) || agent_slow();
}

/* threads.c */
bool thread_take(void);      /* a place for the calling thread; false: there is none, nothing is recorded */
void threads_forget(void);   /* in a child: nobody but us is here */
bool thread_key_make(void);
bool lock_take(_Atomic uint32_t *lock); /* bounded; false: somebody holds it for too long */
void lock_give(_Atomic uint32_t *lock);

/* In and out. A hook called from a signal handler while we are busy on the same thread is counted, and passed through. */
bool enter_slow(uint64_t sp);
static inline bool enter(uint64_t sp)
{
    if (unlikely(me.guard || !me.counts) && !enter_slow(sp))
        return false;
    me.guard = sp;
    return true;
}
void leave_shared(void); /* of those who share a place */
static inline void leave(void)
{
    if (unlikely(me.number == 0))
        leave_shared();
    me.guard = 0;
}

/* live.c: the filter. False: there is no such block. */
enum { HEAP_FILTER = 1 << 14 }; /* it stays in the nearest cache */
extern _Atomic uint8_t live_filter[HEAP_FILTER];
static inline _Atomic uint8_t *live_filter_of(uint64_t address)
{
    return &live_filter[(address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 50];
}

/* Where only samples are taken, most calls end here: counted, and nothing else. Between enter() and leave(), or instead. */
enum { HEAP_WINDOW = 4096 };
static inline bool is_only_counted(uint64_t size)
{
    if (!me.is_sampling || unlikely((me.counts->allocations + 1) % HEAP_WINDOW == 0))
        return false;
    int64_t until = me.until - (int64_t)(size ? size : 1);
    if (unlikely(until <= 0))
        return false;
    me.until = until;
    me.counts->allocations++;
    me.counts->bytes += size;
    return true;
}
static inline bool is_only_freed(uint64_t address)
{
    if (agent.mode == HEAP_EXACT || unlikely(atomic_load_explicit(live_filter_of(address), memory_order_relaxed)))
        return false;
    me.counts->frees++;
    return true;
}

/* track.c: between enter() and leave(). */
void track_allocation(void *p, size_t size, const struct here *from);
bool track_free(void *p, struct heap_block *out); /* true: it was ours, and this is what it was */
void track_again(const struct heap_block *b);     /* it was not freed after all */

/* sampling.c */
bool sampling_takes(uint64_t size, uint64_t *out_weight_256); /* is it this one's turn? */
uint64_t sampling_weight_256(uint64_t size);
double sampling_variance(uint64_t size); /* in bytes^2 / 2^20 */
void sampling_begin(void);
void sampling_window(void); /* every HEAP_WINDOW allocations: was this too quick? */

/* walk.c */
struct walk {
    uint64_t hash;
    uint32_t n;
    enum heap_walk_end end;
    struct here at; /* HEAP_WALK_SLICE: the frame whose caller is unknown */
    uint64_t stack_end;
    uint64_t frames[HEAP_DEPTH_MOST];
};
void walk_from(const struct here *from, struct walk *w);
uint64_t stack_bound(uint64_t sp); /* up to where the stack can be read */
void walk_learn_code(uint64_t start, uint64_t end); /* code that a return address may point into */
bool walk_knows_code(const struct walk *w); /* false: there is code in it that was mapped since we looked */

/* stacks.c */
uint32_t stack_number(const struct walk *w); /* 0: there are too many */

/* rows.c */
uint32_t row_number(uint64_t hash, const struct walk *w); /* 0: there are too many */

/* live.c */
void live_expect(uint64_t address); /* it will be put soon */
bool live_put(const struct heap_block *b);
bool live_take(uint64_t address, struct heap_block *out);
void live_forget(void); /* in a child */

/* ring.c */
void ring_slice(uint32_t stack, const struct here *at, uint64_t stack_end);
void ring_maps(void); /* what is code now */
void ring_mapping(const struct heap_mapping *m, const char *path);
void blocks_write(const struct heap_freed *f);

/* early.c: memory before the real functions are known */
void *early_new(size_t bytes, size_t align);
bool early_has(const void *p);
size_t early_size(const void *p);
