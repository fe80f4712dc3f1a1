/*
 * heap_turns.h - when the turns of a run ended
 *
 * A server that answers the same kind of request again and again should have the same memory after each. Turns are the
 * requests of a program (spans of that kind; several spans of one request are one turn); where it names none, they are the
 * ends of the phase that comes most often.
 *
 *     request r-1 [        ]                       turn 0 ends here: 1
 *     request r-2      [           ]               turn 1:               2
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/heap.h"

struct heap_turn {
    uint64_t start_ns, end_ns;
    bool is_named; /* by a label "request", and it says: */
    str_id text;
    int64_t number;
    int64_t allocations, bytes; /* as its spans counted them; HEAP_UNKNOWN: they did not */
};

struct heap_turns {
    struct heap_turn *rows; /* in the order in which they ended */
    size_t n, cap;
    enum span_kind kind; /* SPAN_REQUEST or SPAN_PHASE */
    str_id phase;        /* whose ends they are */
    uint32_t *by_context; /* the turn that a context was for; HEAP_NO_TURN */
};

#define HEAP_NO_TURN UINT32_MAX

/* What a turn allocated in the middle; NAN: the samples have no times, or there are no turns. */
struct heap_rate {
    double bytes, allocations;
    bool is_counted;                 /* in every turn: then it is exact, and so are */
    int64_t least_bytes, most_bytes; /* of one turn */
};

/*
 * Where spans of turns counted what was allocated in them, that. Else all from the first turn's start to the last one's end, divided by how
 * many there were: rows are written once a second or so, so the ends are known that well; of many turns it is the truth.
 */
struct heap_rate heap_per_turn(const struct heap *h, const struct heap_turns *t);

struct heap_turns heap_turns_of(const struct profile *p);
void heap_turns_done(struct heap_turns *t);
DEFINE_OWN_IN_PLACE(heap_turns, struct heap_turns)
