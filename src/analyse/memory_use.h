/*
 * memory_use.h - what a recording says about the memory of its processes, as it was seen from outside
 *
 * Sorts out the series that src/capture/memory writes:
 *
 *     memory.rss .anon .file .shared .swap .pss    per process
 *     memory.mapped .resident .touched             per mapping: a file, an anonymous region, the rest of a kind
 *
 * A number that nobody read is NAN. Totals of different processes are not added up: pages that
 * they share would count twice.
 *
 * Owns:     its lists; texts and series belong to the profile.
 * Threads:  any number may read.
 */
#pragma once
#include "model/profile.h"

enum memory_kind { MEMORY_USE_RSS, MEMORY_USE_ANON, MEMORY_USE_FILE, MEMORY_USE_SHARED, MEMORY_USE_SWAP, MEMORY_USE_PSS, MEMORY_KIND_COUNT };
extern const char *const memory_kind_names[MEMORY_KIND_COUNT + 1]; /* "rss", ...; ends with NULL */

struct memory_owner {
    int64_t pid;
    struct view name;
    const struct series *of[MEMORY_KIND_COUNT]; /* NULL: not read */
    double most[MEMORY_KIND_COUNT], last[MEMORY_KIND_COUNT];
};

struct memory_mapping {
    int64_t pid;
    struct view kind; /* "file" */
    struct view path, region; /* at most one of them; both "": the rest of the kind */
    bool is_weights;
    const struct series *mapped, *resident, *touched; /* NULL: not read */
    uint64_t first_ns;                                /* when it was first seen */
    double mapped_bytes, resident_bytes, most_resident_bytes, touched_bytes; /* the last readings, and the largest */
};

struct memory_use {
    struct memory_owner *owners; /* the one that had most first */
    size_t n_owners;
    struct memory_mapping *mappings; /* the most resident first */
    size_t n_mappings;
};

bool memory_use_of(const struct profile *p, struct memory_use *out); /* false: nobody looked; then it is empty */
void memory_use_done(struct memory_use *m);
DEFINE_OWN_IN_PLACE(memory_use, struct memory_use)

double series_last(const struct series *s); /* the last reading that says something; NAN */
double series_most(const struct series *s);
double series_at(const struct series *s, uint64_t time_ns); /* as of then; NAN before the first */
