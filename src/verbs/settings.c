#include "verbs/settings.h"
#include "base/mem.h"
#include "verbs/program.h"
#include "verbs/settings_file.h"

#define GROUPS_MOST 4

static const struct option no_options[] = {OPTIONS_END};

const char *const origin_kind_names[ORIGIN_KIND_COUNT] = {"default", "file", "environment", "command line"};

struct owner owner_of_program(void)
{
    return (struct owner){"", program_options, &program_defaults, sizeof program_defaults};
}

struct owner owner_of_verb(const struct verb *v)
{
    return (struct owner){v->name, v->options ? v->options : no_options, v->defaults, v->settings_size};
}

bool owner_at(size_t i, struct owner *out)
{
    const struct verb *v = i ? verb_at(i - 1) : NULL;
    if (i && !v)
        return false;
    *out = v ? owner_of_verb(v) : owner_of_program();
    return true;
}

static size_t rows_of(const struct option *table)
{
    size_t n = 0;
    while (table[n].name)
        n++;
    return n;
}

struct settings *settings_new(struct owner owner)
{
    struct settings *s = mem_new(sizeof *s);
    s->owner = owner;
    s->values = mem_new(owner.size + 1); /* a verb may have none */
    if (owner.size)
        memcpy(s->values, owner.defaults, owner.size);
    s->origins = mem_new((rows_of(owner.options) + 1) * sizeof *s->origins);
    return s;
}

static void set_origin(struct settings *s, const struct option *o, struct origin origin)
{
    if (origin.name)
        origin.name = arena_text(&s->names, view_of(origin.name));
    s->origins[o - s->owner.options] = origin;
}

struct settings *settings_copy(const struct settings *s)
{
    struct settings *copy = settings_new(s->owner);
    if (s->owner.size)
        memcpy(copy->values, s->values, s->owner.size);
    for (const struct option *o = s->owner.options; o->name; o++)
        set_origin(copy, o, s->origins[o - s->owner.options]);
    return copy;
}

void settings_free(struct settings *s)
{
    if (!s)
        return;
    free(s->values);
    free(s->origins);
    arena_done(&s->names);
    free(s);
}

/* The layers. */

static void seen_in_env(void *self, const struct option *o, const char *variable)
{
    set_origin(self, o, (struct origin){.kind = ORIGIN_ENVIRONMENT, .name = variable});
}

bool settings_from_env(struct settings *s, struct err *e)
{
    return options_from_env(s->owner.options, s->owner.name, s->values, seen_in_env, s, e);
}

/* Which of several owners a row belongs to is told by the table it stands in. */
static void seen_in_argv(void *self, const struct option *o, const char *spelling)
{
    for (struct settings *const *s = self; *s; s++)
        for (const struct option *row = (*s)->owner.options; row->name; row++)
            if (row == o)
                set_origin(*s, o, (struct origin){.kind = ORIGIN_COMMAND_LINE, .name = spelling});
}

bool settings_from_argv(struct settings *const *all, char **argv, int *out_words, bool stop_at_first_word,
                        struct err *e)
{
    struct option_group groups[GROUPS_MOST + 1] = {0};
    struct settings *known[GROUPS_MOST + 1] = {0};
    for (size_t i = 0; i < GROUPS_MOST && all[i]; i++) {
        known[i] = all[i];
        groups[i] = (struct option_group){all[i]->owner.options, all[i]->values};
    }
    return options_from_argv(groups, argv, out_words, stop_at_first_word, seen_in_argv, known, e);
}

static bool set_from_file(struct settings *s, const struct option *o, const struct file_value *v, const char *path,
                          struct err *e)
{
    option_clear(o, s->values);
    for (size_t i = 0; i < v->n; i++)
        if (!option_row_set(o, s->values, v->texts[i], e))
            return err_in(e, "%s: line %llu: %s", path, (unsigned long long)v->line, v->key);
    set_origin(s, o, (struct origin){.kind = ORIGIN_FILE, .name = path, .line = v->line});
    return true;
}

bool settings_from_file(struct settings *s, const struct settings_file *file, struct err *e)
{
    own(buf) struct buf key;
    buf_init(&key, 4096);
    for (const struct option *o = s->owner.options; file && o->name; o++) {
        buf_clear(&key);
        option_key(o, s->owner.name, &key);
        const struct file_value *v = settings_file_value(file, key.data);
        bool is_stronger_set = s->origins[o - s->owner.options].kind > ORIGIN_FILE;
        if (v && !is_stronger_set && !set_from_file(s, o, v, settings_file_path(file), e))
            return false;
    }
    return true;
}

void origin_show(const struct origin *o, struct buf *out)
{
    buf_puts(out, origin_kind_names[o->kind]);
    if (o->name)
        buf_printf(out, " %s", o->name);
    if (o->kind == ORIGIN_FILE)
        buf_printf(out, " line %llu", (unsigned long long)o->line);
}
