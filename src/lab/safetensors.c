#include "lab/safetensors.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#define HEADER_MOST ((uint64_t)100 << 20) /* as in the format's own reader */
enum { LENGTH_BYTES = 8, DIMS_MOST = 16 };

static const struct safetensors_type types[] = {
    {"F64", 64}, {"F32", 32}, {"F16", 16}, {"BF16", 16}, {"I64", 64}, {"I32", 32}, {"I16", 16}, {"I8", 8},
    {"U64", 64}, {"U32", 32}, {"U16", 16}, {"U8", 8},    {"BOOL", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F4", 4},
};

static const struct safetensors_type *type_named(struct view name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (view_same(name, view_of(types[i].name)))
            return &types[i];
    return NULL;
}

/* Parts of a tensor. */

static bool read_number(const struct json_token *t, uint64_t *out, struct err *e)
{
    if (t->kind == JSON_NUMBER && text_to_uint(t->text, out))
        return true;
    return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": a whole number from 0 up is expected", t->line);
}

static bool read_shape(struct json_reader *j, uint64_t *out_elements, struct err *e)
{
    struct json_token t;
    *out_elements = 1;
    if (!json_expect(j, JSON_ARRAY, &t, e))
        return false;
    for (size_t n = 0; json_next_item(j, &t, e); n++) {
        uint64_t dim;
        if (!read_number(&t, &dim, e))
            return false;
        if (n == DIMS_MOST || __builtin_mul_overflow(*out_elements, dim, out_elements))
            return err_set(e, ERR_MALFORMED, "a shape that cannot be");
    }
    return !e->kind;
}

static bool read_offsets(struct json_reader *j, struct safetensor *s, struct err *e)
{
    struct json_token t;
    uint64_t *const places[] = {&s->begin, &s->end};
    size_t n = 0;
    if (!json_expect(j, JSON_ARRAY, &t, e))
        return false;
    for (; json_next_item(j, &t, e); n++)
        if (n == 2 || !read_number(&t, places[n], e))
            return e->kind ? false : err_set(e, ERR_MALFORMED, "more than two offsets");
    if (e->kind)
        return false;
    return n == 2 || err_set(e, ERR_MALFORMED, "two offsets are expected");
}

static bool read_type(struct json_reader *j, struct safetensor *s, struct err *e)
{
    struct json_token t;
    if (!json_expect(j, JSON_TEXT, &t, e))
        return false;
    s->type = type_named(t.text);
    return s->type || err_set(e, ERR_UNSUPPORTED, "type '%.*s' is not known", t.text.n < 40 ? (int)t.text.n : 40, t.text.at);
}

static bool check_tensor(const struct safetensor *s, bool has_shape, bool has_offsets, uint64_t data_bytes, struct err *e)
{
    uint64_t bits;
    if (!s->type || !has_shape || !has_offsets)
        return err_set(e, ERR_MALFORMED, "dtype, shape and data_offsets are expected");
    if (s->begin > s->end || s->end > data_bytes)
        return err_set(e, ERR_MALFORMED, "its bytes %" PRIu64 " to %" PRIu64 " are not inside the data of %" PRIu64 " bytes", s->begin, s->end,
                       data_bytes);
    if (__builtin_mul_overflow(s->elements, (uint64_t)s->type->bits, &bits) || bits % 8 || bits / 8 != s->end - s->begin)
        return err_set(e, ERR_MALFORMED, "%" PRIu64 " values of %s do not take the %" PRIu64 " bytes it says", s->elements, s->type->name,
                       s->end - s->begin);
    return true;
}

static bool read_tensor(struct json_reader *j, struct safetensor *s, uint64_t data_bytes, struct err *e)
{
    struct json_token t;
    bool has_shape = false, has_offsets = false;
    if (!json_expect(j, JSON_OBJECT, &t, e))
        return false;
    while (json_next_key(j, &t, e)) {
        bool ok;
        if (view_same(t.text, VIEW("dtype")))
            ok = read_type(j, s, e);
        else if (view_same(t.text, VIEW("shape")))
            ok = has_shape = read_shape(j, &s->elements, e);
        else if (view_same(t.text, VIEW("data_offsets")))
            ok = has_offsets = read_offsets(j, s, e);
        else
            ok = json_skip(j, e);
        if (!ok)
            return false;
    }
    return !e->kind && check_tensor(s, has_shape, has_offsets, data_bytes, e);
}

/* All of them. */

static int by_place(const void *pa, const void *pb)
{
    const struct safetensor *a = pa, *b = pb;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool check_apart(struct safetensors *s, struct err *e)
{
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, by_place);
    for (size_t i = 1; i < s->n; i++)
        if (s->at[i].begin < s->at[i - 1].end)
            return err_set(e, ERR_MALFORMED, "tensors '%.80s' and '%.80s' share bytes", s->at[i - 1].name, s->at[i].name);
    return true;
}

static bool read_tensors(struct json_reader *j, struct safetensors *s, struct err *e)
{
    struct json_token t;
    if (!json_expect(j, JSON_OBJECT, &t, e))
        return false;
    while (json_next_key(j, &t, e)) {
        if (view_same(t.text, VIEW("__metadata__"))) {
            if (!json_skip(j, e))
                return false;
            continue;
        }
        GROW(s->at, s->cap, s->n + 1);
        struct safetensor *one = &s->at[s->n++];
        *one = (struct safetensor){.name = mem_text(t.text.at, t.text.n)};
        if (!read_tensor(j, one, s->data_bytes, e))
            return err_in(e, "tensor '%.80s'", one->name);
        if (__builtin_add_overflow(s->parameters, one->elements, &s->parameters))
            return err_set(e, ERR_MALFORMED, "more parameters than can be counted");
    }
    return !e->kind && json_next(j, &t, e); /* only blanks may follow */
}

static uint64_t length_of(struct view header)
{
    uint64_t n = 0;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        n |= (uint64_t)(uint8_t)header.at[i] << (8 * i);
    return n;
}

bool safetensors_over(struct view header, uint64_t file_bytes, struct safetensors *out, struct err *e)
{
    struct err mine = {0};
    e = e ? e : &mine;
    *out = (struct safetensors){0};
    if (header.n < LENGTH_BYTES || length_of(header) > header.n - LENGTH_BYTES || header.n > file_bytes)
        return err_set(e, ERR_MALFORMED, "the file ends inside its header");
    struct view text = {header.at + LENGTH_BYTES, (size_t)length_of(header)};
    struct safetensors s = {.data_bytes = file_bytes - LENGTH_BYTES - text.n};
    own(reader) struct reader r;
    own(json_reader) struct json_reader j;
    reader_over(&r, "header", text);
    json_from(&j, &r);
    if (!read_tensors(&j, &s, e) || !check_apart(&s, e)) {
        safetensors_done(&s);
        return false;
    }
    *out = s;
    return true;
}

void safetensors_done(struct safetensors *s)
{
    for (size_t i = 0; i < s->n; i++)
        free((void *)(uintptr_t)s->at[i].name);
    free(s->at);
    *s = (struct safetensors){0};
}

/* Reads the length, then as much as it says and the file has. */
static bool read_header(int fd, uint64_t file_bytes, struct buf *out, struct err *e)
{
    char *length = buf_room(out, LENGTH_BYTES);
    if (pread(fd, length, LENGTH_BYTES, 0) != LENGTH_BYTES)
        return err_set(e, ERR_MALFORMED, "the file ends inside its header");
    uint64_t n = length_of((struct view){length, LENGTH_BYTES});
    if (n > HEADER_MOST || n > file_bytes - LENGTH_BYTES)
        return err_set(e, n > HEADER_MOST ? ERR_LIMIT : ERR_MALFORMED, "it announces a header of %" PRIu64 " bytes; the file has %" PRIu64, n,
                       file_bytes);
    char *rest = buf_room(out, (size_t)n);
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, rest + done, (size_t)n - done, (off_t)(LENGTH_BYTES + done));
        if (got <= 0)
            return err_os(e, "reading the header");
        done += (size_t)got;
    }
    return true;
}

bool safetensors_open(const char *path, struct safetensors *out, struct err *e)
{
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_os(e, "%s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_MALFORMED, "%s: this is not a file", path);
    own(buf) struct buf header;
    buf_init(&header, HEADER_MOST + LENGTH_BYTES);
    return (read_header(fd, (uint64_t)st.st_size, &header, e) && safetensors_over(buf_view(&header), (uint64_t)st.st_size, out, e)) ||
           err_in(e, "%s", path);
}

const char *safetensors_usual_type(const struct safetensors *s)
{
    uint64_t counts[sizeof types / sizeof *types] = {0};
    size_t best = 0;
    for (size_t i = 0; i < s->n; i++)
        counts[s->at[i].type - types] += s->at[i].elements;
    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        best = counts[i] > counts[best] ? i : best;
    return s->n ? types[best].name : "none";
}
