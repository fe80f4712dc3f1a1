/*
 * program.h - what the whole program can be told, whichever verb runs
 *
 * These options may stand anywhere on the command line. `log` and `color` are
 * settings like those of a verb, without a verb's name in front:
 *
 *     inferom report --color never      INFEROM_COLOR=never      {"color": "never"}
 */
#pragma once
#include "base/option.h"

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER, COLOUR_CHOICE_COUNT };

struct program {
    const char *config; /* NULL: the usual places */
    int log;            /* enum log_level */
    int colour;         /* enum colour_choice */
    bool help;
};

extern const struct option program_options[];
extern const struct program program_defaults;

/* Understood in front of the verb only. */
struct front {
    bool version, verbose;
};

extern const struct option front_options[];
extern const struct front front_defaults;
