/*
 * verb.h - one thing Inferometer can do
 *
 * A verb is one file that defines one `const struct verb verb_NAME`, and one
 * word NAME in this folder's meson.build. It knows its settings and does its
 * work; it does not know whether a terminal or an HTTP request is asking.
 *
 *     inferom convert --to=pprof run.folded                           the terminal door
 *     POST /admin/convert {"to": "pprof", "args": ["run.folded"]}     the HTTP door, one day
 *
 * Every door fills the same settings from the same table and gets the same bytes.
 */
#pragma once
#include "base/option.h"
#include "base/sink.h"
#include <signal.h>

/* Who looks at the answer, as far as a verb may care. */
struct look {
    unsigned width; /* columns; 0: as wide as it gets */
    bool colour;
};

struct settings;      /* settings.h */
struct settings_file; /* settings_file.h */

/* One request. */
struct call {
    const void *settings;
    char *const *args; /* NULL-terminated */
    int n_args;
    struct sink *out; /* the answer streams; the door flushes */
    struct look look;
    const volatile sig_atomic_t *stop; /* becomes non-zero when the asker wants us to end; never NULL; see watches_stop */
    int *exit_status; /* of a success; 0 unless a verb that runs somebody's command passes on what that said */
    const struct settings *program;    /* of the whole program, for the verb that shows settings */
    const struct settings_file *file;  /* that all settings were read from; NULL: none */
};

struct verb {
    const char *name;  /* "report", or two words: "runs show" */
    const char *args;  /* "PROFILE", "IN", "" */
    int least_args, most_args; /* most_args -1: any number */
    const char *what;  /* one line, lower case, no full stop */
    const char *about; /* a paragraph or two for --help and the manual; may be NULL */
    const char *example;

    const struct option *options;
    const void *defaults; /* a settings struct with every default filled in */
    size_t settings_size;
    bool takes_command; /* the first word that is no option begins somebody else's command line */
    bool watches_stop;  /* looks at call.stop and ends well; the others are ended where they are */

    bool (*run)(const struct call *c, struct err *e);
};

const struct verb *verb_named(const char *name); /* one or two words */
bool verb_is_group(const char *word);            /* "runs": several verbs begin with it, none is called so */
const struct verb *verb_at(size_t i);            /* in list order; NULL past the end */

/* The verb that a command line begins with, and how many of its words name it; else what was meant. */
bool verb_find(char *const *words, const struct verb **out, int *out_used, struct err *e) MUST_CHECK;
