#include "verbs/program.h"
#include "base/log.h"

static const char *const colour_words[COLOUR_CHOICE_COUNT + 1] = {"auto", "always", "never", NULL};

const struct option program_options[] = {
    {.name = "config", .type = OPTION_TEXT, .at = OPTION_AT(struct program, config, const char *), .value = "FILE",
     .what = "the settings file, instead of the one in its usual place", .key = ""},
    CHOICE(0, "log", struct program, log, "LEVEL", log_level_names,
           "how much to say on standard error"),
    CHOICE(0, "color", struct program, colour, "WHEN", colour_words,
           "when to use colours; auto is on a terminal, unless NO_COLOR is set"),
    {.name = "help", .letter = 'h', .type = OPTION_FLAG, .at = OPTION_AT(struct program, help, bool),
     .what = "explain the verb and its options", .env = "", .key = ""},
    OPTIONS_END
};

const struct program program_defaults = {.log = LOG_WARN, .colour = COLOUR_AUTO};

const struct front front_defaults = {0};

const struct option front_options[] = {
    {.name = "version", .type = OPTION_FLAG, .at = OPTION_AT(struct front, version, bool),
     .what = "print the version; with --verbose also how the program was built", .env = "", .key = ""},
    {.name = "verbose", .type = OPTION_FLAG, .at = OPTION_AT(struct front, verbose, bool),
     .what = "with --version: the compiler, the libraries and the optional parts", .env = "", .key = ""},
    OPTIONS_END
};
