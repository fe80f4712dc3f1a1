#include "render/markup.h"
#include "base/text.h"

enum { NAME_BYTES = 1 << 20 }; /* of one name; longer ones end here */

/* The text as it may be shown at all. */
static void make_safe(struct buf *out, struct view text, size_t most_columns)
{
    struct sink to;
    buf_init(out, NAME_BYTES);
    sink_to_buf(&to, out);
    text_safe(&to, text, most_columns);
    (void)!sink_flush(&to, NULL);
}

/* Every ASCII character that is neither letter, digit nor blank, as a reference: none of them can mean anything then. */
static void put_as_references(struct sink *out, struct view safe)
{
    for (size_t i = 0; i < safe.n; i++) {
        unsigned char c = (unsigned char)safe.at[i];
        bool is_plain = c >= 0x80 || c == ' ' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (is_plain)
            sink_char(out, (char)c);
        else
            sink_printf(out, "&#%u;", c);
    }
}

static bool is_word(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/*
 * Punctuation that can only be itself where it stays readable for who looks at the source: x86_64, GCC: 12.2. Not what
 * would begin a list or a heading, nor what makes a link of a text (http://, www.).
 */
static bool is_only_itself(struct view text, size_t i)
{
    char c = text.at[i], next = i + 1 < text.n ? text.at[i + 1] : ' ';
    if (!i)
        return is_word(c);
    if (c == '_')
        return is_word(text.at[i - 1]) && is_word(next);
    if (c == ':')
        return next != '/';
    if (c == '.')
        return i < 3 || (text.at[i - 1] | 0x20) != 'w';
    return c && strchr(" ,;%/-+=()", c);
}

void markdown_text(struct sink *out, struct view text, size_t most_columns)
{
    own(buf) struct buf safe;
    make_safe(&safe, text, most_columns);
    if (view_same(text, VIEW("-"))) { /* what stands for unknown */
        sink_char(out, '-');
        return;
    }
    for (size_t i = 0; i < safe.len; i++) {
        if (is_only_itself(buf_view(&safe), i))
            sink_char(out, safe.data[i]);
        else
            put_as_references(out, (struct view){safe.data + i, 1});
    }
}

/*
 * Between backticks nothing means anything but backticks, and in a table the bar that ends a cell.
 * With either of those, or a blank at an end that would be dropped, it is written the long way.
 */
void markdown_code(struct sink *out, struct view text, size_t most_columns)
{
    own(buf) struct buf safe;
    make_safe(&safe, text, most_columns);
    struct view v = buf_view(&safe);
    bool is_simple = v.n && !memchr(v.at, '`', v.n) && !memchr(v.at, '|', v.n) && v.at[0] != ' ' && v.at[v.n - 1] != ' ' &&
                     v.at[v.n - 1] != '\\';
    if (is_simple) {
        sink_char(out, '`');
        sink_add(out, v);
        sink_char(out, '`');
        return;
    }
    sink_puts(out, "<code>");
    put_as_references(out, v);
    sink_puts(out, "</code>");
}

void csv_text(struct sink *out, struct view text)
{
    own(buf) struct buf safe;
    make_safe(&safe, text, 0);
    sink_char(out, '"');
    if (safe.len && strchr("=+-@", safe.data[0]))
        sink_char(out, '\'');
    for (size_t i = 0; i < safe.len; i++) {
        if (safe.data[i] == '"')
            sink_char(out, '"');
        sink_char(out, safe.data[i]);
    }
    sink_char(out, '"');
}
