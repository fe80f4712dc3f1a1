/*
 * span_labels.h - who a sample was for, where spans know it and the sample does not
 *
 * A program says in which phase it is and for whom it works (libinferom's phases and requests); a sampler that looks at
 * the same threads from outside does not hear of it. Both have times:
 *
 *     thread 17   [ request r-1                    ]
 *                 [ prefill ][ decode              ]
 *     samples        x   x      x   x   x   x   x        phase=decode, request=r-1
 *
 * Asked about one sample after the other, in any order; each answer is a search among the spans of one thread.
 *
 * Owns: its index. The profile is borrowed.
 */
#pragma once
#include "model/profile.h"

struct span_labels;

struct span_labels *span_labels_new(const struct profile *p); /* NULL: no span says anything */
void span_labels_free(struct span_labels *s);                 /* NULL is fine */
DEFINE_OWN(span_labels, struct span_labels *)

/* For who knows no moment, but scopes: phases are scopes as well. The innermost phase among them; empty: none. */
struct view span_labels_phase(const struct span_labels *s, const struct profile *p, labels_id labels);

/* What the innermost span of this kind says, that was open on the thread at this time; labels 0: none was. */
labels_id span_labels_at(const struct span_labels *s, enum span_kind kind, thread_id thread, uint64_t time_ns);
