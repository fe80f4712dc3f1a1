/*
 * option.h - one table says everything there is to say about a setting
 *
 * A verb keeps its settings in a plain struct. Each row of its table names the
 * field and says how people spell it. From the same rows come: the command
 * line, --help, the manual page, shell completion, the keys of the settings
 * file, the environment variables, and (one day) the JSON body of the matching
 * admin request. A setting added here exists everywhere, with one description.
 *
 *     verb "report", row "min-total":
 *         inferom report --min-total 10ms
 *         INFEROM_REPORT_MIN_TOTAL=10ms
 *         {"report": {"min-total": "10ms"}}
 *
 * Rows may name another environment variable or key with .env and .key, when
 * one is already a contract elsewhere; "" there means that the setting cannot be
 * made in that way (a --help in a settings file would help nobody).
 *
 * Complaints name the setting as the user wrote it: "--top", "-n", a variable.
 */
#pragma once
#include "base/buf.h"

enum option_type {
    OPTION_FLAG,     /* bool */
    OPTION_TEXT,     /* const char * */
    OPTION_NUMBER,   /* uint64_t */
    OPTION_BYTES,    /* uint64_t; "64K", "1.5GiB" */
    OPTION_DURATION, /* uint64_t ns; "10ms", "1.5s" */
    OPTION_CHOICE,   /* int, an index into .words */
    OPTION_LIST,     /* struct option_list; may be given again and again */
    OPTION_TYPE_COUNT
};

/* The values of an option that may be repeated. Borrowed texts; OPTION_LIST_MOST of them at most. */
#define OPTION_LIST_MOST 64
struct option_list {
    const char *at[OPTION_LIST_MOST];
    size_t n;
};

struct option {
    const char *name; /* "min-total" */
    char letter;      /* 'F' for -F, or 0 */
    enum option_type type;
    size_t at;                /* where in the settings struct */
    const char *value;        /* how help calls the value: "HZ" */
    const char *what;         /* one line of help, lower case, no full stop */
    uint64_t least, most;     /* for numbers, bytes and durations; 0,0 means any */
    const char *const *words; /* for a choice: NULL-terminated */
    const char *env, *key;    /* instead of the ones derived from verb and name */
    const char *bare;         /* what it means without a value, which is then given as --name=VALUE only; NULL: it needs one */
};

/* offsetof() that refuses to compile when the field is not the type we would write through. */
#define OPTION_AT(S, field, T) \
    (offsetof(S, field) +      \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((S *)0)->field), T) ? 1 : -1]))

#define FLAG(c, n, S, field, help) \
    {.name = n, .letter = c, .type = OPTION_FLAG, .at = OPTION_AT(S, field, bool), .what = help}
#define TEXT(c, n, S, field, val, help)                                                          \
    {.name = n, .letter = c, .type = OPTION_TEXT, .at = OPTION_AT(S, field, const char *), .value = val, \
     .what = help}
#define TEXT_OR(c, n, S, field, val, without, help)                                              \
    {.name = n, .letter = c, .type = OPTION_TEXT, .at = OPTION_AT(S, field, const char *), .value = val, \
     .what = help, .bare = without}
#define NUMBER(c, n, S, field, val, help, lo, hi)                                                \
    {.name = n, .letter = c, .type = OPTION_NUMBER, .at = OPTION_AT(S, field, uint64_t), .value = val, \
     .what = help, .least = lo, .most = hi}
#define BYTES(c, n, S, field, help, lo, hi)                                                      \
    {.name = n, .letter = c, .type = OPTION_BYTES, .at = OPTION_AT(S, field, uint64_t), .value = "BYTES", \
     .what = help, .least = lo, .most = hi}
#define DURATION(c, n, S, field, help, lo, hi)                                                   \
    {.name = n, .letter = c, .type = OPTION_DURATION, .at = OPTION_AT(S, field, uint64_t), .value = "TIME", \
     .what = help, .least = lo, .most = hi}
#define CHOICE(c, n, S, field, val, list, help)                                                  \
    {.name = n, .letter = c, .type = OPTION_CHOICE, .at = OPTION_AT(S, field, int), .value = val, \
     .what = help, .words = list}
#define LIST(c, n, S, field, val, help)                                                          \
    {.name = n, .letter = c, .type = OPTION_LIST, .at = OPTION_AT(S, field, struct option_list), .value = val, \
     .what = help}
#define OPTIONS_END {.name = NULL}

/*
 * The single way a value gets in, whoever is asking. `name` has no dashes in
 * front. Texts are borrowed. A flag without a value is switched on. A list takes
 * one value more; option_clear() empties it (and does nothing to other types).
 */
bool option_set(const struct option *table, void *settings, const char *name, const char *value,
                struct err *e) MUST_CHECK;
bool option_row_set(const struct option *o, void *settings, const char *value,
                    struct err *e) MUST_CHECK; /* the caller says which setting it was */
void option_clear(const struct option *o, void *settings);

const struct option *option_named(const struct option *table, struct view name);

/* False for what nobody could have typed: no text, an empty list, a 0 where numbers begin at 1. */
bool option_is_set(const struct option *o, const void *settings);

/* The value as a person would type it, nothing when it is not set; flags are "true" and "false", lists are comma-separated. */
void option_show(const struct option *o, const void *settings, struct buf *out);

/* Derived spellings, unless the row names its own. `verb` may be "" for settings of the whole program. */
void option_env(const struct option *o, const char *verb, struct buf *out); /* INFEROM_REPORT_MIN_TOTAL */
void option_key(const struct option *o, const char *verb, struct buf *out); /* report.min-total */

/* Called for every option found, before its value is set; for those who keep track of origins. */
typedef void (*option_seen)(void *self, const struct option *o, const char *spelling);

/*
 * Options from the command line, in any order with the other words, until "--".
 * argv is NULL-terminated and has no program name in front. Each table of the
 * list, which ends with a NULL table, has its own settings. Long names are taken
 * whole, never abbreviated: tomorrow's option must not change what a script of
 * today means. The first value of a list replaces what was there. The other words
 * are moved to the front of argv, in order; *out_words says how many there are.
 * With stop_at_first_word, the first word that is no option and all behind it
 * are left alone (they are somebody else's command line).
 */
struct option_group {
    const struct option *table;
    void *settings;
};
bool options_from_argv(const struct option_group *groups, char **argv, int *out_words,
                       bool stop_at_first_word, option_seen seen, void *self, struct err *e) MUST_CHECK;

/* From the environment. A variable that is set but empty says nothing; a list takes one value. */
bool options_from_env(const struct option *table, const char *verb, void *settings,
                      option_seen seen, void *self, struct err *e) MUST_CHECK;
