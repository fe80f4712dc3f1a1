/*
 * This machine's roof on disk, and as JSON for whoever asks.
 */
#include "base/json.h"
#include "base/outfile.h"
#include "base/text.h"
#include "lab/roof.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define ROOF_FORMAT "inferom machine roof"
enum { ROOF_VERSION = 1, PATH_ROOM = 4096 };

/* The key. */

static void cpu_model(char *out, size_t size)
{
    own(reader) struct reader in = {.fd = -1};
    struct err e = {0};
    struct view line;
    if (!reader_open(&in, "/proc/cpuinfo", &e))
        return;
    while (reader_line(&in, &line, &e)) {
        const char *colon = memchr(line.at, ':', line.n);
        if (!colon || line.n < 10 || strncmp(line.at, "model name", 10) != 0)
            continue;
        struct view value = view_between(colon + 1, line.at + line.n);
        while (value.n && value.at[0] == ' ')
            value.at++, value.n--;
        snprintf(out, size, "%.*s", (int)value.n, value.at);
        return;
    }
}

struct roof_key roof_key_here(void)
{
    struct roof_key k = {0};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), cores = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_model(k.cpu, sizeof k.cpu);
    k.cores = cores > 0 ? (unsigned)cores : 1;
    k.memory_gib = pages > 0 && page > 0 ? (unsigned)round((double)pages * (double)page / 0x1p30) : 0;
    return k;
}

static bool same_key(const struct roof_key *a, const struct roof_key *b)
{
    return !strcmp(a->cpu, b->cpu) && a->cores == b->cores && a->memory_gib == b->memory_gib;
}

/* ~/.cache/inferom/machine-0123456789abcdef.json */
static bool folder_path(char *out, size_t size, struct err *e)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (xdg && *xdg)
        n = snprintf(out, size, "%s/inferom", xdg);
    else if (home && *home)
        n = snprintf(out, size, "%s/.cache/inferom", home);
    if (n < 0 || (size_t)n >= size)
        return err_set(e, ERR_NOT_FOUND, "neither XDG_CACHE_HOME nor HOME says where to keep the machine's figures");
    return true;
}

static bool file_path(char out[PATH_ROOM], struct err *e)
{
    struct roof_key k = roof_key_here();
    char folder[PATH_ROOM - 64], words[256];
    int n = snprintf(words, sizeof words, "%s|%u|%u", k.cpu, k.cores, k.memory_gib);
    if (!folder_path(folder, sizeof folder, e))
        return false;
    snprintf(out, PATH_ROOM, "%s/machine-%016" PRIx64 ".json", folder, (uint64_t)XXH64(words, (size_t)n, 0));
    return true;
}

static bool make_folders(const char *path, struct err *e)
{
    char part[PATH_ROOM];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return err_os(e, "%s", part);
        *slash = '/';
    }
    return true;
}

/* What a roof and its rows are made of: one table each, for both directions. */

enum member_type { MEMBER_WORD, MEMBER_COUNT, MEMBER_BYTES, MEMBER_TIME, MEMBER_NUMBER, MEMBER_YES };

struct member {
    const char *key;
    enum member_type type;
    size_t at, size;
};
#define MEMBER(S, name, kind_of, field) {name, kind_of, offsetof(S, field), sizeof(((S *)0)->field)}

static const struct member row_members[] = {
    MEMBER(struct roof_row, "kind", MEMBER_WORD, kind),          MEMBER(struct roof_row, "what", MEMBER_WORD, what),
    MEMBER(struct roof_row, "threads", MEMBER_COUNT, threads),   MEMBER(struct roof_row, "bytes", MEMBER_BYTES, bytes),
    MEMBER(struct roof_row, "median", MEMBER_NUMBER, f.median),  MEMBER(struct roof_row, "least", MEMBER_NUMBER, f.least),
    MEMBER(struct roof_row, "most", MEMBER_NUMBER, f.most),      MEMBER(struct roof_row, "readings", MEMBER_COUNT, f.readings),
    {.key = NULL},
};

static const struct member roof_members[] = {
    MEMBER(struct roof, "cpu", MEMBER_WORD, key.cpu),            MEMBER(struct roof, "cores", MEMBER_COUNT, key.cores),
    MEMBER(struct roof, "memory_gib", MEMBER_COUNT, key.memory_gib), MEMBER(struct roof, "threads", MEMBER_COUNT, threads),
    MEMBER(struct roof, "short", MEMBER_YES, is_short),          MEMBER(struct roof, "measured_at", MEMBER_TIME, measured_at),
    {.key = NULL},
};

/* Writing. */

static void write_member(const struct member *m, const void *from, struct json_writer *w)
{
    const void *at = (const char *)from + m->at;
    json_key(w, m->key);
    switch (m->type) {
    case MEMBER_WORD: json_text(w, view_of(at)); break;
    case MEMBER_COUNT: json_uint(w, *(const unsigned *)at); break;
    case MEMBER_BYTES: json_uint(w, *(const uint64_t *)at); break;
    case MEMBER_TIME: json_int(w, *(const int64_t *)at); break;
    case MEMBER_NUMBER: json_double(w, *(const double *)at); break;
    case MEMBER_YES: json_bool(w, *(const bool *)at); break;
    }
}

static void write_row(const struct roof_row *r, struct json_writer *w)
{
    json_open(w, '{');
    for (const struct member *m = row_members; m->key; m++)
        write_member(m, r, w);
    json_close(w, '}');
}

void roof_json(const struct roof *r, struct json_writer *w)
{
    json_open(w, '{');
    json_key(w, "format");
    json_text(w, VIEW(ROOF_FORMAT));
    json_key(w, "version");
    json_uint(w, ROOF_VERSION);
    for (const struct member *m = roof_members; m->key; m++)
        write_member(m, r, w);
    json_key(w, "rows");
    json_open(w, '[');
    for (size_t i = 0; i < r->n; i++)
        write_row(&r->rows[i], w);
    json_close(w, ']');
    json_close(w, '}');
}

bool roof_save(const struct roof *r, char *out_path, size_t size, struct err *e)
{
    char path[PATH_ROOM];
    if (!file_path(path, e) || !make_folders(path, e))
        return false;
    own(outfile) struct outfile f;
    if (!outfile_open(&f, path, e))
        return false;
    struct json_writer w;
    json_to_pretty(&w, &f.sink);
    roof_json(r, &w);
    sink_char(&f.sink, '\n');
    snprintf(out_path, size, "%s", path);
    return outfile_commit(&f, e);
}

/* Reading. Keys that are not known are passed over: a later version may have more to say. */

static bool read_number(struct json_reader *j, double *out, struct err *e)
{
    struct json_token t;
    if (!json_next(j, &t, e))
        return false;
    if (t.kind == JSON_NULL) {
        *out = NAN;
        return true;
    }
    if (t.kind != JSON_NUMBER)
        return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": %s where a number should be", t.line, json_kind_name(t.kind));
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)(t.text.n < 63 ? t.text.n : 63), t.text.at);
    *out = strtod(text, NULL);
    return true;
}

static bool read_count(struct json_reader *j, uint64_t most, uint64_t *out, struct err *e)
{
    double n = NAN;
    if (!read_number(j, &n, e))
        return false;
    if (!(n >= 0 && n <= (double)most))
        return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": %g is not a count from 0 to %" PRIu64, j->line, n, most);
    *out = (uint64_t)n;
    return true;
}

static bool read_word(struct json_reader *j, char *out, size_t size, struct err *e)
{
    struct json_token t;
    if (!json_expect(j, JSON_TEXT, &t, e))
        return false;
    if (t.text.n >= size || memchr(t.text.at, 0, t.text.n))
        return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": a word of %zu bytes", t.line, t.text.n);
    snprintf(out, size, "%.*s", (int)t.text.n, t.text.at);
    return true;
}

static bool read_yes(struct json_reader *j, bool *out, struct err *e)
{
    struct json_token t;
    if (!json_expect(j, JSON_BOOL, &t, e))
        return false;
    *out = t.yes;
    return true;
}

static bool read_member(struct json_reader *j, const struct member *m, void *into, struct err *e)
{
    void *at = (char *)into + m->at;
    uint64_t n = 0;
    bool ok = true;
    switch (m->type) {
    case MEMBER_WORD: return read_word(j, at, m->size, e);
    case MEMBER_NUMBER: return read_number(j, at, e);
    case MEMBER_YES: return read_yes(j, at, e);
    case MEMBER_BYTES: return read_count(j, UINT64_C(1) << 50, at, e);
    case MEMBER_TIME:
        ok = read_count(j, UINT64_C(1) << 40, &n, e);
        *(int64_t *)at = (int64_t)n;
        return ok;
    case MEMBER_COUNT:
        ok = read_count(j, UINT32_MAX, &n, e);
        *(unsigned *)at = (unsigned)n;
        return ok;
    }
    return false;
}

static const struct member *member_named(const struct member *members, struct view key)
{
    for (const struct member *m = members; m->key; m++)
        if (view_same(key, view_of(m->key)))
            return m;
    return NULL;
}

static bool read_row(struct json_reader *j, struct roof_row *r, struct err *e)
{
    struct json_token key;
    *r = (struct roof_row){0};
    while (json_next_key(j, &key, e)) {
        const struct member *m = member_named(row_members, key.text);
        if (!(m ? read_member(j, m, r, e) : json_skip(j, e)))
            return false;
    }
    return !e->kind;
}

static bool read_rows(struct json_reader *j, struct roof *r, struct err *e)
{
    struct json_token t;
    if (!json_expect(j, JSON_ARRAY, &t, e))
        return false;
    while (json_next_item(j, &t, e)) {
        if (t.kind != JSON_OBJECT)
            return err_set(e, ERR_MALFORMED, "line %" PRIu64 ": %s where a row should be", t.line, json_kind_name(t.kind));
        if (r->n == ROOF_ROWS_MOST)
            return err_set(e, ERR_LIMIT, "more than %d rows", ROOF_ROWS_MOST);
        if (!read_row(j, &r->rows[r->n], e))
            return false;
        r->n++;
    }
    return !e->kind;
}

static bool read_format(struct json_reader *j, struct err *e)
{
    char word[64];
    if (!read_word(j, word, sizeof word, e))
        return false;
    return !strcmp(word, ROOF_FORMAT) || err_set(e, ERR_MALFORMED, "it is not a machine's roof");
}

static bool read_version(struct json_reader *j, struct err *e)
{
    uint64_t n;
    if (!read_count(j, UINT32_MAX, &n, e))
        return false;
    return n == ROOF_VERSION || err_set(e, ERR_UNSUPPORTED, "version %" PRIu64 ", this build reads %d", n, ROOF_VERSION);
}

static bool read_key(struct json_reader *j, struct view key, struct roof *r, bool *has_format, struct err *e)
{
    const struct member *m = member_named(roof_members, key);
    if (m)
        return read_member(j, m, r, e);
    if (view_same(key, VIEW("rows")))
        return read_rows(j, r, e);
    if (view_same(key, VIEW("version")))
        return read_version(j, e);
    if (!view_same(key, VIEW("format")))
        return json_skip(j, e);
    *has_format = true;
    return read_format(j, e);
}

bool roof_read(struct roof *out, struct reader *in, struct err *e)
{
    *out = (struct roof){0};
    own(json_reader) struct json_reader j;
    json_from(&j, in);
    struct json_token t;
    bool has_format = false;
    if (!json_expect(&j, JSON_OBJECT, &t, e))
        return false;
    while (json_next_key(&j, &t, e))
        if (!read_key(&j, t.text, out, &has_format, e))
            return false;
    if (e->kind)
        return false;
    return has_format || err_set(e, ERR_MALFORMED, "it is not a machine's roof");
}

bool roof_load(struct roof *out, struct err *e)
{
    char path[PATH_ROOM];
    if (!file_path(path, e))
        return false;
    if (access(path, R_OK) != 0)
        return err_set(e, ERR_NOT_FOUND, "this machine has not been measured"), err_hint(e, "inferom lab machine");
    own(reader) struct reader in = {.fd = -1};
    if (!reader_open(&in, path, e))
        return false;
    if (!roof_read(out, &in, e))
        return err_in(e, "%s", path);
    struct roof_key here = roof_key_here();
    return same_key(&out->key, &here) || err_set(e, ERR_MALFORMED, "%s: these are figures of another machine", path);
}
