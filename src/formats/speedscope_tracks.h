/*
 * speedscope_tracks.h - a speedscope file between being read and being a profile
 *
 * Its parts may come in any order: the names of the frames usually stand behind
 * the samples that use them, the unit of a profile may stand behind its numbers.
 * So until the end of the file
 *
 *   - stacks are paths of frame indices in one tree for the whole file,
 *   - a profile is a track: rows of (path, number), the number as exact as it
 *     was written,
 *
 * and only then do indices become frames, paths stacks and numbers values.
 *
 * In time both kinds of track are the same thing, a row of positions:
 *
 *     sampled    start ── weight ──┬── weight ──┬── weight ──┐
 *     evented    at ───────────────at ──────────at ──────────at
 *
 * The value of a row is the difference of two *rounded* positions. Each may be
 * off by half a nanosecond, their sum is not: it is last minus first.
 */
#pragma once
#include "base/arena.h"
#include "formats/fixed_point.h"
#include "formats/path_tree.h"
#include "model/builder.h"

enum dimension { DIMENSION_TIME, DIMENSION_COUNT, DIMENSION_BYTES, DIMENSION_KIND_COUNT };

struct track_unit {
    struct view word;
    enum dimension dimension;
    unsigned ns_digits; /* a unit of time is 10^this ns */
};

enum track_kind { TRACK_UNSAID, TRACK_SAMPLED, TRACK_EVENTED };

struct track {
    struct view name;
    const struct track_unit *unit;
    enum track_kind kind;
    fixed start;

    uint32_t *paths;   /* sampled: of each sample; evented: what is open after each event */
    size_t n_paths, cap_paths;
    fixed *numbers;    /* sampled: weights; evented: when */
    size_t n_numbers, cap_numbers;
    unsigned decimals; /* behind the point of any of the numbers */
    size_t n_events, n_open;
    uint32_t largest_frame;
    bool has_frames;
};

struct tracks {
    struct arena names;
    struct path_tree paths;
    struct track *rows;
    size_t n, cap;
    struct function *functions; /* by frame index */
    size_t n_functions, cap_functions;
    bool lines_move; /* a frame's line is where it was, not where its function begins */
};

void tracks_init(struct tracks *t);
void tracks_done(struct tracks *t);
DEFINE_OWN_IN_PLACE(tracks, struct tracks)

const struct track_unit *track_unit_named(struct view word); /* or NULL */
void track_add_path(struct track *t, uint32_t path);
void track_add_number(struct track *t, fixed n);

/* Everything was read: into the builder with it. */
bool tracks_emit(const struct tracks *t, struct builder *b, struct err *e) MUST_CHECK;

/* "profile 2 'main': " in front. */
bool tracks_in(const struct tracks *t, size_t i, struct err *e);
