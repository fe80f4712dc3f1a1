/*
 * preload.h - can our sampler get into this program, and where is it?
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
#include <stddef.h>

/* `name` as given to execvp(): a path, or looked for in PATH. Scripts are judged by their interpreter. */
bool preload_check(const char *name, struct err *e) MUST_CHECK;

/* The sampler: INFEROM_SAMPLER_LIB, or where the build or the installation put it beside this program. */
bool preload_library(char *out_path, size_t size, struct err *e) MUST_CHECK;
