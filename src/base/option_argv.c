/*
 * The command line, word by word. Each word is an option (with its value in the
 * same word or the next), the "--" that ends them, or somebody else's; those are
 * moved to the front as we go, which never overtakes the word being read.
 */
#include "base/option.h"
#include "base/text.h"

#include <assert.h>

struct parse {
    const struct option_group *groups;
    char **argv;
    int at; /* the word after the one being read */
    option_seen seen;
    void *self;
    const struct option *lists[64]; /* met so far: the first value of a list replaces what was there */
    size_t n_lists;
    struct err *e;
};

static const struct option *find_long(const struct parse *p, struct view name, void **out_settings)
{
    for (const struct option_group *g = p->groups; g->table; g++) {
        const struct option *o = option_named(g->table, name);
        *out_settings = g->settings;
        if (o)
            return o;
    }
    return NULL;
}

static const struct option *find_letter(const struct parse *p, char letter, void **out_settings)
{
    for (const struct option_group *g = p->groups; g->table; g++)
        for (const struct option *o = g->table; o->name; o++)
            if (o->letter == letter) {
                *out_settings = g->settings;
                return o;
            }
    return NULL;
}

static void begin_list(struct parse *p, const struct option *o, void *settings)
{
    for (size_t i = 0; i < p->n_lists; i++)
        if (p->lists[i] == o)
            return;
    assert(p->n_lists < sizeof p->lists / sizeof *p->lists);
    p->lists[p->n_lists++] = o;
    option_clear(o, settings);
}

static bool set(struct parse *p, const struct option *o, void *settings, const char *spelling, const char *value)
{
    if (p->seen)
        p->seen(p->self, o, spelling);
    if (o->type == OPTION_LIST)
        begin_list(p, o, settings);
    return option_row_set(o, settings, value, p->e) || err_in(p->e, "%s", spelling);
}

/* The value of an option that needs one: the rest of its word, else the next word. */
static bool set_with_value(struct parse *p, const struct option *o, void *settings, const char *spelling,
                           const char *rest)
{
    const char *value = rest ? rest : p->argv[p->at];
    if (!value)
        return err_set(p->e, ERR_USAGE, "%s needs %s", spelling, o->value);
    p->at += rest ? 0 : 1;
    return set(p, o, settings, spelling, value);
}

static const char *nearest_name(const struct parse *p, const char *wrong, bool flags_only)
{
    const char *names[256];
    size_t n = 0;
    for (const struct option_group *g = p->groups; g->table; g++)
        for (const struct option *o = g->table; o->name && n < 255; o++)
            if (!flags_only || o->type == OPTION_FLAG)
                names[n++] = o->name;
    names[n] = NULL;
    return text_nearest(wrong, names);
}

static bool unknown(const struct parse *p, const char *spelling)
{
    err_set(p->e, ERR_USAGE, "unknown option '%s'", spelling);
    if (spelling[1] != '-')
        return false;
    bool negated = !strncmp(spelling, "--no-", 5);
    const char *nearest = nearest_name(p, spelling + (negated ? 5 : 2), negated);
    return nearest ? err_hint(p->e, "did you mean '--%s%s'?", negated ? "no-" : "", nearest) : false;
}

/* --no-FLAG, unless an option is really called that. */
static const struct option *find_negated(const struct parse *p, struct view name, void **out_settings)
{
    if (!view_starts(name, VIEW("no-")))
        return NULL;
    const struct option *o = find_long(p, (struct view){name.at + 3, name.n - 3}, out_settings);
    return o && o->type == OPTION_FLAG ? o : NULL;
}

static bool read_long(struct parse *p, const char *word)
{
    const char *equals = strchr(word, '=');
    struct view name = {word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word) - 2};
    own(buf) struct buf spelling;
    buf_init(&spelling, 4096);
    buf_add(&spelling, word, name.n + 2);

    void *settings = NULL;
    const struct option *o = find_long(p, name, &settings);
    if (o && o->type == OPTION_FLAG)
        return set(p, o, settings, spelling.data, equals ? equals + 1 : NULL);
    if (o)
        return set_with_value(p, o, settings, spelling.data, equals ? equals + 1 : o->bare);
    o = find_negated(p, name, &settings);
    if (!o)
        return unknown(p, spelling.data);
    if (equals)
        return err_set(p->e, ERR_USAGE, "%s takes no value", spelling.data);
    return set(p, o, settings, spelling.data, "false");
}

/* -v, -vq, -n5, -n 5, -vn5: flags, and at most one value at the end. */
static bool read_letters(struct parse *p, const char *word)
{
    for (const char *c = word + 1; *c; c++) {
        char spelling[] = {'-', *c, '\0'};
        void *settings = NULL;
        const struct option *o = find_letter(p, *c, &settings);
        if (!o)
            return unknown(p, spelling);
        if (o->type != OPTION_FLAG)
            return set_with_value(p, o, settings, spelling, c[1] ? c + 1 : NULL);
        if (!set(p, o, settings, spelling, NULL))
            return false;
    }
    return true;
}

bool options_from_argv(const struct option_group *groups, char **argv, int *out_words, bool stop_at_first_word,
                       option_seen seen, void *self, struct err *e)
{
    struct parse p = {.groups = groups, .argv = argv, .seen = seen, .self = self, .e = e};
    int words = 0;
    while (argv[p.at]) {
        char *word = argv[p.at++];
        if (!strcmp(word, "--"))
            break;
        bool is_option = word[0] == '-' && word[1];
        if (is_option) {
            if (!(word[1] == '-' ? read_long(&p, word) : read_letters(&p, word)))
                return false;
            continue;
        }
        argv[words++] = word;
        if (stop_at_first_word)
            break;
    }
    while (argv[p.at])
        argv[words++] = argv[p.at++];
    argv[words] = NULL;
    *out_words = words;
    return true;
}
