/*
 * settings.h - the settings of one call, and where each of them came from
 *
 * Four layers, the later ones over the earlier:
 *
 *     default  <  settings file  <  environment  <  command line
 *
 * An owner is whoever has a table of settings: the program, or a verb. Each
 * value remembers the layer it came from, and a layer leaves alone what a
 * stronger one has set; so the file may be read last, when the command line has
 * said which file it is.
 *
 *     own(settings) struct settings *s = settings_new(owner_of_verb(v));
 *     settings_from_env(s, e);
 *     settings_from_argv((struct settings *[]){s, program, NULL}, argv, &n, false, e);
 *     settings_from_file(s, file, e);
 *     v->run(&(struct call){.settings = s->values, ...}, e);
 *
 * Owns: the values and origins; texts among the values are borrowed from the
 *       environment, the command line and the file.
 */
#pragma once
#include "base/arena.h"
#include "verbs/verb.h"

struct owner {
    const char *name; /* the verb's; "" for the whole program */
    const struct option *options;
    const void *defaults;
    size_t size;
};

struct owner owner_of_program(void);
struct owner owner_of_verb(const struct verb *v);
bool owner_at(size_t i, struct owner *out); /* the program, then every verb; false past the end */

enum origin_kind { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_COMMAND_LINE, ORIGIN_KIND_COUNT };

extern const char *const origin_kind_names[ORIGIN_KIND_COUNT]; /* "default", "file", ... */

struct origin {
    enum origin_kind kind;
    const char *name; /* the file, the variable, or the option as it was typed; NULL for defaults */
    uint64_t line;    /* in the file */
};

struct settings {
    struct owner owner;
    void *values;
    struct origin *origins; /* one per row of the table */
    struct arena names;
};

struct settings_file;

struct settings *settings_new(struct owner owner); /* every value at its default */
struct settings *settings_copy(const struct settings *s);
void settings_free(struct settings *s); /* NULL is fine */
DEFINE_OWN(settings, struct settings *)

bool settings_from_file(struct settings *s, const struct settings_file *file, struct err *e) MUST_CHECK; /* NULL: none */
bool settings_from_env(struct settings *s, struct err *e) MUST_CHECK;

/* For the settings of a NULL-terminated list, at most four; see options_from_argv(). */
bool settings_from_argv(struct settings *const *all, char **argv, int *out_words, bool stop_at_first_word,
                        struct err *e) MUST_CHECK;

/* "default", "file config.json line 3", "environment INFEROM_REPORT_TOP", "command line --top". */
void origin_show(const struct origin *o, struct buf *out);
