/*
 * capture_writer.h - a capture file, written while the recording goes on
 *
 * The writer appends to the file; it never goes back. Names are interned in a
 * builder of its own; samples, spans and readings wait in memory until the next
 * flush and are then gone from it, so memory grows with the number of different
 * names and stacks, not with time; and whoever records may begin again with none.
 *
 *     own(capture_writer) struct capture_writer *w = NULL;
 *     if (!capture_open(&w, "run.inferom", now_ns, e))
 *         return false;
 *     struct builder *names = capture_names(w);
 *     set_id cpu = builder_set(names, VIEW("cpu"), &spec, 1);
 *     while (recording) {
 *         capture_sample(w, cpu, t, context, builder_stack(names, frames, n), &value);
 *         if (!capture_tick(w, now_ns, e))
 *             return false;
 *     }
 *     return capture_close(w, e);
 *
 * A flush is due when a second has passed or a megabyte is waiting. It writes the
 * names that are new and then what uses them, so every prefix of the file makes
 * sense, and ends with write(): from then on a kill -9 of the recorder loses
 * nothing of it. Against power loss fdatasync() is called at most once a second,
 * in ticks. Somebody else may read the file meanwhile.
 *
 * When writing fails (the disk is full), what was written until then is cut back
 * to the last whole flush and stays readable; everything after is dropped, and
 * tick, flush and close say why.
 *
 * An onlooker sees samples, readings and losses as they come. Without a path there is no
 * file: names are interned, the onlooker sees everything else, and nobody keeps it.
 *
 * Owns:     the file, and the names.
 * Threads:  one at a time. Another writer of the same file is refused.
 * Fails:    where there is an `e`; the other functions remember the failure.
 */
#pragma once
#include "model/builder.h"
#include "model/chunk.h"

struct capture_writer;

/* Life. The file is for its owner's eyes (mode 0600); one that is there already is replaced. NULL: no file. */
bool capture_open(struct capture_writer **out, const char *path, uint64_t now_ns, struct err *e) MUST_CHECK;
bool capture_close(struct capture_writer *w, struct err *e) MUST_CHECK; /* the rest and the footer; then only free */
void capture_writer_free(struct capture_writer *w); /* NULL is fine; without close the file is unfinished, not lost */
DEFINE_OWN(capture_writer, struct capture_writer *)

/* Called from within capture_sample() and its like; a member that is NULL is not interested. */
struct capture_onlooker {
    void *self;
    void (*sample)(void *self, set_id set, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values);
    void (*reading)(void *self, series_id series, uint64_t time_ns, double value);
    void (*lost)(void *self, set_id set, uint64_t count);
    void (*begun_again)(void *self, const struct profile *old, struct builder *names); /* `old` is gone after the call */
};

void capture_watch(struct capture_writer *w, struct capture_onlooker onlooker); /* one; a second replaces the first */

/*
 * Somebody may know more about a moment than who took the sample: in which scope the thread was. Asked by whoever makes
 * the context of a sample, as soon as it arrives.
 */
struct capture_tick {
    uint64_t tick;
    bool is_counter; /* of the processor; else nanoseconds of CLOCK_MONOTONIC */
};

struct capture_labeller {
    void *self;
    labels_id (*labels)(void *self, thread_id thread, uint64_t time_ns);
    labels_id (*scope)(void *self, thread_id thread, uint32_t number); /* as inferom_scope_here() said it; NULL: nobody knows */
    bool (*has_requests)(void *self); /* all that have ended are known behind this */
    uint32_t (*request)(void *self, thread_id thread, struct capture_tick tick); /* a number; 0: none */
    labels_id (*request_labels)(void *self, thread_id thread, uint32_t request);
};

void capture_label(struct capture_writer *w, struct capture_labeller labeller); /* one; a second replaces the first */
context_id capture_context(struct capture_writer *w, context_id context, uint64_t time_ns); /* with what is known besides */
context_id capture_in_scope(struct capture_writer *w, context_id context, uint32_t number); /* with the scope of this number; 0: none */

/* Whom a thread worked for, when. Ask capture_has_requests() first, each time: it learns about those that ended meanwhile. */
bool capture_has_requests(struct capture_writer *w);
uint32_t capture_request_at(struct capture_writer *w, context_id context, struct capture_tick tick); /* 0: nobody, or not known (yet) */
context_id capture_for_request(struct capture_writer *w, context_id context, uint32_t request);

/* Names, threads, sets and series are made here. Samples do not go into this builder. */
struct builder *capture_names(struct capture_writer *w);

/* Recording: like the functions of builder.h of the same name. A set's decimals stay as they were made. */
void capture_sample(struct capture_writer *w, set_id set, uint64_t time_ns, context_id context, stack_id stack,
                    const int64_t *values);
span_id capture_span(struct capture_writer *w, struct span s);
void capture_span_length(struct capture_writer *w, span_id id, uint64_t length_ns);
void capture_span_relate(struct capture_writer *w, span_id id, span_id parent, span_id link);
void capture_reading(struct capture_writer *w, series_id series, uint64_t time_ns, double value);
void capture_fact(struct capture_writer *w, struct view key, struct view value);
void capture_lost(struct capture_writer *w, set_id set, struct view reason, uint64_t count);
void capture_clock(struct capture_writer *w, uint64_t start_ns, uint64_t end_ns, int64_t wall_offset_ns);

/*
 * A table that is told again and again as it grows, and of which only the latest counts: for a recorder that is killed, the
 * one before. Rows are samples without a time; labels need not be interned, so numbers in them may change every time.
 *
 *     capture_latest_begin(w, subject);                  // one subject, one table
 *     capture_latest_row(w, set, thread, stack, labels, n, values);
 *     uint64_t bytes = capture_latest_end(w);            // is in the file, and took so much of it; the one before is void
 */
void capture_latest_begin(struct capture_writer *w, uint64_t subject);
void capture_latest_row(struct capture_writer *w, set_id set, thread_id thread, stack_id stack, const struct label *labels,
                        size_t n_labels, const int64_t *values);
uint64_t capture_latest_end(struct capture_writer *w);

/* Call it a few times a second, and after every batch. */
bool capture_tick(struct capture_writer *w, uint64_t now_ns, struct err *e) MUST_CHECK;
bool capture_flush(struct capture_writer *w, struct err *e) MUST_CHECK;

/*
 * A recording that goes on for long, or is of a program with many different stacks, has more names than
 * should be held. Then it begins again with none: what waits is flushed, the names are forgotten, and whoever
 * has ids of them forgets those as well (sets keep theirs; series do not). In the file a name that comes again
 * comes under another id. False: it goes on with the names it has, writing failed.
 */
size_t capture_names_bytes(const struct capture_writer *w);
bool capture_begin_again(struct capture_writer *w);

uint64_t capture_written_bytes(const struct capture_writer *w); /* by flushes that succeeded */

/* A finished profile as a capture file. The same profile gives the same bytes. */
bool capture_write_profile(const struct profile *p, enum chunk_packing packing, struct sink *out, struct err *e) MUST_CHECK;
