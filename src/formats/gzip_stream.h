/*
 * gzip_stream.h - gzip, coming in and going out
 *
 *     own(buf) struct buf plain;
 *     buf_init(&plain, most_bytes);                // a small file can hold a very large one
 *     if (!gzip_read(in, &plain, e)) ...           // what is not compressed passes as it is
 *
 *     own(gzip) struct gzip z;
 *     struct sink plain;
 *     if (!gzip_to(&z, &plain, out, e)) ...
 *     ...sink_add(&plain, ...)...
 *     if (!gzip_end(&z, &plain, e)) ...
 *
 * The same bytes in give the same bytes out: no time and no name in the header.
 */
#pragma once
#include "base/reader.h"
#include "base/sink.h"

#include <zlib.h>

struct gzip {
    z_stream z;
    struct sink *out;
};

bool gzip_is(struct view head);
bool gzip_read(struct reader *in, struct buf *out, struct err *e) MUST_CHECK;

/* The first bytes of what is inside, as far as `head` tells; at most `n` of them. */
size_t gzip_peek(struct view head, char *out, size_t n);

bool gzip_to(struct gzip *z, struct sink *plain, struct sink *out, struct err *e) MUST_CHECK;
bool gzip_end(struct gzip *z, struct sink *plain, struct err *e) MUST_CHECK;
void gzip_done(struct gzip *z);
DEFINE_OWN_IN_PLACE(gzip, struct gzip)
