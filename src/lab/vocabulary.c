#include "lab/vocabulary.h"
#include "base/mem.h"

static bool same_text(const void *table, uint32_t row, const void *key)
{
    return view_same(((const struct view *)table)[row], *(const struct view *)key);
}

uint32_t vocabulary_find(const struct vocabulary *v, struct view text)
{
    return idmap_find(&v->by_text, idmap_hash(&v->by_text, text.at, text.n), same_text, v->text, &text);
}

/* A text that is there twice is found as its first token. */
void vocabulary_index(struct vocabulary *v)
{
    idmap_init(&v->by_text);
    for (uint32_t i = 0; i < v->n; i++) {
        if (vocabulary_find(v, v->text[i]) == IDMAP_NONE)
            idmap_add(&v->by_text, idmap_hash(&v->by_text, v->text[i].at, v->text[i].n), i);
        if (v->text[i].n > v->longest)
            v->longest = v->text[i].n;
    }
}

void vocabulary_free(struct vocabulary *v)
{
    if (!v)
        return;
    free(v->text);
    free(v->piece);
    free(v->kind);
    free(v->score);
    free(v->is_silent);
    free(v->is_end);
    free(v->merges);
    idmap_done(&v->by_text);
    idmap_done(&v->by_pair);
    arena_done(&v->arena);
    free(v);
}

void vocabulary_tokenize(const struct vocabulary *v, struct view text, struct tokens *out)
{
    static void (*const ways[])(const struct vocabulary *, struct view, struct tokens *) = {
        [VOCABULARY_LONGEST] = tokenize_longest, [VOCABULARY_SPM] = tokenize_spm, [VOCABULARY_BPE] = tokenize_bpe,
    };
    if (text.n)
        ways[v->way](v, text, out);
}

void tokens_add(struct tokens *t, uint32_t token)
{
    GROW(t->at, t->cap, t->n + 1);
    t->at[t->n++] = token;
}

void tokens_done(struct tokens *t) { free(t->at); }

/* The made-up vocabulary. */

void tokenize_longest(const struct vocabulary *v, struct view text, struct tokens *out)
{
    while (text.n) {
        size_t n = text.n < v->longest ? text.n : v->longest;
        uint32_t token = TOKEN_NONE;
        for (; n && (token = vocabulary_find(v, (struct view){text.at, n})) == TOKEN_NONE; n--)
            ;
        tokens_add(out, token); /* every single byte is there */
        text = (struct view){text.at + n, text.n - n};
    }
}

#define CONSONANTS "bcdfghjklmnprstvwxyz"
#define VOWELS "aeiou"
enum { SYLLABLES = (sizeof CONSONANTS - 1) * (sizeof VOWELS - 1) };

/* Word i: a blank and its syllables; first all of one syllable, then all of two, and so on. */
static struct view made_up_word(struct arena *a, uint32_t i)
{
    size_t syllables = 1;
    for (uint64_t many = SYLLABLES; i >= many; many *= SYLLABLES, syllables++)
        i -= (uint32_t)many;
    char *word = arena_new(a, 1 + 2 * syllables);
    word[0] = ' ';
    for (size_t s = syllables; s-- > 0; i /= SYLLABLES) {
        word[1 + 2 * s] = CONSONANTS[i % SYLLABLES / (sizeof VOWELS - 1)];
        word[2 + 2 * s] = VOWELS[i % (sizeof VOWELS - 1)];
    }
    return (struct view){word, 1 + 2 * syllables};
}

struct vocabulary *vocabulary_made_up(uint32_t n)
{
    struct vocabulary *v = mem_new(sizeof *v);
    *v = (struct vocabulary){.way = VOCABULARY_LONGEST, .n = n, .begin = TOKEN_NONE, .end = TOKEN_NONE};
    v->text = mem_new(n * sizeof *v->text);
    v->piece = mem_new(n * sizeof *v->piece);
    v->is_silent = mem_new(n * sizeof *v->is_silent);
    char *bytes = arena_new(&v->arena, 256);
    for (uint32_t i = 0; i < n; i++) {
        if (i < 256) {
            bytes[i] = (char)i;
            v->byte[i] = i;
        }
        v->text[i] = v->piece[i] = i < 256 ? (struct view){bytes + i, 1} : made_up_word(&v->arena, i - 256);
        v->is_silent[i] = i < ' ' || (i > '~' && i < 256);
    }
    vocabulary_index(v);
    return v;
}
