/*
 * heap_left.h - what requests leave behind: live blocks, by who made them and whom for
 *
 * A row of the heap knows its stack and thread, not its request: rows by request would grow with every one that is answered. But
 * every live block knows its moment, and libinferom tells when which thread worked for whom. So the blocks that are live
 * are looked at, and added up by row and request:
 *
 *     block ── row (stack, thread) ──┐
 *       └───── tick ── request ──────┴──> so many blocks and bytes, live now
 *
 * It costs the target nothing, and memory for what is live, not for what ever was. What is written (set "heap.left") is what
 * changed since the last look, so that all of it up to a moment is what was live then.
 *
 * Owns:     what the last look found.
 * Threads:  one at a time.
 * Fails:    never. Blocks of a moment that nobody knows the request of are left out, and so are those of rows that there is no room for.
 */
#pragma once
#include "base/idmap.h"
#include "model/profile.h"

struct heap_target;
struct heap_book;

enum { HEAP_LEFT_MOST = 1 << 18 }; /* rows by request that are told apart: 6 MiB */

struct heap_left_row {
    uint32_t row, request;
    int64_t blocks_256, bytes;
};

struct heap_left {
    struct idmap map;
    struct heap_left_row *rows;
    size_t n, cap;
    bool is_made;
};

void heap_left_done(struct heap_left *l);

/* Looks, where there are requests at all. As heap_target_write(), now and then, and once more when the process is gone. */
void heap_left_write(struct heap_left *l, struct heap_target *t, struct heap_book *b, uint64_t now_ns);
