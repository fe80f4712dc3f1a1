/*
 * vocabulary.h - what the numbers of a model stand for, and how text becomes numbers
 *
 * Three ways to cut a text, one for each family of models; whatever they do, no text is refused.
 *
 *     longest   our presets: the longest piece that fits, then the next
 *     spm       SentencePiece: characters, joined by score; bytes for what is not in the vocabulary
 *     bpe       byte-level BPE: words by rules, then bytes joined by rank
 *
 * Owns:     all pieces, except where it is given texts of a file that stays mapped.
 * Threads:  read only once it is made.
 */
#pragma once
#include "base/arena.h"
#include "base/err.h"
#include "base/idmap.h"
#include "base/view.h"
#include "lab/model.h"

#define TOKEN_NONE UINT32_MAX

struct gguf;

enum token_kind { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER, TOKEN_UNUSED, TOKEN_BYTE };

/* How words are cut before BPE joins what is in them. */
struct word_rules {
    const char *name;          /* tokenizer.ggml.pre: "gpt-2" */
    unsigned digits_together;  /* 0: as many as there are */
    bool is_newer;             /* the llama 3 rules: one sign may lead a word, line ends close punctuation, 'S as 's */
    bool digits_apart_first;   /* digits are cut out before everything else, so no blank goes with them */
    bool adds_begin;           /* texts begin with the mark for it, unless the file says otherwise */
};

struct vocabulary {
    enum { VOCABULARY_LONGEST, VOCABULARY_SPM, VOCABULARY_BPE } way;
    uint32_t n;
    struct view *text;  /* as it is looked up */
    struct view *piece; /* as it is said */
    uint8_t *kind;      /* enum token_kind; NULL: all normal */
    float *score;       /* spm */
    bool *is_silent;    /* never picked by a sampler; NULL: all may be */
    bool *is_end;       /* NULL: none */
    struct idmap by_text;
    uint32_t byte[256]; /* token of each byte; TOKEN_NONE: there is none */
    size_t longest;     /* bytes of the longest text */

    struct merge {      /* bpe: left and right become one */
        uint32_t left, right, joined;
    } *merges;          /* in order of rank */
    size_t n_merges;
    struct idmap by_pair;
    const struct word_rules *rules;

    uint32_t begin, end; /* marks; TOKEN_NONE: there are none */
    bool adds_begin, adds_blank;
    struct arena arena;
};

/* 256 bytes and made-up words: " ba", " ca", ... The samplers leave out what does not print. */
struct vocabulary *vocabulary_made_up(uint32_t n);
bool vocabulary_read(const struct gguf *g, struct vocabulary **out, struct err *e) MUST_CHECK;
void vocabulary_free(struct vocabulary *v);
DEFINE_OWN(vocabulary, struct vocabulary *)

uint32_t vocabulary_find(const struct vocabulary *v, struct view text); /* TOKEN_NONE: not there */
void vocabulary_tokenize(const struct vocabulary *v, struct view text, struct tokens *out);

/* For those who make one: the pieces are known, now they can be looked up. */
void vocabulary_index(struct vocabulary *v);
uint32_t vocabulary_merge(const struct vocabulary *v, uint32_t left, uint32_t right); /* its rank; IDMAP_NONE: there is none */

/* The three ways. */
void tokenize_longest(const struct vocabulary *v, struct view text, struct tokens *out);
void tokenize_spm(const struct vocabulary *v, struct view text, struct tokens *out);
void tokenize_bpe(const struct vocabulary *v, struct view text, struct tokens *out);

/* Byte-level BPE writes every byte as a character that prints; -1: the character stands for none. */
int byte_of_character(uint32_t character);
uint32_t character_of_byte(uint8_t byte);
