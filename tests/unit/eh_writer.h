/*
 * eh_writer.h - .eh_frame sections by hand, for tests
 *
 *     struct eh_writer w;
 *     size_t cie = eh_cie(&w, "zR", 0x1b, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1)));
 *     eh_fde(&w, cie, 0x1000, 0x20, OPS(ADVANCE(1), CFA_OFFSET(16), OFFSET(FP, 2)));
 *
 * Offsets of OFFSET() count in units of the data alignment, -8: OFFSET(FP, 2) is CFA - 16.
 */
#pragma once
#include "base/view.h"
#include <stdint.h>
#include <stdlib.h>

#define OPS(...) ((struct view){(const char[]){__VA_ARGS__}, sizeof((const char[]){__VA_ARGS__})})
#define BYTE(v) ((char)(uint8_t)(v))
#define BREG(r, n) BYTE(0x70 + (r)), BYTE((n) & 0x7f) /* n: -64..63 */
#define DEREF 0x06

#define NOP 0x00
#define ADVANCE(n) BYTE(0x40 + (n))
#define ADVANCE1(n) 0x02, BYTE(n)
#define ADVANCE2(n) 0x03, BYTE(n), BYTE((n) >> 8)
#define ADVANCE4(n) 0x04, BYTE(n), BYTE((n) >> 8), BYTE((n) >> 16), BYTE((n) >> 24)
#define OFFSET(r, n) BYTE(0x80 + (r)), (n)
#define OFFSET_EXTENDED(r, n) 0x05, (r), (n)
#define OFFSET_SIGNED(r, n) 0x11, (r), BYTE((n) & 0x7f)
#define OFFSET_NEGATIVE(r, n) 0x2f, (r), BYTE((n) & 0x7f)
#define RESTORE(r) BYTE(0xc0 + (r))
#define RESTORE_EXTENDED(r) 0x06, (r)
#define UNDEFINED(r) 0x07, (r)
#define SAME(r) 0x08, (r)
#define IN_REGISTER(r, in) 0x09, (r), (in)
#define REMEMBER 0x0a
#define RECALL 0x0b
#define DEF_CFA(r, n) 0x0c, (r), (n)
#define DEF_CFA_SIGNED(r, n) 0x12, (r), BYTE((n) & 0x7f)
#define CFA_IN(r) 0x0d, (r)
#define CFA_OFFSET(n) 0x0e, (n)
#define CFA_OFFSET4(n) 0x0e, BYTE(((n) & 0x7f) | 0x80), BYTE(((n) >> 7 & 0x7f) | 0x80), BYTE(((n) >> 14 & 0x7f) | 0x80), BYTE((n) >> 21 & 0x7f)
#define CFA_OFFSET_SIGNED(n) 0x13, BYTE((n) & 0x7f)
#define CFA_EXPRESSION(n, ...) 0x0f, (n), __VA_ARGS__
#define AT_EXPRESSION(r, n, ...) 0x10, (r), (n), __VA_ARGS__
#define VALUE_EXPRESSION(r, n, ...) 0x16, (r), (n), __VA_ARGS__
#define ARGS_SIZE(n) 0x2e, (n)
#define PLT_SLOTS(from) CFA_EXPRESSION(11, BREG(7, 8), BREG(16, 0), 0x3f, 0x1a, BYTE(0x30 + (from)), 0x2a, 0x33, 0x24, 0x22)

enum { EH_ADDRESS = 0x100000, EH_MOST = 4096 };

struct eh_writer {
    char bytes[EH_MOST];
    size_t n;
};

static inline void eh_put(struct eh_writer *w, const void *bytes, size_t n)
{
    if (n > EH_MOST - w->n)
        abort();
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

static inline void eh_put_uint(struct eh_writer *w, uint64_t v, size_t bytes) { eh_put(w, &v, bytes); }

static inline size_t eh_begin(struct eh_writer *w)
{
    eh_put_uint(w, 0, 4);
    return w->n - 4;
}

static inline void eh_end(struct eh_writer *w, size_t entry)
{
    uint32_t length = (uint32_t)(w->n - entry - 4);
    memcpy(w->bytes + entry, &length, 4);
}

/* Code alignment 1, data alignment -8. Letters after 'z' may be R and S. */
static inline size_t eh_cie_for(struct eh_writer *w, const char *letters, uint8_t encoding, uint8_t ra, struct view ops)
{
    size_t at = eh_begin(w);
    eh_put_uint(w, 0, 4);
    eh_put_uint(w, 1, 1);
    eh_put(w, letters, strlen(letters) + 1);
    eh_put_uint(w, 1, 1);
    eh_put_uint(w, 0x78, 1);
    eh_put_uint(w, ra, 1);
    if (*letters == 'z') {
        bool has_encoding = strchr(letters, 'R');
        eh_put_uint(w, has_encoding, 1);
        eh_put_uint(w, encoding, has_encoding);
    }
    eh_put(w, ops.at, ops.n);
    eh_end(w, at);
    return at;
}

static inline size_t eh_cie(struct eh_writer *w, const char *letters, uint8_t encoding, struct view ops)
{
    return eh_cie_for(w, letters, encoding, 16, ops);
}

/* Writes addresses as the encoding wants them; LEB128 ones in ten bytes. */
static inline void eh_put_pointer(struct eh_writer *w, uint8_t encoding, uint64_t v)
{
    static const size_t sizes[16] = {[0] = 8, [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8};
    if ((encoding & 0x70) == 0x10)
        v -= EH_ADDRESS + w->n;
    if ((encoding & 7) != 1) {
        eh_put_uint(w, v, sizes[encoding & 15]);
        return;
    }
    bool is_negative = encoding & 8 && v >> 63;
    for (int i = 0; i < 9; i++, v >>= 7)
        eh_put_uint(w, (v & 0x7f) | 0x80, 1);
    eh_put_uint(w, is_negative ? 0x7f : v & 1, 1);
}

static inline size_t eh_fde_as(struct eh_writer *w, size_t cie, uint8_t encoding, bool has_z, uint64_t start,
                               uint64_t length, struct view ops)
{
    size_t at = eh_begin(w);
    eh_put_uint(w, w->n - cie, 4);
    eh_put_pointer(w, encoding, start);
    eh_put_pointer(w, encoding & 15, length);
    eh_put_uint(w, 0, has_z);
    eh_put(w, ops.at, ops.n);
    eh_end(w, at);
    return at;
}

/* For a CIE with "zR" and 0x1b, which is what compilers write. */
static inline size_t eh_fde(struct eh_writer *w, size_t cie, uint64_t start, uint64_t length, struct view ops)
{
    return eh_fde_as(w, cie, 0x1b, true, start, length, ops);
}
