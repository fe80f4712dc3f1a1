#include "analyse/leak_suppressions.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

enum { RULES_MOST = 100000, LINE_MOST = 65536 };

static struct view trimmed(struct view v)
{
    while (v.n && strchr(" \t", v.at[0]) && v.at[0])
        v = (struct view){v.at + 1, v.n - 1};
    while (v.n && strchr(" \t\r", v.at[v.n - 1]) && v.at[v.n - 1])
        v.n--;
    return v;
}

/* Shell patterns know more special characters than the sanitizers do, and match the whole text. */
static char *as_shell_pattern(struct view rule)
{
    bool from_start = view_starts(rule, VIEW("^")), to_end = rule.n > from_start && view_ends(rule, VIEW("$"));
    own(buf) struct buf b;
    buf_init(&b, 2 * LINE_MOST + 8);
    buf_puts(&b, from_start ? "" : "*");
    for (size_t i = from_start; i < rule.n - to_end; i++) {
        if (rule.at[i] == '?' || rule.at[i] == '[' || rule.at[i] == '\\')
            buf_puts(&b, "\\");
        buf_add(&b, &rule.at[i], 1);
    }
    buf_puts(&b, to_end ? "" : "*");
    return mem_text(b.data, b.len);
}

/* Stars and anchors alone would hide every leak, or none. */
static bool has_name(struct view rule)
{
    for (size_t i = 0; i < rule.n; i++)
        if (rule.at[i] != '*' && rule.at[i] != '^' && rule.at[i] != '$')
            return true;
    return false;
}

static bool read_rule(struct leak_suppressions *s, struct view line, struct err *e)
{
    static const char takes[] = "lines are 'leak:PATTERN', as for the sanitizers' leak checker";
    struct view kind = VIEW("leak:");
    if (memchr(line.at, '\0', line.n))
        return err_set(e, ERR_MALFORMED, "there is a byte 0 in it; this is not a text file");
    if (line.n > LINE_MOST)
        return err_set(e, ERR_LIMIT, "a pattern is at most %d bytes long", LINE_MOST);
    if (!view_starts(line, kind)) {
        err_set(e, ERR_MALFORMED, "'%.*s' is no suppression of leaks", (int)(line.n < 80 ? line.n : 80), line.at);
        return err_hint(e, "%s", takes);
    }
    struct view rule = trimmed((struct view){line.at + kind.n, line.n - kind.n});
    if (!has_name(rule)) {
        err_set(e, ERR_MALFORMED, "'%.*s' has no name in its pattern: it would hide every leak, or none", (int)line.n, line.at);
        return err_hint(e, "%s", takes);
    }
    if (s->n == RULES_MOST)
        return err_set(e, ERR_LIMIT, "more than %d suppressions", RULES_MOST);
    GROW(s->rules, s->cap, s->n + 1);
    s->rules[s->n++] = (struct leak_rule){mem_text(rule.at, rule.n), as_shell_pattern(rule)};
    return true;
}

bool leak_suppressions_read(struct leak_suppressions *s, struct reader *in, struct err *e)
{
    struct view line;
    struct err why = {0};
    while (reader_line(in, &line, &why)) {
        line = trimmed(line);
        if (line.n && line.at[0] != '#' && !read_rule(s, line, &why)) {
            err_in(&why, "line %llu", (unsigned long long)in->line_no);
            break;
        }
    }
    if (why.kind && e)
        *e = why;
    return !why.kind;
}

bool leak_suppressions_open(struct leak_suppressions *s, const char *path, struct err *e)
{
    own(reader) struct reader in = {.fd = -1};
    if (!reader_open(&in, path, e))
        return false;
    return leak_suppressions_read(s, &in, e) || err_in(e, "%s", path);
}

void leak_suppressions_done(struct leak_suppressions *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->rules[i].text);
        free(s->rules[i].pattern);
    }
    free(s->rules);
    *s = (struct leak_suppressions){0};
}

size_t leak_suppressions_find(const struct leak_suppressions *s, const struct profile *p, func_id function)
{
    const struct function *f = profile_function(p, function);
    struct view texts[] = {profile_string(p, f->name), profile_string(p, f->file),
                           profile_string(p, profile_mapping(p, f->mapping)->path)};
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (texts[k].n && text_matches(texts[k], s->rules[i].pattern))
                return i;
    return s->n;
}
