#include "analyse/scopes.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/text.h"
#include "render/memory_text.h"
#include "render/report_formats.h"
#include "verbs/report_memory.h"
#include "verbs/selection.h"
#include "verbs/verb.h"

#include <time.h>

struct report_settings {
    int format;
    const char *output;
    bool all, deep, enhanced;
    uint64_t tokens;
    struct option_list fail_above;
    bool json, tree, inverted, threads, waits, scopes, processes;
    int sort;
    uint64_t top, depth, width;
    const char *min_total;
    struct memory_wish memory;
    struct selection part;
};

/* Rows of report_format_at() that options imply. */
enum { FORMAT_MD = 1, FORMAT_JSON = 2 };

static const char *const orders[] = {"self", "total", "name", NULL};

/* In the order of report_format_at(), behind the first. */
static const char *const formats[] = {"auto", "text", "md", "json", "html", "csv", "junit", "pstats", "dot", "svg", "flame", NULL};

#define S struct report_settings
static const struct option report_options[] = {
    CHOICE('f', "format", S, format, "FORMAT", formats, "what to write; auto: what the suffix of --output says, else text"),
    TEXT('o', "output", S, output, "FILE", "where to write; - is standard output"),
    FLAG('a', "all", S, all, "write every format that suits the profile; --output is what their names begin with"),
    FLAG(0, "deep", S, deep, "all functions, more of who calls whom, threads, waits and the tree"),
    FLAG(0, "enhanced", S, enhanced, "Markdown in the shape that SmallMind's comparator reads"),
    NUMBER(0, "tokens", S, tokens, "N", "how many tokens the run made: then times per token are shown, too", 1, 1000000000000),
    LIST(0, "fail-above", S, fail_above, "PATTERN=SHARE", "end with status 1 when matching functions have more self than this: 'memcpy*=5%'"),
    FLAG('T', "tree", S, tree, "show the call tree, from the root down"),
    FLAG('I', "inverted", S, inverted, "show the inverted tree, from the functions up to their callers"),
    FLAG(0, "threads", S, threads, "show the top functions of each thread"),
    FLAG(0, "scopes", S, scopes, "show the scopes that the program named itself, with their callers, counters and gauges"),
    FLAG(0, "memory", S, processes, "show how much memory the processes had, and what they had mapped"),
    FLAG(0, "waits", S, waits, "show what threads waited for, where --off-cpu was recorded"),
    CHOICE('s', "sort", S, sort, "BY", orders, "order of the functions"),
    NUMBER('n', "top", S, top, "N", "how many functions to list; 0 lists all", 0, 1000000000),
    TEXT('m', "min-total", S, min_total, "VALUE", "leave out what has less in total: 1s, 64K or a count, as the measure is"),
    NUMBER('d', "depth", S, depth, "N", "how deep to show a tree; 0 is no limit", 0, 1000000000),
    MEMORY_OPTIONS(S, memory),
    SELECTION_OPTIONS(S, part),
    NUMBER(0, "width", S, width, "COLUMNS", "as wide as this, instead of as the terminal", 20, 10000),
    FLAG(0, "json", S, json, "the same as --format json"),
    OPTIONS_END
};
#undef S

/* A threshold is spoken in the unit of what is measured. */
static bool threshold(const char *text, const struct measure *m, int64_t *out, struct err *e)
{
    uint64_t n = 0;
    int64_t value = 0;
    unsigned decimals = 0;
    bool is_number = true;
    *out = 0;
    if (!text)
        return true;
    if (m->unit == UNIT_NS)
        is_number = text_to_duration(view_of(text), &n);
    else if (m->unit == UNIT_BYTES)
        is_number = text_to_bytes(view_of(text), &n);
    else
        is_number = text_to_decimal(view_of(text), &value, &decimals) && value >= 0 && decimals <= m->decimals;
    for (; decimals < m->decimals && is_number; decimals++)
        is_number = !__builtin_mul_overflow(value, INT64_C(10), &value);
    if (!is_number)
        return err_set(e, ERR_USAGE, "--min-total: '%s' is not %s", text,
                       m->unit == UNIT_NS ? "a time such as 1s or 10ms"
                       : m->unit == UNIT_BYTES ? "a size such as 64K or 1.5M" : "a count");
    *out = n ? (int64_t)n : value;
    return true;
}

/* Of waits, when they are asked for and no other samples are. */
static bool choose(const struct report_settings *s, const struct selection *from, const char *path, struct memory_asked *memory,
                   struct selected *out, struct err *e)
{
    struct selection part = *from;
    if (s->processes && !part.set && !selection_choose(&part, path, out, NULL)) /* it slept all the time, and had memory all the same */
        part.set = "cpu";
    if (s->processes && part.set && !from->set)
        return selection_choose(&part, path, out, e);
    if (!s->waits || part.set)
        return memory_choose(&s->memory, from, path, memory, out, e);
    part.set = "off-cpu";
    if (selection_choose(&part, path, out, NULL))
        return true;
    err_set(e, ERR_USAGE, "--waits: the profile has no waits");
    return err_hint(e, "'inferom record --off-cpu' records them");
}

/* 'memcpy*=5%': the pattern, and at most this share. The pattern is the caller's to free. */
static bool read_limit(const char *text, struct report_limit *out, struct err *e)
{
    const char *equals = strrchr(text, '=');
    struct view share = view_of(equals ? equals + 1 : "");
    bool is_percent = view_ends(share, VIEW("%"));
    int64_t value = 0;
    unsigned decimals = 0;
    if (is_percent)
        share.n--;
    if (!equals || equals == text || !text_to_decimal(share, &value, &decimals) || value < 0)
        return err_set(e, ERR_USAGE, "--fail-above: '%s' is not a pattern and a share such as 'memcpy*=5%%'", text);
    out->share = (double)value / (is_percent ? 100 : 1);
    while (decimals--)
        out->share /= 10;
    if (out->share > 1)
        return err_set(e, ERR_USAGE, "--fail-above: '%s': a share is at most 100%%", text);
    out->pattern = mem_text(text, (size_t)(equals - text));
    return true;
}

struct limits {
    struct report_limit rows[OPTION_LIST_MOST];
    size_t n;
};

static void limits_done(struct limits *l)
{
    for (size_t i = 0; i < l->n; i++)
        free((char *)l->rows[i].pattern);
}
DEFINE_OWN_IN_PLACE(limits, struct limits)

static bool read_limits(const struct option_list *texts, struct limits *out, struct err *e)
{
    for (; out->n < texts->n; out->n++)
        if (!read_limit(texts->at[out->n], &out->rows[out->n], e))
            return false;
    return true;
}

/* True when none was passed; says which were, whatever the format. */
static bool keep_limits(const struct findings *f)
{
    bool all = true;
    for (size_t i = 0; i < f->r->n_limits; i++) {
        if (f->limits[i].is_kept)
            continue;
        all = false;
        log_error("%s: %.1f %%, more than the %.1f %% that --fail-above allows", f->r->limits[i].pattern,
                  100 * f->limits[i].share, 100 * f->r->limits[i].share);
    }
    return all;
}

/* What to write. */

static bool to_stdout(const struct report_settings *s) { return !strcmp(s->output, "-"); }

static bool no_such_suffix(const char *path, struct err *e)
{
    own(buf) struct buf list;
    buf_init(&list, sizeof e->hint);
    const struct report_format *f;
    for (size_t i = 0; (f = report_format_at(i)); i++)
        buf_printf(&list, "%s%.*s", list.len ? ", " : "", (int)strcspn(f->suffixes, " "), f->suffixes);
    err_set(e, ERR_USAGE, "%s: no report has this suffix", path);
    return err_hint(e, "there are %s; --format chooses another", list.data);
}

/* Asked first: a wrong word should not cost the reading of a large profile. */
static bool choose_format(const struct report_settings *s, const struct report_format **out, struct err *e)
{
    const struct report_format *text = report_format_at(0), *json = report_format_at(FORMAT_JSON), *md = report_format_at(FORMAT_MD);
    const struct report_format *said = s->format ? report_format_at((size_t)s->format - 1) : NULL;
    const struct report_format *implied = s->json ? json : s->enhanced ? md : NULL;
    if (s->all && (said || s->json || to_stdout(s)))
        return err_set(e, ERR_USAGE, "--all writes every format: it needs --output PREFIX, and no --format or --json");
    if (said && implied && said != implied)
        return err_set(e, ERR_USAGE, "--%s and --format %s are two formats", s->json ? "json" : "enhanced", said->name);
    if (s->json && s->enhanced)
        return err_set(e, ERR_USAGE, "--json and --enhanced are two formats");
    *out = said ? said : implied ? implied : to_stdout(s) ? text : report_format_for_path(s->output);
    return *out || s->all || no_such_suffix(s->output, e);
}

/* A file for the terminal is as wide as its lines are, and without colour. */
static bool write_file(const struct report_format *as, struct findings *f, const char *path, struct err *e)
{
    struct report plain = *f->r;
    const struct report *asked = f->r;
    own(outfile) struct outfile out = {.fd = -1};
    plain.style.colour = false;
    if (!outfile_open(&out, path, e))
        return false;
    f->r = &plain;
    bool ok = as->write(f, &out.sink, e);
    f->r = asked;
    return ok ? outfile_commit(&out, e) : err_in(e, "%s", path);
}

/* What this machine cannot write is said and passed over: the others are worth having. */
static bool write_one_of_all(const struct report_format *as, struct findings *f, const char *path, struct sink *say, struct err *e)
{
    struct err why = {0};
    bool ok = write_file(as, f, path, &why);
    if (!ok && why.kind != ERR_UNSUPPORTED) {
        *e = why;
        return false;
    }
    if (ok)
        sink_printf(say, "%s  %s\n", path, as->what);
    else
        log_warn("%s", why.text);
    return true;
}

static bool write_all(const struct report_settings *s, struct findings *f, struct sink *say, struct err *e)
{
    const struct report_format *as;
    for (size_t i = 0; (as = report_format_at(i)); i++) {
        own(buf) struct buf path;
        if (as->suits && !as->suits(f))
            continue;
        buf_init(&path, 4096);
        buf_printf(&path, "%s%.*s", s->output, (int)strcspn(as->suffixes, " "), as->suffixes);
        if (!write_one_of_all(as, f, path.data, say, e))
            return false;
    }
    return true;
}

/* Now, or what a build that wants the same bytes every time says instead. */
static int64_t now_s(void)
{
    const char *told = getenv("SOURCE_DATE_EPOCH");
    int64_t s;
    return told && text_to_int(view_of(told), &s) ? s : (int64_t)time(NULL);
}

static bool write_report(const struct call *c, const struct report *r, const struct report_format *as, struct err *e)
{
    const struct report_settings *s = c->settings;
    own(findings) struct findings f = {.r = r};
    if (s->all || as->needs != NEEDS_REPORT || r->n_limits)
        findings_of(&f, r);
    if (s->all || as->needs == NEEDS_HIERARCHY)
        findings_add_hierarchy(&f);
    if (s->all ? !write_all(s, &f, c->out, e)
        : to_stdout(s) ? !as->write(&f, c->out, e) : !write_file(as, &f, s->output, e))
        return false;
    if (as && !strcmp(as->name, "csv") && !r->heap_only && f.hot.n < f.hot.all)
        log_warn("%zu of %zu functions were written; --top 0 writes all", f.hot.n, f.hot.all);
    if (!keep_limits(&f) || (r->heap && !memory_passes(&s->memory, r->heap)))
        *c->exit_status = 1;
    return true;
}

/* Blocks are rows and nothing else: no heads, no findings. */
static bool write_blocks(const struct call *c, const struct selected *part, const struct report_format *as, const char *path, struct err *e)
{
    const struct report_settings *s = c->settings;
    bool is_json = as && !strcmp(as->name, "json");
    if (!as || (!is_json && strcmp(as->name, "csv") != 0 && !(to_stdout(s) && !s->format)))
        return err_set(e, ERR_USAGE, "--blocks writes CSV or JSON");
    if (!heap_blocks_are_there(part->p)) {
        err_set(e, part->filtered ? ERR_NOT_FOUND : ERR_USAGE, "--blocks: %s has no single blocks%s", path, part->filtered ? " that pass the filters" : "");
        return err_hint(e, "'inferom record --heap-blocks' records them");
    }
    if (to_stdout(s)) {
        (is_json ? heap_blocks_json : heap_blocks_csv)(part->p, c->out);
        return true;
    }
    own(outfile) struct outfile out = {.fd = -1};
    if (!outfile_open(&out, s->output, e))
        return false;
    (is_json ? heap_blocks_json : heap_blocks_csv)(part->p, &out.sink);
    return outfile_commit(&out, e);
}

/* A view, rather than the one that suits the samples. */
static bool asks_for_one(const struct report_settings *s)
{
    return s->tree || s->inverted || s->threads || s->waits || s->scopes || s->processes;
}

static bool has_scopes(const struct profile *p)
{
    own(scopes) struct scopes s = scopes_of(p);
    return s.n > 0;
}

/* A section of a report on a screen is short; a document has all of it. Where no allocation passes the filters there is none: zeros would be no answer. */
static bool look_at_memory(const struct report_settings *s, const struct report_format *as, struct memory_asked *asked, const struct selected *part,
                           struct heap_view *out)
{
    enum { SHORT_ROWS = 5 };
    bool is_short = !asked->is_only && !s->deep && as && !strcmp(as->name, "text");
    const struct sample_set *heap = heap_set(part->p);
    if ((asks_for_one(s) && !asked->is_only && !s->memory.fail_on_leaks) || (part->filtered && heap && !heap->n))
        return false;
    asked->look.parts = is_short && asked->look.parts == HEAP_ALL ? HEAP_SHORT : asked->look.parts;
    asked->look.most_rows = is_short ? SHORT_ROWS : s->deep ? 0 : s->top;
    asked->look.tokens = s->tokens;
    return heap_view_of(out, part->p, &asked->look);
}

static bool report(const struct call *c, struct err *e)
{
    const struct report_settings *s = c->settings;
    const char *path = c->args[0];
    struct selection from = s->part;
    own(selected) struct selected part = {0};
    own(limits) struct limits limits = {0};
    own(memory_asked) struct memory_asked memory = {0};
    own(heap_view) struct heap_view heap = {0};
    const struct report_format *as = NULL;
    int64_t min_total = 0;
    if (!choose_format(s, &as, e) || !read_limits(&s->fail_above, &limits, e) || !memory_ask(&s->memory, &from, &memory, e) ||
        !selection_read(&from, path, &part, e))
        return false;
    if (s->memory.blocks)
        return write_blocks(c, &part, as, path, e);
    if (!choose(s, &from, path, &memory, &part, e) || !threshold(s->min_total, &part.set->measures[part.measure], &min_total, e))
        return false;
    if (s->scopes && !has_scopes(part.p)) {
        err_set(e, ERR_USAGE, "--scopes: the profile has no scopes");
        return err_hint(e, "a program names them with INFEROM_SCOPE; docs/guide/scopes.md");
    }
    if (s->processes && !memory_is_there(part.p)) {
        err_set(e, ERR_USAGE, "--memory: the profile does not say how much memory the processes had");
        return err_hint(e, "'inferom record' records it, unless --no-memory is given");
    }
    bool suits_scopes = !asks_for_one(s) && part.set == scopes_counted(part.p), has_heap = look_at_memory(s, as, &memory, &part, &heap);
    struct report r = {
        .source = path, .p = part.p, .set = part.set, .measure = part.measure, .order = (enum top_order)s->sort,
        .most_rows = s->top, .most_depth = s->depth, .min_total = min_total,
        .tree = s->tree, .inverted = s->inverted, .threads = s->threads, .waits = s->waits, .memory = s->processes,
        .scopes = s->scopes || suits_scopes,
        .top = !asks_for_one(s) && !memory.is_only && !(suits_scopes && as && !strcmp(as->name, "text")),
        .style = {.width = s->width ? (unsigned)s->width : to_stdout(s) ? c->look.width : 0, .colour = c->look.colour},
        .generated_s = now_s(), .deep = s->deep, .enhanced = s->enhanced, .filtered = part.filtered, .tokens = s->tokens,
        .limits = limits.rows, .n_limits = limits.n, .heap = has_heap ? &heap : NULL, .heap_only = has_heap && memory.is_only,
        .no_leaks = s->memory.fail_on_leaks,
    };
    if (!write_report(c, &r, as, e))
        return false;
    if (profile_damages(part.p))
        return err_set(e, ERR_INCOMPLETE, "%s: part of the file could not be read; the report covers the rest", path);
    return true;
}

const struct verb verb_report = {
    .name = "report",
    .args = "PROFILE",
    .least_args = 1,
    .most_args = 1,
    .what = "show where time or memory went: functions, call trees, threads",
    .about = "PROFILE is a file in any format that 'inferom formats' lists; - is standard input. Self is what a "
             "function spent itself, total is what it and everything it called spent; self values add up to the "
             "whole. Patterns are shell patterns: --exclude 'lib*'.\n\n"
             "Where allocations were recorded, a section says what was allocated, is live, was live at the peak, and leaks; --heap "
             "shows all of it. A leak of grade A grows from turn to turn, one of grade B is live at the end.",
    .example = "inferom report run.folded --sort total --top 10",
    .options = report_options,
    .defaults = &(const struct report_settings){.top = 20, .output = "-"},
    .settings_size = sizeof(struct report_settings),
    .run = report,
};
