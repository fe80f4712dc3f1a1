/*
 * client.h - what the files of libinferom share
 *
 * Every thread that opens a scope has a block of its own: a tree with a node for
 * each way to get to a scope, a list of things that happened (phases, requests,
 * readings), and where the thread is now.
 *
 *     threads ──> block ──> block ──> ...                     never freed, taken over by later threads
 *                   │
 *                   ├ root ─ decode ─ attention               one node per path
 *                   │     └─ sample
 *                   ├ open[]: where it is now
 *                   └ items: numbers, names, events           in pieces of memory that a recorder shares
 *
 * How things hang together is pointers, and ours alone. What was counted lies in items without pointers
 * (inferom/scopes_wire.h), named `w` here: when the process is killed, the recorder still has them.
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
#include "inferom/heap_counters.h"
#include "inferom/scopes_wire.h"

#include <stdbool.h>
#include <sys/types.h>

#define GET(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define PUT(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define GET_LINK(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define PUT_LINK(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define GET_REAL(place) ({ double real_; __atomic_load(&(place), &real_, __ATOMIC_RELAXED); real_; })
#define PUT_REAL(place, value) ({ double real_ = (value); __atomic_store(&(place), &real_, __ATOMIC_RELAXED); })
#define RARELY(condition) __builtin_expect(!!(condition), 0)

/* Of two numbers; one that is not known does not count. No libm: who links us statically would need it, too. */
static inline double smaller(double a, double b) { return b < a || a != a ? b : a; }
static inline double larger(double a, double b) { return b > a || a != a ? b : a; }
static inline int64_t rounded(double v) { return (int64_t)(v < 0 ? v - 0.5 : v + 0.5); }

enum {
    OCTAVES = SCOPES_OCTAVES,
    STEPS = SCOPES_STEPS,
    METRICS_MOST = SCOPES_METRICS_MOST,
    BLOCKS_APART = 512, /* threads whose numbers are kept apart; later ones join those that ended */
    ID_BYTES = SCOPES_ID_BYTES,
    EVENT_BLOCK = SCOPES_EVENTS,
    EVENT_BLOCKS_MOST = SCOPES_EVENT_ITEMS_MOST,
    REQUESTS_MOST = 1 << 16, /* made by one thread */
    DEPTH_MOST = SCOPES_DEPTH_MOST, /* deeper scopes are counted as lost */
    OPEN_MOST = DEPTH_MOST + 1,
    NODES_MOST = SCOPES_NODES_MOST,
    STRIDE_MOST = 64    /* one call in so many is timed, at least */
};

/* When a scope began, if not at a tick: 0 is a call that is not timed. */
#define BEGAN_SPECIAL SCOPES_BEGAN_SPECIAL
#define BEGAN_IN_PARENT UINT64_MAX       /* before the fork; the parent counts it */
#define BEGAN_MUTED (UINT64_MAX - 1)     /* left out, with all inside it */

#define LONGEST ((UINT64_C(1) << 45) - 1) /* ticks: hours; a call that took longer took so long */

enum site_kind {
    SITE_SCOPE = SCOPES_SITE_SCOPE, SITE_PHASE = SCOPES_SITE_PHASE, SITE_COUNTER = SCOPES_SITE_COUNTER, SITE_GAUGE = SCOPES_SITE_GAUGE
};

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

/* The processor's counter: only where ticks_are_tsc. */
static inline __attribute__((always_inline)) uint64_t ticks_counter(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#else
    return 0;
#endif
}

static inline uint64_t ticks_now(void) { return ticks_are_tsc ? ticks_counter() : ticks_slow(); }

/* The tree. What every call looks at comes first; the quick way in the public header knows that much (struct inferom_node_). */
struct node {
    inferom_site *site; /* NULL: the root */
    struct node *then;  /* the sibling that came after this one the last time: who comes next, most likely */
    uint64_t *left;     /* in `w` */
    uint32_t skip;       /* calls to come that are not timed */
    uint32_t is_warming; /* any of WARMING, SLOW_CLOCK, HAS_CHILDREN: the quick way is not for this one */
    uint32_t epoch;
    uint32_t depth;

    struct node *parent;
    struct node *last_child; /* that was entered, or `nobody`; the owner's alone */
    struct scopes_node *w;   /* what was counted */
    uint32_t stride;    /* one in so many is timed */
    uint32_t number;
    uint64_t look_at;   /* so many timed calls: see whether the stride is still right */
    struct node *children, *next; /* published */
    struct scopes_buckets *octaves[OCTAVES]; /* published; NULL: nobody was there */
};

#define SAME_PLACE(ours, theirs, member) \
    _Static_assert(offsetof(struct ours, member) == offsetof(struct theirs, member), "as inferom.h has it")
SAME_PLACE(node, inferom_node_, site);
SAME_PLACE(node, inferom_node_, then);
SAME_PLACE(node, inferom_node_, left);
SAME_PLACE(node, inferom_node_, skip);
SAME_PLACE(node, inferom_node_, is_warming);
SAME_PLACE(node, inferom_node_, epoch);

/* Why a scope is not entered the quick way: its site may have calls left to leave out; and for ever. */
enum { WARMING = 1, SLOW_CLOCK = 2, HAS_CHILDREN = 4 };

enum event_kind { EVENT_PHASE = SCOPES_EVENT_PHASE, EVENT_REQUEST = SCOPES_EVENT_REQUEST, EVENT_READING = SCOPES_EVENT_READING };

struct inferom_request {
    char id[ID_BYTES];
    uint32_t number; /* 1, 2, ...: two requests may have the same id */
    uint32_t told_by; /* the process whose items have it */
    struct inferom_request *next; /* made by the same thread before */
};

/* When a counter or gauge was last told about. */
struct told {
    double sum;
    uint64_t tick;
};

/* Of those on no stack: a phase that began at a tick, in an epoch that its thread's events know; and all others. */
#define ON_NO_STACK UINTPTR_MAX
#define USUAL_PHASE (UINTPTR_MAX - 1)

/* What a thread has allocated since it began: as the heap agent counts, and as inferom_allocated() was told. */
struct memory {
    uint64_t allocations, bytes;
};

/*
 * A scope that is open. These are a list of the library's own and not a chain through the stacks of the program: what
 * longjmp() jumped over is overwritten before we know.
 */
struct open {
    const inferom_scope *scope; /* where it is; NULL: on no stack, begun by inferom_begin() or a phase */
    struct node *node;
    uintptr_t stack;            /* where the stack ended then; or ON_NO_STACK, USUAL_PHASE */
    uint64_t began;             /* ticks; 0: not timed; or one of BEGAN_... */
    uint64_t serial;            /* these four only of one that is on no stack */
    uint32_t request;           /* number */
    uint32_t is_phase;
    struct memory memory;       /* when it began */
};

SAME_PLACE(open, inferom_open_, scope);
SAME_PLACE(open, inferom_open_, stack);

struct block {
    struct open *top;          /* the innermost one; at least open[0], which nobody opened */
    struct node *expected;     /* may be entered the quick way (inferom.h); `nobody`: none may */
    const inferom_scope *leaf_scope; /* a call that is not timed, of a scope without scopes in it; NULL: none (hot.h) */
    struct node *leaf;
    uintptr_t leaf_stack;

    struct node *node;         /* of the innermost one that is in the list */
    struct scopes_thread *w;
    const struct inferom_heap_counters *heap; /* of this thread; NULL: nobody counts */
    uint64_t heap_allocations, heap_bytes;    /* of them, those that some scope has */
    uint64_t record_head, record_room;        /* written; may be written before somebody looks whether there is more room */
    struct scopes_record *ring[SCOPES_RING_PIECES];
    uintptr_t stack_low, stack_high;
    struct open *muted_by;     /* a call that is left out, and all inside it; `node` is `nobody` then */
    uint32_t busy;             /* a signal handler that finds this set records nothing */
    uint32_t nodes;
    uint64_t serial;           /* of the next handle */
    uint32_t random;
    inferom_request *request;
    uint32_t request_number;   /* of it, as this process tells it */
    uint32_t knows_memory;     /* the heap agent or inferom_allocated() counts, or did for whoever had the block before: then all events say how much */
    uint64_t request_began;
    struct node root;
    struct scopes_node root_row; /* of nobody's interest */

    uint32_t number;           /* among the threads of the process */
    uint32_t is_taken;
    uint32_t is_named;         /* by itself */
    struct block *next;

    uint32_t requests;         /* made by it */
    inferom_request *made;
    struct scopes_event_list *events[EVENT_BLOCKS_MOST];
    struct scopes_event *next_event; /* where the next one goes; NULL: a list is at its end */
    struct scopes_metrics *metrics; /* NULL: none yet */
    struct told *told;              /* METRICS_MOST of them, with it */
    struct open open[OPEN_MOST];

    struct memory told_memory;    /* by inferom_allocated() */
    struct memory request_memory; /* when the request began */

    uint8_t *arena, *arena_end;
    struct scopes_piece *piece, own_piece; /* that items are put into; own: when there is no region */
    uint8_t *piece_bytes;
    uint32_t piece_room, item_bytes, item_pieces; /* item_bytes: of the item that is being made */
};

SAME_PLACE(block, inferom_thread_, top);
SAME_PLACE(block, inferom_thread_, expected);
SAME_PLACE(block, inferom_thread_, leaf_scope);
SAME_PLACE(block, inferom_thread_, leaf);
SAME_PLACE(block, inferom_thread_, leaf_stack);

/*
 * A thread without a block points to one that is nobody's, and a node without a child to a node that is nobody's: so the way
 * into a scope needs no test for NULL. Neither is ever written to.
 */
extern struct block no_block;
extern struct node nobody;
#define my_block ((struct block *)(void *)inferom_thread)
static inline void my_block_is(struct block *b) { inferom_thread = (struct inferom_thread_ *)(void *)b; }
static inline struct block *mine(void) { return my_block == &no_block ? NULL : my_block; }

extern struct block *blocks; /* all there are; published */
extern uint32_t epoch; /* and, while it is on, inferom_is_on: who has read one needs no other */
extern uint32_t timing_stride; /* one call in so many is timed; 0: as many as are cheap */
extern uint64_t record_least; /* ticks: shorter calls leave no record; UINT64_MAX: nobody reads them */

/* threads.c */
struct block *block_of_this_thread(void); /* made or taken over when there is none; NULL: no memory */
void *block_memory(struct block *b, size_t bytes); /* zeroed, never given back; NULL: none left */
void threads_start(void);
uint32_t this_tid(void);
/* The heap agent does, where there is one, until it looks again: what we need for ourselves is none of the program's memory. They nest. */
void heap_looks_away(void);
void heap_looks_again(void);
void *pages(size_t bytes, int flags, int fd); /* mmap(), while it looks away; NULL: none */
void *own_pages(size_t bytes);
void thread_is_called(struct block *b, const char *name); /* from now on, whatever the system says */

/* pieces.c: items; zeroed, and seen by others from item_done() on. NULL: no memory. One at a time. */
extern struct scopes_process *process; /* what all threads have in common */
extern uint32_t process_number;        /* 0: there is no region */
void *item_new(struct block *b, enum scopes_kind kind, size_t size);
void item_done(struct block *b);
bool pieces_start(void);               /* is there a recorder? */
void process_begins(struct block *b);  /* tells about the process, once */
void process_forked(void);
struct scopes_record *ring_piece(struct block *b, uint16_t index); /* NULL: no memory, or nobody reads */

/* scope.c */
struct open *scope_open(struct block *b, const inferom_scope *scope, inferom_site *site, uintptr_t stack, uint64_t now); /* NULL: lost */
void scope_close(struct block *b, struct open *o, uint64_t now); /* and all inside it; now 0: read the clock when it is needed */
void scopes_end_all(struct block *b);  /* as if they had ended here */
void scopes_forget(struct block *b);   /* after a fork: they are the parent's */

void leaf_settle(struct block *b);     /* the leaf, if there is one, becomes a row like the others */
static inline struct node *innermost(const struct block *b) { return b->leaf_scope ? b->leaf : b->node; }

/* begun.c */
void phase_ended(struct block *b, struct open *o, uint64_t now);

/* records.c: one record of a call that ended, if it is long enough for one. */
void record_call(struct block *b, const struct node *n, uint64_t began, uint64_t ticks);
void records_learn(void);

/* scope.c, for a child of fork(): its own numbers, from nothing. False: no memory. */
bool node_tell(struct block *b, struct node *n);

/* sites.c */
const char *site_name(const inferom_site *s);
void site_register(inferom_site *s, enum site_kind kind);
inferom_site *site_first(const inferom_site *s); /* of those with its name and kind */
inferom_site *site_named(const char *name, enum site_kind kind); /* copied when new; NULL: too many */
inferom_site *sites(void);             /* all there are, the last one first; next leads on */
void sites_lock(void);                 /* for fork() */
void sites_unlock(void);
uint32_t site_number(const inferom_site *s);      /* of the first of its name; 0: none */
inferom_site *site_at(uint32_t number);           /* NULL: there is none */
void sites_tell_again(struct block *b);           /* in a child of fork() */
bool site_takes_warmup(inferom_site *s); /* is this call one to leave out? */
void warmup_from_text(const char *text); /* "decode=3,prefill=1" */

/* events.c */
/* No room for a list more. Only asked at the end of one. */
static inline bool events_are_full(const struct scopes_thread *w)
{
    return w->events - GET(w->tail_event) > SCOPES_EVENTS_MOST - SCOPES_EVENTS;
}
void event_add(struct block *b, struct scopes_event e);
void events_begin_epoch(struct block *b); /* if there is a new one */
uint32_t request_number(struct block *b, inferom_request *r); /* tells about it where that is new; 0: nobody */
void epoch_next(void);
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
    char program[SCOPES_NAME_BYTES];
    uint64_t began_ns;
} run_facts;
