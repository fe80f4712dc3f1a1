#include "lab/gguf.h"
#include "base/idmap.h"
#include "base/mem.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define ALIGNMENT_USUAL 32
#define ALIGNMENT_MOST (1 << 20)
enum { SHORTEST_VALUE = 8 + 4 + 1, SHORTEST_TENSOR = 8 + 4 + 8 + 4 + 8 };

struct gguf {
    struct view bytes;
    bool is_mapped;
    struct gguf_value *values;
    struct gguf_tensor *tensors;
    size_t n_values, n_tensors;
    struct idmap values_by_key, tensors_by_name;
    uint64_t data_at, alignment;
};

/* Reading past the end yields zeros and sets `is_short`; callers look once. */
struct cursor {
    const uint8_t *at, *end;
    bool is_short;
};

static size_t left(const struct cursor *c) { return (size_t)(c->end - c->at); }

static bool skip(struct cursor *c, uint64_t n)
{
    if (n > left(c))
        c->is_short = true;
    c->at = c->is_short ? c->end : c->at + n;
    return !c->is_short;
}

static uint64_t whole(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static uint64_t take_uint(struct cursor *c, size_t bytes)
{
    const uint8_t *at = c->at;
    return skip(c, bytes) ? whole(at, bytes) : 0;
}

static struct view take_text(struct cursor *c)
{
    uint64_t n = take_uint(c, 8);
    const uint8_t *at = c->at;
    return skip(c, n) ? (struct view){(const char *)at, (size_t)n} : (struct view){"", 0};
}

/* Values. */

static const uint8_t kind_bytes[GGUF_KIND_COUNT] = {
    [GGUF_U8] = 1, [GGUF_I8] = 1, [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4, [GGUF_F32] = 4,
    [GGUF_BOOL] = 1, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8, /* texts and arrays have a length of their own */
};

static bool read_array(struct cursor *c, struct gguf_value *v, struct err *e)
{
    uint64_t of = take_uint(c, 4), bytes;
    v->n = take_uint(c, 8);
    v->at = c->at;
    if (of >= GGUF_KIND_COUNT || of == GGUF_ARRAY)
        return err_set(e, ERR_MALFORMED, "an array of kind %" PRIu64 ", which we do not know", of);
    v->of = (enum gguf_kind)of;
    if (v->of == GGUF_TEXT) {
        for (uint64_t i = 0; i < v->n && !c->is_short; i++)
            take_text(c);
        return true;
    }
    if (__builtin_mul_overflow(v->n, (uint64_t)kind_bytes[v->of], &bytes))
        c->is_short = true;
    else
        skip(c, bytes);
    return true;
}

static bool read_value(struct cursor *c, struct gguf_value *v, struct err *e)
{
    v->key = take_text(c);
    uint64_t kind = take_uint(c, 4);
    v->at = c->at;
    if (kind >= GGUF_KIND_COUNT)
        return err_set(e, ERR_MALFORMED, "a value of kind %" PRIu64 ", which we do not know", kind);
    v->kind = (enum gguf_kind)kind;
    if (v->kind == GGUF_ARRAY)
        return read_array(c, v, e);
    if (v->kind == GGUF_TEXT)
        take_text(c);
    else
        skip(c, kind_bytes[v->kind]);
    return true;
}

static bool same_value(const void *table, uint32_t row, const void *key)
{
    return view_same(((const struct gguf_value *)table)[row].key, *(const struct view *)key);
}

/* For messages: names come from the file, so only so much of them, and never their length unchecked. */
static int shown(struct view name) { return name.n < 80 ? (int)name.n : 80; }

static bool read_values(struct gguf *g, struct cursor *c, uint64_t count, struct err *e)
{
    if (count > left(c) / SHORTEST_VALUE || count >= IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "it announces %" PRIu64 " settings, more than there are bytes for", count);
    size_t cap = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct gguf_value v = {0};
        if (!read_value(c, &v, e))
            return err_in(e, "setting %" PRIu64 " '%.*s'", i + 1, shown(v.key), v.key.at);
        if (c->is_short)
            return err_set(e, ERR_MALFORMED, "the file ends inside setting %" PRIu64 " of %" PRIu64, i + 1, count);
        uint64_t hash = idmap_hash(&g->values_by_key, v.key.at, v.key.n);
        if (idmap_find(&g->values_by_key, hash, same_value, g->values, &v.key) != IDMAP_NONE)
            return err_set(e, ERR_MALFORMED, "setting '%.*s' is there twice", shown(v.key), v.key.at);
        GROW(g->values, cap, g->n_values + 1);
        idmap_add(&g->values_by_key, hash, (uint32_t)g->n_values);
        g->values[g->n_values++] = v;
    }
    return true;
}

/* Tensors. */

static bool read_tensor(struct cursor *c, struct gguf_tensor *t, struct err *e)
{
    t->name = take_text(c);
    t->n_dims = (uint32_t)take_uint(c, 4);
    if (c->is_short)
        return true;
    if (!t->n_dims || t->n_dims > TENSOR_DIMS_MOST)
        return err_set(e, ERR_MALFORMED, "%u dimensions; 1 to %d can be", t->n_dims, TENSOR_DIMS_MOST);
    for (uint32_t i = 0; i < t->n_dims; i++)
        t->dims[i] = take_uint(c, 8);
    uint32_t type = (uint32_t)take_uint(c, 4);
    t->offset = take_uint(c, 8);
    if (c->is_short)
        return true;
    t->type = tensor_type_numbered(type);
    if (!t->type)
        return err_set(e, ERR_UNSUPPORTED, "weights of type %u, which we do not know", type);
    if (!tensor_size(t->type, t->dims, t->n_dims, &t->elements, &t->bytes))
        return err_set(e, ERR_MALFORMED, "a shape that cannot be: empty, too large, or not in whole blocks of %u",
                       t->type->block_elements);
    return true;
}

static bool same_tensor(const void *table, uint32_t row, const void *key)
{
    return view_same(((const struct gguf_tensor *)table)[row].name, *(const struct view *)key);
}

static bool read_tensors(struct gguf *g, struct cursor *c, uint64_t count, struct err *e)
{
    if (count > left(c) / SHORTEST_TENSOR || count >= IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "it announces %" PRIu64 " tensors, more than there are bytes for", count);
    size_t cap = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct gguf_tensor t = {0};
        if (!read_tensor(c, &t, e))
            return err_in(e, "tensor '%.*s'", shown(t.name), t.name.at);
        if (c->is_short)
            return err_set(e, ERR_MALFORMED, "the file ends inside the description of tensor %" PRIu64 " of %" PRIu64, i + 1, count);
        uint64_t hash = idmap_hash(&g->tensors_by_name, t.name.at, t.name.n);
        if (idmap_find(&g->tensors_by_name, hash, same_tensor, g->tensors, &t.name) != IDMAP_NONE)
            return err_set(e, ERR_MALFORMED, "tensor '%.*s' is there twice", shown(t.name), t.name.at);
        GROW(g->tensors, cap, g->n_tensors + 1);
        idmap_add(&g->tensors_by_name, hash, (uint32_t)g->n_tensors);
        g->tensors[g->n_tensors++] = t;
    }
    return true;
}

static bool place_tensor(struct gguf *g, struct gguf_tensor *t, struct err *e)
{
    uint64_t begin, end;
    if (t->offset % g->alignment)
        return err_set(e, ERR_MALFORMED, "its offset %" PRIu64 " is not a multiple of %" PRIu64, t->offset, g->alignment);
    if (__builtin_add_overflow(g->data_at, t->offset, &begin) || __builtin_add_overflow(begin, t->bytes, &end) || end > g->bytes.n)
        return err_set(e, ERR_MALFORMED, "its %" PRIu64 " bytes at offset %" PRIu64 " of the data are not inside the file of %zu bytes",
                       t->bytes, t->offset, g->bytes.n);
    t->data = g->bytes.at + begin;
    return true;
}

static int by_place(const void *pa, const void *pb)
{
    const struct gguf_tensor *a = *(const struct gguf_tensor *const *)pa, *b = *(const struct gguf_tensor *const *)pb;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return view_compare(a->name, b->name);
}

/* Two tensors over the same bytes would let a small file pretend to be a large model. */
static bool check_apart(const struct gguf *g, struct err *e)
{
    own(free) const struct gguf_tensor **order = mem_new(g->n_tensors * sizeof *order);
    for (size_t i = 0; i < g->n_tensors; i++)
        order[i] = &g->tensors[i];
    qsort(order, g->n_tensors, sizeof *order, by_place);
    for (size_t i = 1; i < g->n_tensors; i++) {
        const struct gguf_tensor *a = order[i - 1], *b = order[i];
        if (b->offset - a->offset < a->bytes)
            return err_set(e, ERR_MALFORMED, "tensors '%.*s' and '%.*s' lie over each other", shown(a->name), a->name.at,
                           shown(b->name), b->name.at);
    }
    return true;
}

static bool place_tensors(struct gguf *g, const struct cursor *c, struct err *e)
{
    g->alignment = ALIGNMENT_USUAL;
    if (gguf_value(g, VIEW("general.alignment")) && !gguf_uint(g, VIEW("general.alignment"), &g->alignment))
        return err_set(e, ERR_MALFORMED, "setting 'general.alignment' is not a whole number");
    if (g->alignment < 8 || g->alignment > ALIGNMENT_MOST || (g->alignment & (g->alignment - 1)))
        return err_set(e, ERR_MALFORMED, "an alignment of %" PRIu64 " bytes; a power of two from 8 to %d can be", g->alignment,
                       ALIGNMENT_MOST);
    uint64_t head = (uint64_t)((const char *)c->at - g->bytes.at);
    g->data_at = (head + g->alignment - 1) & ~(g->alignment - 1);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (!place_tensor(g, &g->tensors[i], e))
            return err_in(e, "tensor '%.*s'", shown(g->tensors[i].name), g->tensors[i].name.at);
    return check_apart(g, e);
}

/* Life. */

static bool read_all(struct gguf *g, struct err *e)
{
    struct cursor c = {.at = (const uint8_t *)g->bytes.at, .end = (const uint8_t *)g->bytes.at + g->bytes.n};
    if (!view_starts(g->bytes, VIEW("GGUF")))
        return err_set(e, ERR_MALFORMED, "this is no GGUF file: it does not begin with these letters");
    skip(&c, 4);
    uint32_t version = (uint32_t)take_uint(&c, 4);
    uint64_t n_tensors = take_uint(&c, 8), n_values = take_uint(&c, 8);
    if (c.is_short)
        return err_set(e, ERR_MALFORMED, "the file ends inside its header");
    if (version < 2 || version > 3)
        return err_set(e, ERR_UNSUPPORTED, "GGUF version %u; 2 and 3, little-endian, are read", version);
    return read_values(g, &c, n_values, e) && read_tensors(g, &c, n_tensors, e) && place_tensors(g, &c, e);
}

static bool read_into(struct gguf *g, struct gguf **out, struct err *e)
{
    idmap_init(&g->values_by_key);
    idmap_init(&g->tensors_by_name);
    if (!read_all(g, e)) {
        gguf_free(g);
        return false;
    }
    *out = g;
    return true;
}

bool gguf_over(struct view bytes, struct gguf **out, struct err *e)
{
    struct gguf *g = mem_new(sizeof *g);
    g->bytes = bytes;
    return read_into(g, out, e);
}

bool gguf_open(const char *path, struct gguf **out, struct err *e)
{
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_os(e, "%s", path);
    if (!S_ISREG(st.st_mode) || !st.st_size)
        return err_set(e, ERR_MALFORMED, "%s: %s", path, S_ISREG(st.st_mode) ? "the file is empty" : "this is not a file");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return err_os(e, "%s", path);
    struct gguf *g = mem_new(sizeof *g);
    *g = (struct gguf){.bytes = {map, (size_t)st.st_size}, .is_mapped = true};
    return read_into(g, out, e) || err_in(e, "%s", path);
}

void gguf_bring(const struct gguf *g)
{
#ifdef MADV_POPULATE_READ
    if (g->is_mapped)
        madvise((void *)(uintptr_t)g->bytes.at, g->bytes.n, MADV_POPULATE_READ);
#else
    (void)g;
#endif
}

void gguf_free(struct gguf *g)
{
    if (!g)
        return;
    if (g->is_mapped)
        munmap((void *)(uintptr_t)g->bytes.at, g->bytes.n);
    idmap_done(&g->values_by_key);
    idmap_done(&g->tensors_by_name);
    free(g->values);
    free(g->tensors);
    free(g);
}

/* Asking. */

const struct gguf_value *gguf_value(const struct gguf *g, struct view key)
{
    uint32_t row = idmap_find(&g->values_by_key, idmap_hash(&g->values_by_key, key.at, key.n), same_value, g->values, &key);
    return row == IDMAP_NONE ? NULL : &g->values[row];
}

/* A whole number of any kind; unsigned ones too large for the sign come out negative. */
static bool to_int(enum gguf_kind kind, const uint8_t *at, int64_t *out)
{
    unsigned bits = 8u * kind_bytes[kind];
    uint64_t v = whole(at, kind_bytes[kind]), sign = bits ? UINT64_C(1) << (bits - 1) : 0;
    switch (kind) {
    case GGUF_U8: case GGUF_U16: case GGUF_U32: case GGUF_U64: *out = (int64_t)v; return true;
    case GGUF_I8: case GGUF_I16: case GGUF_I32: case GGUF_I64: *out = (int64_t)((v ^ sign) - sign); return true;
    default: return false;
    }
}

static bool to_double(enum gguf_kind kind, const uint8_t *at, double *out)
{
    float f;
    int64_t n;
    if (kind == GGUF_F32) {
        memcpy(&f, at, sizeof f);
        *out = (double)f;
        return true;
    }
    if (kind == GGUF_F64) {
        memcpy(out, at, sizeof *out);
        return true;
    }
    if (!to_int(kind, at, &n))
        return false;
    *out = (double)n;
    return true;
}

bool gguf_uint(const struct gguf *g, struct view key, uint64_t *out)
{
    const struct gguf_value *v = gguf_value(g, key);
    int64_t n;
    if (!v || v->kind == GGUF_ARRAY || !to_int(v->kind, v->at, &n) || n < 0)
        return false;
    *out = (uint64_t)n;
    return true;
}

bool gguf_double(const struct gguf *g, struct view key, double *out)
{
    const struct gguf_value *v = gguf_value(g, key);
    return v && v->kind != GGUF_ARRAY && to_double(v->kind, v->at, out);
}

bool gguf_bool(const struct gguf *g, struct view key, bool *out)
{
    const struct gguf_value *v = gguf_value(g, key);
    if (!v || v->kind != GGUF_BOOL)
        return false;
    *out = *v->at != 0;
    return true;
}

bool gguf_text(const struct gguf *g, struct view key, struct view *out)
{
    const struct gguf_value *v = gguf_value(g, key);
    if (!v || v->kind != GGUF_TEXT)
        return false;
    const uint8_t *at = v->at;
    *out = gguf_next_text(&at);
    return true;
}

struct view gguf_next_text(const uint8_t **at)
{
    size_t n = (size_t)whole(*at, 8);
    struct view v = {(const char *)*at + 8, n};
    *at += 8 + n;
    return v;
}

int64_t gguf_int_at(const struct gguf_value *array, uint64_t i)
{
    int64_t n = 0;
    return to_int(array->of, array->at + i * kind_bytes[array->of], &n) ? n : 0;
}

double gguf_double_at(const struct gguf_value *array, uint64_t i)
{
    double x = 0;
    return to_double(array->of, array->at + i * kind_bytes[array->of], &x) ? x : 0;
}

size_t gguf_tensor_count(const struct gguf *g) { return g->n_tensors; }
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i) { return &g->tensors[i]; }

const struct gguf_tensor *gguf_tensor(const struct gguf *g, struct view name)
{
    uint32_t row = idmap_find(&g->tensors_by_name, idmap_hash(&g->tensors_by_name, name.at, name.n), same_tensor, g->tensors, &name);
    return row == IDMAP_NONE ? NULL : &g->tensors[row];
}
