/*
 * reshape.h - the same samples under other stacks
 *
 *     by thread        worker (7) > main > decode        a root frame for whoever ran it
 *     by phase         prefill > main > decode           for what it was part of; or by request
 *     by scope         serve > prefill > main > decode   for the scopes it was in, one in the other
 *     merge recursion  walk > walk > walk                becomes one walk
 *
 * Only calls of a function by itself are merged: a > b > a stays what it is.
 */
#pragma once
#include "base/err.h"
#include "model/profile.h"

enum root_by { ROOT_BY_NONE, ROOT_BY_THREAD, ROOT_BY_PROCESS, ROOT_BY_PHASE, ROOT_BY_REQUEST, ROOT_BY_SCOPE, ROOT_BY_COUNT };

struct reshaping {
    enum root_by by;
    bool numbers; /* tell threads of one name apart by their ids; without, they are one: for comparing two runs */
    bool merge_recursion;
};

bool reshaping_is_empty(const struct reshaping *r);

/* A new profile with the samples of that one set, as set 0; the measures are as they were. Fails only as builder_finish() does. */
bool profile_reshaped(const struct profile *p, const struct sample_set *set, const struct reshaping *r,
                      struct profile **out, struct err *e) MUST_CHECK;
