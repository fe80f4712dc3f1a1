/*
 * capture_writer_inside.h - what waits in a capture writer; for capture_writer.c, where it comes in, and
 * capture_flush.c, where it goes out
 */
#pragma once
#include "base/mem.h"
#include "model/capture_tables.h"
#include "model/capture_writer.h"

/* Samples of one set since the last flush. */
struct waiting_samples {
    uint64_t *time_ns;
    context_id *contexts;
    stack_id *stacks;
    int64_t *values[MEASURES_MOST];
    size_t n, cap;
    bool has_times, has_contexts;
    bool defined; /* the file knows the set, with this... */
    size_t shown;
    int64_t period;
};

struct waiting_readings {
    struct reading *rows;
    size_t n, cap;
    bool defined;
};

/* The table at hand, of which only the latest counts: rows that are not in the file yet, as they will stand there. */
struct waiting_latest {
    struct buf rows;
    size_t n;
    uint64_t subject, number; /* whose; the how manieth of all tables */
    uint64_t bytes;           /* of it in the file so far */
    bool is_due, is_last;     /* with the next flush; and nothing comes behind */
};

struct capture_writer {
    char *path; /* NULL: no file */
    int fd;
    struct capture_onlooker onlooker;
    struct capture_labeller labeller;
    bool is_regular, has_durable_name;
    struct sink sink;
    struct chunk_writer chunks;
    struct tables tables;
    struct builder *names;

    struct waiting_samples *sets;
    size_t n_sets, cap_sets;
    struct waiting_readings *series;
    size_t n_series, cap_series;
    struct span *spans; /* ids first_span, first_span + 1, ... */
    size_t n_spans, cap_spans;
    uint32_t first_span;
    struct span_change *changes; /* of spans that are in the file already */
    size_t n_changes, cap_changes;
    struct text_rows facts, losses;
    struct waiting_latest latest;
    str_id *process_names, *thread_names; /* as the file knows them */
    size_t n_processes, cap_processes, n_threads, cap_threads;

    size_t waiting_bytes;
    uint64_t flushed_ns, synced_ns;
    uint64_t good_bytes; /* the end of the last flush that succeeded */
    struct err failed;
};

/* Whether there is a file to wait for, and it has not failed. */
static inline bool capture_is_kept(const struct capture_writer *w) { return w->path && !w->failed.kind; }

/* Rows for a set, for a series; made when they are first asked for. */
struct waiting_samples *capture_samples_of(struct capture_writer *w, set_id set);
struct waiting_readings *capture_readings_of(struct capture_writer *w, series_id series);

bool capture_flush_now(struct capture_writer *w); /* a failure is remembered */

/* capture_latest.c */
void latest_init(struct waiting_latest *l);
void latest_done(struct waiting_latest *l);
void latest_flush(struct capture_writer *w); /* behind everything its rows refer to */
