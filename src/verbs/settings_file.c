/*
 * The walk over the file knows one thing: the dotted path of where it is. Tables
 * are asked with that path, so a key that names its own place (.key) needs
 * nothing here. Paths that lead nowhere are refused at once, which also bounds
 * the nesting by what the tables know.
 */
#include "verbs/settings_file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "verbs/settings.h"

#include <sys/stat.h>

#define TOKEN_MOST ((size_t)1 << 20)

/* A key some table knows, and whose it is; several verbs may share one. */
struct known_key {
    const char *key;
    struct owner owner;
    const struct option *option;
};

struct place {
    const char *path;
    uint64_t line;
};

struct settings_file {
    char *path;
    struct arena arena;
    struct file_value *values;
    size_t n_values, cap_values;
    struct place *places; /* every path met so far, objects included */
    size_t n_places, cap_places;
};

struct walk {
    struct settings_file *file;
    struct known_key *known;
    size_t n_known, cap_known;
    struct json_reader json;
    struct buf path;
    uint64_t line; /* of the key at the end of the path */
    struct err *e;
};

static void know_options_of(struct walk *w, struct owner owner)
{
    own(buf) struct buf key;
    buf_init(&key, 4096);
    for (const struct option *o = owner.options; o->name; o++) {
        buf_clear(&key);
        option_key(o, owner.name, &key);
        if (!key.len)
            continue;
        GROW(w->known, w->cap_known, w->n_known + 1);
        w->known[w->n_known++] = (struct known_key){arena_text(&w->file->arena, buf_view(&key)), owner, o};
    }
}

/* Complaints. */

static bool complain_here(struct walk *w) { return err_in(w->e, "line %llu", (unsigned long long)w->line); }

/* The keys that exist, or the objects they stand in: "runs.show.json" is in "runs" and "runs.show". */
static bool unknown_path(struct walk *w, bool is_object)
{
    const char **words = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < w->n_known; i++) {
        const char *key = w->known[i].key;
        for (const char *dot = strchr(key, '.'); is_object && dot; dot = strchr(dot + 1, '.')) {
            GROW(words, cap, n + 1);
            words[n++] = arena_text(&w->file->arena, view_between(key, dot));
        }
        if (!is_object) {
            GROW(words, cap, n + 1);
            words[n++] = key;
        }
    }
    GROW(words, cap, n + 1);
    words[n] = NULL;
    err_set(w->e, ERR_USAGE, "no setting '%s'", w->path.data);
    const char *nearest = text_nearest(w->path.data, words);
    if (nearest)
        err_hint(w->e, "did you mean '%s'?", nearest);
    free(words);
    return complain_here(w);
}

static bool wrong_kind(struct walk *w, const char *needed, enum json_kind got)
{
    err_set(w->e, ERR_USAGE, "%s: %s is needed, not %s", w->path.data, needed, json_kind_name(got));
    return complain_here(w);
}

/* Values. */

static const struct {
    unsigned kinds; /* a bit for each */
    const char *needed;
} taken[OPTION_TYPE_COUNT] = {
    [OPTION_FLAG] = {1u << JSON_BOOL, "true or false"},
    [OPTION_TEXT] = {1u << JSON_TEXT, "a text"},
    [OPTION_NUMBER] = {1u << JSON_NUMBER, "a number"},
    [OPTION_BYTES] = {1u << JSON_NUMBER | 1u << JSON_TEXT, "a size"},
    [OPTION_DURATION] = {1u << JSON_NUMBER | 1u << JSON_TEXT, "a time"},
    [OPTION_CHOICE] = {1u << JSON_TEXT, "a text"},
    [OPTION_LIST] = {1u << JSON_ARRAY | 1u << JSON_TEXT, "a list of texts"},
};

static bool text_of(struct walk *w, const struct json_token *t, const char **out)
{
    if (t->kind == JSON_BOOL) {
        *out = t->yes ? "true" : "false";
        return true;
    }
    if (t->text.n && memchr(t->text.at, '\0', t->text.n)) {
        err_set(w->e, ERR_USAGE, "%s: a text with a NUL in it", w->path.data);
        return complain_here(w);
    }
    *out = arena_text(&w->file->arena, t->text);
    return true;
}

static bool read_items(struct walk *w, struct file_value *v)
{
    const char *items[OPTION_LIST_MOST + 1]; /* one too many is left for the table to refuse */
    struct json_token t;
    while (json_next_item(&w->json, &t, w->e)) {
        if (t.kind != JSON_TEXT)
            return wrong_kind(w, "a list of texts", t.kind);
        if (v->n == sizeof items / sizeof *items)
            v->n--;
        if (!text_of(w, &t, &items[v->n++]))
            return false;
    }
    if (w->e->kind)
        return false;
    const char **texts = arena_new(&w->file->arena, (v->n + 1) * sizeof *texts);
    if (v->n)
        memcpy(texts, items, v->n * sizeof *texts);
    v->texts = texts;
    return true;
}

static bool read_texts(struct walk *w, const struct json_token *t, struct file_value *v)
{
    if (t->kind == JSON_ARRAY)
        return read_items(w, v);
    const char **text = arena_new(&w->file->arena, sizeof *text);
    v->texts = text;
    v->n = 1;
    return text_of(w, t, text);
}

/* The table's own opinion, asked on a copy that nobody will use. */
static bool try_value(struct walk *w, const struct known_key *k, const struct file_value *v)
{
    own(settings) struct settings *scratch = settings_new(k->owner);
    option_clear(k->option, scratch->values);
    for (size_t i = 0; i < v->n; i++)
        if (!option_row_set(k->option, scratch->values, v->texts[i], w->e)) {
            err_in(w->e, "%s", v->key);
            return complain_here(w);
        }
    return true;
}

static bool is_at(const struct walk *w, const struct known_key *k)
{
    return view_same(view_of(k->key), buf_view(&w->path));
}

static bool has_inside(const struct walk *w, const struct known_key *k)
{
    struct view key = view_of(k->key);
    return view_starts(key, buf_view(&w->path)) && key.n > w->path.len && key.at[w->path.len] == '.';
}

static bool check_kind(struct walk *w, enum json_kind kind)
{
    bool is_known = false, is_object = false;
    for (size_t i = 0; i < w->n_known; i++) {
        is_object |= has_inside(w, &w->known[i]);
        if (!is_at(w, &w->known[i]))
            continue;
        is_known = true;
        enum option_type type = w->known[i].option->type;
        if (kind != JSON_NULL && !(taken[type].kinds & 1u << kind))
            return wrong_kind(w, taken[type].needed, kind);
    }
    if (is_object && !is_known && kind != JSON_OBJECT)
        return wrong_kind(w, "an object", kind);
    return is_known || is_object || unknown_path(w, kind == JSON_OBJECT);
}

static bool read_value(struct walk *w, const struct json_token *t)
{
    if (t->kind == JSON_NULL)
        return true;
    struct settings_file *f = w->file;
    struct file_value v = {.key = arena_text(&f->arena, buf_view(&w->path)), .line = w->line};
    if (!read_texts(w, t, &v))
        return false;
    for (size_t i = 0; i < w->n_known; i++)
        if (is_at(w, &w->known[i]) && !try_value(w, &w->known[i], &v))
            return false;
    GROW(f->values, f->cap_values, f->n_values + 1);
    f->values[f->n_values++] = v;
    return true;
}

/* The walk. */

static bool first_time_here(struct walk *w)
{
    struct settings_file *f = w->file;
    for (size_t i = 0; i < f->n_places; i++)
        if (view_same(view_of(f->places[i].path), buf_view(&w->path))) {
            err_set(w->e, ERR_USAGE, "'%s' again; it is already in line %llu", w->path.data,
                    (unsigned long long)f->places[i].line);
            return complain_here(w);
        }
    GROW(f->places, f->cap_places, f->n_places + 1);
    f->places[f->n_places++] = (struct place){arena_text(&f->arena, buf_view(&w->path)), w->line};
    return true;
}

static bool walk_object(struct walk *w);

static bool walk_value(struct walk *w)
{
    struct json_token t;
    if (!json_next(&w->json, &t, w->e))
        return false;
    if (!check_kind(w, t.kind) || !first_time_here(w))
        return false;
    return t.kind == JSON_OBJECT ? walk_object(w) : read_value(w, &t);
}

static bool walk_object(struct walk *w)
{
    struct json_token key;
    size_t outer = w->path.len;
    while (json_next_key(&w->json, &key, w->e)) {
        if (outer)
            buf_puts(&w->path, ".");
        buf_add(&w->path, key.text.at, key.text.n);
        w->line = key.line;
        if (!walk_value(w))
            return false;
        w->path.len = outer;
        w->path.full = false;
    }
    return w->e->kind == ERR_NONE;
}

static bool walk_file(struct walk *w, struct reader *in)
{
    /* A file with nothing in it, /dev/null for one, says nothing. */
    if (!reader_fill(in, 1, w->e))
        return false;
    if (!reader_here(in).n)
        return true;
    struct json_token t;
    return json_expect(&w->json, JSON_OBJECT, &t, w->e) && walk_object(w) &&
           json_expect(&w->json, JSON_END, &t, w->e);
}

bool settings_file_read(struct reader *in, struct settings_file **out, struct err *e)
{
    struct err ignored = {0};
    own(settings_file) struct settings_file *f = mem_new(sizeof *f);
    f->path = mem_text(in->name, strlen(in->name));
    struct walk w = {.file = f, .e = e ? e : &ignored};
    struct owner owner;
    for (size_t i = 0; owner_at(i, &owner); i++)
        know_options_of(&w, owner);
    buf_init(&w.path, TOKEN_MOST);
    json_from(&w.json, in);
    in->most_window = TOKEN_MOST;

    bool ok = walk_file(&w, in) || err_in(w.e, "%s", f->path);
    json_reader_done(&w.json);
    buf_done(&w.path);
    free(w.known);
    if (ok)
        *out = take(f);
    return ok;
}

/* Finding it. */

static bool usual_path(struct buf *out)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    buf_init(out, 1 << 16);
    if (xdg && *xdg)
        buf_printf(out, "%s/inferom/config.json", xdg);
    else if (home && *home)
        buf_printf(out, "%s/.config/inferom/config.json", home);
    struct stat st;
    return out->len && stat(out->data, &st) == 0;
}

bool settings_file_open(const char *named, struct settings_file **out, struct err *e)
{
    own(buf) struct buf usual;
    bool has_usual = usual_path(&usual);
    if (!named && !has_usual) {
        *out = NULL;
        return true;
    }
    own(reader) struct reader in = {.fd = -1};
    return reader_open(&in, named ? named : usual.data, e) && settings_file_read(&in, out, e);
}

void settings_file_free(struct settings_file *f)
{
    if (!f)
        return;
    free(f->path);
    free(f->values);
    free(f->places);
    arena_done(&f->arena);
    free(f);
}

/* Asking. */

const char *settings_file_path(const struct settings_file *f) { return f->path; }

const struct file_value *settings_file_value(const struct settings_file *f, const char *key)
{
    for (size_t i = 0; i < f->n_values; i++)
        if (!strcmp(f->values[i].key, key))
            return &f->values[i];
    return NULL;
}
