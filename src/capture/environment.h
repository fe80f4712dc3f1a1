/*
 * environment.h - the environment variables a launched program will get
 *
 * Starts as a copy of ours; sources add what they need. Owns: its texts. Threads: one at a time.
 */
#pragma once
#include "base/own.h"
#include <stddef.h>

struct environment {
    char **rows; /* "NAME=value"; ends with NULL */
    size_t n, cap;
};

void environment_init(struct environment *env, char *const *from);
void environment_done(struct environment *env);
DEFINE_OWN_IN_PLACE(environment, struct environment)

const char *environment_get(const struct environment *env, const char *name); /* NULL: not set */
void environment_set(struct environment *env, const char *name, const char *value); /* replaces */
