/*
 * graph_names.h - how nodes, shares and calls of a call graph are put into words
 *
 * What the picture and the text of a graph have in common.
 */
#pragma once
#include "analyse/graph_changes.h"
#include "analyse/graph_cut.h"
#include "base/sink.h"
#include "render/names.h"

#define GRAPH_WORD_ROOM 96

/* "model.c:120", or the module, or "". Files and modules by their last part. */
struct view graph_place(const struct profile *p, func_id id, char room[NAME_ROOM]);

void graph_share_text(char out[GRAPH_WORD_ROOM], int64_t value, int64_t whole);          /* "45.20 %" */
void graph_calls_text(char out[GRAPH_WORD_ROOM], const struct call_graph *g, int64_t n); /* "1 234×", "7 samples"; "" when unknown */

/* "1.2 s → 1.5 s, more"; by share "12.30 % → 15.10 %, more". */
void graph_change_text(char out[GRAPH_WORD_ROOM], const struct difference *d, const struct changed *c);

void graph_wholes(const struct difference *d, struct sink *out); /* "10.0 s → 9.45 s of cpu" */

/* How much of the whole has changed, -1..1; 0 where it may as well be chance. */
double graph_change(const struct difference *d, const struct changed *c);

/* "344 us of self, 21 of 25 functions, 30 of 41 calls" */
void graph_extent(const struct profile *p, const struct call_graph *g, const struct graph_cut *c, const struct measure *m,
                  struct sink *out);
void graph_counts(const struct call_graph *g, const struct graph_cut *c, struct sink *out); /* ", 21 of 25 functions, ..." */
