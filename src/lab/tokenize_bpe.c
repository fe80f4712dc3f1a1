/*
 * Byte-level BPE: the text is cut into words by rules (words.h), each word begins as its bytes, and neighbours are
 * joined by the rank of their merge.
 */
#include "base/mem.h"
#include "lab/joining.h"
#include "lab/vocabulary.h"
#include "lab/words.h"

/* Bytes that print as Latin-1 characters stand for themselves, the others for 256 and up, in order. */
static bool is_plain(uint32_t byte) { return (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte != 173); }

uint32_t character_of_byte(uint8_t byte)
{
    if (is_plain(byte))
        return byte;
    uint32_t n = 256;
    for (uint32_t b = 0; b < byte; b++)
        n += !is_plain(b);
    return n;
}

int byte_of_character(uint32_t character)
{
    if (character < 256)
        return is_plain(character) ? (int)character : -1;
    for (uint32_t b = 0, n = 256; b < 256; b++)
        if (!is_plain(b) && n++ == character)
            return (int)b;
    return -1;
}

static bool same_pair(const void *table, uint32_t row, const void *key)
{
    const struct merge *m = &((const struct merge *)table)[row], *k = key;
    return m->left == k->left && m->right == k->right;
}

uint32_t vocabulary_merge(const struct vocabulary *v, uint32_t left, uint32_t right)
{
    struct merge pair = {.left = left, .right = right};
    return idmap_find(&v->by_pair, idmap_hash_pair(&v->by_pair, left, right), same_pair, v->merges, &pair);
}

static bool by_rank(const void *self, const struct symbol *left, const struct symbol *right, uint32_t *out_token, double *out_cost)
{
    const struct vocabulary *v = self;
    uint32_t row = vocabulary_merge(v, left->token, right->token);
    if (row == IDMAP_NONE)
        return false;
    *out_token = v->merges[row].joined;
    *out_cost = row;
    return true;
}

static void say_word(const struct vocabulary *v, struct view word, struct symbol *s, struct tokens *out)
{
    uint32_t n = 0;
    for (size_t i = 0; i < word.n; i++) {
        uint32_t token = v->byte[(uint8_t)word.at[i]];
        if (token == TOKEN_NONE)
            continue;
        s[n] = (struct symbol){.text = {word.at + i, 1}, .token = token, .before = n - 1, .after = n + 1};
        n++;
    }
    if (!n)
        return;
    s[n - 1].after = SYMBOL_NONE;
    symbols_join(s, n, by_rank, v);
    for (uint32_t i = 0; i != SYMBOL_NONE; i = s[i].after)
        tokens_add(out, s[i].token);
}

void tokenize_bpe(const struct vocabulary *v, struct view text, struct tokens *out)
{
    own(free) struct symbol *s = NULL;
    size_t cap = 0;
    while (text.n) {
        size_t n = word_length(v->rules, text);
        GROW(s, cap, n);
        say_word(v, (struct view){text.at, n}, s, out);
        text = (struct view){text.at + n, text.n - n};
    }
}
