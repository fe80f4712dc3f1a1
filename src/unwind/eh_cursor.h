/*
 * eh_cursor.h - reading .eh_frame bytes without believing them
 *
 * Reading past the end yields zeros and sets `is_short`; whoever reads looks once.
 */
#pragma once
#include "base/view.h"
#include <stdint.h>

struct eh_cursor {
    const uint8_t *at, *end;
    bool is_short;
};

static inline struct eh_cursor eh_cursor_over(struct view bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.at;
    return (struct eh_cursor){.at = at, .end = at ? at + bytes.n : at};
}

static inline size_t eh_left(const struct eh_cursor *c) { return (size_t)(c->end - c->at); }

static inline uint64_t eh_fail(struct eh_cursor *c)
{
    c->is_short = true;
    c->at = c->end;
    return 0;
}

static inline struct view eh_bytes(struct eh_cursor *c, uint64_t n)
{
    if (n > eh_left(c))
        n = eh_fail(c);
    struct view v = {(const char *)c->at, (size_t)n};
    c->at += n;
    return v;
}

/* Little-endian, as both of our machines are. */
static inline uint64_t eh_uint(struct eh_cursor *c, size_t bytes)
{
    if (bytes > eh_left(c))
        return eh_fail(c);
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)c->at[i] << (8 * i);
    c->at += bytes;
    return v;
}

static inline uint8_t eh_byte(struct eh_cursor *c) { return (uint8_t)eh_uint(c, 1); }

static inline int64_t eh_sint(struct eh_cursor *c, size_t bytes)
{
    unsigned spare = (unsigned)(64 - 8 * bytes);
    return (int64_t)(eh_uint(c, bytes) << spare) >> spare;
}

/* LEB128: seven bits a byte. Bits past the 64th are dropped, as other readers do. */
static inline uint64_t eh_leb(struct eh_cursor *c, bool is_signed)
{
    uint64_t v = 0;
    unsigned shift = 0;
    uint8_t b = 0;
    do {
        b = eh_byte(c);
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    if (is_signed && shift < 64 && (b & 0x40))
        v |= ~UINT64_C(0) << shift;
    return v;
}

static inline uint64_t eh_uleb(struct eh_cursor *c) { return eh_leb(c, false); }
static inline int64_t eh_sleb(struct eh_cursor *c) { return (int64_t)eh_leb(c, true); }
