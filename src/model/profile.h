/*
 * profile.h - the one in-memory shape every reader fills and every view reads
 *
 * A profile is a set of tables that point at each other by small ids:
 *
 *     strings    "matmul_q8", "decode.c"
 *     mappings   (path, build id, addresses)             a file mapped into a process
 *     functions  (name, file, line, mapping)
 *     frames     (function, line, address, kind)         a place in code
 *     stacks     (caller stack, frame)                   a tree; row 0 is the root, no frame
 *     processes, threads
 *     labels     sets of key = value                     request = "42", phase = "decode"
 *     contexts   (thread, labels)                        who was running, and for whom
 *     sample sets, each with units:  samples (time, stack, context, values)
 *     spans      (start, length, thread, name, kind, parent, link)
 *     series     readings (time, value) of a number that was read again and again
 *     facts      key = value about the run: machine, command, versions
 *     losses     what we know was not recorded
 *
 * Strings, mappings, functions, frames, stacks, labels and contexts are interned:
 * equal rows have equal ids, and row 0 of each means "none". A stack is its
 * caller's stack plus one frame, so two samples that share a prefix share its
 * rows, and a caller's id is always smaller than its callee's: one pass from the
 * last row to the first carries sums from the leaves to the root.
 *
 * Time is CLOCK_MONOTONIC nanoseconds; wall time is one recorded offset.
 *
 * A profile is made by a builder (builder.h) and from then on only read: any
 * number of threads may share it. Samples are in order of time, where they have
 * times; so are spans, and the readings of a series. Ids mean nothing in another
 * profile. Everything a profile holds dies with profile_free().
 */
#pragma once
#include "base/own.h"
#include "base/view.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

typedef struct { uint32_t i; } str_id;
typedef struct { uint32_t i; } mapping_id;
typedef struct { uint32_t i; } func_id;
typedef struct { uint32_t i; } frame_id;
typedef struct { uint32_t i; } stack_id;
typedef struct { uint32_t i; } process_id;
typedef struct { uint32_t i; } thread_id;
typedef struct { uint32_t i; } labels_id;
typedef struct { uint32_t i; } context_id;
typedef struct { uint32_t i; } set_id;
typedef struct { uint32_t i; } series_id;
typedef struct { uint32_t i; } span_id; /* 0 is no span: the first one is 1 */

#define STACK_ROOT ((stack_id){0})
#define TIME_NONE UINT64_MAX /* nobody said when */
#define MEASURES_MOST 8      /* values a sample may carry */

enum frame_kind {
    FRAME_NATIVE, FRAME_INLINED, FRAME_KERNEL, FRAME_PYTHON, FRAME_SCOPE, FRAME_GPU,
    FRAME_KIND_COUNT
};

enum unit { UNIT_COUNT, UNIT_NS, UNIT_BYTES, UNIT_OTHER, UNIT_KIND_COUNT };

enum span_kind {
    SPAN_SCOPE, SPAN_REQUEST, SPAN_PHASE, SPAN_TOKEN, SPAN_GPU, SPAN_OTHER,
    SPAN_KIND_COUNT
};

struct mapping {
    str_id path, build_id;
    uint64_t start, limit, offset;
};

struct function {
    str_id name; /* "" when only an address is known */
    str_id file;
    uint32_t line; /* where the function begins; 0: unknown */
    mapping_id mapping;
};

struct frame {
    func_id function;
    uint32_t line; /* 0: unknown */
    uint64_t address;
    enum frame_kind kind;
};

struct stack {
    stack_id caller;
    frame_id frame;
};

struct process {
    int32_t pid;
    str_id name;
    uint64_t start_ns; /* tells two processes with the same pid apart; 0: unknown */
};

struct thread {
    process_id process;
    int32_t tid;
    str_id name;
};

struct label {
    str_id key, text; /* text "" when the label is a number */
    int64_t number;
    str_id unit;
};

struct context {
    thread_id thread;
    labels_id labels;
};

struct measure {
    str_id name; /* "cpu", "samples", "inuse_space" */
    enum unit unit;
    str_id unit_name;  /* the word for UNIT_OTHER and for counts of something: "cycles"; may be "" */
    uint8_t decimals;  /* values are stored times 10^decimals; 0 except for fractional counts */
    int64_t total;     /* of all samples of the set */
};

/* Columns of equal length; row i of each belongs to sample i. */
struct sample_set {
    str_id name; /* "cpu", "heap", "off-cpu" */
    struct measure measures[MEASURES_MOST];
    size_t n_measures;
    size_t shown; /* the measure to show when nobody asks for another */
    int64_t period; /* of the shown measure between two samples; 0: unknown */

    size_t n;
    const uint64_t *time_ns;   /* NULL when no sample has a time */
    const stack_id *stacks;
    const context_id *contexts; /* NULL when all are context 0 */
    const int64_t *values[MEASURES_MOST];
};

struct span {
    uint64_t start_ns, length_ns;
    thread_id thread;
    str_id name;
    labels_id labels;
    span_id parent; /* the span around it on the same thread */
    span_id link;   /* the span elsewhere that caused it */
    enum span_kind kind;
};

struct reading {
    uint64_t time_ns;
    double value; /* NAN: the system did not say */
};

struct series {
    str_id name;
    enum unit unit;
    str_id unit_name;
    labels_id labels;
    size_t n;
    const struct reading *readings;
};

struct fact {
    str_id key, value;
};

struct loss {
    set_id set;
    str_id reason; /* "the ring was full" */
    uint64_t count;
};

/* Life. */
void profile_free(struct profile *p); /* NULL is fine */
DEFINE_OWN(profile, struct profile *)

/* How many. Rows of the interned tables count row 0. */
size_t profile_strings(const struct profile *p);
size_t profile_mappings(const struct profile *p);
size_t profile_functions(const struct profile *p);
size_t profile_frames(const struct profile *p);
size_t profile_stacks(const struct profile *p);
size_t profile_processes(const struct profile *p);
size_t profile_threads(const struct profile *p);
size_t profile_label_sets(const struct profile *p);
size_t profile_contexts(const struct profile *p);
size_t profile_sets(const struct profile *p);
size_t profile_spans(const struct profile *p); /* ids run from 1 to this, included */
size_t profile_series_count(const struct profile *p);
size_t profile_facts(const struct profile *p);
size_t profile_losses(const struct profile *p);
size_t profile_damages(const struct profile *p);

/* Rows. Ids must come from this profile. */
struct view profile_string(const struct profile *p, str_id id); /* NUL-terminated, but may hold NULs */
const struct mapping *profile_mapping(const struct profile *p, mapping_id id);
const struct function *profile_function(const struct profile *p, func_id id);
const struct frame *profile_frame(const struct profile *p, frame_id id);
const struct stack *profile_stack(const struct profile *p, stack_id id);
const struct process *profile_process(const struct profile *p, process_id id);
const struct thread *profile_thread(const struct profile *p, thread_id id);
const struct context *profile_context(const struct profile *p, context_id id);
const struct label *profile_labels(const struct profile *p, labels_id id, size_t *out_n);
const struct sample_set *profile_set(const struct profile *p, set_id id);
const struct span *profile_span(const struct profile *p, span_id id);
const struct series *profile_series(const struct profile *p, series_id id);
const struct fact *profile_fact(const struct profile *p, size_t i);
const struct loss *profile_loss(const struct profile *p, size_t i);

/* A sentence about something that was there and could not be read: "4096 bytes at offset 812 ..." */
struct view profile_damage(const struct profile *p, size_t i);

/* Looking up. */
const struct fact *profile_fact_named(const struct profile *p, struct view key); /* or NULL */
const struct label *profile_label(const struct profile *p, labels_id id, struct view key); /* or NULL */
struct view profile_frame_name(const struct profile *p, frame_id id);  /* of its function; may be "" */
struct view profile_frame_module(const struct profile *p, frame_id id); /* path of its mapping; may be "" */

/* Clock: wall = monotonic + offset. */
bool profile_has_wall_offset(const struct profile *p);
int64_t profile_wall_offset_ns(const struct profile *p);
uint64_t profile_start_ns(const struct profile *p); /* of the recording, or of the first thing in it; TIME_NONE */
uint64_t profile_end_ns(const struct profile *p);

size_t profile_held_bytes(const struct profile *p); /* of memory */

extern const char *const frame_kind_names[FRAME_KIND_COUNT + 1]; /* "native", ...; ends with NULL */
extern const char *const span_kind_names[SPAN_KIND_COUNT + 1];
extern const char *const unit_names[UNIT_KIND_COUNT + 1]; /* "count", "ns", "bytes", "other" */
