#include "base/option.h"
#include "base/text.h"

#include <ctype.h>

/* Values. A complaint here says what is wrong with the value; whoever asked puts the name in front. */

static void *field_of(const struct option *o, void *settings) { return (char *)settings + o->at; }
static const void *field_in(const struct option *o, const void *settings) { return (const char *)settings + o->at; }

static bool set_flag(const struct option *o, void *field, const char *value, struct err *e)
{
    (void)o;
    static const struct {
        const char *word;
        bool yes;
    } words[] = {
        {"true", true},   {"yes", true}, {"on", true},   {"1", true},
        {"false", false}, {"no", false}, {"off", false}, {"0", false},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!value || !strcmp(words[i].word, value)) {
            *(bool *)field = words[i].yes;
            return true;
        }
    return err_set(e, ERR_USAGE, "'%s' is not true or false", value);
}

static bool set_text(const struct option *o, void *field, const char *value, struct err *e)
{
    (void)o, (void)e;
    *(const char **)field = value;
    return true;
}

/* Units, largest first. */
struct unit_word {
    uint64_t size;
    const char *word;
};

static const struct unit_word ones[] = {{1, ""}};

static const struct unit_word byte_units[] = {
    {UINT64_C(1) << 40, "TiB"}, {UINT64_C(1) << 30, "GiB"}, {UINT64_C(1) << 20, "MiB"},
    {UINT64_C(1) << 10, "KiB"}, {1, ""},
};

static const struct unit_word time_units[] = {
    {UINT64_C(3600000000000), "h"}, {UINT64_C(60000000000), "m"}, {UINT64_C(1000000000), "s"},
    {UINT64_C(1000000), "ms"},      {UINT64_C(1000), "us"},       {1, "ns"},
};

/* What a uint64_t may stand for. */
static const struct amount {
    bool (*read)(struct view v, uint64_t *out);
    const char *what;
    const struct unit_word *units;
} numbers = {text_to_uint, "a whole number", ones},
  sizes = {text_to_bytes, "a size such as 64K or 1.5GiB", byte_units},
  times = {text_to_duration, "a time such as 10ms or 1.5s", time_units};

static const struct amount *amount_of(const struct option *o)
{
    return o->type == OPTION_BYTES ? &sizes : o->type == OPTION_DURATION ? &times : &numbers;
}

/* In the largest unit that leaves no rest, so that what is shown reads back as the same number. */
static void show_amount(const struct option *o, uint64_t n, struct buf *out)
{
    const struct unit_word *u = amount_of(o)->units;
    while (n % u->size)
        u++;
    buf_printf(out, "%llu%s", (unsigned long long)(n / u->size), n ? u->word : "");
}

static bool is_within(const struct option *o, uint64_t n)
{
    bool is_bounded = o->least || o->most;
    return !is_bounded || (n >= o->least && n <= o->most);
}

static bool out_of_range(const struct option *o, const char *value, struct err *e)
{
    own(buf) struct buf least, most;
    buf_init(&least, 64);
    buf_init(&most, 64);
    show_amount(o, o->least, &least);
    show_amount(o, o->most, &most);
    if (o->most == UINT64_MAX)
        return err_set(e, ERR_USAGE, "%s is less than %s", value, least.data);
    return err_set(e, ERR_USAGE, "%s is outside %s..%s", value, least.data, most.data);
}

static bool set_amount(const struct option *o, void *field, const char *value, struct err *e)
{
    const struct amount *kind = amount_of(o);
    uint64_t n;
    if (!kind->read(view_of(value), &n))
        return err_set(e, ERR_USAGE, "'%s' is not %s", value, kind->what);
    if (!is_within(o, n))
        return out_of_range(o, value, e);
    *(uint64_t *)field = n;
    return true;
}

static bool set_choice(const struct option *o, void *field, const char *value, struct err *e)
{
    own(buf) struct buf list;
    buf_init(&list, sizeof e->text / 2);
    for (int i = 0; o->words[i]; i++) {
        if (!strcmp(o->words[i], value)) {
            *(int *)field = i;
            return true;
        }
        buf_printf(&list, "%s%s", i ? ", " : "", o->words[i]);
    }
    err_set(e, ERR_USAGE, "'%s' is not one of %s", value, list.data);
    const char *nearest = text_nearest(value, o->words);
    return nearest ? err_hint(e, "did you mean '%s'?", nearest) : false;
}

static bool add_to_list(const struct option *o, void *field, const char *value, struct err *e)
{
    (void)o;
    struct option_list *list = field;
    if (list->n == OPTION_LIST_MOST)
        return err_set(e, ERR_USAGE, "given more than %d times", OPTION_LIST_MOST);
    list->at[list->n++] = value;
    return true;
}

bool option_row_set(const struct option *o, void *settings, const char *value, struct err *e)
{
    static bool (*const setters[OPTION_TYPE_COUNT])(const struct option *, void *, const char *, struct err *) = {
        [OPTION_FLAG] = set_flag,       [OPTION_TEXT] = set_text,     [OPTION_NUMBER] = set_amount,
        [OPTION_BYTES] = set_amount,    [OPTION_DURATION] = set_amount, [OPTION_CHOICE] = set_choice,
        [OPTION_LIST] = add_to_list,
    };
    if (!value && o->type != OPTION_FLAG)
        return err_set(e, ERR_USAGE, "needs %s", o->value);
    return setters[o->type](o, field_of(o, settings), value, e);
}

void option_clear(const struct option *o, void *settings)
{
    if (o->type == OPTION_LIST)
        ((struct option_list *)field_of(o, settings))->n = 0;
}

const struct option *option_named(const struct option *table, struct view name)
{
    for (const struct option *o = table; o->name; o++)
        if (view_same(view_of(o->name), name))
            return o;
    return NULL;
}

bool option_set(const struct option *table, void *settings, const char *name, const char *value, struct err *e)
{
    const struct option *o = option_named(table, view_of(name));
    if (!o)
        return err_set(e, ERR_USAGE, "no setting called '%s'", name);
    return option_row_set(o, settings, value, e) || err_in(e, "%s", name);
}

static void show_list(const struct option_list *list, struct buf *out)
{
    for (size_t i = 0; i < list->n; i++)
        buf_printf(out, "%s%s", i ? "," : "", list->at[i]);
}

bool option_is_set(const struct option *o, const void *settings)
{
    const void *field = field_in(o, settings);
    switch (o->type) {
    case OPTION_TEXT: return *(const char *const *)field != NULL;
    case OPTION_NUMBER: case OPTION_BYTES: case OPTION_DURATION: return is_within(o, *(const uint64_t *)field);
    case OPTION_LIST: return ((const struct option_list *)field)->n > 0;
    default: return true;
    }
}

void option_show(const struct option *o, const void *settings, struct buf *out)
{
    const void *field = field_in(o, settings);
    if (!option_is_set(o, settings))
        return;
    switch (o->type) {
    case OPTION_FLAG: buf_puts(out, *(const bool *)field ? "true" : "false"); break;
    case OPTION_TEXT: buf_puts(out, *(const char *const *)field); break;
    case OPTION_NUMBER: case OPTION_BYTES: case OPTION_DURATION:
        show_amount(o, *(const uint64_t *)field, out);
        break;
    case OPTION_CHOICE: buf_puts(out, o->words[*(const int *)field]); break;
    case OPTION_LIST: show_list(field, out); break;
    case OPTION_TYPE_COUNT: break;
    }
}

/* Spellings. */

static void add_shouted(struct buf *out, const char *words)
{
    for (; *words; words++) {
        char c = *words == '-' || *words == ' ' ? '_' : (char)toupper((unsigned char)*words);
        buf_add(out, &c, 1);
    }
}

void option_env(const struct option *o, const char *verb, struct buf *out)
{
    if (o->env) {
        buf_puts(out, o->env);
        return;
    }
    buf_puts(out, "INFEROM_");
    add_shouted(out, verb);
    buf_puts(out, *verb ? "_" : "");
    add_shouted(out, o->name);
}

void option_key(const struct option *o, const char *verb, struct buf *out)
{
    if (o->key) {
        buf_puts(out, o->key);
        return;
    }
    for (const char *c = verb; *c; c++)
        buf_add(out, *c == ' ' ? "." : c, 1);
    buf_puts(out, *verb ? "." : "");
    buf_puts(out, o->name);
}

bool options_from_env(const struct option *table, const char *verb, void *settings, option_seen seen, void *self,
                      struct err *e)
{
    own(buf) struct buf name;
    buf_init(&name, 256);
    for (const struct option *o = table; o->name; o++) {
        buf_clear(&name);
        option_env(o, verb, &name);
        const char *value = name.len ? getenv(name.data) : NULL;
        if (!value || !*value)
            continue;
        if (seen)
            seen(self, o, name.data);
        option_clear(o, settings);
        if (!option_row_set(o, settings, value, e))
            return err_in(e, "%s", name.data);
    }
    return true;
}
