#include "render/flame_label.h"
#include "base/text.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ANONYMOUS "(anonymous namespace)"
enum { LEAST_COLUMNS = 3 };

/* Anything of three bytes or more is taken for wide, except our own ellipsis. */
static size_t unit_at(struct view text, size_t i, size_t *out_columns)
{
    struct view rest = {text.at + i, text.n - i};
    size_t length = text_utf8_length(rest);
    if (length > 2 && !view_starts(rest, VIEW(ELLIPSIS))) {
        *out_columns = 2;
        return length;
    }
    size_t bytes = length ? length : 1;
    *out_columns = text_columns((struct view){rest.at, bytes}); /* four for each byte that is shown as a number */
    return bytes;
}

size_t label_columns(struct view text)
{
    size_t columns = 0, wide;
    for (size_t i = 0; i < text.n; columns += wide)
        i += unit_at(text, i, &wide);
    return columns;
}

static void cut_end(struct buf *out, struct view text, size_t columns)
{
    size_t i = 0, taken = 0, wide;
    while (i < text.n) {
        size_t bytes = unit_at(text, i, &wide);
        if (taken + wide > columns - 1)
            break;
        taken += wide;
        i += bytes;
    }
    buf_add(out, text.at, i);
    buf_puts(out, ELLIPSIS);
}

/* C++ and Rust: what stands in <> and in (), where it is not part of the name itself. */

static size_t skip_group(struct view text, size_t i, char open, char close)
{
    size_t depth = 0;
    for (; i < text.n; i++) {
        bool is_arrow = close == '>' && text.at[i] == '>' && i && text.at[i - 1] == '-'; /* decltype(a->b) */
        depth += text.at[i] == open;
        depth -= text.at[i] == close && depth && !is_arrow;
        if (!depth)
            return i + 1;
    }
    return text.n;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* operator<, operator()(int): these signs are the name. */
static size_t operator_length(struct view text, size_t i)
{
    struct view rest = {text.at + i, text.n - i};
    if (!view_starts(rest, VIEW("operator")) || (i && is_word(text.at[i - 1])) || rest.n == 8 || is_word(rest.at[8]))
        return 0;
    if (rest.n >= 10 && (!memcmp(rest.at + 8, "()", 2) || !memcmp(rest.at + 8, "[]", 2)))
        return 10;
    size_t n = 8;
    if (rest.at[n] == ' ') { /* operator new, operator bool */
        for (n++; n < rest.n && is_word(rest.at[n]);)
            n++;
        return n;
    }
    while (n < rest.n && n < 11 && strchr("<>=-+*/&|!^%~,", rest.at[n]))
        n++;
    return n;
}

static struct view without_clone(struct view name)
{
    const char *clone = memmem(name.at, name.n, " [clone", 7);
    return clone ? view_between(name.at, clone) : name;
}

/* Without arguments of templates and calls, without what is returned. */
static void bare(struct buf *out, struct view full)
{
    struct view name = without_clone(full);
    size_t begins = 0; /* where the name begins in `out`, behind what it returns */
    for (size_t i = 0; i < name.n;) {
        size_t sign = operator_length(name, i);
        struct view rest = {name.at + i, name.n - i};
        if (sign) {
            buf_add(out, rest.at, sign);
            i += sign;
        } else if (rest.at[0] == '<' && rest.n > 1) {
            buf_puts(out, "<" ELLIPSIS ">");
            i = skip_group(name, i, '<', '>');
        } else if (view_starts(rest, VIEW(ANONYMOUS))) {
            buf_puts(out, "(anon)");
            i += sizeof ANONYMOUS - 1;
        } else if (rest.at[0] == '(') {
            i = skip_group(name, i, '(', ')');
        } else if (view_same(rest, VIEW(" const"))) {
            break;
        } else {
            buf_add(out, rest.at, 1);
            begins = rest.at[0] == ' ' && rest.n > 1 && rest.at[1] != '<' ? out->len : begins;
            i++;
        }
    }
    if (begins >= out->len)
        return;
    memmove(out->data, out->data + begins, out->len - begins);
    out->len -= begins;
}

/* Scope after scope goes, the outermost first, until it fits. */
static bool without_scope(struct buf *out, struct view name, size_t columns)
{
    for (size_t i = 0; i + 2 < name.n; i++) {
        if (name.at[i] != ':' || name.at[i + 1] != ':')
            continue;
        struct view rest = {name.at + i + 2, name.n - i - 2};
        if (label_columns(rest) + 1 > columns)
            continue;
        buf_puts(out, ELLIPSIS);
        buf_add(out, rest.at, rest.n);
        return true;
    }
    return false;
}

static struct view last_scope(struct view name)
{
    for (size_t i = name.n; i > 2; i--)
        if (name.at[i - 1] == ':' && name.at[i - 2] == ':')
            return (struct view){name.at + i, name.n - i};
    return name;
}

void label_fit(struct buf *out, struct view name, size_t columns)
{
    if (columns < LEAST_COLUMNS)
        return;
    if (name.n <= columns && label_columns(name) <= columns) {
        buf_add(out, name.at, name.n);
        return;
    }
    own(buf) struct buf short_name;
    buf_init(&short_name, 4 * name.n + 64);
    if (memchr(name.at, ':', name.n) || memchr(name.at, '(', name.n) || memchr(name.at, '<', name.n))
        bare(&short_name, name);
    struct view is = short_name.len ? buf_view(&short_name) : name;
    if (label_columns(is) <= columns)
        buf_add(out, is.at, is.n);
    else if (!without_scope(out, is, columns))
        cut_end(out, last_scope(is), columns);
}
