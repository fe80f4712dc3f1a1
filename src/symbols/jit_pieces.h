/*
 * jit_pieces.h - what a just-in-time compiler said it has made, in either of two formats
 *
 * Both are files that grow while the program runs. A parser is handed the bytes from where
 * it stopped last time, takes the whole records in them, and says how far it came; a record
 * that is not complete yet is left for the next time.
 */
#pragma once
#include "base/err.h"
#include "base/intern.h"
#include "symbols/name_ranges.h"

#define JIT_NAME_MOST ((size_t)64 << 10) /* longer names are cut */

struct jit_pieces {
    struct interner names;
    struct name_range *rows; /* said since the last look, oldest first */
    size_t n, cap;
    struct name_ranges ranges; /* all that was said before */
};

void jit_pieces_add(struct jit_pieces *p, uint64_t start, uint64_t bytes, struct view name);
void jit_pieces_settle(struct jit_pieces *p); /* rows go into ranges; the newest is seen */

struct jit_input {
    struct view bytes; /* a window; may end anywhere */
    uint64_t offset;   /* of the window in the file */
    uint64_t left;     /* in the file, from the window's begin; what is written while we read comes next time */
};

/* How many bytes were used; more than the window has where a record's tail is of no interest. */
bool perf_map_parse(struct jit_pieces *p, const struct jit_input *in, uint64_t *out_used, struct err *e) MUST_CHECK;
bool jitdump_parse(struct jit_pieces *p, const struct jit_input *in, uint64_t *out_used, struct err *e) MUST_CHECK;
bool jitdump_is(struct view head);
