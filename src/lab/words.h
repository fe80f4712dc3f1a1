/*
 * words.h - where a text is cut before byte-level BPE
 *
 * Every family of models has its pattern; these are the patterns of gpt-2, llama 3, qwen 2 and smollm, written as
 * code because they only ask three things of a character: is it a letter, a number, a blank? For characters outside
 * ASCII that is answered from ranges (the common scripts and signs), not from the whole of Unicode: a rare character
 * may be cut off from its word. The tokens still say the same text.
 */
#pragma once
#include "base/view.h"
#include "lab/vocabulary.h"

const struct word_rules *word_rules_named(struct view pre); /* NULL: we do not know them */

/* Bytes of the first word of a text that is not empty; at least 1. */
size_t word_length(const struct word_rules *r, struct view text);
