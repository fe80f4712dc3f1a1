/*
 * packing.h - numbers and texts in few bytes, as the capture file writes them
 *
 *     varint   7 bits a byte, lowest first; the high bit says that more follow
 *     signed   zigzag (0, -1, 1, -2, ... become 0, 1, 2, 3, ...), then varint
 *     text     varint length, then the bytes
 *
 * Writing goes into a buf. Reading goes through a cursor that remembers its
 * first failure: past the end, or past what the type can hold, everything is
 * zero and `bad` is set, so a decoder reads all its fields and looks once.
 */
#pragma once
#include "base/buf.h"

#define VARINT_MOST 10 /* bytes that 64 bits can take */

static inline void put_varint(struct buf *out, uint64_t v)
{
    uint8_t bytes[VARINT_MOST];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    buf_add(out, bytes, n);
}

static inline void put_signed(struct buf *out, int64_t v)
{
    put_varint(out, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static inline void put_text(struct buf *out, struct view text)
{
    put_varint(out, text.n);
    buf_add(out, text.at, text.n);
}

/* Fixed width, lowest byte first. */
static inline void store_uint(uint8_t *at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t load_uint(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

static inline struct cursor cursor_over(struct view v)
{
    const uint8_t *at = (const uint8_t *)v.at;
    return (struct cursor){.at = at, .end = at + v.n};
}

static inline size_t cursor_left(const struct cursor *c) { return (size_t)(c->end - c->at); }

static inline uint64_t cursor_fail(struct cursor *c)
{
    c->bad = true;
    c->at = c->end;
    return 0;
}

static inline uint64_t cursor_varint(struct cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
    return cursor_fail(c);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    uint64_t v = cursor_varint(c);
    return (uint32_t)(v <= UINT32_MAX ? v : cursor_fail(c));
}

static inline int64_t cursor_signed(struct cursor *c)
{
    uint64_t v = cursor_varint(c);
    return (int64_t)(v >> 1 ^ (~(v & 1) + 1));
}

static inline int32_t cursor_i32(struct cursor *c)
{
    int64_t v = cursor_signed(c);
    return (int32_t)(v >= INT32_MIN && v <= INT32_MAX ? v : (int64_t)cursor_fail(c));
}

static inline uint64_t cursor_fixed(struct cursor *c, size_t bytes)
{
    if (cursor_left(c) < bytes)
        return cursor_fail(c);
    c->at += bytes;
    return load_uint(c->at - bytes, bytes);
}

static inline struct view cursor_text(struct cursor *c)
{
    uint64_t n = cursor_varint(c);
    if (n > cursor_left(c)) {
        cursor_fail(c);
        return VIEW("");
    }
    c->at += n;
    return (struct view){(const char *)c->at - n, (size_t)n};
}

/* How many rows follow: believed only up to what could be there at `least` bytes a row. */
static inline size_t cursor_count(struct cursor *c, size_t least)
{
    uint64_t n = cursor_varint(c);
    return (size_t)(n <= cursor_left(c) / least ? n : cursor_fail(c));
}
