/*
 * selection.h - which part of a profile a verb looks at
 *
 * Every verb that shows a profile takes the same options to narrow it: which
 * samples count, which frames are seen, which kind of samples and which of their
 * values. A verb puts a struct selection into its settings and the rows into its
 * table:
 *
 *     struct flame_settings { struct selection part; ... };
 *     static const struct option flame_options[] = {
 *         SELECTION_OPTIONS(struct flame_settings, part),
 *         OPTIONS_END
 *     };
 */
#pragma once
#include "base/err.h"
#include "base/option.h"
#include "model/profile.h"

struct selection {
    struct option_list include, exclude, hide, thread, process, phase, request, scope;
    bool hide_system;
    uint64_t from_ns, to_ns;
    const char *set, *measure;
};

#define SELECTION_OPTIONS(S, part)                                                                                 \
    LIST('i', "include", S, part.include, "PATTERN", "keep only stacks with a matching function or module; may be repeated"), \
    LIST('x', "exclude", S, part.exclude, "PATTERN", "drop stacks with a matching function or module; may be repeated"), \
    LIST(0, "hide", S, part.hide, "PATTERN", "do not show matching frames; their callers get the time"),           \
    FLAG(0, "hide-system", S, part.hide_system, "hide the C library, the loader, threads and the kernel"),         \
    LIST(0, "thread", S, part.thread, "NAME", "only this thread: a name, a pattern or a tid"),                     \
    LIST(0, "process", S, part.process, "NAME", "only this process: a name, a pattern or a pid"),                  \
    LIST(0, "phase", S, part.phase, "NAME", "only this phase: prefill, decode, ..."),                              \
    LIST(0, "request", S, part.request, "ID", "only this request"),                                                \
    LIST(0, "scope", S, part.scope, "NAME", "only what was sampled in this scope, or in one within it"),           \
    DURATION(0, "from", S, part.from_ns, "leave out what came before this, from the start", 0, 0),                 \
    DURATION(0, "to", S, part.to_ns, "leave out what came after this, from the start", 0, 0),                      \
    TEXT(0, "set", S, part.set, "NAME", "which samples, when there are several kinds: cpu, off-cpu, heap, ..."),   \
    TEXT(0, "measure", S, part.measure, "NAME", "which value, when samples carry several")

/* What was selected. Owns the profile; the set is part of it. */
struct selected {
    struct profile *p;
    const struct sample_set *set;
    size_t measure;
    bool filtered; /* p is not all of the file */
};

/* Reads the file and narrows it; then chooses the samples and the value. Errors name the file or the option. */
bool selection_open(const struct selection *s, const char *path, struct selected *out, struct err *e) MUST_CHECK;
void selected_done(struct selected *s);
DEFINE_OWN_IN_PLACE(selected, struct selected)

/* Some samples are left out; hiding frames leaves out none. */
bool selection_drops_samples(const struct selection *s);

/* For who draws amounts: samples that are changes become what they add up to (settle.h). Does nothing to others. */
bool selection_settle(struct selected *s, struct err *e) MUST_CHECK;

/* The two halves, for who wants to choose the samples otherwise. */
bool selection_read(const struct selection *s, const char *path, struct selected *out, struct err *e) MUST_CHECK;
bool selection_choose(const struct selection *s, const char *path, struct selected *out, struct err *e) MUST_CHECK;
