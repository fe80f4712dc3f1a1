/*
 * sink.h - bytes going out, as they are made
 *
 * An answer streams: it goes to a descriptor, a file being written, or a buffer,
 * and whoever makes it does not know which. The first failure is remembered and
 * everything after it is dropped; look once, in sink_flush().
 *
 *     struct sink out;
 *     sink_to_fd(&out, STDOUT_FILENO, "standard output");
 *     sink_printf(&out, "%s %d\n", name, n);
 *     return sink_flush(&out, e);
 */
#pragma once
#include "base/buf.h"

struct sink {
    const char *name;  /* for messages */
    int fd;            /* -1: into `into` */
    struct buf *into;
    bool (*filter)(void *self, struct view bytes, struct err *e); /* or through a function */
    void *self;
    size_t n;          /* waiting in `pending` */
    uint64_t written;  /* bytes that have left */
    struct err failed;
    char pending[16384];
};

void sink_to_fd(struct sink *s, int fd, const char *name);
void sink_to_buf(struct sink *s, struct buf *into);
void sink_to_function(struct sink *s, bool (*filter)(void *, struct view, struct err *), void *self);

void sink_add(struct sink *s, struct view v);
void sink_puts(struct sink *s, const char *text);
void sink_char(struct sink *s, char c);
void sink_pad(struct sink *s, size_t n); /* blanks */
void sink_printf(struct sink *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool sink_flush(struct sink *s, struct err *e) MUST_CHECK; /* true: every byte so far has arrived */
