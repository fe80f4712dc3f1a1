#include "lab/words.h"
#include "base/text.h"

#include <ctype.h>

static const struct word_rules all_rules[] = {
    {.name = "gpt-2"},
    {.name = "default"},
    {.name = "llama-bpe", .is_newer = true, .digits_together = 3, .adds_begin = true},
    {.name = "llama3", .is_newer = true, .digits_together = 3, .adds_begin = true},
    {.name = "qwen2", .is_newer = true, .digits_together = 1},
    {.name = "smollm", .digits_apart_first = true},
};

const struct word_rules *word_rules_named(struct view pre)
{
    for (size_t i = 0; i < sizeof all_rules / sizeof *all_rules; i++)
        if (view_same(pre, view_of(all_rules[i].name)))
            return &all_rules[i];
    return NULL;
}

/* Characters. */

enum character { LETTER, NUMBER, BLANK, SIGN, NOTHING }; /* NOTHING: the text ends here */

static const struct range {
    uint32_t first, last;
    enum character is;
} ranges[] = { /* in order; what is in none of them is a letter */
    {0x80, 0x84, SIGN},       {0x85, 0x85, BLANK},     {0x86, 0x9f, SIGN},       {0xa0, 0xa0, BLANK},     {0xa1, 0xa9, SIGN},
    {0xab, 0xb1, SIGN},       {0xb2, 0xb3, NUMBER},    {0xb4, 0xb4, SIGN},       {0xb6, 0xb8, SIGN},      {0xb9, 0xb9, NUMBER},
    {0xbb, 0xbb, SIGN},       {0xbc, 0xbe, NUMBER},    {0xbf, 0xbf, SIGN},       {0xd7, 0xd7, SIGN},      {0xf7, 0xf7, SIGN},
    {0x2c2, 0x2c5, SIGN},     {0x2d2, 0x2df, SIGN},    {0x300, 0x36f, SIGN},     {0x37e, 0x37e, SIGN},    {0x384, 0x385, SIGN},
    {0x387, 0x387, SIGN},     {0x483, 0x489, SIGN},    {0x55a, 0x55f, SIGN},     {0x589, 0x5c7, SIGN},    {0x5f3, 0x61f, SIGN},
    {0x64b, 0x65f, SIGN},     {0x660, 0x669, NUMBER},  {0x66a, 0x66d, SIGN},     {0x6d4, 0x6d4, SIGN},    {0x6d6, 0x6e4, SIGN},
    {0x6f0, 0x6f9, NUMBER},   {0x93a, 0x93c, SIGN},    {0x93e, 0x94f, SIGN},     {0x964, 0x965, SIGN},    {0x966, 0x96f, NUMBER},
    {0xe31, 0xe31, SIGN},     {0xe34, 0xe3f, SIGN},    {0xe47, 0xe4f, SIGN},     {0xe50, 0xe59, NUMBER},  {0x1680, 0x1680, BLANK},
    {0x2000, 0x200a, BLANK},  {0x200b, 0x2027, SIGN},  {0x2028, 0x2029, BLANK},  {0x202a, 0x202e, SIGN},  {0x202f, 0x202f, BLANK},
    {0x2030, 0x205e, SIGN},   {0x205f, 0x205f, BLANK}, {0x2060, 0x206f, SIGN},   {0x2070, 0x2070, NUMBER}, {0x2074, 0x2079, NUMBER},
    {0x207a, 0x207e, SIGN},   {0x2080, 0x2089, NUMBER}, {0x208a, 0x208e, SIGN},  {0x20a0, 0x2101, SIGN},  {0x2103, 0x2106, SIGN},
    {0x2108, 0x2109, SIGN},   {0x2116, 0x2118, SIGN},  {0x2120, 0x2123, SIGN},   {0x2150, 0x2182, NUMBER}, {0x2190, 0x245f, SIGN},
    {0x2460, 0x249b, NUMBER}, {0x249c, 0x24e9, SIGN},  {0x24ea, 0x24ff, NUMBER}, {0x2500, 0x2775, SIGN},  {0x2776, 0x2793, NUMBER},
    {0x2794, 0x2bff, SIGN},   {0x2e00, 0x2fff, SIGN},  {0x3000, 0x3000, BLANK},  {0x3001, 0x3004, SIGN},  {0x3007, 0x3007, NUMBER},
    {0x3008, 0x3020, SIGN},   {0x3021, 0x3029, NUMBER}, {0x302a, 0x3030, SIGN},  {0x3099, 0x309c, SIGN},  {0x30a0, 0x30a0, SIGN},
    {0x30fb, 0x30fb, SIGN},   {0xd800, 0xf8ff, SIGN},  {0xfe00, 0xfe6f, SIGN},   {0xfeff, 0xfeff, SIGN},  {0xff01, 0xff0f, SIGN},
    {0xff10, 0xff19, NUMBER}, {0xff1a, 0xff20, SIGN},  {0xff3b, 0xff40, SIGN},   {0xff5b, 0xff65, SIGN},  {0xffe0, 0xffff, SIGN},
    {0x1f000, 0x1f0ff, SIGN}, {0x1f100, 0x1f10c, NUMBER}, {0x1f10d, 0x1fbef, SIGN}, {0x1fbf0, 0x1fbf9, NUMBER}, {0xe0000, 0x10ffff, SIGN},
};

static enum character kind_of_code(uint32_t code)
{
    size_t low = 0, high = sizeof ranges / sizeof *ranges;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (code > ranges[mid].last)
            low = mid + 1;
        else
            high = mid;
    }
    bool is_inside = low < sizeof ranges / sizeof *ranges && code >= ranges[low].first;
    return is_inside ? ranges[low].is : LETTER;
}

static enum character kind_of_ascii(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return NUMBER;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return LETTER;
    return c == ' ' || (c >= '\t' && c <= '\r') ? BLANK : SIGN;
}

struct scan {
    const struct word_rules *rules;
    struct view text;
};

/* What stands at a place, and its bytes. */
static enum character at(const struct scan *s, size_t i, size_t *out_bytes)
{
    *out_bytes = 0;
    if (i >= s->text.n)
        return NOTHING;
    const uint8_t *c = (const uint8_t *)s->text.at + i;
    size_t n = text_utf8_length((struct view){s->text.at + i, s->text.n - i});
    enum character is = SIGN;
    if (n == 1)
        is = kind_of_ascii(*c);
    else if (n) {
        uint32_t code = c[0] & (0xffu >> (n + 1));
        for (size_t k = 1; k < n; k++)
            code = code << 6 | (c[k] & 0x3f);
        is = kind_of_code(code);
    }
    if (is == NUMBER && s->rules->digits_apart_first)
        return NOTHING; /* a text of its own */
    *out_bytes = n ? n : 1;
    return is;
}

/* Where a run of one kind, beginning at i, ends; `most` characters of it at most, 0: any number. */
static size_t run(const struct scan *s, size_t i, enum character is, size_t most)
{
    size_t n;
    for (size_t count = 0; (!most || count < most) && at(s, i, &n) == is; count++)
        i += n;
    return i;
}

/* Rules, in the order they are tried; each says where its word ends, 0: it has none here. */

static size_t contraction(const struct scan *s)
{
    static const char *const endings[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (s->text.at[0] != '\'')
        return 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]), same = 0;
        while (same < n && 1 + same < s->text.n &&
               (s->rules->is_newer ? tolower((unsigned char)s->text.at[1 + same]) : s->text.at[1 + same]) == endings[i][same])
            same++;
        if (same == n)
            return 1 + n;
    }
    return 0;
}

static bool is_line_end(const struct scan *s, size_t i) { return i < s->text.n && (s->text.at[i] == '\n' || s->text.at[i] == '\r'); }

/* Letters; behind one blank, or behind any one sign where the rules are newer. */
static size_t letters(const struct scan *s)
{
    size_t lead, end;
    enum character first = at(s, 0, &lead);
    if (first == LETTER)
        return run(s, 0, LETTER, 0);
    bool may_lead = s->rules->is_newer ? (first == BLANK || first == SIGN) && !is_line_end(s, 0) : s->text.at[0] == ' ';
    end = may_lead ? run(s, lead, LETTER, 0) : 0;
    return end > lead ? end : 0;
}

static size_t numbers(const struct scan *s)
{
    size_t lead = !s->rules->is_newer && s->text.at[0] == ' ';
    size_t end = run(s, lead, NUMBER, s->rules->digits_together);
    return end > lead ? end : 0;
}

static size_t signs(const struct scan *s)
{
    size_t lead = s->text.at[0] == ' ', end = run(s, lead, SIGN, 0);
    if (end == lead)
        return 0;
    while (s->rules->is_newer && is_line_end(s, end))
        end++;
    return end;
}

/* Blanks; the last one is left to what follows, unless that is nothing, or it is all there is. */
static size_t blanks(const struct scan *s)
{
    size_t end = 0, last = 0, line_end = 0, n;
    while (at(s, end, &n) == BLANK) {
        line_end = is_line_end(s, end) ? end + 1 : line_end;
        last = end;
        end += n;
    }
    if (s->rules->is_newer && line_end)
        return line_end;
    return last && at(s, end, &n) != NOTHING ? last : end;
}

size_t word_length(const struct word_rules *r, struct view text)
{
    static size_t (*const tried[])(const struct scan *) = {contraction, letters, numbers, signs, blanks};
    const struct scan s = {r, text};
    size_t n;
    if (r->digits_apart_first && at(&s, 0, &n) == NOTHING)
        return text_utf8_length(text); /* a number: one character of valid UTF-8 */
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if ((n = tried[i](&s)))
            return n;
    return 1;
}
