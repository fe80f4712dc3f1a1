#include "render/report.h"
#include "base/text.h"
#include "verbs/selection.h"
#include "verbs/verb.h"

struct report_settings {
    bool json, tree, inverted, threads, waits;
    int sort;
    uint64_t top, depth, width;
    const char *min_total;
    struct selection part;
};

static const char *const orders[] = {"self", "total", "name", NULL};

#define S struct report_settings
static const struct option report_options[] = {
    FLAG('T', "tree", S, tree, "show the call tree, from the root down"),
    FLAG('I', "inverted", S, inverted, "show the inverted tree, from the functions up to their callers"),
    FLAG(0, "threads", S, threads, "show the top functions of each thread"),
    FLAG(0, "waits", S, waits, "show what threads waited for, where --off-cpu was recorded"),
    CHOICE('s', "sort", S, sort, "BY", orders, "order of the functions"),
    NUMBER('n', "top", S, top, "N", "how many functions to list; 0 lists all", 0, 1000000000),
    TEXT('m', "min-total", S, min_total, "VALUE", "leave out what has less in total: 1s, 64K or a count, as the measure is"),
    NUMBER('d', "depth", S, depth, "N", "how deep to show a tree; 0 is no limit", 0, 1000000000),
    SELECTION_OPTIONS(S, part),
    NUMBER(0, "width", S, width, "COLUMNS", "as wide as this, instead of as the terminal", 20, 10000),
    FLAG(0, "json", S, json, "print JSON"),
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
static bool choose(const struct report_settings *s, const char *path, struct selected *out, struct err *e)
{
    struct selection part = s->part;
    if (!s->waits || part.set)
        return selection_choose(&part, path, out, e);
    part.set = "off-cpu";
    if (selection_choose(&part, path, out, NULL))
        return true;
    err_set(e, ERR_USAGE, "--waits: the profile has no waits");
    return err_hint(e, "'inferom record --off-cpu' records them");
}

static bool report(const struct call *c, struct err *e)
{
    const struct report_settings *s = c->settings;
    const char *path = c->args[0];
    own(selected) struct selected part = {0};
    int64_t min_total = 0;
    if (!selection_read(&s->part, path, &part, e) || !choose(s, path, &part, e) ||
        !threshold(s->min_total, &part.set->measures[part.measure], &min_total, e))
        return false;
    struct report r = {
        .source = path, .p = part.p, .set = part.set, .measure = part.measure, .order = (enum top_order)s->sort,
        .most_rows = s->top, .most_depth = s->depth, .min_total = min_total,
        .tree = s->tree, .inverted = s->inverted, .threads = s->threads, .waits = s->waits,
        .top = !s->tree && !s->inverted && !s->threads && !s->waits,
        .style = {.width = s->width ? (unsigned)s->width : c->look.width, .colour = c->look.colour},
    };
    if (s->json)
        report_json(&r, c->out);
    else
        report_print(&r, c->out);
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
             "whole. Patterns are shell patterns: --exclude 'lib*'.",
    .example = "inferom report run.folded --sort total --top 10",
    .options = report_options,
    .defaults = &(const struct report_settings){.top = 20},
    .settings_size = sizeof(struct report_settings),
    .run = report,
};
