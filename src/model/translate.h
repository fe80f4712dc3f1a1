/*
 * translate.h - the ids of one profile in the words of a builder
 *
 * Merging and filtering both copy parts of a finished profile into a builder.
 * A translation remembers what every id has become there; names are carried over
 * when they are first needed.
 *
 * Owns: its tables. The profile and the builder are borrowed.
 */
#pragma once
#include "model/builder.h"

struct translation {
    const struct profile *from;
    struct builder *to;
    uint32_t *mappings, *functions, *frames, *processes, *threads, *labels, *contexts; /* id + 1; 0: not yet */
    uint32_t *stacks;   /* filled by translate_stacks() */
    int64_t shift_ns;   /* added to every time */
};

void translation_init(struct translation *t, const struct profile *from, struct builder *to);
void translation_done(struct translation *t);
DEFINE_OWN_IN_PLACE(translation, struct translation)

str_id translate_string(struct translation *t, str_id id);
frame_id translate_frame(struct translation *t, frame_id id);
thread_id translate_thread(struct translation *t, thread_id id);
labels_id translate_labels(struct translation *t, labels_id id);
context_id translate_context(struct translation *t, context_id id);

/*
 * All stacks for which wanted[] is true (NULL: all), with their callers. Frames for
 * which hidden[] is true (NULL: none) are left out, so their callers take their place;
 * a stack of which nothing is left becomes "[hidden]".
 */
void translate_stacks(struct translation *t, bool *wanted, const bool *hidden);

/* Everything that is not samples, spans or readings: facts, losses, damages, all threads and processes. */
void translate_rest(struct translation *t);
set_id translate_set(struct translation *t, set_id id);
void translate_sample(struct translation *t, set_id from, set_id to, size_t i);
void translate_spans(struct translation *t, const bool *wanted); /* by span id; NULL: all */
void translate_series(struct translation *t, uint64_t from_ns, uint64_t to_ns);
