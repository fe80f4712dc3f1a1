#include "analyse/heap.h"
#include "analyse/reshape.h"
#include "base/outfile.h"
#include "base/text.h"
#include "formats/format.h"
#include "model/settle.h"
#include "render/flame_html.h"
#include "render/flame_svg.h"
#include "verbs/selection.h"
#include "verbs/verb.h"

struct flame_settings {
    const char *output, *title, *min_share, *diff;
    int format, scheme, theme, order, by, diff_by, diff_of, diff_colours, layout;
    bool icicle, inverted, merge_recursion;
    uint64_t width, max_frames;
    struct selection part;
};

/* What can be written. A new one is a row here and a word below. */
static const struct kind {
    const char *name, *suffix;
    bool (*write)(const struct flame_page *page, struct sink *out, struct err *e);
    enum flame_scheme scheme; /* what "auto" is */
} kinds[] = {
    {"svg", ".svg", flame_svg_write, FLAME_HOT},
    {"html", ".html", flame_html_write, FLAME_SCHEME_AUTO},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static const char *const formats[] = {"suffix", "svg", "html", NULL}; /* the first: as the name of the output says */
static const char *const themes[] = {"auto", "light", "dark", NULL};
static const char *const orders[] = {"weight", "name", "time", NULL};
static const char *const roots[] = {"none", "thread", "process", "phase", "request", "scope", NULL};
static const char *const diff_bys[] = {"value", "share", NULL};
static const char *const diff_ofs[] = {"cause", "self", "total", NULL};
static const char *const layouts[] = {"union", "after", NULL};

#define S struct flame_settings
static const struct option flame_options[] = {
    TEXT('o', "output", S, output, "FILE", "where to write; - is standard output; beside PROFILE when not given"),
    CHOICE(0, "format", S, format, "FORMAT", formats, "what to write, when the suffix of FILE does not tell"),
    TEXT('t', "title", S, title, "TEXT", "what stands on top, instead of the name of the file"),
    CHOICE('c', "scheme", S, scheme, "NAME", flame_scheme_names, "colours: by share of the whole, or by whose code it is"),
    CHOICE(0, "theme", S, theme, "NAME", themes, "light, dark, or as the reader's system is"),
    FLAG(0, "icicle", S, icicle, "callers at the top instead of at the bottom"),
    FLAG('I', "inverted", S, inverted, "merge from the leaves: where time was spent, then who called"),
    CHOICE(0, "order", S, order, "BY", orders, "which callee stands left"),
    CHOICE(0, "by", S, by, "WHAT", roots, "a root frame for every thread, process, phase or request; root frames for the scopes"),
    FLAG(0, "merge-recursion", S, merge_recursion, "show calls of a function by itself as one"),
    TEXT('m', "min-share", S, min_share, "PERCENT", "leave out frames narrower than this; their time stays in their callers"),
    NUMBER(0, "max-frames", S, max_frames, "N", "draw only the widest N; 0 draws all", 0, 10000000),
    NUMBER(0, "width", S, width, "PIXELS", "how wide the picture is", 200, 100000),
    TEXT('d', "diff", S, diff, "AFTER", "show what changed from PROFILE to this one"),
    CHOICE(0, "diff-by", S, diff_by, "WHAT", diff_bys, "compare values, or shares of each one's whole"),
    CHOICE(0, "diff-of", S, diff_of, "WHAT", diff_ofs, "colour where a change is, or what each frame did itself, or all that is in it"),
    CHOICE(0, "diff-colours", S, diff_colours, "NAME", flame_diff_colour_names, "for less and more"),
    CHOICE(0, "layout", S, layout, "NAME", layouts, "room for what is gone as well, or widths as they are after"),
    SELECTION_OPTIONS(S, part),
    OPTIONS_END
};
#undef S

/* What to write, and where. */

static const struct kind *kind_for(const char *path)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (view_ends(view_of(path), view_of(kinds[i].suffix)))
            return &kinds[i];
    return NULL;
}

/* Asked first: a wrong word should not cost the reading of a large profile. */
static bool choose_kind(const struct flame_settings *s, const struct kind **out, struct err *e)
{
    *out = &kinds[s->format ? s->format - 1 : 0];
    if (s->format || !s->output || !strcmp(s->output, "-"))
        return true;
    *out = kind_for(s->output);
    if (*out)
        return true;
    err_set(e, ERR_USAGE, "%s: no picture has this suffix", s->output);
    return err_hint(e, "end the name in %s or %s, or say --format", kinds[0].suffix, kinds[1].suffix);
}

/* "runs/a.folded" becomes "runs/a.svg". */
static bool choose_path(const struct flame_settings *s, const char *profile, const struct kind *kind, struct buf *out, struct err *e)
{
    if (s->output) {
        buf_puts(out, s->output);
        return true;
    }
    if (!strcmp(profile, "-")) {
        err_set(e, ERR_USAGE, "standard input has no name to call the picture after");
        return err_hint(e, "give one with -o, or -o - for standard output");
    }
    const struct format *f = format_for_path(profile);
    struct view stem = view_of(profile);
    const char *slash = strrchr(profile, '/'), *name = slash ? slash + 1 : profile, *dot = strrchr(name, '.');
    if (f && view_ends(stem, view_of(f->suffix)))
        stem.n -= strlen(f->suffix);
    else if (dot && dot > name)
        stem = view_between(stem.at, dot);
    buf_add(out, stem.at, stem.n);
    buf_printf(out, "%s%s", s->diff ? ".diff" : "", kind->suffix);
    return true;
}

/* What to show. */

/* A profile as it was read, and as it is drawn. */
struct shown {
    struct selected was;
    struct profile *reshaped; /* NULL: as it was */
    const struct profile *p;
    const struct sample_set *set;
};

static void shown_done(struct shown *s)
{
    profile_free(s->reshaped);
    selected_done(&s->was);
}
DEFINE_OWN_IN_PLACE(shown, struct shown)

static bool has_several_threads(const struct profile *p, const struct sample_set *set)
{
    for (size_t i = 1; set->contexts && i < set->n; i++)
        if (profile_context(p, set->contexts[i])->thread.i != profile_context(p, set->contexts[0])->thread.i)
            return true;
    return false;
}

/* In order of time, several threads are several pictures: each stands on a frame of its own. */
static struct reshaping reshaping_of(const struct flame_settings *s, const struct selected *part)
{
    struct reshaping r = {.by = (enum root_by)s->by, .numbers = !s->diff, .merge_recursion = s->merge_recursion};
    if (s->order == CALL_BY_TIME && r.by == ROOT_BY_NONE && has_several_threads(part->p, part->set))
        r.by = ROOT_BY_THREAD;
    return r;
}

static bool open_shown(const struct flame_settings *s, const char *path, struct shown *out, struct err *e)
{
    if (!selection_open(&s->part, path, &out->was, e) || (s->order != CALL_BY_TIME && !selection_settle(&out->was, e)))
        return false;
    out->p = out->was.p;
    out->set = out->was.set;
    struct reshaping how = reshaping_of(s, &out->was);
    if (reshaping_is_empty(&how))
        return true;
    if (!profile_reshaped(out->was.p, out->was.set, &how, &out->reshaped, e))
        return err_in(e, "%s", path);
    out->p = out->reshaped;
    out->set = profile_set(out->p, (set_id){0});
    return true;
}

static bool percent(const char *text, double *out, struct err *e)
{
    int64_t value;
    unsigned decimals;
    struct view v = view_of(text);
    if (v.n && v.at[v.n - 1] == '%')
        v.n--;
    if (!text_to_decimal(v, &value, &decimals) || value < 0)
        return err_set(e, ERR_USAGE, "--min-share: '%s' is not a percentage such as 0.1", text);
    double share = (double)value / 100;
    for (; decimals; decimals--)
        share /= 10;
    if (share > 1)
        return err_set(e, ERR_USAGE, "--min-share: %s %% is more than everything", text);
    *out = share;
    return true;
}

static bool check(const struct flame_settings *s, struct err *e)
{
    if (s->order == CALL_BY_TIME && s->diff)
        return err_set(e, ERR_USAGE, "--order time: two profiles have no common time");
    if (s->order == CALL_BY_TIME && s->inverted)
        return err_set(e, ERR_USAGE, "--order time: what is merged from the leaves is not in order of time");
    return true;
}

static bool check_times(const struct flame_settings *s, const struct shown *shown, const char *path, struct err *e)
{
    if (s->order == CALL_BY_TIME && set_has_changes(shown->set))
        return err_set(e, ERR_USAGE, "--order time: the samples of %s are changes, and add up to something only as a whole", path);
    if (s->order != CALL_BY_TIME || shown->set->time_ns)
        return true;
    return err_set(e, ERR_USAGE, "--order time: the samples of %s have no times", path);
}

static struct flame_source source_of(const char *path, const struct shown *s)
{
    return (struct flame_source){.path = path, .p = s->was.p, .set = s->was.set, .drawn = s->p, .drawn_set = s->set, .measure = s->was.measure};
}

static void fill_page(const struct flame_settings *s, const char *path, const struct shown *shown, struct flame_page *page)
{
    *page = (struct flame_page){
        .title = s->title, .source = source_of(path, shown), .p = shown->p, .set = shown->set,
        .measure = shown->was.measure, .filtered = shown->was.filtered,
        .scheme = (enum flame_scheme)s->scheme, .theme = (enum flame_theme)s->theme, .order = (enum call_order)s->order,
        .inverted = s->inverted, .icicle = s->icicle, .merge_recursion = s->merge_recursion, .by = (enum root_by)s->by, .width = (unsigned)s->width, .max_frames = s->max_frames,
        .layout = (enum flame_diff_layout)s->layout, .diff_of = (enum flame_diff_of)s->diff_of,
        .diff_colours = (enum flame_diff_colours)s->diff_colours,
    };
}

static bool write_page(const struct kind *kind, const struct flame_page *page, const char *path, struct sink *answer, struct err *e)
{
    if (!strcmp(path, "-"))
        return kind->write(page, answer, e) || err_in(e, "%s", page->source.path);
    own(outfile) struct outfile out = {.fd = -1};
    if (!outfile_open(&out, path, e))
        return false;
    if (!kind->write(page, &out.sink, e))
        return err_in(e, "%s", page->source.path);
    if (!outfile_commit(&out, e))
        return false;
    text_safe(answer, view_of(path), 0);
    sink_char(answer, '\n');
    return true;
}

static bool no_part_missing(const struct shown *s, const char *path, struct err *e)
{
    if (!profile_damages(s->was.p))
        return true;
    return err_set(e, ERR_INCOMPLETE, "%s: part of the file could not be read; the picture shows the rest", path);
}

static bool draw_difference(const struct flame_settings *s, const char *path, const struct shown *before, struct flame_page page,
                            const struct kind *kind, const char *output, struct sink *answer, struct err *e)
{
    own(shown) struct shown after = {0};
    own(difference) struct difference d = {0};
    struct difference_side sides[2] = {{before->p, before->set, before->was.measure, heap_is_exact(before->was.p, before->was.set)}};
    if (!open_shown(s, s->diff, &after, e))
        return false;
    sides[1] = (struct difference_side){after.p, after.set, after.was.measure, heap_is_exact(after.was.p, after.was.set)};
    if (!difference_of(sides[0], sides[1], (enum difference_by)s->diff_by, s->inverted, &d, e))
        return err_in(e, "%s, %s", path, s->diff);
    page.difference = &d;
    page.before = source_of(path, before);
    page.source = source_of(s->diff, &after);
    return write_page(kind, &page, output, answer, e) && no_part_missing(before, path, e) && no_part_missing(&after, s->diff, e);
}

static bool flame(const struct call *c, struct err *e)
{
    const struct flame_settings *s = c->settings;
    const char *path = c->args[0];
    const struct kind *kind;
    struct flame_page page;
    double min_share = 0;
    own(buf) struct buf output;
    buf_init(&output, 65536);
    own(shown) struct shown shown = {0};
    if (!choose_kind(s, &kind, e) || !check(s, e) || !percent(s->min_share, &min_share, e) ||
        !choose_path(s, path, kind, &output, e) || !open_shown(s, path, &shown, e) || !check_times(s, &shown, path, e))
        return false;
    fill_page(s, path, &shown, &page);
    page.min_share = min_share;
    if (page.scheme == FLAME_SCHEME_AUTO)
        page.scheme = kind->scheme;
    if (s->diff)
        return draw_difference(s, path, &shown, page, kind, output.data, c->out, e);
    return write_page(kind, &page, output.data, c->out, e) && no_part_missing(&shown, path, e);
}

const struct verb verb_flame = {
    .name = "flame",
    .args = "PROFILE",
    .least_args = 1,
    .most_args = 1,
    .what = "draw a flame graph, or the difference of two",
    .about = "PROFILE is a file in any format that 'inferom formats' lists; - is standard input. Each box is a function, "
             "as wide as its part of what was measured, and stands on the function that called it. The picture is one "
             "file that needs nothing else; a browser also zooms (click), searches (/) and goes back (Esc). With -o FILE.html it is "
             "a page to look around in: sandwich, table, inverted, threads and requests, without any network.\n\n"
             "With --diff, PROFILE is before and AFTER is after: blue is less and orange is more, grey is what may as "
             "well be chance, hatched is new or gone. Compare values where both runs did the same work, shares where "
             "one was longer.",
    .example = "inferom flame run.folded -o run.svg --scheme module",
    .options = flame_options,
    .defaults = &(const struct flame_settings){.scheme = FLAME_SCHEME_AUTO, .min_share = "0.1", .max_frames = 5000, .width = 1200},
    .settings_size = sizeof(struct flame_settings),
    .run = flame,
};
