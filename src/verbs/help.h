/*
 * help.h - what the tables of verbs and options say, for people and for shells
 *
 * Nothing is written down twice: the help texts, the manual page and the
 * completions are read off the same rows that the command line is checked with.
 */
#pragma once
#include "verbs/verb.h"

/* On a terminal. */
void help_overview(struct sink *out, const struct look *look);
void help_group(const char *word, struct sink *out, const struct look *look); /* the verbs that begin with it */
void help_verb(const struct verb *v, struct sink *out, const struct look *look);

/* "inferom convert [options] IN" */
void help_usage(const struct verb *v, struct buf *out);

/* What an option is for, what its value may be, and what it is when nobody says anything. */
void help_option(const struct option *o, const void *defaults, struct buf *out);

/* inferom.1, in mdoc. */
void manual_print(struct sink *out);
