#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "verbs/settings.h"
#include "verbs/settings_file.h"

struct config {
    bool json, explain;
};

static const struct option config_options[] = {
    FLAG(0, "json", struct config, json, "print JSON, in the shape of the settings file"),
    FLAG(0, "explain", struct config, explain, "say where each value came from"),
    OPTIONS_END
};

/* One setting, ready to print. */
struct entry {
    const char *key;
    const struct option *option;
    const struct settings *of;
};

struct sheet {
    struct arena keys;
    struct entry *entries;
    size_t n, cap;
};

static void sheet_done(struct sheet *s)
{
    arena_done(&s->keys);
    free(s->entries);
}
DEFINE_OWN_IN_PLACE(sheet, struct sheet)

static void sheet_add(struct sheet *sheet, const struct settings *s)
{
    own(buf) struct buf key;
    buf_init(&key, 4096);
    for (const struct option *o = s->owner.options; o->name; o++) {
        buf_clear(&key);
        option_key(o, s->owner.name, &key);
        if (!key.len)
            continue; /* only for the command line */
        GROW(sheet->entries, sheet->cap, sheet->n + 1);
        sheet->entries[sheet->n++] = (struct entry){arena_text(&sheet->keys, buf_view(&key)), o, s};
    }
}

static int by_key(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int keys = strcmp(a->key, b->key);
    return keys ? keys : strcmp(a->of->owner.name, b->of->owner.name);
}

static const struct origin *origin_of(const struct entry *x)
{
    return &x->of->origins[x->option - x->of->owner.options];
}

/* For eyes. */

static void show_setting(const struct entry *x, struct buf *out)
{
    buf_clear(out);
    buf_printf(out, "%s =%s", x->key, option_is_set(x->option, x->of->values) ? " " : "");
    option_show(x->option, x->of->values, out);
}

static size_t widest_setting(const struct sheet *s, struct buf *scratch)
{
    size_t widest = 0;
    for (size_t i = 0; i < s->n; i++) {
        show_setting(&s->entries[i], scratch);
        size_t columns = text_columns(buf_view(scratch));
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

static void print_text(const struct sheet *s, bool explain, struct sink *out)
{
    own(buf) struct buf line;
    buf_init(&line, 1 << 20);
    size_t widest = explain ? widest_setting(s, &line) : 0;
    for (size_t i = 0; i < s->n; i++) {
        show_setting(&s->entries[i], &line);
        size_t columns = text_safe(out, buf_view(&line), 0);
        if (explain) {
            buf_clear(&line);
            origin_show(origin_of(&s->entries[i]), &line);
            sink_printf(out, "%*s", (int)(widest - columns) + 2, "");
            text_safe(out, buf_view(&line), 0);
        }
        sink_char(out, '\n');
    }
}

/* For machines. */

static void json_value(struct json_writer *w, const struct entry *x)
{
    const struct option *o = x->option;
    const char *field = (const char *)x->of->values + o->at;
    own(buf) struct buf text;
    buf_init(&text, 1 << 20);
    option_show(o, x->of->values, &text);
    if (!option_is_set(o, x->of->values) && o->type != OPTION_LIST) {
        json_null(w);
    } else if (o->type == OPTION_FLAG) {
        json_bool(w, *(const bool *)field);
    } else if (o->type == OPTION_NUMBER) {
        json_uint(w, *(const uint64_t *)field);
    } else if (o->type == OPTION_LIST) {
        const struct option_list *list = (const struct option_list *)field;
        json_open(w, '[');
        for (size_t i = 0; i < list->n; i++)
            json_text(w, view_of(list->at[i]));
        json_close(w, ']');
    } else {
        json_text(w, buf_view(&text));
    }
}

/* How many dots into both keys they name the same objects. */
static size_t shared_depth(const char *a, const char *b)
{
    size_t depth = 0;
    for (; *a && *a == *b; a++, b++)
        depth += *a == '.';
    return depth;
}

static size_t depth_of(const char *key)
{
    size_t depth = 0;
    for (; *key; key++)
        depth += *key == '.';
    return depth;
}

static void close_objects(struct json_writer *w, const char *key, size_t down_to)
{
    for (size_t depth = depth_of(key); depth > down_to; depth--)
        json_close(w, '}');
}

/* From the object of one key to that of the next. Returns the last part of `to`. */
static const char *change_object(struct json_writer *w, const char *from, const char *to)
{
    size_t shared = shared_depth(from, to);
    close_objects(w, from, shared);
    const char *part = to;
    for (size_t d = 0; d < shared; d++)
        part = strchr(part, '.') + 1;
    for (const char *dot; (dot = strchr(part, '.')); part = dot + 1) {
        json_key_view(w, view_between(part, dot));
        json_open(w, '{');
    }
    return part;
}

/* The keys are sorted, so an object is opened when its first key comes and closed after its last. */
static void print_file(const struct sheet *s, struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    const char *before = "";
    for (size_t i = 0; i < s->n; i++) {
        const char *key = s->entries[i].key;
        if (!strcmp(key, before))
            continue; /* shared between verbs; a file says it once */
        json_key(&w, change_object(&w, before, key));
        json_value(&w, &s->entries[i]);
        before = key;
    }
    close_objects(&w, before, 0);
    json_close(&w, '}');
}

static void print_origins(const struct sheet *s, struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '[');
    for (size_t i = 0; i < s->n; i++) {
        const struct origin *from = origin_of(&s->entries[i]);
        json_open(&w, '{');
        json_key(&w, "key"), json_text(&w, view_of(s->entries[i].key));
        json_key(&w, "value"), json_value(&w, &s->entries[i]);
        json_key(&w, "from"), json_text(&w, view_of(origin_kind_names[from->kind]));
        if (from->name)
            json_key(&w, "name"), json_text(&w, view_of(from->name));
        if (from->kind == ORIGIN_FILE)
            json_key(&w, "line"), json_uint(&w, from->line);
        json_close(&w, '}');
    }
    json_close(&w, ']');
}

/* Variables that look like ours and are not. */

/* For programs with libinferom in them (guest/client/lifetime.c). */
static const char *const of_scopes[] = {
    "INFEROM_SCOPES", "INFEROM_SCOPES_FILE", "INFEROM_SCOPES_WARMUP", "INFEROM_SCOPES_TIMING", "INFEROM_SCOPES_SIGNAL", NULL,
};

/* NULL-terminated; the caller frees the list. */
static const char **list_variables(struct arena *texts)
{
    const char **names = NULL;
    size_t n = 0, cap = 0;
    struct owner owner;
    own(buf) struct buf name;
    buf_init(&name, 4096);
    for (size_t i = 0; owner_at(i, &owner); i++)
        for (const struct option *o = owner.options; o->name; o++) {
            buf_clear(&name);
            option_env(o, owner.name, &name);
            GROW(names, cap, n + 1);
            names[n++] = arena_text(texts, buf_view(&name));
        }
    for (const char *const *v = of_scopes; *v; v++) {
        GROW(names, cap, n + 1);
        names[n++] = *v;
    }
    GROW(names, cap, n + 1);
    names[n] = NULL;
    return names;
}

static bool is_among(const char *const *words, struct view word)
{
    for (; *words; words++)
        if (view_same(view_of(*words), word))
            return true;
    return false;
}

static void warn_of_strangers(void)
{
    own(arena) struct arena texts = {0};
    own(free) const char **known = list_variables(&texts);
    for (char **v = environ; *v; v++) {
        struct view name = {*v, strcspn(*v, "=")};
        if (!view_starts(name, VIEW("INFEROM_")) || is_among(known, name))
            continue;
        const char *wrong = arena_text(&texts, name), *nearest = text_nearest(wrong, known);
        log_warn("environment %s is no setting of ours%s%s%s", wrong, nearest ? " (did you mean '" : "",
                 nearest ? nearest : "", nearest ? "'?)" : "");
    }
}

/* The verb. */

/* `inferom config report --top 5`: what the settings of report would be. */
static bool fill_one(const struct call *c, struct settings *program, struct settings **out, struct err *e)
{
    const struct verb *v = NULL;
    int used = 0, n_words = 0;
    if (!verb_find(c->args, &v, &used, e))
        return false;
    own(settings) struct settings *s = settings_new(owner_of_verb(v));
    own(free) char **words = mem_new((size_t)(c->n_args + 1) * sizeof *words);
    for (int i = used; i < c->n_args; i++)
        words[i - used] = c->args[i];
    if (!settings_from_env(s, e) ||
        !settings_from_argv((struct settings *[]){s, program, NULL}, words, &n_words, v->takes_command, e) ||
        !settings_from_file(s, c->file, e))
        return false;
    *out = take(s);
    return true;
}

static bool fill_all(const struct call *c, struct settings **all, struct err *e)
{
    const struct verb *v;
    for (size_t i = 0; (v = verb_at(i)); i++) {
        all[i] = settings_new(owner_of_verb(v));
        if (!settings_from_env(all[i], e) || !settings_from_file(all[i], c->file, e))
            return false;
    }
    return true;
}

static void print(struct sheet *sheet, const struct call *c)
{
    const struct config *s = c->settings;
    if (sheet->n)
        qsort(sheet->entries, sheet->n, sizeof *sheet->entries, by_key);
    if (!s->json)
        print_text(sheet, s->explain, c->out);
    else
        (s->explain ? print_origins : print_file)(sheet, c->out);
}

static bool config(const struct call *c, struct err *e)
{
    size_t n_verbs = 0;
    while (verb_at(n_verbs))
        n_verbs++;
    own(free) struct settings **all = mem_new((n_verbs + 1) * sizeof *all);
    own(settings) struct settings *program = settings_copy(c->program);
    own(sheet) struct sheet sheet = {0};
    bool ok = c->n_args ? fill_one(c, program, &all[0], e) : fill_all(c, all, e);
    if (ok) {
        warn_of_strangers();
        sheet_add(&sheet, program);
        for (size_t i = 0; i < n_verbs && all[i]; i++)
            sheet_add(&sheet, all[i]);
        print(&sheet, c);
    }
    for (size_t i = 0; i < n_verbs; i++)
        settings_free(all[i]);
    return ok;
}

const struct verb verb_config = {
    .name = "config",
    .args = "[VERB [options]]",
    .most_args = -1,
    .what = "show the settings in force, and where they come from",
    .about = "A setting has its default, unless the settings file says otherwise, unless the environment does, "
             "unless the command line does. The file is JSON, nested like the words of the command line; the "
             "output of 'inferom config --json' is such a file. Given a verb and options, shows what that verb "
             "would see.",
    .example = "inferom config --explain convert --to pprof",
    .options = config_options,
    .defaults = &(const struct config){0},
    .settings_size = sizeof(struct config),
    .takes_command = true,
    .run = config,
};
