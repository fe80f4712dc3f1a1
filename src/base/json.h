/*
 * json.h - JSON as a stream, in both directions
 *
 * Writing: commas, quotes and indentation are the writer's business.
 *
 *     struct json_writer w;
 *     json_to(&w, sink);                           // or json_to_pretty
 *     json_open(&w, '{');
 *     json_key(&w, "name");  json_text(&w, VIEW("decode"));
 *     json_key(&w, "ratio"); json_double(&w, NAN);  // null: unknown is not zero
 *     json_close(&w, '}');
 *
 * Reading: one token at a time from a reader, never a tree. Numbers stay text,
 * so that nothing is rounded on the way in.
 *
 *     struct json_reader j;
 *     json_from(&j, reader);
 *     struct json_token t;
 *     if (!json_expect(&j, JSON_OBJECT, &t, e)) return false;
 *     while (json_next_key(&j, &t, e)) {           // false at '}' or with e set
 *         if (view_same(t.text, VIEW("name"))) ...json_expect(&j, JSON_TEXT, &t, e)
 *         else if (!json_skip(&j, e)) return false;
 *     }
 *     if (e->kind) return false;
 *
 * `e` must not be NULL when reading. Errors say the line: "line 12: ...".
 * Nesting is bounded (JSON_DEEPEST); invalid UTF-8 in texts is passed on as is;
 * \u escapes are decoded (lone surrogates become U+FFFD).
 */
#pragma once
#include "base/reader.h"
#include "base/sink.h"

#define JSON_DEEPEST 256

struct json_writer {
    struct sink *to;
    bool pretty;
    bool after_key;
    unsigned depth;
    bool filled[JSON_DEEPEST]; /* whether this level already holds something */
};

void json_to(struct json_writer *w, struct sink *to);
void json_to_pretty(struct json_writer *w, struct sink *to);
void json_open(struct json_writer *w, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *w, char bracket); /* '}' or ']' */
void json_key(struct json_writer *w, const char *key);
void json_key_view(struct json_writer *w, struct view key);
void json_text(struct json_writer *w, struct view text); /* bytes that are not UTF-8 become U+FFFD */
void json_uint(struct json_writer *w, uint64_t n);
void json_int(struct json_writer *w, int64_t n);
void json_double(struct json_writer *w, double n); /* NAN and infinities: null */
void json_decimal(struct json_writer *w, int64_t value, unsigned decimals);
void json_bool(struct json_writer *w, bool yes);
void json_null(struct json_writer *w);

enum json_kind {
    JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_OBJECT, JSON_ARRAY,
    JSON_OBJECT_END, JSON_ARRAY_END, JSON_END,
    JSON_KIND_COUNT
};

struct json_token {
    enum json_kind kind;
    struct view text; /* of a text (decoded) or number (as written); good until the next token */
    bool yes;         /* of a JSON_BOOL */
    uint64_t line;    /* where it stands, from 1 */
};

struct json_reader {
    struct reader *from;
    uint64_t line;
    unsigned depth;
    char open[JSON_DEEPEST]; /* '{' or '[' per level */
    bool filled, after_key;  /* of the innermost level */
    struct buf text;         /* the decoded text of the current token */
};

void json_from(struct json_reader *j, struct reader *from);
void json_reader_done(struct json_reader *j);
DEFINE_OWN_IN_PLACE(json_reader, struct json_reader)

/* The next token, brackets included. Keys come as JSON_TEXT. JSON_END after the whole document. */
bool json_next(struct json_reader *j, struct json_token *out, struct err *e) MUST_CHECK;

/* The next token must be of this kind: else an ERR_MALFORMED that says what was there. */
bool json_expect(struct json_reader *j, enum json_kind kind, struct json_token *out, struct err *e) MUST_CHECK;

/* Inside an object: the next key. False at its end, or with e set. */
bool json_next_key(struct json_reader *j, struct json_token *out, struct err *e) MUST_CHECK;

/* Inside an array: the first token of the next value. False at its end, or with e set. */
bool json_next_item(struct json_reader *j, struct json_token *out, struct err *e) MUST_CHECK;

/* Passes over one whole value; or over the rest of the value that `t` began. */
bool json_skip(struct json_reader *j, struct err *e) MUST_CHECK;
bool json_skip_rest(struct json_reader *j, const struct json_token *t, struct err *e) MUST_CHECK;

const char *json_kind_name(enum json_kind kind); /* "a number", "an object" */
