/*
 * map_class.h - what a stretch of a process's addresses is for
 *
 *     file     a file on some disk: code, and the weights of models
 *     anon     memory of its own: what malloc takes for large blocks, arenas, stacks of threads
 *     huge     huge pages that were set aside beforehand; the kernel does not count them as resident
 *     shared   memory of several processes that is no file: memfd, /dev/shm, System V
 *     stack    of the first thread
 *     brk      what malloc takes for small blocks
 *
 * Weights are files that are called what such files are called. Threads: any.
 */
#pragma once
#include "capture/cpu/maps_line.h"

enum map_kind { MAP_FILE_PAGES, MAP_ANON, MAP_HUGE, MAP_SHARED_MEMORY, MAP_STACK, MAP_BRK, MAP_KIND_COUNT };

extern const char *const map_kind_names[MAP_KIND_COUNT + 1]; /* "file", ...; ends with NULL */

/* False: it is the kernel's own page in there, or may not be touched at all; nobody's memory. */
bool map_kind_of(const struct map_news *m, enum map_kind *out);
struct view map_path(const struct map_news *m); /* of a file that may be deleted by now, without the word that says so */
bool map_is_weights(struct view path, uint64_t mapped_bytes);
