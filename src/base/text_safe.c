#include "base/text.h"

/* Length of the well-formed UTF-8 character at `at`, or 0. */
static size_t utf8_length(const unsigned char *at, size_t n)
{
    static const struct {
        unsigned char mask, lead, length;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if ((at[0] & forms[f].mask) != forms[f].lead)
            continue;
        size_t length = forms[f].length;
        uint32_t c = at[0] & (unsigned char)~forms[f].mask;
        for (size_t i = 1; i < length; i++) {
            if (i >= n || (at[i] & 0xc0) != 0x80)
                return 0;
            c = c << 6 | (at[i] & 0x3f);
        }
        bool is_character = c >= forms[f].least && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
        return is_character ? length : 0;
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
    size_t length = utf8_length(at, text.n - i);
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
