/*
 * difference.h - two profiles as one tree: what became more, less, new or gone
 *
 * Both profiles are put into one id space, function by function, and every node of
 * the common call tree knows what it had before and what it has after:
 *
 *     main                before 100   after 130     more
 *       decode            before  90   after  90     same
 *       sample            before  10   after   0     gone
 *       sample_top_k      before   0   after  40     new
 *
 * A function of one profile is that of the other when its name, the last part of its
 * module's path and the last part of its file's path are the same: neither addresses
 * nor lines, which move with every build.
 *
 * Compared by value, a node that did the same work has changed nothing whatever happened
 * beside it; that is right where both runs did the same work. By share, each side is
 * divided by its own whole; that is right where one run was longer than the other.
 *
 * Noise. Samples are taken at random moments, so the same program measured twice gives
 * two profiles. What a node has is a sum of n samples, and such a sum scatters by the
 * root of the squares of its samples' weights. With z = (after - before) / scatter,
 * less one sample's weight since counts are whole, a node has changed when z says so at
 * 99 %, and with an eye on how many nodes were asked: among a thousand, ten would look
 * different by chance. So the procedure of Benjamini and Hochberg chooses the bound
 * from all of them, and among the nodes said to have changed at most about one in a
 * hundred is so by chance. Nodes with fewer than DIFFERENCE_SAMPLES samples on both
 * sides together could not pass at 99 % even by appearing from nothing: they are `same`.
 *
 * Owns: the common profile, the tree and the rows beside it.
 */
#pragma once
#include "analyse/call_tree.h"
#include "base/err.h"

enum { DIFFERENCE_SAMPLES = 9 };

enum change { CHANGE_SAME, CHANGE_MORE, CHANGE_LESS, CHANGE_NEW, CHANGE_GONE, CHANGE_COUNT };
extern const char *const change_words[CHANGE_COUNT + 1]; /* "same", "more", ...; ends with NULL */

enum difference_by { DIFFERENCE_BY_VALUE, DIFFERENCE_BY_SHARE, DIFFERENCE_BY_COUNT };

/* Something on one side: its value, from how many samples, and the sum of the squares of their weights. */
struct amount {
    int64_t value;
    uint64_t samples;
    double squares;
};

struct changed {
    struct amount before, after;
    enum change is;
};

struct difference_side {
    const struct profile *p;
    const struct sample_set *set;
    size_t measure;
    bool is_exact; /* everything was counted, nothing sampled */
};

struct difference {
    struct profile *p;                       /* the names of both sides, no lines, no threads */
    const struct sample_set *before, *after; /* in p; measure 0 is what was compared, measure 1 is "samples" */
    struct measure measure;                  /* how values are shown; its total means nothing */
    enum difference_by by;
    bool is_exact; /* both sides are: then there is no noise, and what differs has changed */
    struct changed whole;

    /*
     * The common tree. Its own values are widths in which both sides have room: the larger of before and
     * after where something ended, added up towards the root. By share, 10^15 is the whole of one side.
     */
    struct call_tree tree;
    struct changed *self, *total; /* by node of the tree */

    /*
     * Where a change is, by node: in the node's own part, or spread over callees none of which has changed
     * beyond noise alone. Whoever only contains a node that has changed is `same` here.
     */
    enum change *cause;
};

/* Fails when the two measure different things: bytes here, nanoseconds there. */
bool difference_of(struct difference_side before, struct difference_side after, enum difference_by by, bool inverted,
                   struct difference *out, struct err *e) MUST_CHECK;
void difference_done(struct difference *d);
DEFINE_OWN_IN_PLACE(difference, struct difference)

/* For rows that are not nodes of the tree: adds up amounts, then judges them all as one family. */
void amount_add(struct amount *to, const struct amount *more);
void difference_judge(const struct difference *d, struct changed *rows, size_t n);

/* after - before: a value, or by share a part of one. */
double difference_amount(const struct difference *d, const struct changed *c);
double difference_share(const struct difference *d, const struct changed *c); /* of the whole before, or after, as a ratio */
