#include "formats/proto_wire.h"

#define LARGEST_FIELD ((UINT64_C(1) << 29) - 1)

struct proto_cursor proto_over(struct view bytes)
{
    const unsigned char *at = (const unsigned char *)(bytes.n ? bytes.at : "");
    return (struct proto_cursor){.at = at, .end = at + bytes.n};
}

static uint64_t broken(struct proto_cursor *c)
{
    c->is_broken = true;
    c->at = c->end;
    return 0;
}

/* Seven bits a byte, the lowest first; the tenth byte has room for one bit only. */
uint64_t proto_varint(struct proto_cursor *c)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 70 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        if (shift == 63 && byte > 1)
            break;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return n;
    }
    return broken(c);
}

static uint64_t fixed(struct proto_cursor *c, size_t bytes)
{
    uint64_t n = 0;
    if ((size_t)(c->end - c->at) < bytes)
        return broken(c);
    for (size_t i = 0; i < bytes; i++)
        n |= (uint64_t)*c->at++ << (8 * i);
    return n;
}

static struct view counted_bytes(struct proto_cursor *c)
{
    uint64_t n = proto_varint(c);
    if (n > (uint64_t)(c->end - c->at))
        n = broken(c);
    struct view v = {(const char *)c->at, (size_t)n};
    c->at += n;
    return v;
}

bool proto_next(struct proto_cursor *c, struct proto_field *out)
{
    if (!proto_more(c))
        return false;
    uint64_t tag = proto_varint(c);
    *out = (struct proto_field){.number = (uint32_t)(tag >> 3), .type = (enum proto_type)(tag & 7)};
    if (tag >> 3 == 0 || tag >> 3 > LARGEST_FIELD)
        broken(c);
    const unsigned char *from = c->at;
    switch (out->type) {
    case PROTO_VARINT:  out->value = proto_varint(c); break;
    case PROTO_FIXED64: out->value = fixed(c, 8); break;
    case PROTO_FIXED32: out->value = fixed(c, 4); break;
    case PROTO_BYTES:   out->bytes = counted_bytes(c); break;
    default:            broken(c); break; /* groups, which nobody has written for fifteen years */
    }
    if (out->type != PROTO_BYTES)
        out->bytes = view_between((const char *)from, (const char *)c->at);
    return !c->is_broken;
}

void proto_put_varint(struct buf *to, uint64_t n)
{
    char bytes[10];
    size_t used = 0;
    for (; n >= 0x80; n >>= 7)
        bytes[used++] = (char)(n | 0x80);
    bytes[used++] = (char)n;
    buf_add(to, bytes, used);
}

void proto_put_number(struct buf *to, uint32_t field, uint64_t n)
{
    if (!n)
        return;
    proto_put_varint(to, (uint64_t)field << 3 | PROTO_VARINT);
    proto_put_varint(to, n);
}

void proto_put_bytes(struct buf *to, uint32_t field, struct view bytes)
{
    proto_put_varint(to, (uint64_t)field << 3 | PROTO_BYTES);
    proto_put_varint(to, bytes.n);
    buf_add(to, bytes.at, bytes.n);
}
