/*
 * capture_tables.h - how the tables of a profile become chunks
 *
 * Shared by the two writers: the one that goes along with a recording
 * (capture_writer.h) and the one that writes a finished profile
 * (capture_export.c). Rows refer to each other by id, and only to rows that were
 * written before, so every prefix of a file makes sense.
 *
 *     names     interned rows, written once each, in the order of their ids
 *     events    samples, spans, readings, facts, ...: blocks that follow the
 *               names they use
 *
 * The names may be those of one profile after the other: a recorder that has too many of
 * them starts again with none (tables_begin_again()). In the file the ids of the next
 * profile follow those of the last; a name that comes again comes under another id.
 *
 * Owns:     its buffer; the chunk writer is borrowed.
 * Fails:    as the chunk writer's sink does.
 */
#pragma once
#include "model/chunk.h"
#include "model/profile.h"

#define TEXT_MOST ((size_t)1 << 20) /* a longer text is cut, and the cut is counted */
#define PAYLOAD_ENOUGH ((size_t)256 << 10) /* a chunk of rows is ended once it holds this much */

/* In an order in which each refers only to those above it. */
enum name_table_number {
    NAMES_STRINGS, NAMES_MAPPINGS, NAMES_FUNCTIONS, NAMES_FRAMES, NAMES_STACKS, NAMES_PROCESSES, NAMES_THREADS, NAMES_LABELS,
    NAMES_CONTEXTS, NAME_TABLES
};

struct tables {
    struct chunk_writer *to;
    struct buf payload;            /* of the chunk being made */
    size_t written[NAME_TABLES];   /* rows of each table that are in the file */
    uint32_t before[NAME_TABLES];  /* rows of profiles that were written before this one; the file counts on behind them */
    uint64_t cut_texts;
};

void tables_init(struct tables *t, struct chunk_writer *to);
void tables_done(struct tables *t);
DEFINE_OWN_IN_PLACE(tables, struct tables)

/* Everything of the profile so far is written; the next calls are about another one. False: the file has no more ids. */
bool tables_begin_again(struct tables *t) MUST_CHECK;

/* Every row of p's names that has not been written yet. */
void put_names(struct tables *t, const struct profile *p);
/* These again, because they got another name since. */
void put_process_again(struct tables *t, const struct profile *p, process_id id);
void put_thread_again(struct tables *t, const struct profile *p, thread_id id);

/* Parts of rows that others put together: the id that a row has in the file, and labels one by one. */
void put_file_id(const struct tables *t, struct buf *out, enum name_table_number table, uint32_t id);
void put_label_list(const struct tables *t, struct buf *out, const struct label *l, size_t n);

/* Samples [from, to) of a set; none of them: only the set's definition. */
void put_samples(struct tables *t, const struct profile *p, set_id id, const struct sample_set *columns,
                 size_t from, size_t to);

/* Spans whose ids are first, first + 1, ... */
void put_spans(struct tables *t, uint32_t first, const struct span *spans, size_t n);

/* Something about a span that became known after it was written. */
struct span_change {
    span_id span;
    enum { CHANGED_LENGTH = 1, CHANGED_RELATION = 2 } what;
    uint64_t length_ns;
    span_id parent, link;
};
void put_span_changes(struct tables *t, const struct span_change *changes, size_t n);

void put_readings(struct tables *t, const struct profile *p, const struct series *s,
                  const struct reading *readings, size_t n);

void put_clock(struct tables *t, uint64_t start_ns, uint64_t end_ns, const int64_t *wall_offset_ns); /* NULL: unknown */

/* Lists of texts are gathered row by row and written when they are enough. */
struct text_rows {
    enum chunk_type type;
    struct buf rows;
    size_t n;
};
void text_rows_init(struct text_rows *r, enum chunk_type type);
void text_rows_done(struct text_rows *r);
DEFINE_OWN_IN_PLACE(text_rows, struct text_rows)
void add_fact(struct tables *t, struct text_rows *r, struct view key, struct view value);
void add_loss(struct tables *t, struct text_rows *r, set_id set, struct view reason, uint64_t count);
void add_note(struct tables *t, struct text_rows *r, struct view sentence);
void put_text_rows(struct tables *t, struct text_rows *r); /* and begins anew */

void put_cut_note(struct tables *t); /* when texts were cut: how many */
