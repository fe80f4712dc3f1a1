/*
 * buf.h - a growing text or byte buffer with an agreed upper bound
 *
 * Writes after the bound is reached do nothing and set `full`; look once, at
 * the end. The bytes are always NUL-terminated so `data` prints as a string.
 *
 *     own(buf) struct buf b;
 *     buf_init(&b, 1 << 20);
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *data; /* never NULL after buf_init */
    size_t len, cap, most;
    bool full;
};

void buf_init(struct buf *b, size_t most_bytes);
void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* empty again; keeps its memory */
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *buf_room(struct buf *b, size_t n); /* place for n more bytes, added; NULL and `full` past the bound */

static inline struct view buf_view(const struct buf *b) { return (struct view){b->data, b->len}; }

DEFINE_OWN_IN_PLACE(buf, struct buf)
