/*
 * joining.h - pieces of a text that grow together, the best pair first
 *
 * What SentencePiece and byte-level BPE have in common: a text begins as many small symbols; as long as
 * two neighbours can be joined, the best pair is. Which pairs can be, and how good they are, is a question
 * to the caller. Neighbours are a linked list, candidates a heap: n log n whatever the text is.
 *
 *     T h e   T h e r e      ->      The  _There
 */
#pragma once
#include "base/view.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
    struct view text;     /* joined ones lie one behind the other in the same text */
    uint32_t token;       /* or TOKEN_NONE */
    uint32_t before, after; /* neighbours; SYMBOL_NONE at the ends. A text of n 0 was joined to the one before */
};
#define SYMBOL_NONE UINT32_MAX

/* Whether two neighbours can become one: which token that is, and its cost; the lowest cost goes first, then the leftmost. */
typedef bool (*symbols_pair)(const void *self, const struct symbol *left, const struct symbol *right, uint32_t *out_token, double *out_cost);

/* Joins until nothing can be joined. Symbols are in order of the text; afterwards follow .after from the first. */
void symbols_join(struct symbol *s, size_t n, symbols_pair pair, const void *self);
