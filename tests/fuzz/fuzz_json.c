/*
 * Reads a document token by token and writes what was read. What a writer has
 * written, a reader must take; and the second time the bytes must be the same.
 */
#include "base/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Numbers go through as texts: the writer has no way to repeat a spelling. */
static void copy_token(struct json_writer *w, const struct json_token *t, bool is_key)
{
    switch (t->kind) {
    case JSON_NULL: json_null(w); break;
    case JSON_BOOL: json_bool(w, t->yes); break;
    case JSON_NUMBER: json_text(w, t->text); break;
    case JSON_TEXT: is_key ? json_key_view(w, t->text) : json_text(w, t->text); break;
    case JSON_OBJECT: json_open(w, '{'); break;
    case JSON_ARRAY: json_open(w, '['); break;
    case JSON_OBJECT_END: json_close(w, '}'); break;
    case JSON_ARRAY_END: json_close(w, ']'); break;
    default: break;
    }
}

static bool copy(struct view from, struct buf *to)
{
    own(reader) struct reader r;
    reader_over(&r, "fuzz", from);
    own(json_reader) struct json_reader j;
    json_from(&j, &r);
    struct sink s;
    sink_to_buf(&s, to);
    struct json_writer w;
    json_to(&w, &s);
    struct err e = {0};
    struct json_token t = {.kind = JSON_NULL};
    while (t.kind != JSON_END) {
        if (!json_next(&j, &t, &e))
            return false;
        copy_token(&w, &t, j.after_key);
    }
    return sink_flush(&s, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    own(buf) struct buf once;
    own(buf) struct buf twice;
    buf_init(&once, size * 6 + 16);
    buf_init(&twice, size * 6 + 16);
    if (!copy((struct view){(const char *)data, size}, &once))
        return 0;
    if (!copy(buf_view(&once), &twice) || !view_same(buf_view(&once), buf_view(&twice)))
        abort();
    return 0;
}
