/*
 * heap_fit.h - can the heap agent see what this program allocates?
 *
 * Into some programs nothing can be preloaded (capture/cpu/preload.h). In others it would see nothing: an executable that has an
 * allocator of its own inside answers every call itself, since it is asked before any library. Said beforehand,
 * with what can be done about it; a silent zero helps nobody.
 *
 * Threads: any. Fails: with a sentence.
 */
#pragma once
#include "base/err.h"

/* Has the program an allocator with operators of its own? By name, of what is linked or preloaded. */
bool heap_has_own_new(const char *command, const char *preloaded); /* preloaded: LD_PRELOAD; NULL: none */

bool heap_fits(const char *command, struct err *why_not) MUST_CHECK;
