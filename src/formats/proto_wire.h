/*
 * proto_wire.h - protobuf messages, field by field, with no schema and no tree
 *
 *     struct proto_cursor c = proto_over(bytes);
 *     struct proto_field f;
 *     while (proto_next(&c, &f))
 *         switch (f.number) ...
 *     if (c.is_broken) ...                 // look once
 *
 * A field that holds a message is a cursor over its bytes; one that holds
 * numbers too, whether the writer packed them or not:
 *
 *     struct proto_cursor list = proto_over(f.bytes);
 *     while (proto_more(&list))
 *         n = proto_varint(&list);
 *
 * Nothing is read outside the bytes given. Past the end, and after bytes that
 * are no protobuf, numbers are 0 and `is_broken` is set.
 */
#pragma once
#include "base/buf.h"

struct proto_cursor {
    const unsigned char *at, *end;
    bool is_broken;
};

enum proto_type { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
    uint32_t number;
    enum proto_type type;
    uint64_t value;    /* of a number */
    struct view bytes; /* of the value: what a PROTO_BYTES holds, or the number as it is spelled */
};

/* Reading. */
struct proto_cursor proto_over(struct view bytes);
bool proto_next(struct proto_cursor *c, struct proto_field *out); /* false at the end, or broken */
uint64_t proto_varint(struct proto_cursor *c);
static inline bool proto_more(const struct proto_cursor *c) { return c->at < c->end && !c->is_broken; }

/* Writing. What is zero or empty is not written: that is what its absence means. */
void proto_put_varint(struct buf *to, uint64_t n);
void proto_put_number(struct buf *to, uint32_t field, uint64_t n);
void proto_put_bytes(struct buf *to, uint32_t field, struct view bytes); /* also when empty */
