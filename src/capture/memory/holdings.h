/*
 * holdings.h - what a process has mapped, summed up into a few things worth naming
 *
 * /proc/PID/maps may have tens of thousands of lines. A holding is what a person would
 * call one thing:
 *
 *     a file                     all its lines together
 *     an anonymous region        lines that touch each other; known by where it began
 *     the rest of a kind         everything that is too small, or came when HOLDINGS_OWN were there
 *
 *     lines of maps ──> stretches (start, end) ──> holdings, the largest first
 *
 * A region that grows, shrinks or is split stays the holding it was, as long as some of it is
 * where it was. Holdings that are gone stay in the list once more, with nothing mapped, so that
 * somebody can say so; the next reading forgets them.
 *
 * Owns:     its lists and paths. Pointers to holdings are good until the next reading.
 * Threads:  one at a time.
 * Fails:    holdings_read(): gone, or not ours to look at. Then the list is as it was.
 */
#pragma once
#include "base/reader.h"
#include "capture/memory/map_class.h"
#include "capture/memory/pages.h"
#include "model/profile.h"

enum { HOLDINGS_OWN = 48, STRETCHES_MOST = 1 << 16 };
#define HOLDING_LEAST (UINT64_C(4) << 20) /* smaller ones have no name of their own, unless they are weights */

struct stretch {
    uint64_t start, end;
    uint32_t holding;
};

struct holding {
    enum map_kind kind;
    bool is_rest;         /* of its kind */
    bool is_weights;
    char *path;           /* of a file; NULL */
    uint64_t device, inode;
    uint64_t region;      /* where an anonymous one began when it was met */
    uint64_t start, end;  /* all of it is in here */
    uint64_t mapped_bytes;

    /* For whoever measures. */
    struct page_count pages;
    series_id mapped, resident, touched;
    bool has_mapped, has_resident, has_touched;
    double touched_bytes; /* of weights, where somebody looks (touched.h); NAN */
    double said_mapped_bytes;
};

struct holdings {
    struct holding *rows; /* the largest first */
    size_t n, cap;
    struct stretch *stretches; /* by holding, then by address */
    size_t n_stretches, stretches_cap;
    size_t left_out; /* lines beyond STRETCHES_MOST, in the last reading */
};

void holdings_done(struct holdings *h);
bool holdings_read(struct holdings *h, const struct host *host, int32_t pid, struct err *e) MUST_CHECK;
bool holdings_take(struct holdings *h, struct reader *maps, struct err *e) MUST_CHECK; /* the same, of a list that is open */
