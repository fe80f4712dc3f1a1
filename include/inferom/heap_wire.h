/*
 * heap_wire.h - what the heap agent inside a target and the recorder outside share
 *
 * One sparse file in memory, made by the recorder and sealed against shrinking and growing. Its head says
 * what is wanted; behind it is a row for each process, and far behind that an area for each process, of
 * which only the pages that are used exist:
 *
 *     ┌ region ─┬ process 0 ┬ process 1 ┬ ... ┬ area 0 ─────────────────────────────┬ area 1 ── ...
 *     │ 4 KiB   │ 128 B     │           │     │ HEAP_AREA_BYTES of addresses        │
 *     └─────────┴───────────┴───────────┴─────┴─────────────────────────────────────┴ ...
 *
 * Life of a row and its area (a child of fork() and a program after exec() take one of their own):
 *
 *     FREE ──guest──> TAKEN ──guest──> LIVE ──recorder, when the process is gone──> emptied, FREE
 *
 * An area:
 *
 *     head │ threads │ rules │ ring │ index │ stacks │ frames │ rows │ their rest │ blocks │ own │ live
 *
 *     threads   what each thread counted, exactly and always
 *     rules     by return address, how to get from a frame to its caller; the recorder writes them, from the
 *               tables it has, for every address it met in a slice; the guest walks by them
 *     ring      what the recorder must see once: pieces of stacks that no rules were known for, lines of
 *               /proc/self/maps, mappings made and removed
 *     index     hash of a stack -> number of a stack, on levels of growing size
 *     stacks    where the return addresses of a stack begin among the frames, and how the walk ended
 *     rows      (thread, stack, scope) -> counters: the heap profile itself
 *     blocks    only if asked for: one record for each block that was freed
 *     own       address -> block, a small table for each thread
 *     live      address -> block, of all threads, on levels of growing size, for what is not there
 *
 * Everything in an area but the rules and the rings' tails is written by the guest. There are no pointers in
 * here and nothing that one side believes of the other: the recorder copies each value once and then checks it;
 * the guest believes the sizes once, and a rule can lead it nowhere but to another place on its own stack.
 */
#pragma once
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_MAGIC UINT64_C(0x31504145484d4649) /* "IFMHEAP1" in memory, little end first */
enum { HEAP_VERSION = 1 };

#define HEAP_FD_VARIABLE "INFEROM_HEAP_FD"     /* the descriptor, inherited */
#define HEAP_PATH_VARIABLE "INFEROM_HEAP_PATH" /* /proc/PID/fd/N of the recorder, for those who close what they inherit */

enum {
    HEAP_HEADER_BYTES = 4096,
    HEAP_PROCESSES = 256,        /* at the same time */
    HEAP_THREADS_MOST = 2048,    /* of a process, with counters of their own; thread 0 is everybody else */
    HEAP_LEVELS = 8,             /* of live blocks: 4096 on the first, four times as many on each next */
    HEAP_LEVEL_FIRST = 4096,
    HEAP_OWN_BLOCKS = 4096,      /* of a thread */
    HEAP_BLOCK_PROBES = 8,
    HEAP_RULES = 1 << 17,
    HEAP_RULE_PROBES = 16,
    HEAP_RING_BYTES = 1 << 26,   /* used while the recorder is behind; it gives pages back that it has read */
    HEAP_INDEX_LEVELS = 6,       /* of 1024, 4096, ... entries */
    HEAP_STACKS_MOST = 1 << 19,
    HEAP_FRAMES_MOST = 1 << 26,
    HEAP_ROWS_MOST = 1 << 21,
    HEAP_BLOCKS_BYTES = 1 << 26,
    HEAP_DEPTH_MOST = 1024,
    HEAP_SLICE_MOST = 1 << 16,   /* bytes of stack in one record: what goes on behind it is unknown until the recorder has answered */
    HEAP_CLASSES = 48,           /* of sizes and lifetimes, by powers of two */
    HEAP_NAME_BYTES = 16,
    HEAP_LINE_MOST = 4400,
    HEAP_WHOLE = 256,            /* objects are counted in 1/256, since a sample stands for a part more than whole ones */
};

/* What is wanted of everybody. */
enum heap_phase { HEAP_STOP, HEAP_GO };
enum heap_mode { HEAP_EXACT, HEAP_SAMPLED, HEAP_ADAPTIVE, HEAP_MODE_COUNT };
enum heap_clock { HEAP_CLOCK_MONOTONIC, HEAP_CLOCK_COUNTER };

enum heap_state { HEAP_FREE, HEAP_TAKEN, HEAP_LIVE };
enum heap_origin { HEAP_BY_EXEC, HEAP_BY_FORK, HEAP_ORIGIN_COUNT };

/* Why something is not seen. */
enum heap_trouble {
    HEAP_NO_AREA, /* more processes at once than areas */
    HEAP_NO_ROOM, /* no address space for an area: ulimit -v */
    HEAP_TROUBLE_COUNT
};

struct heap_region {
    uint64_t magic;
    uint32_t version;
    uint32_t processes;
    uint64_t area_bytes;
    uint32_t mode, clock;
    uint64_t period_bytes;   /* between two samples, on average */
    uint64_t calm_per_s;     /* HEAP_ADAPTIVE: above so many allocations a second of a thread, samples are enough */
    uint64_t ns_per_tick_32; /* nanoseconds of a tick of the clock, times 2^32 */
    uint32_t most_depth;
    uint32_t wants_blocks;
    uint32_t recorder_pid;
    _Atomic uint32_t phase;
    _Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC of the recorder's last visit */
    _Atomic uint64_t trouble[HEAP_TROUBLE_COUNT];
};

struct heap_process {
    _Atomic uint32_t state;
    uint32_t pid, parent_pid;
    uint32_t origin;
    uint64_t began_ns;
    uint64_t began_tick; /* of the clock of blocks, at the same moment */
    uint64_t zero[12];
};

/* Where the allocator in use lives, and what could not be kept. */
struct heap_area {
    char allocator[64]; /* base name of the file that has it */
    _Atomic uint64_t unseen;        /* calls that came while we were busy with another of the same thread, or could not be kept */
    _Atomic uint64_t unseen_bytes;
    _Atomic uint64_t unknown_frees; /* of blocks from before we looked; only where everything is tracked */
    _Atomic uint64_t lost_stacks;   /* pieces of stack the ring had no room for */
    _Atomic uint64_t lost_blocks;   /* records of freed blocks, likewise */
    _Atomic uint64_t lost_maps;
    _Atomic uint64_t stolen_locks;  /* whose holder had left by longjmp() */
    _Atomic uint32_t threads, stacks, rows; /* used so far, from 1 on */
    _Atomic uint32_t levels;        /* of live blocks, in use */
    _Atomic uint32_t is_sampling_seen; /* some thread took samples at some time */
    _Atomic uint32_t unloads;       /* of libraries: addresses may mean something else from then on */
    _Atomic uint64_t frames;

    /* The sum of all blocks, without what threads have not added yet (HEAP_QUANTUM each at most). */
    _Alignas(64) _Atomic int64_t live_bytes;
    _Alignas(64) _Atomic int64_t peak_bytes;
    _Atomic uint32_t epoch;         /* counts new peaks */
    _Atomic uint64_t peak_tick;

    _Alignas(64) _Atomic uint32_t ring_lock;
    _Atomic uint64_t ring_head;
    _Alignas(64) _Atomic uint64_t ring_tail; /* the recorder's */
    _Alignas(64) _Atomic uint32_t blocks_lock;
    _Atomic uint64_t blocks_head;
    _Alignas(64) _Atomic uint64_t blocks_tail; /* the recorder's */
};

/* A thread adds to the sum when it has this much to add, if it is not the only one. */
enum { HEAP_QUANTUM = 1 << 16, HEAP_PEAK_STEP = 1 << 12 };

enum heap_thread_state { HEAP_THREAD_NEW, HEAP_THREAD_LIVE, HEAP_THREAD_ENDED };

struct heap_class {
    uint64_t objects_256, bytes;
};

struct heap_thread {
    _Atomic uint32_t state;
    uint32_t tid;
    uint64_t allocations, bytes, frees, freed_bytes; /* struct inferom_heap_counters */
    uint64_t exact_allocations;                      /* of these, tracked one by one */
    uint64_t samples;
    _Atomic uint64_t inside; /* stack address of the call we are in; 0: none */
    char name[HEAP_NAME_BYTES];
    _Alignas(64) struct heap_class sizes[HEAP_CLASSES]; /* K: (2^(K-1), 2^K] bytes */
    struct heap_class lifetimes[HEAP_CLASSES];          /* K: [2^K, 2^(K+1)) ns */
};

/* Where the caller is, in one word: kind, CFA = register + offset (or what is there), return address and frame pointer by CFA. */
enum heap_rule_kind {
    HEAP_RULE_NONE,
    HEAP_RULE_SP,     /* CFA = sp + offset */
    HEAP_RULE_FP,     /* CFA = fp + offset */
    HEAP_RULE_MEMORY, /* CFA = *(fp + offset) */
    HEAP_RULE_END,    /* there is no caller */
    HEAP_RULE_STOP,   /* nobody can tell */
    HEAP_RULE_KIND_COUNT
};

struct heap_rule {
    _Atomic uint64_t address; /* a return address; 0: free */
    _Atomic uint64_t rule;
};

/* offset: 32 bits, kind: 4 bits, return address at CFA + 8 * n: 14 bits, frame pointer likewise: 14 bits */
static inline uint64_t heap_rule_pack(enum heap_rule_kind kind, int64_t offset, int64_t ra, int64_t fp)
{
    return (uint64_t)(uint32_t)offset | (uint64_t)kind << 32 | ((uint64_t)(ra / 8) & 0x3fff) << 36 | ((uint64_t)(fp / 8) & 0x3fff) << 50;
}
static inline uint32_t heap_rule_kind(uint64_t r) { return (uint32_t)(r >> 32) & 15; }
static inline int64_t heap_rule_offset(uint64_t r) { return (int32_t)(uint32_t)r; }
static inline int64_t heap_rule_ra(uint64_t r) { return ((int64_t)(r << 14) >> 50) * 8; }
static inline int64_t heap_rule_fp(uint64_t r) { return ((int64_t)r >> 50) * 8; }
static inline int heap_rule_is_plain(uint64_t r) { return heap_rule_kind(r) - HEAP_RULE_SP <= HEAP_RULE_FP - HEAP_RULE_SP; }

/* A frame pointer that is said to be where the return address is was not saved, and is the caller's still. */
static inline int heap_rule_keeps_fp(uint64_t r) { return heap_rule_fp(r) == heap_rule_ra(r); }

/* Neighbours in code are neighbours here, and two calls are never one. */
static inline uint32_t heap_rule_slot(uint64_t address) { return (uint32_t)(address >> 2) & (HEAP_RULES - 1); }

struct heap_index {
    _Atomic uint64_t hash; /* 0: free */
    _Atomic uint32_t stack; /* 0: being made */
    uint32_t zero;
};

enum heap_walk_end {
    HEAP_WALK_COMPLETE,
    HEAP_WALK_DEEP,  /* there are more callers than are kept */
    HEAP_WALK_STOP,  /* the unwinder can go no further */
    HEAP_WALK_SLICE, /* a record in the ring has the rest: the frames are those below it */
    HEAP_WALK_LOST,  /* such a record was lost */
    HEAP_WALK_END_COUNT
};

struct heap_stack {
    uint64_t frames_at;
    uint32_t n;
    uint32_t end;     /* enum heap_walk_end */
    uint32_t unloads; /* of libraries before it was seen */
    uint32_t zero;
    uint64_t more;
};

/* What a thread allocated, and freed of that; it alone writes here, without atomics. One cache line. */
struct heap_row {
    uint64_t objects_256, bytes;
    int64_t live_256, live_bytes;
    int64_t peak_256, peak_bytes; /* good if `epoch` is the area's; else they are what is live */
    uint64_t temporary_256;
    uint32_t epoch;
    uint32_t samples; /* recorded allocations, modulo 2^32 */
};

/* The rest of the row of the same number: whose it is, and what other threads freed of it. */
struct heap_row_rest {
    uint32_t stack, thread, scope;
    uint32_t hash_low; /* the guest's own */
    _Atomic int64_t freed_256, freed_bytes;
    int64_t peak_freed_256, peak_freed_bytes;
    _Atomic uint64_t freed_epoch;
    double variance; /* of bytes, in bytes^2 / 2^20 */
};

#define HEAP_BLOCK_SAMPLED (UINT64_C(1) << 63)
#define HEAP_BLOCK_SIZE (~HEAP_BLOCK_SAMPLED)

/* What an address is in the table when it is none. A place that was used once never becomes HEAP_BLOCK_NEVER again. */
enum { HEAP_BLOCK_NEVER, HEAP_BLOCK_FREED, HEAP_BLOCK_BUSY, HEAP_BLOCK_NONE_COUNT };

struct heap_block {
    _Atomic uint64_t address;
    uint64_t size; /* and HEAP_BLOCK_SAMPLED */
    uint64_t tick;
    uint32_t row;
    uint32_t thread : 11; /* that made it, and the number of its allocation */
    uint32_t serial : 21;
};
static_assert(HEAP_THREADS_MOST <= 1 << 11, "a block has room for the number of its thread");

/* A freed block, in the ring of blocks. */
struct heap_freed {
    struct heap_block block;
    uint64_t freed_tick;
};

/* The ring of the rest. */
enum heap_kind { HEAP_PAD = 1, HEAP_SLICE, HEAP_MAP_LINE, HEAP_MAPPING };

struct heap_record {
    uint32_t bytes; /* of the whole record, this included; a multiple of 16 */
    uint32_t kind;
    uint64_t when_ns;
};

struct heap_slice {
    struct heap_record head;
    uint32_t stack; /* its frames come before these */
    uint32_t bytes;
    uint64_t pc, sp, fp; /* of the first frame whose caller nobody knows */
    uint64_t zero;
    /* bytes of stack from sp on follow */
};

struct heap_map_line {
    struct heap_record head;
    uint32_t line_bytes;
    uint32_t is_first; /* of a new list: older ones say nothing any more */
    uint64_t zero;
};

enum heap_mapping_what { HEAP_MAPPED, HEAP_UNMAPPED, HEAP_BREAK, HEAP_MAPPING_WHAT_COUNT };

struct heap_mapping {
    struct heap_record head;
    uint64_t address, length;
    uint32_t what, flags; /* MAP_... */
    uint32_t stack, thread;
    uint32_t path_bytes, zero;
    /* path_bytes of the file's name follow */
};

static_assert(sizeof(struct heap_region) <= HEAP_HEADER_BYTES, "the processes begin behind the header");
static_assert(sizeof(struct heap_process) == 128, "wire layout is frozen");
static_assert(sizeof(struct heap_area) <= HEAP_HEADER_BYTES, "the threads begin behind the head");
static_assert(sizeof(struct heap_thread) <= 2048, "wire layout is frozen");
static_assert(sizeof(struct heap_rule) == 16 && sizeof(struct heap_index) == 16, "wire layout is frozen");
static_assert(sizeof(struct heap_stack) == 32, "wire layout is frozen");
static_assert(sizeof(struct heap_row) == 64 && sizeof(struct heap_row_rest) == 64, "a cache line each");
static_assert(sizeof(struct heap_block) == 32, "wire layout is frozen");
static_assert(sizeof(struct heap_record) == 16 && sizeof(struct heap_slice) == 56, "wire layout is frozen");
static_assert(sizeof(struct heap_map_line) == 32 && sizeof(struct heap_mapping) == 56, "wire layout is frozen");

/* Where things are in an area. */
#define HEAP_THREADS_AT UINT64_C(0x1000)
#define HEAP_THREAD_STRIDE UINT64_C(2048)
#define HEAP_RULES_AT (HEAP_THREADS_AT + HEAP_THREADS_MOST * HEAP_THREAD_STRIDE)
#define HEAP_RING_AT (HEAP_RULES_AT + HEAP_RULES * sizeof(struct heap_rule))
#define HEAP_INDEX_AT (HEAP_RING_AT + HEAP_RING_BYTES)
#define HEAP_INDEX_ENTRIES ((UINT64_C(1024) * ((UINT64_C(1) << 2 * HEAP_INDEX_LEVELS) - 1)) / 3)
#define HEAP_STACKS_AT (HEAP_INDEX_AT + (HEAP_INDEX_ENTRIES * sizeof(struct heap_index) + 4095) / 4096 * 4096)
#define HEAP_FRAMES_AT (HEAP_STACKS_AT + HEAP_STACKS_MOST * sizeof(struct heap_stack))
#define HEAP_ROWS_AT (HEAP_FRAMES_AT + HEAP_FRAMES_MOST * sizeof(uint64_t))
#define HEAP_RESTS_AT (HEAP_ROWS_AT + HEAP_ROWS_MOST * sizeof(struct heap_row))
#define HEAP_BLOCKS_AT (HEAP_RESTS_AT + HEAP_ROWS_MOST * sizeof(struct heap_row_rest))
#define HEAP_OWN_AT (HEAP_BLOCKS_AT + HEAP_BLOCKS_BYTES)
#define HEAP_OWN_BYTES ((uint64_t)HEAP_OWN_BLOCKS * sizeof(struct heap_block))
#define HEAP_LIVE_AT (HEAP_OWN_AT + HEAP_THREADS_MOST * HEAP_OWN_BYTES)
#define HEAP_LEVEL_BLOCKS(level) ((uint64_t)HEAP_LEVEL_FIRST << 2 * (level))
#define HEAP_LIVE_LEVEL_AT(level) (HEAP_LIVE_AT + (HEAP_LEVEL_BLOCKS(level) - HEAP_LEVEL_FIRST) / 3 * sizeof(struct heap_block))
#define HEAP_AREA_BYTES HEAP_LIVE_LEVEL_AT(HEAP_LEVELS)
#define HEAP_AREA_STRIDE ((HEAP_AREA_BYTES + (UINT64_C(1) << 21) - 1) & ~((UINT64_C(1) << 21) - 1))

static_assert(HEAP_RULES_AT % 4096 == 0 && HEAP_RING_AT % 4096 == 0 && HEAP_INDEX_AT % 4096 == 0, "parts begin with a page");
static_assert(HEAP_FRAMES_AT % 4096 == 0 && HEAP_ROWS_AT % 4096 == 0 && HEAP_LIVE_AT % 4096 == 0, "parts begin with a page");
static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "atomics work between processes");

static inline uint64_t heap_processes_at(void) { return HEAP_HEADER_BYTES; }
static inline uint64_t heap_area_at(uint32_t i) { return (UINT64_C(1) << 21) + i * HEAP_AREA_STRIDE; }
static inline uint64_t heap_region_bytes(uint32_t processes) { return heap_area_at(processes); }
static inline uint64_t heap_index_at(uint32_t level)
{
    return HEAP_INDEX_AT + UINT64_C(1024) * ((UINT64_C(1) << 2 * level) - 1) / 3 * sizeof(struct heap_index);
}
static inline uint64_t heap_rounded(uint64_t bytes) { return (bytes + 15) & ~UINT64_C(15); }
