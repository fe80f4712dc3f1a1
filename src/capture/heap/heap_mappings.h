/*
 * heap_mappings.h - what a process has mapped itself, and from where
 *
 * A sorted list of pieces that do not overlap. Mapping over something removes it first, as the kernel does; unmapping
 * may trim a piece, remove it or make two of it. Every change becomes a row of the set "mappings", with the stack
 * that made the mapping:
 *
 *     + 200 MiB   main > load_model > mmap    map_kind=file path=/models/a.gguf weights=1
 *
 * Owns: its list. Threads: one at a time. Fails: never; what is above MAPPINGS_MOST pieces, or what the purse does not pay for, is counted
 * in `lost`: pieces are left out, or have no path.
 */
#pragma once
#include "base/view.h"
#include "capture/heap/heap_purse.h"
#include "inferom/heap_wire.h"
#include <stdbool.h>
#include <stddef.h>

enum { MAPPINGS_MOST = 1 << 16, MAPPINGS_PATHS_MOST = 16 << 20 }; /* pieces; bytes of their paths */

struct heap_piece {
    uint64_t start, end;
    uint32_t stack, thread;
    const char *kind;
    char *path; /* NULL: none */
};

struct heap_mappings {
    struct heap_piece *pieces;
    size_t n, cap;
    uint64_t lost;
    size_t path_bytes;
    struct heap_purse *purse; /* NULL: nobody counts */
};

void heap_mappings_done(struct heap_mappings *m);

/* Who hears of each change. */
typedef void (*heap_mapping_taker)(void *self, const struct heap_piece *p, int64_t objects, int64_t bytes, uint64_t when_ns);

void heap_mappings_take(struct heap_mappings *m, const struct heap_mapping *news, struct view path, heap_mapping_taker tell, void *self);

bool heap_path_is_weights(struct view path); /* .gguf, .safetensors, .bin */
