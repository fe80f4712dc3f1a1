/*
 * SentencePiece's way: blanks become U+2581, a blank goes in front, characters are joined by score. A character that
 * is in no token of the vocabulary is said as its bytes.
 */
#include "base/mem.h"
#include "base/text.h"
#include "lab/joining.h"
#include "lab/vocabulary.h"

#define BLANK "\xe2\x96\x81"

static bool by_score(const void *self, const struct symbol *left, const struct symbol *right, uint32_t *out_token, double *out_cost)
{
    const struct vocabulary *v = self;
    size_t n = left->text.n + right->text.n;
    if (n > v->longest)
        return false;
    uint32_t token = vocabulary_find(v, (struct view){left->text.at, n});
    if (token == TOKEN_NONE)
        return false;
    *out_token = token;
    *out_cost = -(double)v->score[token];
    return true;
}

static void escape(const struct vocabulary *v, struct view text, struct buf *out)
{
    if (v->adds_blank)
        buf_puts(out, BLANK);
    for (size_t i = 0; i < text.n; i++)
        if (text.at[i] == ' ')
            buf_puts(out, BLANK);
        else
            buf_add(out, text.at + i, 1);
}

static size_t cut(const struct vocabulary *v, struct view text, struct symbol *out)
{
    size_t n = 0;
    while (text.n) {
        size_t length = text_utf8_length(text);
        length = length ? length : 1; /* a byte that begins no character is said as itself */
        struct view character = {text.at, length};
        out[n] = (struct symbol){.text = character, .token = vocabulary_find(v, character), .before = (uint32_t)n - 1, .after = (uint32_t)n + 1};
        n++;
        text = (struct view){text.at + length, text.n - length};
    }
    out[n - 1].after = SYMBOL_NONE;
    return n;
}

static void say_bytes(const struct vocabulary *v, struct view text, struct tokens *out)
{
    for (size_t i = 0; i < text.n; i++)
        if (v->byte[(uint8_t)text.at[i]] != TOKEN_NONE)
            tokens_add(out, v->byte[(uint8_t)text.at[i]]);
}

void tokenize_spm(const struct vocabulary *v, struct view text, struct tokens *out)
{
    own(buf) struct buf escaped;
    buf_init(&escaped, SIZE_MAX / 2);
    escape(v, text, &escaped);
    own(free) struct symbol *s = mem_new(escaped.len * sizeof *s);
    size_t n = cut(v, buf_view(&escaped), s);
    symbols_join(s, n, by_score, v);
    for (uint32_t i = 0; i != SYMBOL_NONE; i = s[i].after)
        if (s[i].token != TOKEN_NONE)
            tokens_add(out, s[i].token);
        else
            say_bytes(v, s[i].text, out);
}
