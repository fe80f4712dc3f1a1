/*
 * scopes_wire.h - what libinferom inside a target and the recorder outside share
 *
 * One region of shared memory, made by the recorder and sealed against shrinking. It is cut into pieces; whoever needs
 * memory takes one, and nobody but its owner writes there:
 *
 *     ┌ region ─┬ row of piece 0 ┬ row of piece 1 ┬ ... ┬ piece 0 ──────┬ piece 1 ──────┬ ...
 *     │ 4 KiB   │ 16 B           │                │     │ 64 KiB        │               │
 *     └─────────┴────────────────┴────────────────┴─────┴───────────────┴───────────────┴ ...
 *
 * A piece of items is filled from its front; `used` says how far, and is stored when an item is whole. Items never move
 * and never go away; their numbers change in place. A piece of records is a part of a thread's ring: one record for each
 * scope that ended and was long enough, `head` and `tail` count them since the thread began.
 *
 *     process ─┬─ sites                       names, by number
 *              └─ thread ─┬─ nodes            ways to get to a scope, by number; the caller's number is the smaller one
 *                         ├─ buckets          of a node: how many calls took about so long
 *                         ├─ events           phases, requests, readings
 *                         ├─ requests         whom events were for
 *                         ├─ metrics          counters and gauges
 *                         └─ ring of records
 *
 * So whatever ends a process, its numbers are here. A piece is given back by the recorder, when its process is gone.
 *
 * There are no pointers in here and nothing that one side believes of the other: the recorder copies before it looks,
 * and what makes no sense is counted and passed over. Without a recorder the same items lie in memory of the process.
 */
#pragma once
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPES_MAGIC UINT64_C(0x3153504f4353464e) /* "NFSCOPS1" in memory, little end first */
enum { SCOPES_VERSION = 2 };

#define SCOPES_PATH_VARIABLE "INFEROM_SCOPES_PATH" /* /proc/PID/fd/N of the recorder: most programs name no scopes and should not have a descriptor for it */

enum {
    SCOPES_HEADER_BYTES = 4096,
    SCOPES_PIECE_BYTES = 1 << 16,
    SCOPES_PIECES_MOST = 1 << 16,
    SCOPES_ITEM_ALIGN = 64,
    SCOPES_OCTAVES = 42,         /* of ticks: the last one begins after an hour */
    SCOPES_STEPS = 16,           /* buckets in an octave: a bucket is at most 1/16 as wide as where it begins */
    SCOPES_DEPTH_MOST = 512,     /* of scopes in scopes */
    SCOPES_NODES_MOST = 1 << 16, /* of one thread */
    SCOPES_SITES_MOST = 1 << 14, /* of one process */
    SCOPES_METRICS_MOST = 256,   /* different counters and gauges */
    SCOPES_ID_BYTES = 64,        /* of a request */
    SCOPES_NAME_BYTES = 16,      /* of a thread, a program */
    SCOPES_EVENTS = 1024,        /* in one item */
    SCOPES_EVENT_ITEMS_MOST = 64,
    SCOPES_EVENTS_MOST = SCOPES_EVENTS * SCOPES_EVENT_ITEMS_MOST, /* that nobody has read yet */
    SCOPES_RECORDS = 2048,       /* in one piece */
    SCOPES_RING_PIECES = 8
};

/* When an open scope began, if not at a tick. */
#define SCOPES_NOT_TIMED UINT64_C(0)
#define SCOPES_BEGAN_SPECIAL (UINT64_MAX - 1) /* this and above: its calls are not counted here */

struct scopes_region {
    uint64_t magic;
    uint32_t version, pieces;
    uint32_t recorder_pid;
    uint32_t processes;    /* numbers given out; the first is 1 */
    uint32_t pieces_used;  /* no piece from here on was ever taken */
    uint32_t zero;
    uint64_t refused;      /* pieces that were wanted when there were none */
};

enum scopes_piece_kind { SCOPES_ITEMS = 1, SCOPES_RING };

struct scopes_piece {
    uint32_t process; /* 0: free; its owner's number, taken by compare and exchange */
    uint32_t thread;  /* number in the process, from 1 */
    uint32_t used;    /* bytes of items */
    uint16_t kind;    /* 0: not said yet */
    uint16_t index;   /* among those of the same thread and kind */
};

enum scopes_kind {
    SCOPES_PROCESS = 1, SCOPES_THREAD, SCOPES_SITE, SCOPES_NODE, SCOPES_BUCKETS, SCOPES_EVENT_LIST, SCOPES_REQUEST, SCOPES_METRICS,
    SCOPES_KIND_COUNT
};

struct scopes_item {
    uint32_t bytes; /* of the whole item, this included; a multiple of SCOPES_ITEM_ALIGN */
    uint32_t kind;  /* enum scopes_kind */
};

/* Told by the thread that came first. */
struct scopes_process {
    struct scopes_item head;
    uint32_t pid;
    uint32_t epoch;          /* numbers of nodes and metrics that say another one count as nothing */
    uint64_t pid_namespace;  /* inode; its pid means nothing in another */
    uint64_t began_ns;       /* CLOCK_MONOTONIC */
    double clock_cost;       /* ticks */
    uint32_t ticks_are_ns;   /* the processor's counter was not to be trusted: ticks are CLOCK_MONOTONIC */
    uint32_t stride;         /* one call in so many is timed; 0: as many as are cheap */
    uint32_t memory_is_told; /* allocations and bytes of nodes mean something */
    char program[SCOPES_NAME_BYTES];
};

struct scopes_thread {
    struct scopes_item head;
    uint32_t tid;     /* of the last one that had it */
    uint32_t threads; /* that had it */
    char name[SCOPES_NAME_BYTES];
    uint32_t events_epoch, zero;
    uint64_t events;      /* written; a ring, when somebody reads them */
    uint64_t events_from; /* the first that counts: those before are of an older epoch */
    uint64_t lost_scopes, lost_events, lost_records, misused;

    _Alignas(64) uint64_t head_record; /* written */
    uint32_t now;                      /* the innermost node that is timed; 0: none */

    _Alignas(64) uint64_t tail_record, tail_event; /* read; the recorder writes these, and nothing else */

    _Alignas(64) uint64_t began[SCOPES_DEPTH_MOST + 1]; /* by depth: when what is open there began; row 0 is nobody's */
};

struct scopes_site {
    struct scopes_item head;
    uint32_t number, kind; /* enum scopes_site_kind */
    uint32_t line, id;     /* id: of a counter or gauge, its row among the metrics */
    uint32_t name_bytes, file_bytes;
    /* the name and the file follow */
};

enum scopes_site_kind { SCOPES_SITE_SCOPE, SCOPES_SITE_PHASE, SCOPES_SITE_COUNTER, SCOPES_SITE_GAUGE, SCOPES_SITE_KIND_COUNT };

/* One path on one thread. What changes with every call is in the first line of cache. */
struct scopes_node {
    struct scopes_item head;
    uint32_t number, caller, site; /* caller 0: the thread began with it */
    uint32_t epoch;
    uint64_t timed;
    uint64_t skipped; /* calls that are not timed, with those to come before one is timed again */
    uint64_t last;    /* length of the last timed call: not in a bucket yet */
    uint64_t total;   /* ticks, of timed calls */
    double squares;   /* of distances from the middle */

    uint64_t left;    /* to come: so many of `skipped` are not yet */
    uint64_t least, most;
    int64_t middle;   /* the first length */
    uint64_t cut, left_out;
    uint64_t allocations, bytes; /* while this was the innermost scope */
};

struct scopes_buckets {
    struct scopes_item head;
    uint32_t node, octave;
    uint64_t counts[SCOPES_STEPS];
};

enum scopes_event_kind { SCOPES_EVENT_PHASE, SCOPES_EVENT_REQUEST, SCOPES_EVENT_READING };

struct scopes_event {
    uint64_t began; /* ticks; of a reading: when */
    union {
        uint64_t ended;
        double value; /* of a reading: what a counter's thread added since its last one, or the gauge */
    };
    uint16_t site, kind; /* 0: none; enum scopes_event_kind */
    uint32_t request;    /* 0: none */
    uint64_t allocations, bytes; /* by the thread meanwhile, where the process says that somebody counts them */
    uint32_t tid, zero;          /* whose it is: the items of a thread that ended are taken over by another */
};

struct scopes_event_list {
    struct scopes_item head;
    uint32_t index, zero; /* event n is in the list n / SCOPES_EVENTS % SCOPES_EVENT_ITEMS_MOST */
    struct scopes_event events[SCOPES_EVENTS];
};

struct scopes_request {
    struct scopes_item head;
    uint32_t number, zero;
    char id[SCOPES_ID_BYTES];
};

struct scopes_metric {
    double sum, last, least, most; /* sum: of a counter's amounts, or of a gauge's values */
    uint64_t times, last_tick;
    uint32_t epoch, zero;
    uint64_t zeros;
};

struct scopes_metrics {
    struct scopes_item head;
    uint64_t zeros[7];
    struct scopes_metric rows[SCOPES_METRICS_MOST]; /* by id of their site */
};

struct scopes_record {
    uint64_t began, length; /* ticks */
    uint32_t node;
    uint32_t allocations;   /* of the node so far, their last 32 bits; what a call did is the difference to the one before */
    uint64_t bytes;
};

static_assert(sizeof(struct scopes_region) <= SCOPES_HEADER_BYTES, "the rows begin behind the header");
static_assert(sizeof(struct scopes_piece) == 16, "wire layout is frozen");
static_assert(offsetof(struct scopes_thread, head_record) == 128, "writer and reader have cache lines of their own");
static_assert(offsetof(struct scopes_thread, tail_record) == 192, "writer and reader have cache lines of their own");
static_assert(offsetof(struct scopes_node, left) == 64, "the first line is what every timed call changes");
static_assert(sizeof(struct scopes_node) == 128, "wire layout is frozen");
static_assert(sizeof(struct scopes_event) == 48 && SCOPES_SITES_MOST <= UINT16_MAX + 1, "wire layout is frozen");
static_assert(sizeof(struct scopes_event_list) <= SCOPES_PIECE_BYTES, "an item is inside one piece");
static_assert(sizeof(struct scopes_metric) == 64, "wire layout is frozen");
static_assert(sizeof(struct scopes_record) == 32 && SCOPES_RECORDS * sizeof(struct scopes_record) == SCOPES_PIECE_BYTES,
              "records fill a piece");

/* Where things are; in 64 bits whatever the numbers, so that a check can follow. */
static inline uint64_t scopes_pieces_at(uint32_t pieces)
{
    uint64_t end = SCOPES_HEADER_BYTES + (uint64_t)pieces * sizeof(struct scopes_piece);
    return (end + SCOPES_HEADER_BYTES - 1) / SCOPES_HEADER_BYTES * SCOPES_HEADER_BYTES;
}

static inline uint64_t scopes_region_bytes(uint32_t pieces)
{
    return scopes_pieces_at(pieces) + (uint64_t)pieces * SCOPES_PIECE_BYTES;
}

/* Where a bucket begins, and where it ends; ticks. */
static inline uint64_t scopes_bucket_from(size_t octave, size_t step)
{
    return octave ? (uint64_t)(SCOPES_STEPS + step) << (octave - 1) : step;
}

static inline uint64_t scopes_bucket_to(size_t octave, size_t step)
{
    return scopes_bucket_from(octave, step) + (octave ? UINT64_C(1) << (octave - 1) : 1);
}
