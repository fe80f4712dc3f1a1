#include "model/capture_reader.h"
#include "model/capture_decode.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>

/* A few hundred bytes can be packed so that they unpack to millions of rows. What an honest file
   needs is far below these: a sample takes a byte or more. */
#define ROWS_FREE (UINT64_C(16) << 20)
#define ROWS_PER_BYTE 64
#define UNPACKED_FREE (UINT64_C(1) << 30)
#define UNPACKED_PER_BYTE 256

#define PLACES_NAMED 16 /* damaged places that get a note of their own */

struct capture {
    struct builder *into;
    struct reader *in;
    struct chunk_reader chunks;
    struct decoder decoder;
    struct capture_report report;
    uint64_t found, rows, unpacked_bytes;
    uint64_t next_sequence;
};

static void capture_done(struct capture *c)
{
    chunk_reader_done(&c->chunks);
    decoder_done(&c->decoder);
}
DEFINE_OWN_IN_PLACE(capture, struct capture)

static void note(struct capture *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void note(struct capture *c, const char *fmt, ...)
{
    char text[240];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    builder_damage(c->into, view_of(text));
}

static void damaged(struct capture *c, uint64_t from, uint64_t bytes)
{
    if (!bytes)
        return;
    c->report.damaged_bytes += bytes;
    if (c->report.damaged_places++ < PLACES_NAMED)
        note(c, "%" PRIu64 " bytes at offset %" PRIu64 " are damaged and were passed over", bytes, from);
}

static void senseless(struct capture *c, const struct chunk *chunk)
{
    c->report.damaged_bytes += chunk->stored_bytes;
    if (c->report.damaged_places++ < PLACES_NAMED)
        note(c, "the chunk of %s at offset %" PRIu64 " makes no sense and was passed over",
             chunk_type_names[chunk->type], chunk->offset);
}

/* False: a chunk from the past, which an honest file does not have. */
static bool in_sequence(struct capture *c, const struct chunk *chunk)
{
    if (chunk->sequence < c->next_sequence)
        return false;
    c->report.lost_chunks += chunk->sequence - c->next_sequence;
    c->next_sequence = (uint64_t)chunk->sequence + 1;
    return true;
}

static void take_chunk(struct capture *c, const struct chunk *chunk)
{
    size_t rows = 0;
    c->found++;
    damaged(c, chunk->skipped_from, chunk->skipped_bytes);
    if (!in_sequence(c, chunk) || !decode_chunk(&c->decoder, chunk, &rows))
        senseless(c, chunk);
    c->report.is_closed |= chunk->type == CHUNK_INDEX;
    c->report.types[chunk->type].chunks++;
    c->report.types[chunk->type].rows += rows;
    c->report.types[chunk->type].stored_bytes += chunk->stored_bytes;
    c->report.types[chunk->type].unpacked_bytes += chunk->payload.n;
    c->rows += rows;
    c->unpacked_bytes += chunk->payload.n;
}

static bool is_bounded(const struct capture *c, struct err *e)
{
    uint64_t read_bytes = reader_offset(c->in), rows = c->rows + c->decoder.labels_taken;
    if (rows <= ROWS_FREE + ROWS_PER_BYTE * read_bytes &&
        c->unpacked_bytes <= UNPACKED_FREE + UNPACKED_PER_BYTE * read_bytes)
        return true;
    return err_set(e, ERR_LIMIT, "offset %" PRIu64 ": unpacks to %" PRIu64 " rows, %" PRIu64 " MiB: no recording looks like that",
                   read_bytes, rows, c->unpacked_bytes >> 20);
}

static bool has_writer(int fd)
{
    struct flock any = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fd >= 0 && fcntl(fd, F_OFD_GETLK, &any) == 0 && any.l_type != F_UNLCK;
}

/* `last` says what lies between the last chunk and the end. */
static void note_ending(struct capture *c, const struct chunk *last)
{
    c->report.is_closed |= c->chunks.has_trailer;
    if (c->report.is_closed) {
        damaged(c, last->skipped_from, last->skipped_bytes);
        if (reader_here(c->in).n)
            note(c, "there are more bytes behind its end, at offset %" PRIu64, reader_offset(c->in));
        return;
    }
    c->report.is_being_written = has_writer(c->in->fd);
    if (c->report.is_being_written)
        note(c, "still being written: what comes is not in it yet");
    else
        note(c, "not closed properly (was the recorder killed?): up to a second before its end may be missing");
    if (last->skipped_bytes)
        note(c, "the last %" PRIu64 " bytes, at offset %" PRIu64 ", are a chunk that was not finished, or damaged",
             last->skipped_bytes, last->skipped_from);
    c->report.damaged_bytes += last->skipped_bytes;
}

static void note_sums(struct capture *c)
{
    const struct capture_report *r = &c->report;
    if (r->damaged_places > PLACES_NAMED)
        note(c, "... and %" PRIu64 " more damaged places; %" PRIu64 " bytes in all", r->damaged_places - PLACES_NAMED,
             r->damaged_bytes);
    if (r->lost_chunks)
        note(c, "chunks lost: %" PRIu64, r->lost_chunks);
    if (c->decoder.stand_ins)
        note(c, "names and callers that were in lost chunks are shown as [lost ...] in %" PRIu64 " places",
             c->decoder.stand_ins);
    if (c->decoder.lost_losses)
        note(c, "losses of sets that are lost themselves: %" PRIu64, c->decoder.lost_losses);
    if (c->decoder.lost_links)
        note(c, "%" PRIu64 " spans refer to spans that are lost", c->decoder.lost_links);
    if (r->types[CHUNK_UNKNOWN].chunks)
        note(c, "%" PRIu64 " chunks of a kind this version does not know were passed over (version %u.%u wrote them)",
             r->types[CHUNK_UNKNOWN].chunks, r->major, r->minor);
}

static bool read_all(struct capture *c, struct err *e)
{
    if (!chunk_reader_init(&c->chunks, c->in, e))
        return false;
    struct chunk chunk = {0};
    while (chunk_next(&c->chunks, &chunk, e)) {
        take_chunk(c, &chunk);
        if (!is_bounded(c, e))
            return false;
    }
    if (e->kind)
        return false;
    if (!c->found && !c->chunks.has_header)
        return err_set(e, ERR_MALFORMED, "nothing in it can be read as a capture file");
    decode_end(&c->decoder);
    note_ending(c, &chunk);
    note_sums(c);
    return true;
}

bool capture_read(struct builder *into, struct reader *in, struct capture_report *out, struct err *e)
{
    struct err mine = {0};
    own(capture) struct capture c = {.into = into, .in = in};
    decoder_init(&c.decoder, into);
    if (!read_all(&c, &mine)) {
        if (e)
            *e = mine;
        return false;
    }
    c.report.major = c.chunks.major;
    c.report.minor = c.chunks.minor;
    c.report.lost_samples = c.decoder.lost_samples;
    if (out)
        *out = c.report;
    return true;
}
