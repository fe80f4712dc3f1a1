/*
 * A token is looked at where it lies, in the reader's window: a text without
 * escapes and a number are views of the window, and only a text with escapes is
 * copied. The end of a token is searched first, so that all of it is in the
 * window before anything is made of it; a token that reaches past the window
 * makes the window grow, and the search goes on where it stopped.
 *
 *     depth 0   a value, then nothing          filled: the value was there
 *     in '['    value , value , ... ]          filled: one was there, a ',' must follow
 *     in '{'    key : value , ... }            after_key: a ':' and a value must follow
 */
#include "base/json.h"

static const char *const kind_names[JSON_KIND_COUNT] = {
    [JSON_NULL] = "null",
    [JSON_BOOL] = "true or false",
    [JSON_NUMBER] = "a number",
    [JSON_TEXT] = "a text",
    [JSON_OBJECT] = "an object",
    [JSON_ARRAY] = "an array",
    [JSON_OBJECT_END] = "the end of an object",
    [JSON_ARRAY_END] = "the end of an array",
    [JSON_END] = "the end of the document",
};

const char *json_kind_name(enum json_kind kind) { return kind_names[kind]; }

void json_from(struct json_reader *j, struct reader *from)
{
    j->from = from;
    j->line = 1;
    j->depth = 0;
    j->filled = false;
    j->after_key = false;
    buf_init(&j->text, from->most_window);
}

void json_reader_done(struct json_reader *j) { buf_done(&j->text); }

static bool in_line(const struct json_reader *j, struct err *e)
{
    return err_in(e, "line %llu", (unsigned long long)j->line);
}

static bool fill(struct json_reader *j, size_t want, struct err *e)
{
    return reader_fill(j->from, want, e) || in_line(j, e);
}

/* What stands here is not what should. */
static bool expected(const struct json_reader *j, const char *what, struct err *e)
{
    struct view here = reader_here(j->from);
    unsigned char c = here.n ? (unsigned char)*here.at : 0;
    if (!here.n)
        err_set(e, ERR_MALFORMED, "expected %s, found the end of the input", what);
    else if (c < 0x20 || c > 0x7e)
        err_set(e, ERR_MALFORMED, "expected %s, found byte 0x%02x", what, c);
    else
        err_set(e, ERR_MALFORMED, "expected %s, found '%c'", what, c);
    return in_line(j, e);
}

/* Passes over blanks. Afterwards *out is the byte that stands next, still unread; or '\0' at the end. */
static bool look(struct json_reader *j, char *out, struct err *e)
{
    struct reader *r = j->from;
    for (;;) {
        struct view here = reader_here(r);
        for (size_t i = 0; i < here.n; i++) {
            char c = here.at[i];
            if (c == '\n') {
                j->line++;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                reader_skip(r, i);
                *out = c;
                return true;
            }
        }
        reader_skip(r, here.n);
        if (r->ended)
            break;
        if (!fill(j, 1, e))
            return false;
    }
    *out = '\0';
    return true;
}

/* How many bytes the closing quote is away; all of them are in the window then. */
static bool find_quote(struct json_reader *j, size_t *out_n, bool *out_escaped, struct err *e)
{
    size_t n = 0;
    bool escaped = false;
    for (;;) {
        struct view here = reader_here(j->from);
        while (n < here.n) {
            unsigned char c = (unsigned char)here.at[n];
            if (c == '"') {
                *out_n = n;
                *out_escaped = escaped;
                return true;
            }
            if (c < 0x20) {
                err_set(e, ERR_MALFORMED, "byte 0x%02x inside a text", c);
                return in_line(j, e);
            }
            escaped |= c == '\\';
            n += c == '\\' ? 2 : 1; /* an escaped quote ends nothing */
        }
        if (j->from->ended) {
            err_set(e, ERR_MALFORMED, "the input ends inside a text");
            return in_line(j, e);
        }
        if (!fill(j, n + 1, e))
            return false;
    }
}

static bool hex4(const char *at, const char *end, uint32_t *out)
{
    if (end - at < 4)
        return false;
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9' ? (uint32_t)(c - '0')
                       : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                       : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10 : 16;
        if (digit > 15)
            return false;
        v = v << 4 | digit;
    }
    *out = v;
    return true;
}

static void put_utf8(struct buf *to, uint32_t c)
{
    char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0x00, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6)
        b[i] = (char)(0x80 | (c & 0x3f));
    b[0] = (char)(first[n] | c);
    buf_add(to, b, n);
}

static bool is_high(uint32_t c) { return c >= 0xd800 && c <= 0xdbff; }
static bool is_low(uint32_t c) { return c >= 0xdc00 && c <= 0xdfff; }

/* \uXXXX, or two of them that make one character. Returns where reading goes on; NULL: no such escape. */
static const char *unescape_u(struct buf *to, const char *at, const char *end)
{
    uint32_t c, low;
    if (!hex4(at, end, &c))
        return NULL;
    at += 4;
    if (is_high(c) && end - at >= 2 && at[0] == '\\' && at[1] == 'u' && hex4(at + 2, end, &low) && is_low(low)) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    } else if (is_high(c) || is_low(c)) {
        c = 0xfffd;
    }
    put_utf8(to, c);
    return at;
}

/* One escape, from behind its backslash. */
static const char *unescape(struct buf *to, const char *at, const char *end)
{
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* letter, byte, letter, byte, ... */
    if (*at == 'u')
        return unescape_u(to, at + 1, end);
    for (const char *l = letters; *l; l += 2)
        if (*at == *l) {
            buf_add(to, l + 1, 1);
            return at + 1;
        }
    return NULL;
}

static bool decode(struct json_reader *j, struct view raw, struct view *out, struct err *e)
{
    const char *at = raw.at, *end = raw.at + raw.n;
    buf_clear(&j->text);
    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        buf_add(&j->text, at, (size_t)((escape ? escape : end) - at));
        if (!escape)
            break;
        at = unescape(&j->text, escape + 1, end);
        if (!at) {
            err_set(e, ERR_MALFORMED, "a text with an escape that does not exist");
            return in_line(j, e);
        }
    }
    if (j->text.full) { /* only from memory: a window never holds as much */
        err_set(e, ERR_LIMIT, "a text of more than %zu MiB", j->text.most >> 20);
        return in_line(j, e);
    }
    *out = buf_view(&j->text);
    return true;
}

static bool read_text(struct json_reader *j, struct view *out, struct err *e)
{
    size_t n = 0;
    bool escaped = false;
    reader_skip(j->from, 1);
    if (!find_quote(j, &n, &escaped, e))
        return false;
    struct view raw = {reader_here(j->from).at, n};
    reader_skip(j->from, n + 1);
    if (escaped)
        return decode(j, raw, out, e);
    *out = raw;
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_number_byte(char c) { return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

static const char *digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? and nothing else. */
static bool is_number(struct view v)
{
    const char *at = v.at, *end = v.at + v.n, *from;
    if (at < end && *at == '-')
        at++;
    from = at;
    at = digits(at, end);
    if (at == from || (*from == '0' && at - from > 1))
        return false;
    if (at < end && *at == '.') {
        from = at + 1;
        at = digits(from, end);
        if (at == from)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        from = at;
        at = digits(from, end);
        if (at == from)
            return false;
    }
    return at == end;
}

static bool read_number(struct json_reader *j, struct view *out, struct err *e)
{
    size_t n = 0;
    struct view here;
    for (;;) {
        here = reader_here(j->from);
        while (n < here.n && is_number_byte(here.at[n]))
            n++;
        if (n < here.n || j->from->ended)
            break;
        if (!fill(j, n + 1, e))
            return false;
    }
    struct view number = {here.at, n};
    if (!is_number(number)) {
        err_set(e, ERR_MALFORMED, "'%.*s' is not a number", n < 40 ? (int)n : 40, number.at);
        return in_line(j, e);
    }
    reader_skip(j->from, n);
    *out = number;
    return true;
}

static bool read_word(struct json_reader *j, struct json_token *t, struct err *e)
{
    static const struct {
        struct view word;
        enum json_kind kind;
        bool yes;
    } words[] = {
        {VIEW("true"), JSON_BOOL, true},
        {VIEW("false"), JSON_BOOL, false},
        {VIEW("null"), JSON_NULL, false},
    };
    if (!fill(j, 5, e))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (view_starts(reader_here(j->from), words[i].word)) {
            reader_skip(j->from, words[i].word.n);
            t->kind = words[i].kind;
            t->yes = words[i].yes;
            return true;
        }
    return expected(j, "a value", e);
}

static bool open_level(struct json_reader *j, char bracket, struct err *e)
{
    if (j->depth == JSON_DEEPEST) {
        err_set(e, ERR_LIMIT, "nested deeper than %d levels", JSON_DEEPEST);
        return in_line(j, e);
    }
    reader_skip(j->from, 1);
    j->open[j->depth++] = bracket;
    j->filled = false;
    return true;
}

static bool read_value(struct json_reader *j, char c, struct json_token *t, struct err *e)
{
    j->filled = true;
    switch (c) {
    case '{': t->kind = JSON_OBJECT; return open_level(j, c, e);
    case '[': t->kind = JSON_ARRAY;  return open_level(j, c, e);
    case '"': t->kind = JSON_TEXT;   return read_text(j, &t->text, e);
    default: break;
    }
    if (!is_digit(c) && c != '-')
        return read_word(j, t, e);
    t->kind = JSON_NUMBER;
    return read_number(j, &t->text, e);
}

static bool close_level(struct json_reader *j, struct json_token *t)
{
    reader_skip(j->from, 1);
    j->depth--;
    j->filled = true;
    t->kind = j->open[j->depth] == '{' ? JSON_OBJECT_END : JSON_ARRAY_END;
    return true;
}

static bool next_in_object(struct json_reader *j, char c, struct json_token *t, struct err *e)
{
    if (j->after_key) {
        if (c != ':')
            return expected(j, "':' behind a key", e);
        reader_skip(j->from, 1);
        if (!look(j, &c, e))
            return false;
        t->line = j->line;
        j->after_key = false;
        return read_value(j, c, t, e);
    }
    if (c == '}')
        return close_level(j, t);
    if (j->filled) {
        if (c != ',')
            return expected(j, "',' or '}'", e);
        reader_skip(j->from, 1);
        if (!look(j, &c, e))
            return false;
        t->line = j->line;
    }
    if (c != '"')
        return expected(j, "a key in quotes", e);
    j->filled = j->after_key = true;
    t->kind = JSON_TEXT;
    return read_text(j, &t->text, e);
}

static bool next_in_array(struct json_reader *j, char c, struct json_token *t, struct err *e)
{
    if (c == ']')
        return close_level(j, t);
    if (j->filled) {
        if (c != ',')
            return expected(j, "',' or ']'", e);
        reader_skip(j->from, 1);
        if (!look(j, &c, e))
            return false;
        t->line = j->line;
    }
    return read_value(j, c, t, e);
}

bool json_next(struct json_reader *j, struct json_token *out, struct err *e)
{
    char c;
    if (!look(j, &c, e))
        return false;
    *out = (struct json_token){.line = j->line};
    if (j->depth)
        return j->open[j->depth - 1] == '{' ? next_in_object(j, c, out, e) : next_in_array(j, c, out, e);
    if (!j->filled)
        return read_value(j, c, out, e);
    if (reader_here(j->from).n)
        return expected(j, "nothing more", e);
    out->kind = JSON_END;
    return true;
}

bool json_expect(struct json_reader *j, enum json_kind kind, struct json_token *out, struct err *e)
{
    if (!json_next(j, out, e))
        return false;
    if (out->kind == kind)
        return true;
    return err_set(e, ERR_MALFORMED, "line %llu: expected %s, found %s", (unsigned long long)out->line,
                   kind_names[kind], kind_names[out->kind]);
}

bool json_next_key(struct json_reader *j, struct json_token *out, struct err *e)
{
    return json_next(j, out, e) && out->kind != JSON_OBJECT_END;
}

bool json_next_item(struct json_reader *j, struct json_token *out, struct err *e)
{
    return json_next(j, out, e) && out->kind != JSON_ARRAY_END;
}

bool json_skip_rest(struct json_reader *j, const struct json_token *t, struct err *e)
{
    if (t->kind != JSON_OBJECT && t->kind != JSON_ARRAY)
        return true;
    struct json_token inner;
    for (unsigned outside = j->depth - 1; j->depth > outside;)
        if (!json_next(j, &inner, e))
            return false;
    return true;
}

bool json_skip(struct json_reader *j, struct err *e)
{
    struct json_token t;
    return json_next(j, &t, e) && json_skip_rest(j, &t, e);
}
