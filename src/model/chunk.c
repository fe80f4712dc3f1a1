#include "model/chunk.h"
#include "model/packing.h"

#include <xxhash.h>
#include <zstd.h>

#define PACK_LEVEL 3
#define INDEX_ROWS_MOST ((size_t)1 << 20)
#define FLAG_ZSTD 1u

/* A hostile file may claim the same bytes as the payload of many chunks; after so much hashing of
   payloads that turn out wrong, heads are taken at their word and the payloads jumped over. */
#define VAIN_MOST ((uint64_t)1 << 30)

/* Line ends in front catch transfers in text mode, as in PNG files. Markers share their first four
   bytes, so that one search finds either. */
static const char file_magic[12] = {'\x89', 'I', 'N', 'F', 'E', 'R', 'O', 'M', '\r', '\n', '\x1a', '\n'};
static const char chunk_marker[8] = {'\x8a', 'I', 'F', 'M', 'C', 'H', 'N', 'K'};
static const char trailer_marker[8] = {'\x8a', 'I', 'F', 'M', 'D', 'O', 'N', 'E'};
#define MARKER_SHARED 4

const char *const chunk_type_names[CHUNK_TYPE_COUNT] = {
    [CHUNK_UNKNOWN] = "unknown",
#define CHUNK(number, name, what) [CHUNK_##name] = what,
#include "model/chunks.def"
#undef CHUNK
};

static uint64_t checksum(const void *bytes, size_t n) { return XXH64(bytes, n, 0); }

/* The last 8 bytes of every fixed piece are the checksum of those before them. */
static void seal(uint8_t *piece, size_t n) { store_uint(piece + n - 8, checksum(piece, n - 8), 8); }
static bool is_sealed(const uint8_t *piece, size_t n) { return load_uint(piece + n - 8, 8) == checksum(piece, n - 8); }

struct head {
    uint64_t file_id;
    uint16_t type, flags;
    uint32_t sequence, stored, unpacked;
    uint64_t payload_sum;
};

/* Writing. */

static void put_fixed(struct chunk_writer *w, const uint8_t *piece, size_t n)
{
    sink_add(w->out, (struct view){(const char *)piece, n});
    w->offset += n;
}

static void put_file_head(struct chunk_writer *w)
{
    uint8_t head[CHUNK_FILE_HEAD];
    memcpy(head, file_magic, sizeof file_magic);
    store_uint(head + 12, CAPTURE_MAJOR, 2);
    store_uint(head + 14, CAPTURE_MINOR, 2);
    store_uint(head + 16, w->file_id, 8);
    seal(head, sizeof head);
    put_fixed(w, head, sizeof head);
}

static void put_head(struct chunk_writer *w, const struct head *h)
{
    uint8_t head[CHUNK_HEAD];
    memcpy(head, chunk_marker, sizeof chunk_marker);
    store_uint(head + 8, h->file_id, 8);
    store_uint(head + 16, h->type, 2);
    store_uint(head + 18, h->flags, 2);
    store_uint(head + 20, h->sequence, 4);
    store_uint(head + 24, h->stored, 4);
    store_uint(head + 28, h->unpacked, 4);
    store_uint(head + 32, h->payload_sum, 8);
    seal(head, sizeof head);
    put_fixed(w, head, sizeof head);
}

void chunk_writer_init(struct chunk_writer *w, struct sink *out, uint64_t file_id, enum chunk_packing packing)
{
    *w = (struct chunk_writer){.out = out, .file_id = file_id, .packing = packing};
    buf_init(&w->packed, ZSTD_compressBound(CHUNK_BYTES_MOST));
    buf_init(&w->index, CHUNK_BYTES_MOST);
    if (packing == CHUNK_PACKED)
        w->zstd = ZSTD_createCCtx();
    put_file_head(w);
}

void chunk_writer_done(struct chunk_writer *w)
{
    ZSTD_freeCCtx(w->zstd);
    buf_done(&w->packed);
    buf_done(&w->index);
    *w = (struct chunk_writer){0};
}

/* The payload as it will be stored: packed where that helps, as it is otherwise. */
static struct view pack(struct chunk_writer *w, struct view payload, uint16_t *out_flags)
{
    *out_flags = 0;
    if (!w->zstd || !payload.n)
        return payload;
    buf_clear(&w->packed);
    size_t room = ZSTD_compressBound(payload.n);
    char *into = buf_room(&w->packed, room);
    size_t n = into ? ZSTD_compressCCtx(w->zstd, into, room, payload.at, payload.n, PACK_LEVEL) : payload.n;
    if (ZSTD_isError(n) || n >= payload.n)
        return payload;
    *out_flags = FLAG_ZSTD;
    return (struct view){into, n};
}

static void note_in_index(struct chunk_writer *w, enum chunk_type type, size_t rows, size_t stored)
{
    if (w->indexed == INDEX_ROWS_MOST)
        return;
    put_varint(&w->index, type);
    put_varint(&w->index, rows);
    put_varint(&w->index, stored);
    w->indexed++;
}

void chunk_put(struct chunk_writer *w, enum chunk_type type, size_t rows, struct view payload)
{
    if (payload.n > CHUNK_BYTES_MOST) {
        err_set(&w->out->failed, ERR_LIMIT, "%zu MiB of %s in one piece; %zu MiB is the most",
                payload.n >> 20, chunk_type_names[type], CHUNK_BYTES_MOST >> 20);
        return;
    }
    uint16_t flags;
    struct view stored = pack(w, payload, &flags);
    note_in_index(w, type, rows, stored.n);
    put_head(w, &(struct head){.file_id = w->file_id, .type = (uint16_t)type, .flags = flags,
                               .sequence = w->sequence++, .stored = (uint32_t)stored.n,
                               .unpacked = (uint32_t)payload.n, .payload_sum = checksum(stored.at, stored.n)});
    sink_add(w->out, stored);
    w->offset += stored.n;
}

void chunk_put_end(struct chunk_writer *w)
{
    uint64_t index_at = w->offset;
    own(buf) struct buf payload;
    buf_init(&payload, CHUNK_BYTES_MOST);
    put_varint(&payload, w->sequence);
    put_varint(&payload, w->indexed);
    buf_add(&payload, w->index.data, w->index.len);
    chunk_put(w, CHUNK_INDEX, w->indexed, buf_view(&payload));

    uint8_t trailer[CHUNK_TRAILER];
    memcpy(trailer, trailer_marker, sizeof trailer_marker);
    store_uint(trailer + 8, w->file_id, 8);
    store_uint(trailer + 16, index_at, 8);
    seal(trailer, sizeof trailer);
    put_fixed(w, trailer, sizeof trailer);
}

/* Reading. */

bool chunk_reader_init(struct chunk_reader *r, struct reader *in, struct err *e)
{
    *r = (struct chunk_reader){.in = in};
    buf_init(&r->unpacked, CHUNK_BYTES_MOST);
    r->zstd = ZSTD_createDCtx();
    if (!reader_fill(in, CHUNK_FILE_HEAD, e))
        return false;
    struct view here = reader_here(in);
    const uint8_t *head = (const uint8_t *)here.at;
    if (here.n < CHUNK_FILE_HEAD)
        return err_set(e, ERR_MALFORMED, "ends inside its header: %zu of %zu bytes are there", here.n, CHUNK_FILE_HEAD);
    if (memcmp(head, file_magic, sizeof file_magic) != 0 || !is_sealed(head, CHUNK_FILE_HEAD))
        return true; /* damaged; the chunks behind it speak for themselves */
    r->has_header = r->has_id = true;
    r->major = (unsigned)load_uint(head + 12, 2);
    r->minor = (unsigned)load_uint(head + 14, 2);
    r->file_id = load_uint(head + 16, 8);
    if (r->major != CAPTURE_MAJOR)
        return err_set(e, ERR_UNSUPPORTED, "a capture file of version %u.%u; this program reads version %d",
                       r->major, r->minor, CAPTURE_MAJOR);
    reader_skip(in, CHUNK_FILE_HEAD);
    r->good_until = reader_offset(in);
    return true;
}

void chunk_reader_done(struct chunk_reader *r)
{
    ZSTD_freeDCtx(r->zstd);
    buf_done(&r->unpacked);
    r->zstd = NULL;
}

static bool is_ours(const struct chunk_reader *r, uint64_t file_id) { return !r->has_id || file_id == r->file_id; }

static bool head_at(const struct chunk_reader *r, struct view here, struct head *out)
{
    const uint8_t *at = (const uint8_t *)here.at;
    if (here.n < CHUNK_HEAD || memcmp(at, chunk_marker, sizeof chunk_marker) != 0 || !is_sealed(at, CHUNK_HEAD))
        return false;
    out->file_id = load_uint(at + 8, 8);
    out->type = (uint16_t)load_uint(at + 16, 2);
    out->flags = (uint16_t)load_uint(at + 18, 2);
    out->sequence = (uint32_t)load_uint(at + 20, 4);
    out->stored = (uint32_t)load_uint(at + 24, 4);
    out->unpacked = (uint32_t)load_uint(at + 28, 4);
    out->payload_sum = load_uint(at + 32, 8);
    return is_ours(r, out->file_id) && out->stored <= CHUNK_BYTES_MOST && out->unpacked <= CHUNK_BYTES_MOST;
}

static bool is_trailer(const struct chunk_reader *r, struct view here)
{
    const uint8_t *at = (const uint8_t *)here.at;
    return here.n >= CHUNK_TRAILER && memcmp(at, trailer_marker, sizeof trailer_marker) == 0 &&
           is_sealed(at, CHUNK_TRAILER) && is_ours(r, load_uint(at + 8, 8));
}

static bool unpack(struct chunk_reader *r, const struct head *h, struct view stored, struct view *out)
{
    if (!(h->flags & FLAG_ZSTD)) {
        *out = stored;
        return h->unpacked == h->stored;
    }
    buf_clear(&r->unpacked);
    char *into = buf_room(&r->unpacked, h->unpacked);
    size_t n = ZSTD_decompressDCtx(r->zstd, into, h->unpacked, stored.at, stored.n);
    *out = (struct view){into, h->unpacked};
    return n == h->unpacked; /* an error is larger than any size */
}

static enum chunk_type known_type(const struct head *h)
{
    bool known = !(h->flags & ~FLAG_ZSTD) && h->type < CHUNK_TYPE_COUNT;
    return known ? (enum chunk_type)h->type : CHUNK_UNKNOWN;
}

/* The payload is there, whole and true. The window holds head and payload then. */
static bool accept(struct chunk_reader *r, const struct head *h, struct chunk *out)
{
    struct view here = reader_here(r->in);
    if (here.n < CHUNK_HEAD + h->stored)
        return false;
    struct view stored = {here.at + CHUNK_HEAD, h->stored};
    if (checksum(stored.at, stored.n) != h->payload_sum) {
        r->hashed_in_vain += stored.n;
        return false;
    }
    *out = (struct chunk){.type = known_type(h), .sequence = h->sequence, .payload = VIEW(""),
                          .stored_bytes = CHUNK_HEAD + h->stored};
    return out->type == CHUNK_UNKNOWN || unpack(r, h, stored, &out->payload);
}

/* To the next place that could be the beginning of something: one step, then a search. */
static bool seek_marker(struct reader *in, struct err *e)
{
    reader_skip(in, 1);
    for (;;) {
        struct view here = reader_here(in);
        const char *found = here.n ? memmem(here.at, here.n, chunk_marker, MARKER_SHARED) : NULL;
        if (found) {
            reader_skip(in, (size_t)(found - here.at));
            return true;
        }
        size_t keep = here.n < MARKER_SHARED ? here.n : MARKER_SHARED - 1;
        reader_skip(in, here.n - keep);
        if (in->ended) {
            reader_skip(in, keep);
            return true;
        }
        if (!reader_fill(in, CHUNK_HEAD, e))
            return false;
    }
}

/* Notes what lies between the last good thing and here; what follows is good for n bytes. */
static void pass(struct chunk_reader *r, struct chunk *out, size_t n)
{
    out->offset = reader_offset(r->in);
    out->skipped_from = r->good_until;
    out->skipped_bytes = out->offset - r->good_until;
    reader_skip(r->in, n);
    r->good_until = out->offset + n;
}

static bool step_over(struct chunk_reader *r, const struct head *h, struct err *e)
{
    if (h && r->hashed_in_vain > VAIN_MOST) {
        size_t here = reader_here(r->in).n, whole = CHUNK_HEAD + h->stored;
        reader_skip(r->in, whole < here ? whole : here);
        return true;
    }
    return seek_marker(r->in, e);
}

bool chunk_next(struct chunk_reader *r, struct chunk *out, struct err *e)
{
    for (;;) {
        struct head h;
        if (!reader_fill(r->in, CHUNK_HEAD, e))
            return false;
        bool has_head = head_at(r, reader_here(r->in), &h);
        if (has_head && !reader_fill(r->in, CHUNK_HEAD + h.stored, e))
            return false;
        if (has_head && accept(r, &h, out)) {
            r->has_id = true;
            r->file_id = h.file_id;
            pass(r, out, out->stored_bytes);
            return true;
        }
        bool at_end = !reader_here(r->in).n;
        if (at_end || is_trailer(r, reader_here(r->in))) {
            *out = (struct chunk){.type = CHUNK_UNKNOWN};
            r->has_trailer |= !at_end;
            pass(r, out, at_end ? 0 : CHUNK_TRAILER);
            return false;
        }
        if (!step_over(r, has_head ? &h : NULL, e))
            return false;
    }
}

int chunk_sniff(struct view head)
{
    if (view_starts(head, (struct view){file_magic, 8}))
        return 100;
    /* The header may be what is damaged. */
    return head.n && memmem(head.at, head.n, chunk_marker, sizeof chunk_marker) ? 80 : 0;
}
