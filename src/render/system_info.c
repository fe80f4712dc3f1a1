#include "render/system_info.h"
#include "base/json.h"
#include "base/text.h"

/* How a fact is shown; NULL: as it is. */
typedef struct view (*show_fact)(const struct profile *p, struct view value, char room[SYSTEM_ROOM]);

static struct view show_os(const struct profile *p, struct view value, char room[SYSTEM_ROOM])
{
    const struct fact *kernel = profile_fact_named(p, VIEW("kernel"));
    struct view k = kernel ? profile_string(p, kernel->value) : VIEW("");
    if (!k.n || view_same(k, value))
        return value;
    int n = snprintf(room, SYSTEM_ROOM, "%.*s (%.*s)", (int)(value.n < 150 ? value.n : 150), value.at,
                     (int)(k.n < 150 ? k.n : 150), k.at);
    return (struct view){room, (size_t)n};
}

/* "24684100 kB" */
static struct view show_memory(const struct profile *p, struct view value, char room[SYSTEM_ROOM])
{
    (void)p;
    uint64_t kib = 0;
    if (!view_ends(value, VIEW(" kB")) || !text_to_uint((struct view){value.at, value.n - 3}, &kib))
        return value;
    char text[32];
    text_bytes(text, (double)kib * 1024);
    snprintf(room, SYSTEM_ROOM, "%s", text);
    return view_of(room);
}

static struct view show_revision(const struct profile *p, struct view value, char room[SYSTEM_ROOM])
{
    const struct fact *changed = profile_fact_named(p, VIEW("changed files"));
    struct view n = changed ? profile_string(p, changed->value) : VIEW("");
    if (!n.n)
        return value;
    bool is_clean = view_same(n, VIEW("0")), is_one = view_same(n, VIEW("1"));
    int len = snprintf(room, SYSTEM_ROOM, "%.*s (%s%.*s%s)", (int)(value.n < 150 ? value.n : 150), value.at,
                       is_clean ? "no changed files" : "", is_clean ? 0 : (int)(n.n < 20 ? n.n : 20), n.at,
                       is_clean ? "" : is_one ? " changed file" : " changed files");
    return (struct view){room, (size_t)len};
}

static const struct {
    struct system_line line;
    const char *fact, *otherwise; /* otherwise: the fact to take where the first is missing */
    show_fact show;
} lines[] = {
    {{"OS", "os"},                     "os",             "kernel", show_os},
    {{"Architecture", "architecture"}, "architecture",   NULL,     NULL},
    {{"CPU Model", "cpu_model"},       "cpu",            NULL,     NULL},
    {{"CPU Cores", "cpu_cores"},       "cores",          NULL,     NULL},
    {{"SIMD", "simd"},                 "simd",           NULL,     NULL},
    {{"Memory", "memory"},             "memory",         NULL,     show_memory},
    {{"Governor", "governor"},         "governor",       NULL,     NULL},
    {{"Compiler", "compiler"},         "compiler",       NULL,     NULL},
    {{"Revision", "revision"},         "revision",       NULL,     show_revision},
    {{"Command", "command"},           "command",        NULL,     NULL},
    {{"Recorded by", "recorded_by"},   "recorded by",    NULL,     NULL},
    {{"Engine", "engine"},             "engine",         NULL,     NULL},
    {{"Rate", "rate"},                 "rate",           NULL,     NULL},
};

size_t system_lines(void) { return sizeof lines / sizeof *lines; }
const struct system_line *system_line_at(size_t i) { return &lines[i].line; }

struct view system_value(const struct profile *p, size_t i, char room[SYSTEM_ROOM])
{
    const struct fact *f = profile_fact_named(p, view_of(lines[i].fact));
    if (!f && lines[i].otherwise)
        f = profile_fact_named(p, view_of(lines[i].otherwise));
    struct view value = f ? profile_string(p, f->value) : (struct view){0};
    return value.n && lines[i].show ? lines[i].show(p, value, room) : value;
}

bool system_is_known(const struct profile *p)
{
    char room[SYSTEM_ROOM];
    for (size_t i = 0; i < system_lines(); i++)
        if (system_value(p, i, room).n)
            return true;
    return false;
}

void system_json(const struct profile *p, struct json_writer *w)
{
    char room[SYSTEM_ROOM];
    json_open(w, '{');
    for (size_t i = 0; i < system_lines(); i++) {
        struct view value = system_value(p, i, room);
        json_key(w, lines[i].line.key);
        if (value.n)
            json_text(w, value);
        else
            json_null(w);
    }
    json_close(w, '}');
}
