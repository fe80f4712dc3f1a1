/*
 * flame_columns.h - columns of numbers and text, as the viewer reads them
 *
 * A column is kept in the narrowest type that holds its largest number; the
 * viewer makes a typed array of the bytes as they lie. The layout of the whole is
 * docs/formats/flame-data.md.
 *
 * Owns: its columns.
 */
#pragma once
#include "base/json.h"
#include "base/sink.h"

struct flame_column {
    char name[32];
    const char *type; /* "u8", "u16", "u32", "i32", "f64", "text" */
    void *data;
    size_t bytes;
};

enum { FLAME_COLUMNS_MOST = 32 };

struct flame_columns {
    struct flame_column rows[FLAME_COLUMNS_MOST];
    size_t n;
};

void flame_columns_done(struct flame_columns *c);
DEFINE_OWN_IN_PLACE(flame_columns, struct flame_columns)

/* Each copies what it is given. */
void flame_column_numbers(struct flame_columns *c, const char *name, const uint32_t *numbers, size_t n);
void flame_column_large(struct flame_columns *c, const char *name, const uint64_t *numbers, size_t n);
void flame_column_signed(struct flame_columns *c, const char *name, const int32_t *numbers, size_t n);
void flame_column_text(struct flame_columns *c, const char *name, struct view text);

/* A name in the header: as columns of text have it, without control bytes and without what is not UTF-8. */
void flame_header_text(struct json_writer *w, struct view text);

void flame_columns_describe(const struct flame_columns *c, struct json_writer *w); /* the array "columns" */
void flame_columns_write(const struct flame_columns *c, struct sink *out);         /* each from a multiple of 8 */
