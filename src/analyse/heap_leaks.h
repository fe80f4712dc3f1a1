/*
 * heap_leaks.h - memory that nobody gives back, in two grades
 *
 *     A   growing: what a turn (heap_turns.h) leaves behind is still there LEAK_SURVIVES turns later, in at least
 *         LEAK_GROWS turns, and in at least half of those since it began. The grade that matters for a server, whose
 *         memory at exit says nothing; found also when everything is freed at the very end.
 *     B   live at the end of the recording: at exit, when the program ended. Not every such block is a mistake.
 *
 * Where allocations know their request (the set "heap.left": live blocks by stack and request), what it leaves behind is what was allocated
 * for it and was live when the third turn after it had ended; and of LEAK_GROWS turns there must be something at one and the same
 * moment, for what is kept for a few turns and then freed does not grow. Where they do not, it is the least that a path had live from the end of a turn until the third after,
 * as far as that is more than ever before; a path of which this least falls back by a quarter has blocks that come and go,
 * and is no leak. Of turns between two readings of the heap only one is told apart.
 *
 * Paths that a suppression speaks of are left out and counted.
 *
 * Owns: its rows.
 */
#pragma once
#include "analyse/heap.h"
#include "analyse/heap_turns.h"
#include "analyse/leak_suppressions.h"

enum { LEAK_SURVIVES = 3, LEAK_GROWS = 5 };

enum leak_grade { LEAK_A, LEAK_B, LEAK_GRADE_COUNT };
extern const char *const leak_grade_names[LEAK_GRADE_COUNT + 1]; /* "A", "B"; ends with NULL */

struct leak {
    size_t row; /* of the heap: its live values are what is left */
    enum leak_grade grade;
    size_t grew_in, of_turns; /* turns that left something behind; turns one could tell of. 0: no turns */
    int64_t left_behind;      /* bytes, by all of those together */
};

struct leak_sum {
    size_t paths;
    int64_t blocks, bytes; /* live at the end */
};

struct heap_leaks {
    struct leak *rows; /* A before B, most bytes first */
    size_t n;
    struct leak_sum by_grade[LEAK_GRADE_COUNT], suppressed;
    struct leak_sum *by_rule; /* of the suppressions; NULL: none were given */
    size_t n_rules;
    size_t n_turns;
    enum span_kind turn_kind;
    str_id turn_phase;
};

/* False: the profile does not say what was live. */
bool heap_leaks_of(struct heap_leaks *l, const struct heap *h, const struct leak_suppressions *known);
void heap_leaks_done(struct heap_leaks *l);
DEFINE_OWN_IN_PLACE(heap_leaks, struct heap_leaks)
