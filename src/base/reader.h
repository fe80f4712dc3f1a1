/*
 * reader.h - bytes coming in, a window at a time
 *
 * A reader holds a window onto a file, standard input ("-") or memory. Files are
 * never read whole: whoever parses asks for as much as the next step needs.
 *
 *     own(reader) struct reader r;
 *     if (!reader_open(&r, path, e))
 *         return false;
 *     struct view line;
 *     while (reader_line(&r, &line, e))
 *         ...
 *     if (e->kind) return false;               // the end, or a failure
 *
 * A view from a reader is good until the next call on that reader. On a terminal,
 * long reading shows how far it has come.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/progress.h"
#include "base/view.h"
#include <stdint.h>

struct reader {
    const char *name;   /* for messages: the path, or "standard input" */
    int fd;             /* -1: memory */
    char *window;
    size_t at, end, cap;
    size_t most_window; /* a single line or token larger than this is an ERR_LIMIT */
    uint64_t offset;    /* of window[0] in the whole input */
    uint64_t line_no;   /* of the line last returned by reader_line; 0 before the first */
    bool ended;
    struct progress progress;
};

bool reader_open(struct reader *r, const char *path, struct err *e) MUST_CHECK;
void reader_over(struct reader *r, const char *name, struct view bytes); /* borrows the bytes */
void reader_done(struct reader *r);
DEFINE_OWN_IN_PLACE(reader, struct reader)

/* Makes at least `want` bytes available, or all that is left. False: reading failed. */
bool reader_fill(struct reader *r, size_t want, struct err *e) MUST_CHECK;

/* What is in the window now. Before the first fill there is no window to add to. */
static inline struct view reader_here(const struct reader *r)
{
    return (struct view){r->window ? r->window + r->at : "", r->end - r->at};
}

static inline void reader_skip(struct reader *r, size_t n) { r->at += n; }
static inline uint64_t reader_offset(const struct reader *r) { return r->offset + r->at; }

/* The next line without its '\n' (and without a '\r' before it). False: at the end, or with e set. */
bool reader_line(struct reader *r, struct view *out_line, struct err *e) MUST_CHECK;
