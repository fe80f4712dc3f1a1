/*
 * preload.h - can a guest of ours get into this program, and where is it?
 *
 * A library is preloaded by the program's own dynamic loader. A static program has
 * none, one that gains privileges tells it to take nothing from the environment, and
 * one of another architecture or libc could not use ours. Better said beforehand
 * than found out from an empty profile.
 *
 * Threads: any. Fails: with a sentence that says what would help.
 */
#pragma once
#include "base/err.h"
#include "capture/environment.h"
#include <stddef.h>

enum preload_guest { PRELOAD_SAMPLER, PRELOAD_HEAP, PRELOAD_HEAP_NEW };

/* `name` as given to execvp(): a path, or looked for in PATH. Scripts are judged by their interpreter. */
bool preload_check(const char *name, struct err *e) MUST_CHECK;

/* The file that is run in the end: found in PATH, and behind scripts. False: there is none. */
bool preload_program(const char *name, char *out_path, size_t size);

/* The library: INFEROM_SAMPLER_LIB or INFEROM_HEAP_LIB, or where the build or the installation put it beside this program. */
bool preload_library(enum preload_guest which, char *out_path, size_t size, struct err *e) MUST_CHECK;

/* In front of what LD_PRELOAD has already. */
bool preload_add(struct environment *env, const char *library, struct err *e) MUST_CHECK;
