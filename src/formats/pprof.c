#include "formats/pprof.h"
#include "formats/gzip_stream.h"

static bool is_value_type(struct view bytes)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field f;
    while (proto_next(&c, &f))
        if (f.type != PROTO_VARINT || f.number > 2)
            return false;
    return !c.is_broken;
}

bool pprof_fits(const struct proto_field *f)
{
    if (f->number >= PROFILE_FIELD_END)
        return true; /* something newer than we are */
    bool is_bytes = f->number <= PROFILE_STRING || f->number == PROFILE_PERIOD_TYPE;
    if (f->number == PROFILE_COMMENT)
        return f->type == PROTO_VARINT || f->type == PROTO_BYTES;
    return f->type == (is_bytes ? PROTO_BYTES : PROTO_VARINT);
}

/*
 * Protobuf has no magic number. All fields that lie in the head whole must be
 * fields of a profile; the last one may be cut off by the head's end.
 */
static int sniff_message(struct view head)
{
    struct proto_cursor c = proto_over(head);
    struct proto_field f;
    int known = 0;
    bool has_type = false;
    while (proto_next(&c, &f)) {
        if (!pprof_fits(&f))
            return 0;
        known += f.number < PROFILE_FIELD_END;
        has_type |= f.number == PROFILE_SAMPLE_TYPE && f.bytes.n && is_value_type(f.bytes);
    }
    if (c.is_broken && head.n < FORMAT_HEAD / 2) /* a short file has no excuse */
        return 0;
    return has_type ? 90 : known >= 3 ? 30 : 0;
}

/* No other format comes in gzip: where its inside is not to be seen, the reader says what is wrong with it. */
static int sniff(struct view head)
{
    if (!gzip_is(head))
        return sniff_message(head);
    char inside[FORMAT_HEAD];
    size_t n = gzip_peek(head, inside, sizeof inside);
    int score = sniff_message((struct view){inside, n});
    return score ? score : 1;
}

const struct format format_pprof = {
    .name = "pprof",
    .suffix = ".pb.gz",
    .what = "protobuf of pprof, Go and gperftools, with or without gzip",
    .sniff = sniff,
    .read = pprof_read,
    .write = pprof_write,
};
