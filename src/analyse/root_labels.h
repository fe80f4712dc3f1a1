/*
 * root_labels.h - the frames that a sample stands on when it is told by what it was part of
 *
 * Its phase, its request, or the scopes it was in. What a sample does not say itself, a span of its thread may
 * (model/span_labels.h). One that nobody says anything about stands on a frame that says so.
 *
 * Owns: its index. The profile is borrowed.
 */
#pragma once
#include "analyse/reshape.h"
#include "model/builder.h"

struct root_labels;

struct root_labels *root_labels_new(const struct profile *p, enum root_by by); /* NULL: roots are not by labels */
void root_labels_free(struct root_labels *r);                                  /* NULL is fine */
DEFINE_OWN(root_labels, struct root_labels *)

struct rooted {
    stack_id root; /* in `to` */
    size_t sample;
};

/* All samples of the set, those with the same root together; the caller's to free. */
struct rooted *roots_in_order(const struct root_labels *r, const struct sample_set *set, struct builder *to);
