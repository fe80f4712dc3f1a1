/*
 * heap_target.h - one process with a heap agent in it, as the recorder sees it
 *
 *     area ── ring ── slices, maps, mappings ──┐
 *       ├──── rows ── what changed since ──────┼──> samples of the sets "heap", "heap.sizes", "mappings", ...
 *       └──── threads ── exact counters ───────┘    (the contract is in docs/internals/heap.md)
 *
 * Counters in the area only grow or hold a state; here is what was written of them so far, and what is written next is the
 * difference. A row that holds impossible numbers is left out and counted.
 *
 * Owns:     what it knows of the process. The area is borrowed.
 * Threads:  one at a time.
 * Fails:    never; what makes no sense is counted in `damaged`.
 */
#pragma once
#include "capture/heap/heap_left.h"
#include "capture/heap/heap_mappings.h"
#include "capture/heap/heap_shared.h"
#include "capture/heap/heap_stacks.h"
#include "model/capture_writer.h"

enum { HEAP_MEASURES = 8 };

/* What all processes of a recording have in common. */
struct heap_book {
    struct capture_writer *into;
    struct code_files *files;
    struct stack_names naming;
    struct heap_shared *shared;
    set_id heap, variance, sizes, lifetimes, blocks, mappings, left;
    bool has_variance, has_classes, has_blocks, has_mappings, has_left;
    bool knows_requests; /* live blocks were looked at for whom they were made; nothing of it in the file means that nothing was left */
    struct heap_account bytes, frames; /* how much may be kept of what they say */
    void (*bound_names)(void *self); /* called before names are made: it may begin again with none. NULL: nobody minds */
    void *names_of;
    int64_t sums[HEAP_MEASURES]; /* of everything written to the set "heap" */
};

void heap_book_init(struct heap_book *b, struct capture_writer *into, struct heap_shared *shared, size_t most_depth);
void heap_book_done(struct heap_book *b);
void heap_book_begin_again(struct heap_book *b);

struct heap_written;
struct heap_who; /* a thread */

struct heap_target {
    uint32_t index; /* of its area */
    struct heap_claim claim;
    uint8_t *area;
    char name[64];
    struct heap_stacks stacks;
    struct heap_mappings mappings;
    struct heap_left left;
    struct heap_purse purse, frames;
    struct heap_written *written; /* by row; row 0 is all those together that there is no room for */
    size_t written_cap;
    uint64_t beyond; /* how many these are */
    struct heap_who *threads;
    size_t threads_cap;
    uint32_t named; /* stacks up to here have names */
    uint32_t unloads;
    uint64_t tail, blocks_tail, allocations_told;
    struct heap_class sizes_told[HEAP_CLASSES], lifetimes_told[HEAP_CLASSES];
    uint64_t damaged, ring_records;
    int64_t end_peak_bytes; /* where the end is higher than what the agent took for the peak; 0: it is not */
    uint64_t end_peak_ns;
    process_id process;
    series_id live_series, rate_series;
    bool has_series, has_process;
};

void heap_target_init(struct heap_target *t, struct heap_book *b, uint32_t index, const struct heap_claim *claim, uint8_t *area);
void heap_target_done(struct heap_target *t);

void heap_target_read(struct heap_target *t, struct heap_book *b, uint64_t now_ns);   /* the rings; often */
bool heap_target_name(struct heap_target *t, struct heap_book *b, uint64_t until_ns); /* false: there are more, and the time is up */
void heap_target_write(struct heap_target *t, struct heap_book *b, uint64_t now_ns);  /* what changed; now and then */
void heap_target_end_is_peak(struct heap_target *t, struct heap_book *b, uint64_t now_ns); /* if it is; behind the last write */
void heap_target_blocks(struct heap_target *t, struct heap_book *b);                  /* those that are live, one by one */
void heap_target_begin_again(struct heap_target *t);

/* What the agent counted, exactly, and what it could not keep. */
struct heap_totals {
    uint64_t allocations, bytes, frees, freed_bytes, exact, samples;
    uint64_t unseen, unseen_bytes, unknown_frees, lost_stacks, lost_blocks, lost_maps, damaged;
    uint64_t beyond, lost_slices, lost_mappings; /* there was no room for them here */
    int64_t live_bytes, peak_bytes; /* by the table of blocks: estimates where there are samples */
    uint64_t peak_ns;
    bool is_sampling;
    char allocator[64];
};
void heap_target_totals(const struct heap_target *t, const struct heap_shared *s, struct heap_totals *add_to);

/* For the parts of this module. */

#define HEAP_VALUE_MOST (INT64_C(1) << 54) /* numbers beyond were not counted but invented */

static inline struct heap_area *heap_head_of(const struct heap_target *t) { return (struct heap_area *)(void *)t->area; }
static inline uint64_t heap_look(const _Atomic uint64_t *v) { return atomic_load_explicit(v, memory_order_acquire); }
static inline uint32_t heap_look32(const _Atomic uint32_t *v, uint32_t most)
{
    uint32_t n = atomic_load_explicit(v, memory_order_acquire);
    return n < most ? n : most;
}
static inline void heap_read_thread(const struct heap_target *t, uint32_t i, struct heap_thread *out)
{
    shared_memory_copy(out, t->area + HEAP_THREADS_AT + i * HEAP_THREAD_STRIDE, sizeof *out);
}
static inline struct heap_items heap_items_of(const struct heap_target *t, const struct heap_shared *s, uint64_t at, uint64_t stride, uint32_t n)
{
    return (struct heap_items){.shared = s, .area = t->index, .at = at, .stride = stride, .n = n};
}
static inline struct heap_items heap_threads_of(const struct heap_target *t, const struct heap_shared *s)
{
    return heap_items_of(t, s, HEAP_THREADS_AT, HEAP_THREAD_STRIDE, heap_look32(&heap_head_of(t)->threads, HEAP_THREADS_MOST));
}
static inline void heap_book_bound_names(struct heap_book *b)
{
    if (b->bound_names)
        b->bound_names(b->names_of);
}

void heap_rows_init(struct heap_target *t);

/* The context of one of its threads. */
context_id heap_target_context(struct heap_target *t, struct heap_book *b, uint32_t thread, labels_id labels);
