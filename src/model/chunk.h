/*
 * chunk.h - the container of a capture file: chunks that can be found again
 *
 *     header | chunk | chunk | ... | chunk | index chunk | trailer
 *                                            └─ when closed well ─┘
 *
 * A chunk is a head of 48 bytes and a payload, usually packed with zstd. The
 * head begins with a marker and carries the file's own random id, a sequence
 * number, and checksums over itself and the payload. So a reader that meets
 * damage scans for the next marker whose head is true and goes on from there:
 * whatever happened to some bytes, every other chunk is found. A marker that
 * merely occurs inside a payload has no true head, and a head that was copied
 * there from another file has the wrong id.
 *
 * This file knows nothing of what is in a payload. docs/formats/inferom.md has
 * the layout byte by byte.
 *
 *     own(chunk_writer) struct chunk_writer w;
 *     chunk_writer_init(&w, sink, file_id, CHUNK_PACKED);
 *     chunk_put(&w, CHUNK_STRINGS, n_rows, payload);
 *     chunk_put_end(&w);
 *     return sink_flush(sink, e);                     // failures are remembered by the sink
 *
 *     own(chunk_reader) struct chunk_reader r;
 *     if (!chunk_reader_init(&r, in, e)) return false;
 *     struct chunk c;
 *     while (chunk_next(&r, &c, e)) ...               // c.skipped_bytes: damage in front of it
 *     if (e->kind) return false;
 *
 * Owns:     its working memory; sink and reader are borrowed.
 * Threads:  one at a time.
 * Fails:    writing as the sink does; reading only when the bytes cannot be read
 *           or the file is of a newer version. Damage is not a failure.
 */
#pragma once
#include "base/reader.h"
#include "base/sink.h"

#define CAPTURE_MAJOR 1
#define CAPTURE_MINOR 0

#define CHUNK_FILE_HEAD ((size_t)32) /* bytes of the file's header */
#define CHUNK_HEAD ((size_t)48)      /* bytes in front of each payload */
#define CHUNK_TRAILER ((size_t)32)
#define CHUNK_BYTES_MOST ((size_t)16 << 20) /* of a payload, packed or not */
#define CHUNK_ROWS_MOST ((size_t)1 << 16)   /* of whatever the chunk holds */

enum chunk_type {
    CHUNK_UNKNOWN, /* of a newer version; skipped and counted */
#define CHUNK(number, name, what) CHUNK_##name = number,
#include "model/chunks.def"
#undef CHUNK
    CHUNK_TYPE_COUNT
};

extern const char *const chunk_type_names[CHUNK_TYPE_COUNT]; /* "strings" */

/* Plain files are larger and need no zstd to read; the documentation's examples are plain. */
enum chunk_packing { CHUNK_PACKED, CHUNK_PLAIN };

struct chunk_writer {
    struct sink *out;
    uint64_t file_id;
    enum chunk_packing packing;
    uint64_t offset; /* where the next chunk will begin */
    uint32_t sequence;
    void *zstd;
    struct buf packed;
    struct buf index; /* rows of the index so far */
    size_t indexed;
};

/* Writes the file's header. */
void chunk_writer_init(struct chunk_writer *w, struct sink *out, uint64_t file_id, enum chunk_packing packing);
void chunk_writer_done(struct chunk_writer *w);
DEFINE_OWN_IN_PLACE(chunk_writer, struct chunk_writer)

void chunk_put(struct chunk_writer *w, enum chunk_type type, size_t rows, struct view payload);
void chunk_put_end(struct chunk_writer *w); /* index and trailer: the file is closed well */

struct chunk {
    enum chunk_type type;
    uint32_t sequence;
    uint64_t offset; /* of its head */
    size_t stored_bytes;
    struct view payload; /* unpacked; good until the next call */
    uint64_t skipped_from, skipped_bytes; /* what was passed over to get here */
};

struct chunk_reader {
    struct reader *in;
    unsigned major, minor; /* 0.0 when the header is damaged */
    bool has_header, has_trailer;
    bool has_id;
    uint64_t file_id;
    uint64_t good_until;    /* the end of the last good thing */
    uint64_t hashed_in_vain; /* bytes of payloads whose checksum was wrong */
    void *zstd;
    struct buf unpacked;
};

bool chunk_reader_init(struct chunk_reader *r, struct reader *in, struct err *e) MUST_CHECK;
void chunk_reader_done(struct chunk_reader *r);
DEFINE_OWN_IN_PLACE(chunk_reader, struct chunk_reader)

/* The next whole chunk. False at the end (what was skipped before it is in *out then), or with e set. */
bool chunk_next(struct chunk_reader *r, struct chunk *out, struct err *e) MUST_CHECK;

/* How sure are we, 0..100, that a file that begins like this is a capture file? */
int chunk_sniff(struct view head);
