#include "render/flame_columns.h"
#include "base/mem.h"
#include "base/text.h"

#include <assert.h>

void flame_columns_done(struct flame_columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->rows[i].data);
    c->n = 0;
}

static void *new_column(struct flame_columns *c, const char *name, const char *type, size_t bytes)
{
    assert(c->n < FLAME_COLUMNS_MOST);
    struct flame_column *row = &c->rows[c->n++];
    snprintf(row->name, sizeof row->name, "%s", name);
    row->type = type;
    row->bytes = bytes;
    row->data = mem_new(bytes ? bytes : 1);
    return row->data;
}

static uint64_t largest(const uint64_t *numbers, size_t n)
{
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = numbers[i] > most ? numbers[i] : most;
    return most;
}

/* The machines we run on are little-endian, and so is the format. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are written as they lie");

#define NARROW(type, word)                                      \
    do {                                                        \
        type *to = new_column(c, name, word, n * sizeof(type)); \
        for (size_t i = 0; i < n; i++)                          \
            to[i] = (type)numbers[i];                           \
    } while (0)

void flame_column_large(struct flame_columns *c, const char *name, const uint64_t *numbers, size_t n)
{
    uint64_t most = largest(numbers, n);
    if (most <= UINT8_MAX)
        NARROW(uint8_t, "u8");
    else if (most <= UINT16_MAX)
        NARROW(uint16_t, "u16");
    else if (most <= UINT32_MAX)
        NARROW(uint32_t, "u32");
    else
        NARROW(double, "f64");
}

void flame_column_numbers(struct flame_columns *c, const char *name, const uint32_t *numbers, size_t n)
{
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = numbers[i] > most ? numbers[i] : most;
    if (most <= UINT8_MAX)
        NARROW(uint8_t, "u8");
    else if (most <= UINT16_MAX)
        NARROW(uint16_t, "u16");
    else
        NARROW(uint32_t, "u32");
}

void flame_column_signed(struct flame_columns *c, const char *name, const int32_t *numbers, size_t n)
{
    NARROW(int32_t, "i32");
}

void flame_column_text(struct flame_columns *c, const char *name, struct view text)
{
    void *to = new_column(c, name, "text", text.n);
    if (text.n)
        memcpy(to, text.at, text.n);
}

void flame_header_text(struct json_writer *w, struct view text)
{
    own(buf) struct buf safe;
    buf_init(&safe, (size_t)1 << 20);
    struct sink to;
    sink_to_buf(&to, &safe);
    text_safe(&to, text, 0);
    json_text(w, sink_flush(&to, NULL) ? buf_view(&safe) : VIEW(""));
}

void flame_columns_describe(const struct flame_columns *c, struct json_writer *w)
{
    json_key(w, "columns");
    json_open(w, '[');
    for (size_t i = 0; i < c->n; i++) {
        json_open(w, '{');
        json_key(w, "name");
        json_text(w, view_of(c->rows[i].name));
        json_key(w, "type");
        json_text(w, view_of(c->rows[i].type));
        json_key(w, "bytes");
        json_uint(w, c->rows[i].bytes);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void flame_columns_write(const struct flame_columns *c, struct sink *out)
{
    for (size_t i = 0; i < c->n; i++) {
        sink_add(out, (struct view){c->rows[i].data, c->rows[i].bytes});
        sink_add(out, (struct view){"\0\0\0\0\0\0\0", -c->rows[i].bytes & 7});
    }
}
