/*
 * scopes_memory.h - the recorder's end of the memory it shares with libinferom in targets
 *
 * The layout is in include/inferom/scopes_wire.h. What is in there was written by a program we know nothing about: by our
 * library, one hopes, or by whatever else found the memory mapped. So every value is copied first and then checked;
 * sizes are the ones we made the region with; an item that makes no sense ends the reading of its thread, and is counted.
 * Nobody can make us read outside the region, wait, or loop.
 *
 *     own(scopes_memory) struct scopes_memory *m = NULL;
 *     if (!scopes_memory_new(&m, pieces, e)) ...
 *     scopes_memory_visit(m);                               // a few times a second: who is there, what is new
 *     for (size_t i = 0; i < m->n_processes; i++) ...       // the tables are to be read as they are
 *     scopes_memory_release(m, process);                    // it is gone: its pieces are free again
 *
 * A visit learns what does not change (names, paths) and where the numbers are; those are copied when they are wanted,
 * with scopes_memory_copy().
 *
 * Owns:     the memory, its descriptor and the tables.
 * Threads:  one at a time.
 * Fails:    scopes_memory_new(), when the system has no such memory for us.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "inferom/scopes_wire.h"

/* Where an item is; 0: nowhere. Good for scopes_memory_copy() of the item's own type. */
typedef uint64_t scopes_place;

struct seen_site {
    char *name, *file; /* NULL: nobody said */
    uint32_t line, id;
    enum scopes_site_kind kind;
    double sum; /* of a counter's readings so far */
};

struct seen_node {
    uint32_t caller, site, depth; /* caller: a smaller number; 0: none. The first node is number 1 */
    uint32_t labels, labels_turn; /* whoever labels samples keeps them here */
    scopes_place place;
};

struct seen_request {
    uint32_t number;
    uint32_t first_span; /* its spans are linked to the first, wherever it was; 0: there is none yet */
    char id[SCOPES_ID_BYTES + 1];
};

enum { SCOPES_LOSSES = 3 };

/* A thread worked for a request, from one tick to another. */
struct seen_work {
    uint32_t tid, request;
    uint64_t began, ended;
};

struct seen_thread {
    uint32_t number;
    scopes_place place; /* 0: it has not said who it is */
    uint32_t tid;       /* when last visited */
    struct seen_node *nodes; /* row 0 is nobody's */
    size_t n_nodes, cap_nodes;
    scopes_place *buckets;
    size_t n_buckets, cap_buckets;
    scopes_place events[SCOPES_EVENT_ITEMS_MOST], metrics;
    uint32_t *pieces; /* of items, by index; UINT32_MAX: not there yet */
    size_t n_pieces, cap_pieces;
    uint32_t ring[SCOPES_RING_PIECES]; /* pieces; UINT32_MAX */
    size_t at_piece;     /* read up to here */
    uint32_t at_byte;
    uint64_t tail, event_tail; /* of its records; of its events */
    bool is_damaged;
    uint64_t lost_told[SCOPES_LOSSES]; /* of its counts of what was lost: written down already */
    void *joined;        /* scopes_join.h's */
};

struct seen_process {
    uint32_t number;
    struct scopes_process head; /* pid 0: it has not said who it is. Its epoch changes: ask again at `place` */
    scopes_place place;
    struct seen_thread **threads; /* in the order in which they were met */
    size_t n_threads, cap_threads;
    struct seen_site *sites; /* by number */
    size_t n_sites, cap_sites;
    struct seen_request *requests;
    size_t n_requests, cap_requests, sorted_requests;
    uint64_t subject; /* of its table in the file; no other process has the same */
    uint64_t numbers; /* scopes_capture_numbers() when its table was last written */
    struct seen_work *work; /* scopes_requests.h's */
    size_t n_work, cap_work, sorted_work;
    uint32_t epoch; /* when its events were last read */
    bool is_gone;     /* whoever asks keeps the answer here */
    bool is_over;     /* its pieces were given back */
    uint64_t over_ns; /* when */
};

struct scopes_memory {
    uint32_t pieces;
    int fd; /* -1: the memory is somebody else's */
    struct scopes_region *head;
    struct scopes_piece *rows;
    uint8_t *bytes;
    uint32_t *known; /* by piece: the process we know it to be of */
    struct seen_process **processes;
    size_t n_processes, cap_processes;
    uint64_t met; /* processes, ever */
    uint64_t damaged; /* threads whose items made no sense */
};

bool scopes_memory_new(struct scopes_memory **out, uint32_t pieces, struct err *e) MUST_CHECK;
void scopes_memory_free(struct scopes_memory *m); /* NULL is fine */
DEFINE_OWN(scopes_memory, struct scopes_memory *)

void scopes_memory_visit(struct scopes_memory *m);
void scopes_memory_copy(const struct scopes_memory *m, scopes_place place, void *to, size_t bytes); /* once; then it is ours */

/* Records that are ready, oldest first, at most so many; they count as read. Returns how many. */
size_t scopes_memory_records(struct scopes_memory *m, struct seen_thread *t, struct scopes_record *out, size_t most);

/* Events that are ready, likewise. */
size_t scopes_memory_events(struct scopes_memory *m, struct seen_thread *t, struct scopes_event *out, size_t most);

void scopes_memory_release(struct scopes_memory *m, struct seen_process *p, uint64_t now_ns);
void scopes_memory_forget(struct scopes_memory *m, size_t process); /* the tables, too; those behind it move up */
uint64_t scopes_memory_refused(const struct scopes_memory *m);      /* pieces that were wanted when there were none */

/* For tests and fuzzers: over memory that somebody else made, zeroed, and keeps. */
struct scopes_memory *scopes_memory_over(void *bytes, uint32_t pieces);
