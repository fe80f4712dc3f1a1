/*
 * The settings file and the four layers, over the tables of the real verbs:
 * convert (to, output), config (json, explain) and the program (log, color).
 */
#include "check.h"
#include "verbs/program.h"
#include "verbs/settings.h"
#include "verbs/settings_file.h"

static const struct {
    const char *what, *file, *error;
} files[] = {
    {"nothing at all",    "", NULL},
    {"nothing in it",     "{}", NULL},
    {"one of the program", "{\"color\": \"never\"}", NULL},
    {"one of a verb",     "{\"convert\": {\"to\": \"folded\"}}", NULL},
    {"null",              "{\"convert\": {\"to\": null}, \"color\": null}", NULL},
    {"dots in the key",   "{\"convert.to\": \"folded\"}", NULL},

    {"unknown key",       "{\n \"convert\": {\n  \"ot\": \"x\"}}",
     "f: line 3: no setting 'convert.ot' (did you mean 'convert.to'?)"},
    {"unknown verb",      "{\"covnert\": {\"to\": \"x\"}}", "f: line 1: no setting 'covnert' (did you mean 'convert'?)"},
    {"unknown, far away", "{\"zzz\": 1}", "f: line 1: no setting 'zzz'"},
    {"only on the command line", "{\"help\": true}", "f: line 1: no setting 'help'"},
    {"a number for a text", "{\"convert\":\n{\"to\": 5}}", "f: line 2: convert.to: a text is needed, not a number"},
    {"a text for a flag", "{\"config\": {\"json\": \"yes\"}}", "f: line 1: config.json: true or false is needed, not a text"},
    {"an object for a text", "{\"color\": {}}", "f: line 1: color: a text is needed, not an object"},
    {"a text for a verb", "{\"convert\": \"folded\"}", "f: line 1: convert: an object is needed, not a text"},
    {"wrong word",        "{\"color\":\n\n\"nevr\"}",
     "f: line 1: color: 'nevr' is not one of auto, always, never (did you mean 'never'?)"},
    {"twice",             "{\"color\": \"never\",\n\"color\": \"auto\"}", "f: line 2: 'color' again; it is already in line 1"},
    {"verb twice",        "{\"convert\": {},\n\n\"convert\": {}}", "f: line 3: 'convert' again; it is already in line 1"},
    {"nested and dotted", "{\"convert\": {\"to\": \"a\"},\n\"convert.to\": \"b\"}",
     "f: line 2: 'convert.to' again; it is already in line 1"},
    {"NUL in a text",     "{\"convert\": {\"to\": \"a\\u0000b\"}}", "f: line 1: convert.to: a text with a NUL in it"},
    {"NUL in a key",      "{\"color\\u0000\": \"never\"}", "f: line 1: no setting 'color' (did you mean 'color'?)"},
};

/* What the JSON reader says is its own affair; that the file and line are named is ours. */
static const struct {
    const char *what, *file, *begins;
} broken[] = {
    {"no object",     "[]",                       "f: line 1: "},
    {"more behind",   "{}\n{}",                   "f: line 2: "},
    {"cut short",     "{\"convert\":\n{\"to\": ", "f: line 2: "},
    {"not JSON",      "color = never\n",          "f: line 1: "},
    {"comma missing", "{\"color\": \"never\"\n\"log\": \"warn\"}", "f: line 2: "},
};

static bool read_text(const char *text, struct settings_file **out, struct err *e)
{
    own(reader) struct reader in;
    reader_over(&in, "f", view_of(text));
    return settings_file_read(&in, out, e);
}

static void check_files(void)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        printf("%s\n", files[i].what);
        own(settings_file) struct settings_file *f = NULL;
        struct err e = {0};
        char got[1024] = "";
        if (!read_text(files[i].file, &f, &e))
            snprintf(got, sizeof got, e.hint[0] ? "%s (%s)" : "%s", e.text, e.hint);
        CHECK_STR(got, files[i].error ? files[i].error : "");
    }
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        printf("%s\n", broken[i].what);
        own(settings_file) struct settings_file *f = NULL;
        struct err e = {0};
        CHECK(!read_text(broken[i].file, &f, &e));
        CHECK_EQ(e.kind, ERR_MALFORMED);
        e.text[strlen(broken[i].begins)] = '\0';
        CHECK_STR(e.text, broken[i].begins);
    }
}

/* Each layer in its turn: the row says which of them speak, and who is heard. */
static void check_layers(void)
{
    static const struct {
        const char *file, *env, *option, *value, *origin;
    } rows[] = {
        {"{}",                       NULL,     NULL,          "warn",  "default"},
        {"{\n\"log\": \"info\"}",    NULL,     NULL,          "info",  "file f line 2"},
        {"{\"log\": \"info\"}",      "debug",  NULL,          "debug", "environment INFEROM_LOG"},
        {"{\"log\": \"info\"}",      "debug",  "--log=error", "error", "command line --log"},
        {"{\"log\": \"info\"}",      NULL,     "--log=error", "error", "command line --log"},
        {"{}",                       "",       NULL,          "warn",  "default"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        own(settings_file) struct settings_file *f = NULL;
        own(settings) struct settings *s = settings_new(owner_of_program());
        struct err e = {0};
        own(buf) struct buf value, origin;
        buf_init(&value, 256);
        buf_init(&origin, 256);
        (rows[i].env ? setenv("INFEROM_LOG", rows[i].env, 1) : unsetenv("INFEROM_LOG"));
        own(free) char *word = rows[i].option ? strdup(rows[i].option) : NULL;
        char *words[] = {word, NULL};
        int n;
        CHECK(read_text(rows[i].file, &f, &e));
        CHECK(settings_from_env(s, &e));
        CHECK(settings_from_argv((struct settings *[]){s, NULL}, words, &n, false, &e));
        CHECK(settings_from_file(s, f, &e));
        const struct option *log = option_named(program_options, VIEW("log"));
        own(settings) struct settings *copy = settings_copy(s);
        option_show(log, copy->values, &value);
        origin_show(&copy->origins[log - program_options], &origin);
        CHECK_STR(value.data, rows[i].value);
        CHECK_STR(origin.data, rows[i].origin);
    }
    unsetenv("INFEROM_LOG");
}

static void check_usual_place(void)
{
    own(settings_file) struct settings_file *f = NULL;
    struct err e = {0};
    setenv("XDG_CONFIG_HOME", "/nowhere", 1);
    CHECK(settings_file_open(NULL, &f, &e));
    CHECK(!f);
    CHECK(!settings_file_open("/nowhere/config.json", &f, &e));
    CHECK_EQ(e.kind, ERR_NOT_FOUND);
    CHECK_STR(e.text, "/nowhere/config.json: No such file or directory");
}

int main(void)
{
    check_files();
    check_layers();
    check_usual_place();
    return CHECK_DONE();
}
