/*
 * wire.h - what the sampler inside a target and the recorder outside share
 *
 * One region of shared memory, made by the recorder and sealed against shrinking:
 *
 *     ┌ region ─┬ slot 0 ┬ slot 1 ┬ ... ┬ slot n-1 ┬ ring 0 ─────┬ ring 1 ─────┬ ...
 *     │ 4 KiB   │ 192 B  │        │     │          │ ring_bytes  │             │
 *     └─────────┴────────┴────────┴─────┴──────────┴─────────────┴─────────────┴ ...
 *
 * A thread that is sampled holds a slot and writes records into the ring of the
 * same number; nobody else writes there, the recorder alone reads. `head` and
 * `tail` count bytes since the slot was made and never go back; a record lies at
 * its count modulo ring_bytes and never across the end: what is left there is
 * filled by a WIRE_PAD, of which only the head is written. What did not fit is in
 * `lost`, beside the ring.
 *
 * Life of a slot:
 *
 *     FREE ──guest──> TAKEN ──guest──> LIVE ──guest, or recorder──> ENDED ──recorder──> FREE
 *       └─recorder──> WANTED ──guest──┘        when all is gone          when all is read
 *
 * WANTED: the recorder met a thread in /proc that holds no slot, wrote its number
 * into one and asks, through `please` of a slot that is LIVE, to have it armed.
 *
 * There are no pointers in here and nothing that one side believes of the other:
 * the recorder reads each value once, into memory of its own, and then checks it;
 * the guest believes the region's sizes once, when it maps it.
 */
#pragma once
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC UINT64_C(0x314d4f5245464e49) /* "INFEROM1" in memory, little end first */
enum { WIRE_VERSION = 1 };

#define WIRE_FD_VARIABLE "INFEROM_SAMPLER_FD"     /* the descriptor, inherited */
#define WIRE_PATH_VARIABLE "INFEROM_SAMPLER_PATH" /* /proc/PID/fd/N of the recorder, for those who close what they inherit */

enum {
    WIRE_HEADER_BYTES = 4096,
    WIRE_SLOTS_MOST = 4096,
    WIRE_RING_LEAST = 1 << 18, /* two of the largest records fit */
    WIRE_STACK_MOST = 1 << 16, /* bytes of stack in one record */
    WIRE_STACK_FIRST = 1 << 14, /* where the stack's end is not known, until the recorder asks for more */
    WIRE_REGISTERS = 33,       /* by DWARF number; x86-64 uses 17, arm64 all */
    WIRE_NAME_BYTES = 16,
    WIRE_LINE_MOST = 4400      /* of /proc/self/maps: a path of PATH_MAX and what is in front of it */
};

/* What the recorder wants of everybody. */
enum wire_phase { WIRE_STOP, WIRE_GO, WIRE_PAUSE };

enum wire_state { WIRE_FREE, WIRE_TAKEN, WIRE_WANTED, WIRE_LIVE, WIRE_ENDED };

/* How the thread came to be: the first of a new program, the one that lives on in a child, one more of a process. */
enum wire_origin { WIRE_BY_EXEC, WIRE_BY_FORK, WIRE_BY_THREAD, WIRE_ORIGIN_COUNT };

/* Why a thread or a process is not sampled; counted in the region. */
enum wire_trouble {
    WIRE_NO_SLOT,      /* more threads at once than slots */
    WIRE_NO_TIMER,     /* the kernel refused one: RLIMIT_SIGPENDING, a seccomp filter */
    WIRE_NO_SIGNAL,    /* every signal we would use has a handler already */
    WIRE_STRAY,        /* a tick for a thread that had just ended */
    WIRE_NO_RECORDER,  /* nobody read for a long time; the thread stopped its timer */
    WIRE_TROUBLE_COUNT
};

struct wire_region {
    uint64_t magic;
    uint32_t version;
    uint32_t slots;
    uint64_t ring_bytes; /* a power of two */
    uint64_t period_ns;  /* of CPU time of a thread between two samples; kernels round it up to their tick */
    uint32_t recorder_pid;
    _Atomic uint32_t phase;
    _Atomic uint64_t beat_ns; /* CLOCK_MONOTONIC of the recorder's last visit */
    _Atomic uint64_t trouble[WIRE_TROUBLE_COUNT];
};

struct wire_slot {
    /* Whose it is; written before the state says LIVE. */
    _Alignas(64) _Atomic uint32_t state;
    uint32_t pid, tid;
    uint32_t parent_pid;        /* of WIRE_BY_FORK: whose copy this process is */
    uint32_t origin;            /* enum wire_origin */
    uint32_t zero;
    uint64_t began_ns;          /* CLOCK_MONOTONIC */
    uint64_t cpu_began_ns;      /* what the thread had used by then, CLOCK_THREAD_CPUTIME_ID */
    char name[WIRE_NAME_BYTES]; /* of the thread when it ended; "" until then */

    /* The thread writes. */
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t lost;      /* samples the ring had no room for */
    _Atomic uint64_t cpu_ns;    /* CLOCK_THREAD_CPUTIME_ID when it ended, or last seen */

    /* The recorder writes. */
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint32_t stack_bytes; /* to copy at most; 0: up to the end of the stack */
    _Atomic uint32_t please;      /* 1 + number of a WANTED slot of the same process; 0: nothing to do */
};

enum wire_kind { WIRE_PAD = 1, WIRE_SAMPLE, WIRE_MAP };

struct wire_record {
    uint32_t bytes; /* of the whole record, this included; a multiple of 16, so that a pad always fits */
    uint16_t kind;
    uint16_t flags;
    uint64_t when_ns; /* CLOCK_MONOTONIC */
};

enum {
    WIRE_CUT = 1, /* of wire_sample: the stack goes on behind what was copied */
};

struct wire_sample {
    struct wire_record head;
    uint64_t cpu_ns; /* of the thread since it was born, CLOCK_THREAD_CPUTIME_ID */
    uint64_t stack_start;
    uint32_t tid;
    uint32_t stack_bytes;
    uint64_t registers[WIRE_REGISTERS];
    /* stack_bytes bytes of stack follow, then up to 15 of nothing */
};

/* A line of /proc/self/maps, of code only: a process that is gone when we look still has its maps here. */
struct wire_map {
    struct wire_record head;
    uint32_t line_bytes;
    uint32_t zero;
    /* line_bytes bytes of text follow, no newline */
};

static_assert(sizeof(struct wire_region) <= WIRE_HEADER_BYTES, "the slots begin behind the header");
static_assert(offsetof(struct wire_region, trouble) == 48, "wire layout is frozen");
static_assert(sizeof(struct wire_slot) == 192, "wire layout is frozen");
static_assert(offsetof(struct wire_slot, head) == 64, "writer and reader have cache lines of their own");
static_assert(offsetof(struct wire_slot, tail) == 128, "writer and reader have cache lines of their own");
static_assert(sizeof(struct wire_record) == 16, "wire layout is frozen");
static_assert(sizeof(struct wire_sample) == 40 + 8 * WIRE_REGISTERS, "wire layout is frozen");
static_assert(offsetof(struct wire_sample, registers) % 8 == 0, "64-bit fields stay aligned");
static_assert(sizeof(struct wire_map) == 24, "wire layout is frozen");
static_assert(2 * (sizeof(struct wire_sample) + WIRE_STACK_MOST) <= WIRE_RING_LEAST, "two of the largest fit");
static_assert(sizeof(struct wire_map) + WIRE_LINE_MOST <= sizeof(struct wire_sample) + WIRE_STACK_MOST,
              "a sample is the largest record");
static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "atomics work between processes");

/* Where things are; in 64 bits whatever the numbers, so that a check can follow. */
static inline uint64_t wire_rings_at(uint32_t slots)
{
    uint64_t end = WIRE_HEADER_BYTES + (uint64_t)slots * sizeof(struct wire_slot);
    return (end + WIRE_HEADER_BYTES - 1) / WIRE_HEADER_BYTES * WIRE_HEADER_BYTES;
}

static inline uint64_t wire_region_bytes(uint32_t slots, uint64_t ring_bytes)
{
    return wire_rings_at(slots) + slots * ring_bytes;
}

static inline uint64_t wire_rounded(uint64_t bytes) { return (bytes + 15) & ~UINT64_C(15); }
