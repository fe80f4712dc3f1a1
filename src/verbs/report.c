#include "render/report.h"
#include "base/text.h"
#include "formats/format.h"
#include "model/filter.h"
#include "verbs/verb.h"

struct report_settings {
    bool json, tree, inverted, threads, waits;
    int sort;
    uint64_t top, depth, width;
    const char *min_total, *set, *measure;
    struct option_list include, exclude, hide, thread, process, phase, request;
    bool hide_system;
    uint64_t from_ns, to_ns;
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
    LIST('i', "include", S, include, "PATTERN", "keep only stacks with a matching function or module; may be repeated"),
    LIST('x', "exclude", S, exclude, "PATTERN", "drop stacks with a matching function or module; may be repeated"),
    LIST(0, "hide", S, hide, "PATTERN", "do not show matching frames; their callers get the time"),
    FLAG(0, "hide-system", S, hide_system, "hide the C library, the loader, threads and the kernel"),
    LIST(0, "thread", S, thread, "NAME", "only this thread: a name, a pattern or a tid"),
    LIST(0, "process", S, process, "NAME", "only this process: a name, a pattern or a pid"),
    LIST(0, "phase", S, phase, "NAME", "only this phase: prefill, decode, ..."),
    LIST(0, "request", S, request, "ID", "only this request"),
    DURATION(0, "from", S, from_ns, "leave out what came before this, from the start", 0, 0),
    DURATION(0, "to", S, to_ns, "leave out what came after this, from the start", 0, 0),
    TEXT(0, "set", S, set, "NAME", "which samples, when there are several kinds: cpu, off-cpu, heap, ..."),
    TEXT(0, "measure", S, measure, "NAME", "which value, when samples carry several"),
    NUMBER(0, "width", S, width, "COLUMNS", "as wide as this, instead of as the terminal", 20, 10000),
    FLAG(0, "json", S, json, "print JSON"),
    OPTIONS_END
};
#undef S

/* Which samples, which value. */

static bool no_such(const char *option, const char *name, const char *const *known, struct err *e)
{
    own(buf) struct buf list;
    buf_init(&list, 200);
    for (; *known; known++)
        buf_printf(&list, "%s%s", list.len ? ", " : "", *known);
    err_set(e, ERR_USAGE, "--%s: the profile has no '%s'", option, name);
    return err_hint(e, "it has %s", list.len ? list.data : "none");
}

enum { NAMES_MOST = 16 };

static bool choose_set(const struct profile *p, const char *name, bool was_filtered, const struct sample_set **out,
                       struct err *e)
{
    const char *names[NAMES_MOST + 1] = {NULL};
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *s = profile_set(p, (set_id){i});
        struct view is = profile_string(p, s->name);
        if (i < NAMES_MOST)
            names[i] = is.at;
        if (name ? view_same(is, view_of(name)) : s->n > 0) {
            *out = s;
            return true;
        }
    }
    if (name)
        return no_such("set", name, names, e);
    if (was_filtered)
        return err_set(e, ERR_NOT_FOUND, "no sample passes the filters");
    return err_set(e, ERR_MALFORMED, "there are no samples in it");
}

static bool choose_waits(const struct profile *p, const struct sample_set **out, struct err *e)
{
    if (choose_set(p, "off-cpu", false, out, NULL))
        return true;
    err_set(e, ERR_USAGE, "--waits: the profile has no waits");
    return err_hint(e, "'inferom record --off-cpu' records them");
}

static bool choose_measure(const struct profile *p, const struct sample_set *s, const char *name, size_t *out,
                           struct err *e)
{
    const char *names[MEASURES_MOST + 1] = {NULL};
    *out = s->shown;
    for (size_t m = 0; m < s->n_measures; m++) {
        struct view is = profile_string(p, s->measures[m].name);
        names[m] = is.at;
        if (name && view_same(is, view_of(name))) {
            *out = m;
            return true;
        }
    }
    return !name || no_such("measure", name, names, e);
}

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

static const char *const *words(struct option_list *l)
{
    l->at[l->n < OPTION_LIST_MOST ? l->n : OPTION_LIST_MOST - 1] = NULL;
    return l->n ? l->at : NULL;
}

/* Reads the profile and narrows it to what is to be seen. */
static bool open_filtered(const char *path, const struct report_settings *s, struct profile **out,
                          bool *out_filtered, struct err *e)
{
    struct report_settings own_lists = *s; /* the lists need an end */
    struct filter f = {
        .threads = words(&own_lists.thread), .processes = words(&own_lists.process),
        .phases = words(&own_lists.phase), .requests = words(&own_lists.request),
        .include = words(&own_lists.include), .exclude = words(&own_lists.exclude),
        .hide = words(&own_lists.hide), .hide_system = s->hide_system,
        .from_ns = s->from_ns, .to_ns = s->to_ns,
    };
    if (s->to_ns && s->to_ns <= s->from_ns)
        return err_set(e, ERR_USAGE, "--to is not after --from");
    own(profile) struct profile *p = NULL;
    if (!profile_open(path, &p, e))
        return false;
    *out_filtered = !filter_is_empty(&f);
    if (*out_filtered)
        return profile_filtered(p, &f, out, e);
    *out = take(p);
    return true;
}

static bool report(const struct call *c, struct err *e)
{
    const struct report_settings *s = c->settings;
    own(profile) struct profile *p = NULL;
    bool filtered = false;
    if (!open_filtered(c->args[0], s, &p, &filtered, e))
        return false;
    struct report r = {
        .source = c->args[0], .p = p, .order = (enum top_order)s->sort, .most_rows = s->top, .most_depth = s->depth,
        .tree = s->tree, .inverted = s->inverted, .threads = s->threads, .waits = s->waits,
        .top = !s->tree && !s->inverted && !s->threads && !s->waits,
        .style = {.width = s->width ? (unsigned)s->width : c->look.width, .colour = c->look.colour},
    };
    if (!(s->waits && !s->set ? choose_waits(p, &r.set, e) : choose_set(p, s->set, filtered, &r.set, e)) ||
        !choose_measure(p, r.set, s->measure, &r.measure, e) ||
        !threshold(s->min_total, &r.set->measures[r.measure], &r.min_total, e))
        return e && e->kind == ERR_USAGE ? false : err_in(e, "%s", c->args[0]);
    if (s->json)
        report_json(&r, c->out);
    else
        report_print(&r, c->out);
    if (profile_damages(p))
        return err_set(e, ERR_INCOMPLETE, "%s: part of the file could not be read; the report covers the rest", c->args[0]);
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
