/*
 * report_memory.h - what `inferom report` is asked about memory
 *
 * A part of the verb's settings, with its own rows of the table:
 *
 *     struct report_settings { struct memory_wish memory; ... };
 *     MEMORY_OPTIONS(struct report_settings, memory),
 *
 * Owns: memory_asked owns the rules it has read and, with --base, the other profile's difference.
 */
#pragma once
#include "base/sink.h"
#include "render/heap_view.h"
#include "verbs/selection.h"

struct memory_wish {
    bool heap, leaks, blocks, fail_on_leaks;
    int grade;
    struct option_list suppressions;
    const char *between, *base;
};

extern const char *const memory_grades[]; /* "any", "a" */

#define MEMORY_OPTIONS(S, part)                                                                                    \
    FLAG(0, "heap", S, part.heap, "show only what there is about memory: peak, leaks, hot spots, growth, sizes, threads"), \
    FLAG(0, "leaks", S, part.leaks, "show only the leaks"),                                                        \
    CHOICE(0, "leak-grade", S, part.grade, "GRADE", memory_grades, "which leaks count: any, or a: those that grow from turn to turn"), \
    LIST(0, "suppressions", S, part.suppressions, "FILE", "leaks to leave out: lines 'leak:PATTERN', as for the sanitizers; may be repeated"), \
    FLAG(0, "fail-on-leaks", S, part.fail_on_leaks, "end with status 1 when there is a leak that is not suppressed"), \
    TEXT(0, "between", S, part.between, "T1,T2", "what changed in memory between two moments, from the start: 2s,10s"), \
    TEXT(0, "base", S, part.base, "FILE", "what changed in memory since that recording"),                          \
    FLAG(0, "blocks", S, part.blocks, "write every recorded block with address, size, stack, fate and time, as CSV or JSON")

struct memory_asked {
    struct leak_suppressions known;
    struct heap_look look;
    char change[200]; /* in words; "" when no change is asked for */
    bool is_only;     /* nothing but memory is asked for */
};

void memory_asked_done(struct memory_asked *m);
DEFINE_OWN_IN_PLACE(memory_asked, struct memory_asked)

/* Reads what was asked, before the profile is: may narrow the selection to a time. Errors name the option. */
bool memory_ask(const struct memory_wish *w, struct selection *part, struct memory_asked *out, struct err *e) MUST_CHECK;

/* With --base, the profile becomes the difference. Then the samples of memory are chosen. */
bool memory_choose(const struct memory_wish *w, const struct selection *part, const char *path, struct memory_asked *m, struct selected *out,
                   struct err *e) MUST_CHECK;

/* True: no leak, or nobody minds. Says which there are. */
bool memory_passes(const struct memory_wish *w, const struct heap_view *v);
