#include "base/text.h"

size_t text_utf8_length(struct view text)
{
    const unsigned char *at = (const unsigned char *)text.at;
    static const struct {
        unsigned char first, last, low, high; /* the first byte's range, and the second's */
        unsigned char length;
    } rows[] = {
        {0x00, 0x7f, 0,    0,    1},
        {0xc2, 0xdf, 0x80, 0xbf, 2},
        {0xe0, 0xe0, 0xa0, 0xbf, 3}, /* no overlong forms */
        {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, /* no surrogates */
        {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4},
        {0xf4, 0xf4, 0x80, 0x8f, 4}, /* nothing past U+10FFFF */
    };
    for (size_t i = 0; text.n && i < sizeof rows / sizeof *rows; i++) {
        if (*at < rows[i].first || *at > rows[i].last)
            continue;
        if (rows[i].length > text.n)
            return 0;
        if (rows[i].length > 1 && (at[1] < rows[i].low || at[1] > rows[i].high))
            return 0;
        for (size_t k = 2; k < rows[i].length; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return rows[i].length;
    }
    return 0;
}

/* U+0080 to U+009F are control characters too; some terminals obey them. */
static bool is_control(const unsigned char *at, size_t length)
{
    return length == 1 ? at[0] < 0x20 || at[0] == 0x7f : length == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

/* The bytes of one shown unit: a character, or one byte as \x1b. Returns how many bytes of text it covers. */
static size_t next_unit(struct view text, size_t i, char shown[8], size_t *out_columns)
{
    const unsigned char *at = (const unsigned char *)text.at + i;
    size_t length = text_utf8_length((struct view){text.at + i, text.n - i});
    if (!length || is_control(at, length)) {
        snprintf(shown, 8, "\\x%02x", at[0]);
        *out_columns = 4;
        return 1;
    }
    memcpy(shown, at, length);
    shown[length] = '\0';
    *out_columns = 1;
    return length;
}

size_t text_columns(struct view text)
{
    size_t columns = 0;
    for (size_t i = 0; i < text.n;) {
        char shown[8];
        size_t wide;
        i += next_unit(text, i, shown, &wide);
        columns += wide;
    }
    return columns;
}

size_t text_safe(struct sink *out, struct view text, size_t most_columns)
{
    size_t all = text_columns(text);
    bool cut = most_columns && all > most_columns;
    size_t head = cut ? most_columns / 2 : all;                     /* columns shown before the ellipsis */
    size_t tail_from = cut ? all - (most_columns - 1 - head) : all; /* the first one shown behind it */
    size_t column = 0, written = 0;
    bool dotted = false;
    for (size_t i = 0; i < text.n;) {
        char shown[8];
        size_t wide;
        i += next_unit(text, i, shown, &wide);
        if (column + wide <= head || column >= tail_from) {
            sink_puts(out, shown);
            written += wide;
        } else if (!dotted) {
            sink_puts(out, "\xe2\x80\xa6"); /* the ellipsis, one column */
            written++;
            dotted = true;
        }
        column += wide;
    }
    return written;
}

static const char *entity(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

/* XML knows no U+FFFE and U+FFFF. */
static bool is_no_character(struct view v)
{
    return v.n >= 3 && !memcmp(v.at, "\xef\xbf", 2) && (unsigned char)v.at[2] >= 0xbe;
}

static void put_markup(struct sink *out, struct view safe)
{
    size_t from = 0;
    for (size_t i = 0; i < safe.n; i++) {
        struct view rest = {safe.at + i, safe.n - i};
        bool none = is_no_character(rest);
        const char *as = none ? "\xef\xbf\xbd" : entity(safe.at[i]);
        if (!as)
            continue;
        sink_add(out, view_between(safe.at + from, safe.at + i));
        sink_puts(out, as);
        i += none ? 2 : 0;
        from = i + 1;
    }
    sink_add(out, view_between(safe.at + from, safe.at + safe.n));
}

static bool is_plain(struct view text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.at[i] < 0x20 || (unsigned char)text.at[i] > 0x7e)
            return false;
    return true;
}

size_t text_markup(struct sink *out, struct view text, size_t most_columns)
{
    if ((!most_columns || text.n <= most_columns) && is_plain(text)) { /* nearly always */
        put_markup(out, text);
        return text.n;
    }
    own(buf) struct buf safe;
    buf_init(&safe, 4 * text.n + 8);
    struct sink to;
    sink_to_buf(&to, &safe);
    size_t columns = text_safe(&to, text, most_columns);
    if (sink_flush(&to, NULL))
        put_markup(out, buf_view(&safe));
    return columns;
}
