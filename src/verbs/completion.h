/*
 * completion.h - what a shell needs to know to finish a word
 *
 * The scripts differ in their language, not in what they know: which words name
 * a verb, which options a verb has, and what may stand behind each of them. All
 * of it is asked here; a file per shell puts it into that shell's words.
 */
#pragma once
#include "verbs/verb.h"

void completion_bash(struct sink *out);
void completion_zsh(struct sink *out);
void completion_fish(struct sink *out);

/* What may stand somewhere on the command line. */
enum word_kind { WORD_NONE, WORD_OF_LIST, WORD_FILE, WORD_FORMAT, WORD_VERB, WORD_OTHER, WORD_KIND_COUNT };

enum word_kind completion_value_kind(const struct option *o); /* behind an option; WORD_NONE for flags */
enum word_kind completion_args_kind(const struct verb *v);    /* behind a verb */

/* The words themselves, separated by blanks; for WORD_OF_LIST and WORD_FORMAT. */
void completion_words(const struct option *o, struct buf *out);

/* First words of verbs, each once: "convert", "runs". NULL past the end. `name` holds the word. */
const char *completion_first_word(size_t i, char name[64], const char **out_what);
