/*
 * filter.h - a profile with only what one wants to look at
 *
 * Two different wishes, kept apart:
 *
 *   select   which samples and spans count at all: by thread, process, time,
 *            phase, request, scope, or because a frame on their stack matches
 *            (include keeps those, exclude drops those; the same pattern in one
 *            and then the other gives complementary halves)
 *   hide     which frames are shown: the time of a hidden frame goes to its
 *            caller and the total does not change
 *
 * A sample whose labels do not say its phase or request is asked about among the spans of its thread (span_labels.h).
 *
 * Patterns are shell patterns. A frame matches when its function's name, its
 * module's path or the last part of that path does.
 */
#pragma once
#include "base/err.h"
#include "model/profile.h"

struct filter {
    const char *const *threads;   /* names, patterns or thread ids; NULL-terminated lists, NULL: all */
    const char *const *processes; /* names, patterns or process ids */
    const char *const *phases;
    const char *const *requests;
    const char *const *scopes;
    const char *const *include;
    const char *const *exclude;
    const char *const *hide;
    bool hide_system;             /* libc, the loader, pthreads, the kernel, ... */
    uint64_t from_ns, to_ns;      /* offsets from the start of the profile; to_ns 0: no end */
};

bool filter_is_empty(const struct filter *f);

/* A new profile; p stays as it is. Fails only as builder_finish() does. */
bool profile_filtered(const struct profile *p, const struct filter *f, struct profile **out, struct err *e) MUST_CHECK;

bool frame_is_system(const struct profile *p, frame_id id);
