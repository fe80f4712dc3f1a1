/*
 * capture_reader.h - what is in a capture file, as far as it can still be read
 *
 * Goes through the chunks of a file and hands their content to a builder. Ids in
 * the file are translated on the way; a chunk that is damaged, missing or makes
 * no sense costs only itself:
 *
 *     bytes that are no chunk     a note of damage, with offset and length
 *     sequence numbers missing    a note: how many chunks
 *     a name that was in one      stands in as "[lost name 17]"; what uses it stays apart from others
 *     a caller that was in one    the stack hangs below "[lost callers]"
 *     a sample whose own stack or context was in one     counted as lost, with the reason
 *     no footer                   a note: the recorder was killed, or is still at work
 *
 * So the answer is never wrong, only smaller, and says by how much. A file may
 * be read while it is being written.
 *
 * Fails:    when reading fails, when the file is of a newer major version, when
 *           nothing in it can be read (ERR_MALFORMED), and when it unpacks to
 *           far more than an honest file of its size could (ERR_LIMIT).
 */
#pragma once
#include "base/reader.h"
#include "model/builder.h"
#include "model/chunk.h"

struct capture_report {
    unsigned major, minor; /* 0.0: the header is damaged */
    bool is_closed;        /* the footer is there */
    bool is_being_written; /* not closed, and a recorder holds the file */
    struct {
        uint64_t chunks, rows, stored_bytes, unpacked_bytes;
    } types[CHUNK_TYPE_COUNT]; /* CHUNK_UNKNOWN: of a newer version, passed over */
    uint64_t lost_chunks;    /* missing in the sequence, before the last one found */
    uint64_t damaged_places, damaged_bytes;
    uint64_t lost_samples;   /* whole, but what they refer to is not there */
};

/* `out` may be NULL. */
bool capture_read(struct builder *into, struct reader *in, struct capture_report *out, struct err *e) MUST_CHECK;
