/*
 * help.h - what the tables of verbs and options say, for people
 *
 * Nothing is written down twice: the help texts are read off the same rows that
 * the command line is checked with.
 */
#pragma once
#include "verbs/verb.h"

/* On a terminal. */
void help_overview(struct sink *out, const struct look *look);
void help_group(const char *word, struct sink *out, const struct look *look); /* the verbs that begin with it */
void help_verb(const struct verb *v, struct sink *out, const struct look *look);
