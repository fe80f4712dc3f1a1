#include "formats/gzip_stream.h"

#include <inttypes.h>

#define WINDOW_GZIP (15 + 16) /* zlib's way to say: gzip, not zlib */
#define PIECE ((size_t)64 << 10)

static bool too_large(const struct buf *b, struct err *e)
{
    return err_set(e, ERR_LIMIT, "more than %zu MiB inside", b->most >> 20);
}

bool gzip_is(struct view head) { return head.n >= 3 && !memcmp(head.at, "\x1f\x8b\x08", 3); }

static void own_inflate(z_stream *z) { inflateEnd(z); }

static bool begin_inflate(z_stream *z)
{
    *z = (z_stream){0};
    return inflateInit2(z, WINDOW_GZIP) == Z_OK;
}

size_t gzip_peek(struct view head, char *out, size_t n)
{
    own(inflate) z_stream z;
    if (!begin_inflate(&z))
        return 0;
    z.next_in = (Bytef *)(uintptr_t)head.at;
    z.avail_in = (uInt)head.n;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)n;
    inflate(&z, Z_SYNC_FLUSH); /* whatever it says: what came out is the beginning */
    return n - z.avail_out;
}

/* Everything from the window to the output. */
static int inflate_window(z_stream *z, struct view here, struct buf *out)
{
    static const size_t most_at_once = 1 << 30;
    int rc = Z_OK;
    z->next_in = (Bytef *)(uintptr_t)here.at;
    z->avail_in = (uInt)(here.n < most_at_once ? here.n : most_at_once);
    do {
        char piece[PIECE];
        z->next_out = (Bytef *)piece;
        z->avail_out = sizeof piece;
        rc = inflate(z, Z_NO_FLUSH);
        buf_add(out, piece, sizeof piece - z->avail_out);
    } while (rc == Z_OK && !out->full && !z->avail_out);
    return rc;
}

/* One gzip member. */
static bool read_member(z_stream *z, struct reader *in, struct buf *out, struct err *e)
{
    for (int rc = Z_OK; rc != Z_STREAM_END;) {
        if (!reader_fill(in, 1, e))
            return false;
        struct view here = reader_here(in);
        uint64_t offset = reader_offset(in);
        if (!here.n)
            return err_set(e, ERR_MALFORMED, "the compressed data ends at byte %" PRIu64 ", too early", offset);
        rc = inflate_window(z, here, out);
        size_t used = (size_t)((const char *)z->next_in - here.at);
        reader_skip(in, used);
        if (out->full)
            return too_large(out, e);
        if (rc != Z_OK && rc != Z_BUF_ERROR && rc != Z_STREAM_END)
            return err_set(e, ERR_MALFORMED, "broken compressed data at byte %" PRIu64, offset + used);
    }
    return true;
}

static bool read_plain(struct reader *in, struct buf *out, struct err *e)
{
    for (;;) {
        if (!reader_fill(in, 1, e))
            return false;
        struct view here = reader_here(in);
        if (!here.n)
            return true;
        buf_add(out, here.at, here.n);
        reader_skip(in, here.n);
        if (out->full)
            return too_large(out, e);
    }
}

bool gzip_read(struct reader *in, struct buf *out, struct err *e)
{
    if (!reader_fill(in, 3, e))
        return false;
    if (!gzip_is(reader_here(in)))
        return read_plain(in, out, e);
    own(inflate) z_stream z;
    if (!begin_inflate(&z))
        return err_set(e, ERR_IO, "zlib does not start");
    do { /* members may follow each other, as after `cat a.gz b.gz` */
        if (!read_member(&z, in, out, e) || !reader_fill(in, 3, e))
            return false;
        inflateReset(&z);
    } while (gzip_is(reader_here(in)));
    if (reader_here(in).n)
        return err_set(e, ERR_MALFORMED, "something follows the compressed data at byte %" PRIu64, reader_offset(in));
    return true;
}

/* Going out. */

static void deflate_all(struct gzip *z, int flush)
{
    do {
        char piece[PIECE];
        z->z.next_out = (Bytef *)piece;
        z->z.avail_out = sizeof piece;
        deflate(&z->z, flush);
        sink_add(z->out, (struct view){piece, sizeof piece - z->z.avail_out});
    } while (!z->z.avail_out);
}

static bool compress_piece(void *self, struct view bytes, struct err *e)
{
    (void)e; /* a failure of the sink below is told by its own flush */
    struct gzip *z = self;
    z->z.next_in = (Bytef *)(uintptr_t)bytes.at;
    z->z.avail_in = (uInt)bytes.n;
    deflate_all(z, Z_NO_FLUSH);
    return true;
}

bool gzip_to(struct gzip *z, struct sink *plain, struct sink *out, struct err *e)
{
    *z = (struct gzip){.out = out};
    if (deflateInit2(&z->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return err_set(e, ERR_IO, "zlib does not start");
    sink_to_function(plain, compress_piece, z);
    return true;
}

bool gzip_end(struct gzip *z, struct sink *plain, struct err *e)
{
    if (!sink_flush(plain, e))
        return false;
    z->z.avail_in = 0;
    deflate_all(z, Z_FINISH);
    return sink_flush(z->out, e);
}

void gzip_done(struct gzip *z) { deflateEnd(&z->z); }
