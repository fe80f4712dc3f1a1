#include "base/json.h"
#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

static void start(struct json_writer *w, struct sink *to, bool pretty)
{
    w->to = to;
    w->pretty = pretty;
    w->after_key = false;
    w->depth = 0;
}

void json_to(struct json_writer *w, struct sink *to) { start(w, to, false); }
void json_to_pretty(struct json_writer *w, struct sink *to) { start(w, to, true); }

static void new_line(struct json_writer *w)
{
    if (!w->pretty)
        return;
    sink_char(w->to, '\n');
    for (unsigned i = 0; i < w->depth; i++)
        sink_add(w->to, VIEW("  "));
}

/* What stands between the thing before and this one. */
static void separate(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (!w->depth)
        return;
    if (w->filled[w->depth - 1])
        sink_char(w->to, ',');
    w->filled[w->depth - 1] = true;
    new_line(w);
}

void json_open(struct json_writer *w, char bracket)
{
    assert(w->depth < JSON_DEEPEST);
    separate(w);
    sink_char(w->to, bracket);
    w->filled[w->depth++] = false;
}

/* A pretty document ends with its line; a compact one may be followed by anything. */
void json_close(struct json_writer *w, char bracket)
{
    assert(w->depth && !w->after_key);
    w->depth--;
    if (w->filled[w->depth])
        new_line(w);
    sink_char(w->to, bracket);
    if (w->pretty && !w->depth)
        sink_char(w->to, '\n');
}

static bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

/* Writes the one character at `at` that needs care; returns how many bytes it was. */
static size_t put_special(struct sink *to, const unsigned char *at, size_t n)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* byte, letter, byte, letter, ... */
    for (const char *l = letters; *l; l += 2)
        if (*at == (unsigned char)*l) {
            sink_char(to, '\\');
            sink_char(to, l[1]);
            return 1;
        }
    size_t length = text_utf8_length((struct view){(const char *)at, n});
    if (length == 1 && *at < 0x20)
        sink_printf(to, "\\u%04x", *at);
    else if (length)
        sink_add(to, (struct view){(const char *)at, length});
    else
        sink_add(to, VIEW("\xef\xbf\xbd"));
    return length ? length : 1;
}

static void put_text(struct sink *to, struct view text)
{
    sink_char(to, '"');
    for (size_t i = 0; i < text.n;) {
        size_t run = i;
        while (run < text.n && is_plain((unsigned char)text.at[run]))
            run++;
        sink_add(to, (struct view){text.at + i, run - i});
        i = run;
        if (i < text.n)
            i += put_special(to, (const unsigned char *)text.at + i, text.n - i);
    }
    sink_char(to, '"');
}

void json_key_view(struct json_writer *w, struct view key)
{
    assert(w->depth && !w->after_key);
    separate(w);
    put_text(w->to, key);
    sink_puts(w->to, w->pretty ? ": " : ":");
    w->after_key = true;
}

void json_key(struct json_writer *w, const char *key) { json_key_view(w, view_of(key)); }

void json_text(struct json_writer *w, struct view text)
{
    separate(w);
    put_text(w->to, text);
}

void json_uint(struct json_writer *w, uint64_t n)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    separate(w);
    sink_add(w->to, view_between(at, digits + sizeof digits));
}

void json_int(struct json_writer *w, int64_t n)
{
    separate(w);
    sink_printf(w->to, "%" PRId64, n);
}

/* The shortest of the spellings that give the same number back. */
void json_double(struct json_writer *w, double n)
{
    if (!isfinite(n)) {
        json_null(w);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, n);
        if (strtod(text, NULL) == n)
            break;
    }
    separate(w);
    sink_puts(w->to, text);
}

void json_decimal(struct json_writer *w, int64_t value, unsigned decimals)
{
    char text[32];
    text_decimal(text, value, decimals);
    separate(w);
    sink_puts(w->to, text);
}

void json_bool(struct json_writer *w, bool yes)
{
    separate(w);
    sink_puts(w->to, yes ? "true" : "false");
}

void json_null(struct json_writer *w)
{
    separate(w);
    sink_add(w->to, VIEW("null"));
}
