/*
 * sampler.h - inside the preloaded sampler: who does what
 *
 *     constructor ── maps the region, chooses a signal, arms the main thread
 *     pthread_create ── arms the new thread; its end disarms it
 *     fork ── arms the child; exec ── begins anew in the new program
 *     tick (signal handler) ── copies registers and stack into the thread's ring
 *
 * There is no table, no unwinder, no allocation and no lock in here: what a tick
 * means is found out by the recorder. When anything is not as expected the sampler
 * does nothing, and counts that in the region when there is one.
 *
 * Threads: `sampler` is written by the constructor and by a child of fork() before
 *          it has a second thread; everybody reads.
 */
#pragma once
#include "inferom/wire.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* What is ours to know about a slot, and nobody else's: the timer's value is the address of a row. */
struct local {
    int timer;           /* the kernel's number; -1: none */
    uintptr_t stack_end; /* nothing of the thread's stack is at or above this; UINTPTR_MAX: not known */
};

struct sampler {
    bool is_on;
    int signal;
    uint32_t pid;
    uint32_t slots; /* as many as we could map */
    uint64_t ring_bytes, period_ns;
    struct wire_region *region;
    struct wire_slot *slot;
    uint8_t *rings;
    pthread_key_t key; /* 1 + number of the calling thread's slot */
};

extern struct sampler sampler;
extern struct local locals[WIRE_SLOTS_MOST];

static inline uint8_t *sampler_ring(uint32_t i) { return sampler.rings + (uint64_t)i * sampler.ring_bytes; }

static inline void sampler_trouble(enum wire_trouble t)
{
    atomic_fetch_add_explicit(&sampler.region->trouble[t], 1, memory_order_relaxed);
}

/* shared_slots.c */
bool region_map(void);                         /* false: nobody records, or not our kind of region */
bool slot_take(uint32_t tid, uint32_t *out_i); /* counts WIRE_NO_SLOT */
void maps_tell(uint32_t i);                    /* what code is mapped now, into the ring of a slot with no timer yet */

/* signal_share.c */
bool signal_choose(void); /* and installs tick(); counts WIRE_NO_SIGNAL */
void signal_unblock(void);
void signal_pass_on(int number, siginfo_t *info, void *context); /* one that is not ours */

/* tick.c */
void tick(int number, siginfo_t *info, void *context);

/* thread_timers.c */
void timer_resolve(void);                               /* the real pthread_create */
bool timer_arm(uint32_t i, uint32_t tid);               /* counts WIRE_NO_TIMER; signal-safe */
void timer_disarm(uint32_t i);                          /* signal-safe */
void thread_begin(uintptr_t stack_end, enum wire_origin origin, uint32_t parent_pid); /* the calling one, from here on */
void thread_end(void *key_value);
