/*
 * capture_decode.h - from the payload of a chunk to rows of a builder
 *
 * The inner half of capture_reader.h: it sees chunks that are whole, in order of
 * their sequence, some perhaps missing. Nothing in a payload is believed: counts
 * only up to the bytes that are there, ids only when they were seen, enums only
 * when they are known.
 */
#pragma once
#include "base/idmap.h"
#include "model/builder.h"
#include "model/capture_ids.h"
#include "model/chunk.h"
#include "model/packing.h"

struct decoder {
    struct builder *into;
    struct ids strings, mappings, functions, frames, stacks, processes, threads, labels, contexts, spans;
    struct known_set {
        bool is_known;
        set_id id;
        size_t n_measures;
        int64_t factors[MEASURES_MOST]; /* the builder may keep more decimals than the file */
    } *sets; /* by their number in the file */
    size_t n_sets, cap_sets;

    struct kinship { /* of spans to spans that had not come yet */
        span_id span;
        uint32_t parent, link; /* in the file */
    } *kin;
    size_t n_kin, cap_kin;

    struct latest { /* of a subject: the table that counts, and the one that is coming in pieces */
        uint64_t subject, number;
        struct buf rows, coming;
    } *latest;
    size_t n_latest, cap_latest;
    struct idmap latest_rows;

    uint64_t *words; /* columns of the chunk at hand */
    size_t cap_words;

    uint64_t stand_ins;    /* names that were lost and have another now */
    uint64_t lost_samples; /* whose stack or context was lost */
    uint64_t lost_links;   /* of spans, to spans that were lost */
    uint64_t lost_losses;  /* losses of sets that were lost themselves */
    uint64_t labels_taken; /* rows inside rows; they take memory too */
};

void decoder_init(struct decoder *d, struct builder *into);
void decoder_done(struct decoder *d);
DEFINE_OWN_IN_PLACE(decoder, struct decoder)

/* False: the payload contradicts itself; rows in front of the contradiction may have been taken. */
bool decode_chunk(struct decoder *d, const struct chunk *c, size_t *out_rows);

/* After the last chunk: what referred forward finds its place. */
void decode_end(struct decoder *d);

/* Between the two files that make up the decoder: ids of the file, or a stand-in for what was lost. */
str_id string_of(struct decoder *d, uint32_t file_id);
thread_id thread_of(struct decoder *d, uint32_t file_id);
labels_id labels_of(struct decoder *d, uint32_t file_id);

bool decode_samples(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_spans(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_span_changes(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_readings(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_facts(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_losses(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_notes(struct decoder *d, struct cursor *c, size_t *out_rows);
bool decode_clock(struct decoder *d, struct cursor *c, size_t *out_rows);

size_t decode_label_list(struct decoder *d, struct cursor *c, struct label **out); /* to be freed */

/* capture_latest_decode.c */
bool decode_latest(struct decoder *d, struct cursor *c, size_t *out_rows);
void decode_latest_end(struct decoder *d); /* what counts becomes samples */
void decode_latest_done(struct decoder *d);
