/*
 * jitdump, version 1 (tools/perf/Documentation/jitdump-specification.txt in Linux):
 *
 *     header   magic, version, its own size, machine, 0, pid, time, flags
 *     record   kind, its whole size, time, then by kind
 *       load   pid, tid, vma, code address, code size, code index, name, NUL, the code itself
 *       move   pid, tid, vma, old address, new address, code size, code index
 *
 * Other kinds (lines, unwinding) are passed over, and so is the code.
 */
#include "model/packing.h"
#include "symbols/jit_pieces.h"

#define MAGIC 0x4A695444u /* "JiTD" as a number; the bytes are "DTiJ" on a little-endian machine */
#define MAGIC_SWAPPED 0x4454694Au
#define HEAD_BYTES ((size_t)40)
#define RECORD_BYTES ((size_t)16)
#define LOAD_BYTES ((size_t)56) /* record head included, without the name */
#define MOVE_BYTES ((size_t)64)

enum record_kind { RECORD_LOAD, RECORD_MOVE };

static uint32_t magic_of(struct view head)
{
    struct cursor c = cursor_over(head);
    return (uint32_t)cursor_fixed(&c, 4);
}

bool jitdump_is(struct view head)
{
    uint32_t magic = magic_of(head);
    return magic == MAGIC || magic == MAGIC_SWAPPED;
}

static bool read_head(struct view bytes, uint64_t *out_used, struct err *e)
{
    if (magic_of(bytes) == MAGIC_SWAPPED)
        return err_set(e, ERR_UNSUPPORTED, "a jitdump of a big-endian machine");
    struct cursor c = cursor_over(bytes);
    c.at += 4;
    uint32_t version = (uint32_t)cursor_fixed(&c, 4), size = (uint32_t)cursor_fixed(&c, 4);
    if (version != 1)
        return err_set(e, ERR_UNSUPPORTED, "jitdump version %u; version 1 is read", version);
    if (size < HEAD_BYTES)
        return err_set(e, ERR_MALFORMED, "a jitdump header of %u bytes; there are at least %zu", size, HEAD_BYTES);
    *out_used = size;
    return true;
}

static void read_load(struct jit_pieces *p, struct view record)
{
    struct cursor c = cursor_over(record);
    cursor_fixed(&c, RECORD_BYTES / 2); /* kind and size */
    cursor_fixed(&c, 8);                /* time */
    cursor_fixed(&c, 8);                /* pid, tid */
    cursor_fixed(&c, 8);                /* vma: the same as the address */
    uint64_t address = cursor_fixed(&c, 8);
    uint64_t bytes = cursor_fixed(&c, 8);
    cursor_fixed(&c, 8); /* index */
    if (c.bad)
        return;
    const char *name = (const char *)c.at;
    const char *end = cursor_left(&c) ? memchr(name, '\0', cursor_left(&c)) : NULL;
    jit_pieces_add(p, address, bytes, end ? view_between(name, end) : (struct view){name, cursor_left(&c)});
}

/* The name moves along. Rare, so that settling first is cheap enough. */
static void read_move(struct jit_pieces *p, struct view record)
{
    struct cursor c = cursor_over(record);
    c.at += RECORD_BYTES;
    cursor_fixed(&c, 8);
    cursor_fixed(&c, 8);
    uint64_t from = cursor_fixed(&c, 8), to = cursor_fixed(&c, 8), bytes = cursor_fixed(&c, 8);
    if (c.bad)
        return;
    jit_pieces_settle(p);
    struct view name = name_ranges_at(&p->ranges, from);
    if (name.n)
        jit_pieces_add(p, to, bytes, name);
}

/* False: the rest of the record, as far as it matters, is not in the window. */
static bool read_record(struct jit_pieces *p, struct view window, uint32_t kind, uint32_t size)
{
    size_t matters = kind == RECORD_LOAD ? LOAD_BYTES + JIT_NAME_MOST : kind == RECORD_MOVE ? MOVE_BYTES : RECORD_BYTES;
    if (matters > size)
        matters = size;
    if (window.n < matters)
        return false;
    struct view record = {window.at, matters};
    if (kind == RECORD_LOAD)
        read_load(p, record);
    else if (kind == RECORD_MOVE && size >= MOVE_BYTES)
        read_move(p, record);
    return true;
}

bool jitdump_parse(struct jit_pieces *p, const struct jit_input *in, uint64_t *out_used, struct err *e)
{
    uint64_t at = 0;
    *out_used = 0;
    if (in->offset == 0) {
        if (in->bytes.n < HEAD_BYTES)
            return true;
        if (!read_head(in->bytes, &at, e))
            return false;
        if (at > in->left)
            return true;
    }
    while (at < in->bytes.n && in->bytes.n - at >= RECORD_BYTES) {
        struct view window = {in->bytes.at + at, in->bytes.n - (size_t)at};
        struct cursor c = cursor_over(window);
        uint32_t kind = (uint32_t)cursor_fixed(&c, 4), size = (uint32_t)cursor_fixed(&c, 4);
        if (size < RECORD_BYTES)
            return err_set(e, ERR_MALFORMED, "byte %llu: a record of %u bytes", (unsigned long long)(in->offset + at), size);
        if (size > in->left - at || !read_record(p, window, kind, size))
            break;
        at += size;
    }
    *out_used = at;
    return true;
}
