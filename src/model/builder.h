/*
 * builder.h - the only way a profile comes to be
 *
 * A builder appends; it never changes or removes what is there. builder_finish()
 * turns it into a read-only profile and consumes it, so nobody can write to a
 * profile that somebody else is reading.
 *
 *     own(builder) struct builder *b = builder_new();
 *     set_id cpu = builder_set(b, VIEW("cpu"), &(struct measure_spec){VIEW("cpu"), UNIT_NS}, 1);
 *     frame_id f = builder_frame_named(b, VIEW("main"));
 *     builder_sample(b, cpu, now_ns, CONTEXT_NONE, builder_push(b, STACK_ROOT, f), &value);
 *     ...
 *     if (!builder_finish(take(b), &profile, e)) ...
 *
 * Ids handed out are the ids of the finished profile, except that spans and
 * samples are put in order of time.
 *
 * Threads: one at a time.
 * Fails:   only in builder_finish(), when values add up past 2^63; and for id
 *          spaces that overflow (2^32 rows), also said there.
 */
#pragma once
#include "base/err.h"
#include "model/profile.h"

struct builder;

#define CONTEXT_NONE ((context_id){0})
#define LABELS_NONE ((labels_id){0})
#define THREAD_NONE ((thread_id){0})
#define PROCESS_NONE ((process_id){0})
#define MAPPING_NONE ((mapping_id){0})
#define STR_EMPTY ((str_id){0})

struct measure_spec {
    struct view name;
    enum unit unit;
    struct view unit_name;
    unsigned decimals;
};

/* Life. */
struct builder *builder_new(void);
void builder_free(struct builder *b); /* NULL is fine */
DEFINE_OWN(builder, struct builder *)
bool builder_finish(struct builder *b, struct profile **out, struct err *e) MUST_CHECK; /* takes b in any case */

/* Names. Each returns the id of the row, new or already there. */
str_id builder_string(struct builder *b, struct view text);
mapping_id builder_mapping(struct builder *b, struct mapping m);
func_id builder_function(struct builder *b, struct function f);
frame_id builder_frame(struct builder *b, struct frame f);
frame_id builder_frame_named(struct builder *b, struct view name); /* a native frame known by name only */

/* Stacks: one frame more, or a whole one at once, root first (quicker when stacks repeat). */
stack_id builder_push(struct builder *b, stack_id caller, frame_id frame);
stack_id builder_stack(struct builder *b, const frame_id *root_first, size_t n);

/* Who. */
process_id builder_process(struct builder *b, int32_t pid, uint64_t start_ns);
thread_id builder_thread(struct builder *b, process_id process, int32_t tid);
void builder_name_process(struct builder *b, process_id id, struct view name);
void builder_name_thread(struct builder *b, thread_id id, struct view name);
labels_id builder_labels(struct builder *b, const struct label *labels, size_t n); /* order does not matter */
context_id builder_context(struct builder *b, thread_id thread, labels_id labels);

/* Samples. A set of the same name with the same measures is the same set. */
set_id builder_set(struct builder *b, struct view name, const struct measure_spec *measures, size_t n);
void builder_show(struct builder *b, set_id set, size_t measure, int64_t period);
/* From here on samples of the same stack become one, without time and context: who asks only for sums needs no more memory. */
void builder_add_up(struct builder *b);
void builder_sample(struct builder *b, set_id set, uint64_t time_ns, context_id context, stack_id stack,
                    const int64_t *values);
/* From now on values of this measure carry so many decimals; those already there are rescaled. */
void builder_set_decimals(struct builder *b, set_id set, size_t measure, unsigned decimals);

/* Spans. parent and link are ids handed out before, or are said later; so is the length of an open span. */
span_id builder_span(struct builder *b, struct span s);
void builder_span_length(struct builder *b, span_id id, uint64_t length_ns);
void builder_span_relate(struct builder *b, span_id id, span_id parent, span_id link);

/* Series. The same name with the same labels is the same series. */
series_id builder_series(struct builder *b, struct view name, enum unit unit, struct view unit_name, labels_id labels);
void builder_reading(struct builder *b, series_id id, uint64_t time_ns, double value);

/* About the run. A fact given again replaces the first. */
void builder_fact(struct builder *b, struct view key, struct view value);
void builder_lost(struct builder *b, set_id set, struct view reason, uint64_t count); /* adds up per reason */
void builder_damage(struct builder *b, struct view sentence);
void builder_clock(struct builder *b, uint64_t start_ns, uint64_t end_ns, int64_t wall_offset_ns); /* TIME_NONE: unknown */

/* Everything in p, appended; equal rows become one. Sets, series and facts meet by name. */
void builder_merge(struct builder *b, const struct profile *p);

/* What is there already, for readers and writers that go along with the building. */
size_t builder_held_bytes(const struct builder *b); /* names, the maps to find them, and what else it has */
const struct profile *builder_view(const struct builder *b); /* names, stacks and contexts so far; sets are empty */
