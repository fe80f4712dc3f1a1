/*
 * client.h - what the files of libinferom share
 *
 * Every thread that opens a scope has a block of its own: a tree with a node for
 * each way to get to a scope, a list of things that happened (phases, requests,
 * readings), and where the thread is now.
 *
 *     threads ──> block ──> block ──> ...                     never freed, taken over by later threads
 *                   │
 *                   ├ root ─ decode ─ attention               one node per path; statistics in place
 *                   │     └─ sample
 *                   ├ scope, node: the innermost open one
 *                   └ events
 *
 * The owner alone writes to its block. On its way in and out of a scope: no lock, no
 * allocation, no system call. Whoever wants results walks all blocks meanwhile: nodes
 * are only ever added, links are published with a release, and numbers are atomic
 * only so that nobody sees half of one.
 *
 * inferom_reset() cannot clear what others write. It raises the epoch instead: numbers
 * of an older epoch count as zero, and their owner clears them before it adds to them.
 */
#pragma once
#include "inferom.h"

#include <stdbool.h>
#include <sys/types.h>

#define GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define GET_LINK(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define PUT_LINK(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define GET_REAL(place) ({ double real_; __atomic_load(&(place), &real_, __ATOMIC_RELAXED); real_; })
#define PUT_REAL(place, value) ({ double real_ = (value); __atomic_store(&(place), &real_, __ATOMIC_RELAXED); })
#define RARELY(condition) __builtin_expect(!!(condition), 0)

enum {
    OCTAVES = 42,       /* of ticks: the last one begins after an hour */
    STEPS = 16,         /* buckets in an octave: a bucket is at most 1/16 as wide as where it begins */
    METRICS_MOST = 256, /* different counters and gauges */
    BEGUN_MOST = 256,   /* scopes open at once by inferom_begin(), and phases, on one thread */
    BLOCKS_APART = 512, /* threads whose numbers are kept apart; later ones join those that ended */
    ID_BYTES = 64,      /* of a request */
    EVENT_BLOCK = 1024, /* events in a piece of memory */
    EVENT_BLOCKS_MOST = 64,
    REQUESTS_MOST = 1 << 16, /* made by one thread */
    STRIDE_MOST = 64    /* one call in so many is timed, at least */
};

/* When a scope began, if not at a tick: 0 is a call that is not timed. */
#define BEGAN_SPECIAL (UINT64_MAX - 1)
#define BEGAN_IN_PARENT UINT64_MAX       /* before the fork; the parent counts it */
#define BEGAN_MUTED (UINT64_MAX - 1)     /* left out, with all inside it */

enum site_kind { SITE_SCOPE, SITE_PHASE, SITE_COUNTER, SITE_GAUGE };

/* Ticks. */
extern bool ticks_are_tsc;
uint64_t ticks_slow(void);
void ticks_start(void);       /* once */
uint64_t ticks_in_a_millisecond(void);
double ticks_cost(void);      /* of reading the clock, in ticks */
struct ticks_scale {
    uint64_t tick, ns;        /* the same moment */
    double ns_per_tick;
};
struct ticks_scale ticks_scale_now(void);
uint64_t ticks_to_ns(const struct ticks_scale *s, uint64_t tick); /* CLOCK_MONOTONIC */

static inline __attribute__((always_inline)) uint64_t ticks_now(void)
{
#if defined(__x86_64__)
    if (!RARELY(!ticks_are_tsc)) {
        uint32_t low, high;
        __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
        return (uint64_t)high << 32 | low;
    }
#elif defined(__aarch64__)
    if (!RARELY(!ticks_are_tsc)) {
        uint64_t v;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
        return v;
    }
#endif
    return ticks_slow();
}

/* The tree. */
struct node {
    inferom_site *site; /* NULL: the root */
    struct node *parent, *hint; /* hint: the child that was entered last; the owner's alone */
    uint32_t epoch;
    uint32_t skip;      /* calls to come that are not timed */
    uint32_t stride;    /* one in so many is timed */
    uint32_t is_warming; /* the site may have calls left to leave out */
    uint64_t timed, skipped, cut, left_out;
    uint64_t total, least, most; /* ticks, of timed calls */
    uint64_t look_at;   /* so many timed calls: see whether the stride is still right */
    int64_t middle;     /* the first length: squares are of distances from it, so that nothing cancels */
    double squares;
    uint64_t allocations, bytes; /* while this was the innermost scope */
    struct node *children, *next; /* published */
    uint64_t *octaves[OCTAVES];   /* published; NULL: nobody was there */
};

enum event_kind { EVENT_PHASE, EVENT_REQUEST, EVENT_READING };

struct event {
    uint64_t began, ended; /* ticks; of a reading: when, and nothing */
    inferom_site *site;    /* of a phase or reading */
    inferom_request *request; /* whom it was for, or NULL */
    double value;
    uint64_t kind;
};

struct inferom_request {
    char id[ID_BYTES];
    uint64_t began;
    uint32_t number; /* 1, 2, ...: two requests may have the same id */
    uint32_t epoch;
};

struct metric {
    double sum, told_sum, last, least, most; /* sum: of a counter's amounts, or of a gauge's values */
    uint64_t times, last_tick, told_tick;
    uint32_t epoch;
};

struct begun {
    inferom_scope scope;
    bool is_phase;
    uint32_t serial;
    uint64_t phase_began;
    inferom_request *request;
};

struct block {
    inferom_scope *scope;      /* innermost open; at least `outermost` */
    struct node *node;         /* of it */
    uintptr_t stack_low, stack_high;
    inferom_scope *muted_by;   /* a call that is left out, and all inside it */
    uint32_t busy;             /* a signal handler that finds this set records nothing */
    uint32_t begun_n;
    uint32_t random;
    inferom_request *request;
    uint64_t request_began;
    struct node root;
    inferom_scope outermost;

    uint32_t tid;              /* of the last thread that had it */
    uint32_t threads;          /* that had it */
    uint32_t is_taken;
    char name[16];
    struct block *next;

    uint32_t requests;         /* made by it */
    uint64_t lost_scopes, lost_events, misused;
    uint32_t events_epoch;
    uint64_t events_n;
    struct event *events[EVENT_BLOCKS_MOST];
    struct metric *metrics;    /* METRICS_MOST of them; NULL: none yet */
    struct begun begun[BEGUN_MOST];

    uint8_t *arena, *arena_end;
};

extern __thread struct block *mine __attribute__((tls_model("initial-exec")));
extern struct block *blocks; /* all there are; published */
extern uint32_t epoch;
extern uint32_t timing_is_adaptive;
extern uint32_t memory_is_told; /* somebody called inferom_allocated() */

/* threads.c */
struct block *block_of_this_thread(void); /* made or taken over when there is none; NULL: no memory */
void *block_memory(struct block *b, size_t bytes); /* zeroed, never given back; NULL: none left */
void threads_start(void);
uint32_t this_tid(void);

/* scope.c */
void scope_enter_as(struct block *b, inferom_scope *scope, inferom_site *site, uint64_t now); /* one that is on no stack */
void scope_leave_at(struct block *b, inferom_scope *scope, uint64_t now); /* now 0: read the clock when it is needed */
void scopes_end_all(struct block *b);  /* as if they had ended here */
void scopes_forget(struct block *b);   /* after a fork: they are the parent's */

/* begun.c */
bool begun_is_one(const struct block *b, const inferom_scope *s);
void begun_popped(struct block *b, inferom_scope *s, uint64_t now); /* an open one that scope.c took off */

/* sites.c */
const char *site_name(const inferom_site *s);
void site_register(inferom_site *s, enum site_kind kind);
inferom_site *site_first(const inferom_site *s); /* of those with its name and kind */
inferom_site *site_named(const char *name, enum site_kind kind); /* copied when new; NULL: too many */
inferom_site *sites(void);             /* all there are, the last one first; next leads on */
void sites_lock(void);                 /* for fork() */
void sites_unlock(void);
bool site_takes_warmup(inferom_site *s); /* is this call one to leave out? */
void warmup_from_text(const char *text); /* "decode=3,prefill=1" */

/* events.c */
void event_add(struct block *b, struct event e);
void results_lock(void); /* against inferom_reset() */
void results_unlock(void);

/* metrics.c: what the threads have together. */
struct metric_sum {
    double value, least, most, mean; /* value: a counter's sum, a gauge's last */
    uint64_t times;
};
bool metric_sum_of(const inferom_site *s, struct metric_sum *out);

/* lifetime.c */
extern struct run_facts {
    char program[16];
    uint64_t began_ns;
} run_facts;
