/*
 * The picture is made once per output: the suffix says what it is.
 */
#include "analyse/heap.h"
#include "base/outfile.h"
#include "base/text.h"
#include "render/graph_text.h"
#include "render/graphviz.h"
#include "model/counted_calls.h"
#include "verbs/selection.h"
#include "verbs/verb.h"

#include <regex.h>

#define MOST_DRAWN 500           /* nodes that Graphviz lays out in seconds; twice as many take five times as long */
#define EDGES_PER_NODE 2           /* more of them are a thicket, and cost the layout dearly */
#define LARGEST_DOT ((size_t)256 << 20)

enum graph_form { FORM_AUTO, FORM_DOT, FORM_SVG, FORM_PNG, FORM_TEXT, FORM_COUNT };
static const char *const form_names[FORM_COUNT + 1] = {"auto", "dot", "svg", "png", "text", NULL};
static const char *const form_suffixes[FORM_COUNT] = {"", ".dot", ".svg", ".png", ".txt"};

static const char *const diff_bys[] = {"value", "share", NULL}; /* in the order of enum difference_by */

struct graph_settings {
    struct option_list output;
    int format, colour;
    const char *node_threshold, *edge_threshold;
    uint64_t most_nodes;
    const char *keep, *keep_regex, *diff;
    int diff_by;
    bool use_filter, keep_full, text_only;
    struct selection part;
};

#define S struct graph_settings
static const struct option graph_options[] = {
    LIST('o', "output", S, output, "FILE", "where to write; .dot, .svg, .png or .txt say what; may be repeated; - is standard output"),
    CHOICE('f', "format", S, format, "FORMAT", form_names, "what to write, when the suffix of FILE does not tell"),
    {.name = "node-threshold", .letter = 'n', .type = OPTION_TEXT, .at = OPTION_AT(S, node_threshold, const char *), .value = "PERCENT",
     .what = "leave out functions with less in total", .env = "PROFILE_NODE_THRES"},
    {.name = "edge-threshold", .letter = 'e', .type = OPTION_TEXT, .at = OPTION_AT(S, edge_threshold, const char *), .value = "PERCENT",
     .what = "leave out calls with less", .env = "PROFILE_EDGE_THRES"},
    NUMBER(0, "max-nodes", S, most_nodes, "N", "only the heaviest functions, this many; 0 is no limit", 0, 1000000000),
    {.name = "keep", .letter = 'k', .type = OPTION_TEXT, .at = OPTION_AT(S, keep, const char *), .value = "TEXT",
     .what = "only functions with this text in their name, file or module", .env = "DOT_FILTER_SUBSTRING"},
    TEXT(0, "keep-regex", S, keep_regex, "REGEX", "only functions whose name, file or module this matches"),
    {.name = "keep-full", .type = OPTION_FLAG, .at = OPTION_AT(S, keep_full, bool),
     .what = "with --keep: also write the whole graph, as FILE with .full before its suffix", .env = "DOT_FILTER_KEEP_FULL"},
    {.name = "filter", .type = OPTION_FLAG, .at = OPTION_AT(S, use_filter, bool),
     .what = "--filter=no draws everything, whatever --keep says", .env = "DOT_FILTER"},
    CHOICE('c', "colour", S, colour, "BY", graph_colour_names, "what the colour of a function says"),
    FLAG(0, "text-only", S, text_only, "write the graph as text (.txt) instead of a picture"),
    TEXT('d', "diff", S, diff, "AFTER", "show what changed from PROFILE to this one"),
    CHOICE(0, "diff-by", S, diff_by, "WHAT", diff_bys, "compare values, or shares of each one's whole"),
    SELECTION_OPTIONS(S, part),
    OPTIONS_END
};
#undef S

/* Which functions stay. */

struct keeper {
    const char *text;
    regex_t regex;
    bool has_regex;
};

static void keeper_done(struct keeper *k)
{
    if (k->has_regex)
        regfree(&k->regex);
}
DEFINE_OWN_IN_PLACE(keeper, struct keeper)

static bool keeper_init(struct keeper *k, const struct graph_settings *s, struct err *e)
{
    *k = (struct keeper){.text = s->use_filter ? s->keep : NULL};
    if (!s->keep_regex || !s->use_filter)
        return true;
    int fault = regcomp(&k->regex, s->keep_regex, REG_EXTENDED | REG_NOSUB);
    if (fault) {
        char why[120];
        regerror(fault, &k->regex, why, sizeof why);
        return err_set(e, ERR_USAGE, "--keep-regex: '%s': %s", s->keep_regex, why);
    }
    k->has_regex = true;
    return true;
}

static bool has_text(struct view in, const char *text) { return memmem(in.at, in.n, text, strlen(text)); }

static bool keeps(const void *self, const struct profile *p, func_id id)
{
    const struct keeper *k = self;
    const struct function *f = profile_function(p, id);
    struct view told[] = {profile_string(p, f->name), profile_string(p, f->file),
                          profile_string(p, profile_mapping(p, f->mapping)->path)};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if ((k->text && has_text(told[i], k->text)) || (k->has_regex && regexec(&k->regex, told[i].at, 0, NULL, 0) == 0))
            return true;
    return false;
}

/* Percent of the whole, as people type it: 0.5, or 0.5%. */
static bool read_percent(const char *option, const char *text, double *out, struct err *e)
{
    struct view v = view_of(text);
    int64_t value;
    unsigned decimals;
    if (view_ends(v, VIEW("%")))
        v.n--;
    double percent = 0;
    bool is_number = text_to_decimal(v, &value, &decimals);
    for (percent = (double)value; is_number && decimals; decimals--)
        percent /= 10;
    if (!is_number || percent < 0 || percent > 100) {
        err_set(e, ERR_USAGE, "--%s: '%s' is not a percentage", option, text);
        return err_hint(e, "0.5 is one in two hundred; %s says it too", option_named(graph_options, view_of(option))->env);
    }
    *out = percent / 100;
    return true;
}

/* Where to, and what. */

static bool is_stdout(const char *path) { return !strcmp(path, "-"); }

static enum graph_form form_of_path(const char *path)
{
    for (int f = FORM_DOT; f < FORM_COUNT; f++)
        if (view_ends(view_of(path), view_of(form_suffixes[f])))
            return (enum graph_form)f;
    return view_ends(view_of(path), VIEW(".gv")) ? FORM_DOT : FORM_AUTO;
}

static bool choose_form(const struct graph_settings *s, const char *path, enum graph_form *out, struct err *e)
{
    *out = s->text_only ? FORM_TEXT : s->format != FORM_AUTO ? (enum graph_form)s->format : form_of_path(path);
    if (*out == FORM_AUTO && is_stdout(path))
        *out = FORM_DOT;
    if (*out != FORM_AUTO)
        return true;
    err_set(e, ERR_USAGE, "%s: the suffix does not tell what to write", path);
    return err_hint(e, "--format takes one of dot, svg, png, text");
}

/* The path with something else for its suffix: run.svg, ".full.svg" -> run.full.svg */
static void with_suffix(struct buf *out, const char *path, const char *suffix)
{
    struct view name = view_last_part(view_of(path));
    const char *dot = memrchr(name.at, '.', name.n);
    size_t stem = dot && dot > name.at ? (size_t)(dot - path) : strlen(path);
    buf_clear(out);
    buf_add(out, path, stem);
    buf_puts(out, suffix);
}

/* Drawing. */

static bool draw(const struct graph_picture *d, enum graph_form form, struct sink *out, struct err *e)
{
    if (form == FORM_TEXT || form == FORM_DOT) {
        (form == FORM_TEXT ? graph_text : graph_dot)(d, out);
        return true;
    }
    if (d->c->n_nodes > MOST_DRAWN) {
        err_set(e, ERR_LIMIT, "%zu functions are too many for a picture: %d is the most", d->c->n_nodes, MOST_DRAWN);
        return err_hint(e, "--max-nodes %d draws the heaviest", MOST_DRAWN);
    }
    own(buf) struct buf dot;
    struct sink s;
    buf_init(&dot, LARGEST_DOT);
    sink_to_buf(&s, &dot);
    graph_dot(d, &s);
    return sink_flush(&s, e) && graphviz_draw(buf_view(&dot), form_names[form], out, e);
}

static bool write_to(const struct graph_picture *d, enum graph_form form, const char *path, const struct call *c, struct err *e)
{
    if (is_stdout(path))
        return draw(d, form, c->out, e);
    own(outfile) struct outfile f = {.fd = -1};
    if (!outfile_open(&f, path, e))
        return false;
    return draw(d, form, &f.sink, e) ? outfile_commit(&f, e) : err_in(e, "%s", path);
}

/* What cannot be drawn here can be drawn elsewhere: DOT is always possible. */
static bool fall_back(const struct graph_picture *d, enum graph_form form, const char *path, const struct call *c, struct err *e)
{
    if ((e->kind != ERR_UNSUPPORTED && e->kind != ERR_LIMIT) || is_stdout(path) || form == FORM_DOT)
        return false;
    own(buf) struct buf dot;
    buf_init(&dot, 1 << 16);
    with_suffix(&dot, path, ".dot");
    struct err failed = {0};
    if (!write_to(d, FORM_DOT, dot.data, c, &failed))
        return false;
    if (e->kind == ERR_LIMIT)
        return err_hint(e, "%s was written instead; fewer functions (--max-nodes) and calls (--edge-threshold) can be drawn", dot.data);
    return err_hint(e, "%s was written instead; 'dot -T%s' draws it", dot.data, form_names[form]);
}

static bool write_one(const struct graph_picture *d, const struct graph_settings *s, const char *path, const char *suffix,
                      const struct call *c, struct err *e)
{
    enum graph_form form;
    own(buf) struct buf at;
    buf_init(&at, 1 << 16);
    if (!choose_form(s, path, &form, e))
        return false;
    char ending[32];
    snprintf(ending, sizeof ending, "%s%s", suffix, form_suffixes[form]);
    bool is_other = suffix[0] || (s->text_only && form_of_path(path) != FORM_TEXT && form_of_path(path) != FORM_AUTO);
    if (is_other && !is_stdout(path))
        with_suffix(&at, path, ending);
    else
        buf_puts(&at, path);
    return write_to(d, form, at.data, c, e) || fall_back(d, form, at.data, c, e);
}

/* The graph, cut to what is asked for. */

static bool nothing_left(const struct graph_picture *d, const struct graph_cut *cut, struct err *e)
{
    if (!cut->small_nodes)
        return err_set(e, ERR_NOT_FOUND, "%s: no function has '%s' in its name, file or module", d->source, d->kept);
    err_set(e, ERR_NOT_FOUND, "%s: %zu function%s below the threshold, and no other", d->source, cut->small_nodes,
            cut->small_nodes == 1 ? " is" : "s are");
    return err_hint(e, "a lower --node-threshold shows more");
}

static bool write_graph(const struct graph_settings *s, const struct graph_picture *whole, const struct graph_limits *limits,
                        const char *suffix, const struct call *c, struct err *e)
{
    static const char *const to_stdout[] = {"-"};
    own(graph_cut) struct graph_cut cut = graph_cut_of(whole->g, whole->p, limits);
    struct graph_picture d = *whole;
    if (!cut.n_nodes)
        return nothing_left(whole, &cut, e);
    d.c = &cut;
    const char *const *paths = s->output.n ? s->output.at : to_stdout;
    for (size_t i = 0; i < (s->output.n ? s->output.n : 1); i++)
        if (!write_one(&d, s, paths[i], suffix, c, e))
            return false;
    return true;
}

static bool keeps_some(const struct graph_settings *s) { return s->use_filter && (s->keep || s->keep_regex); }

/* What would go wrong in any case goes wrong before a large profile is read. */
static bool check_outputs(const struct graph_settings *s, struct err *e)
{
    enum graph_form form;
    bool to_files = s->output.n > 0;
    for (size_t i = 0; i < s->output.n; i++) {
        if (!choose_form(s, s->output.at[i], &form, e))
            return false;
        to_files &= !is_stdout(s->output.at[i]);
    }
    return to_files || !s->keep_full || !keeps_some(s) ||
           err_set(e, ERR_USAGE, "--keep-full writes a second file and needs a name: --output FILE");
}

/* First the whole, where both are wanted; then what is kept of it. */
static bool write_graphs(const struct call *c, struct graph_picture *d, struct graph_limits limits, const struct keeper *keep, struct err *e)
{
    const struct graph_settings *s = c->settings;
    if (!keeps_some(s))
        return write_graph(s, d, &limits, "", c, e);
    if (s->keep_full && !write_graph(s, d, &limits, ".full", c, e))
        return false;
    limits.keep = keeps;
    limits.self = keep;
    d->kept = s->keep ? s->keep : s->keep_regex;
    return write_graph(s, d, &limits, "", c, e);
}

static bool draw_one(const struct call *c, const struct selected *part, const struct graph_limits *limits, const struct keeper *keep,
                     struct err *e)
{
    const struct graph_settings *s = c->settings;
    own(call_graph) struct call_graph g = call_graph_of(part->p, part->set, part->measure);
    struct graph_picture d = {.p = part->p, .g = &g, .measure = &part->set->measures[part->measure], .source = c->args[0],
                              .colour = (enum graph_colour)s->colour};
    return write_graphs(c, &d, *limits, keep, e);
}

static bool no_part_missing(const struct selected *part, const char *path, struct err *e)
{
    return !profile_damages(part->p) ||
           err_set(e, ERR_INCOMPLETE, "%s: part of the file could not be read; the graph covers the rest", path);
}

static bool has_stacks(const struct selected *part, const char *path, struct err *e)
{
    struct counted_calls counted;
    return !counted_calls_of(part->p, &counted) ||
           err_set(e, ERR_UNSUPPORTED, "%s: --diff compares samples with stacks, and these are counted calls", path);
}

static bool open_part(const struct selection *s, const char *path, struct selected *out, struct err *e)
{
    return selection_open(s, path, out, e) && selection_settle(out, e);
}

static struct difference_side side_of(const struct selected *s)
{
    return (struct difference_side){s->p, s->set, s->measure, heap_is_exact(s->p, s->set)};
}

static bool draw_difference(const struct call *c, const struct selected *before, const struct graph_limits *limits,
                            const struct keeper *keep, struct err *e)
{
    const struct graph_settings *s = c->settings;
    own(selected) struct selected after = {0};
    own(difference) struct difference d = {0};
    if (!has_stacks(before, c->args[0], e) || !open_part(&s->part, s->diff, &after, e) || !has_stacks(&after, s->diff, e))
        return false;
    if (!difference_of(side_of(before),
                       side_of(&after), (enum difference_by)s->diff_by, false, &d, e))
        return err_in(e, "%s, %s", c->args[0], s->diff);
    own(graph_changes) struct graph_changes changes;
    own(call_graph) struct call_graph g = graph_of_difference(&d, &changes);
    struct graph_picture picture = {.p = d.p, .g = &g, .measure = &d.measure, .source = c->args[0], .after = s->diff,
                                    .colour = (enum graph_colour)s->colour, .difference = &d, .changes = &changes};
    return write_graphs(c, &picture, *limits, keep, e) && no_part_missing(&after, s->diff, e);
}

static bool graph(const struct call *c, struct err *e)
{
    const struct graph_settings *s = c->settings;
    own(keeper) struct keeper keep = {0};
    own(selected) struct selected part = {0};
    struct graph_limits limits = {.most_nodes = s->most_nodes, .most_edges = s->most_nodes * EDGES_PER_NODE};
    if (!read_percent("node-threshold", s->node_threshold, &limits.node_share, e) ||
        !read_percent("edge-threshold", s->edge_threshold, &limits.edge_share, e) || !keeper_init(&keep, s, e) ||
        !check_outputs(s, e) || !open_part(&s->part, c->args[0], &part, e))
        return false;
    if (s->diff ? !draw_difference(c, &part, &limits, &keep, e) : !draw_one(c, &part, &limits, &keep, e))
        return false;
    return no_part_missing(&part, c->args[0], e);
}

const struct verb verb_graph = {
    .name = "graph",
    .args = "PROFILE",
    .least_args = 1,
    .most_args = 1,
    .what = "draw who calls whom: the call graph as DOT, SVG, PNG or text",
    .about = "PROFILE is a file in any format that 'inferom formats' lists; - is standard input. A box is a function with its "
             "share of the whole in total and by itself; an arrow is a call with what was spent along it. The numbers are "
             "exact: they come from whole stacks, or from the counts of a profiler that counts calls. With --diff, PROFILE is before "
             "and AFTER is after: blue is less and orange is more, grey is what may as well be chance. SVG and PNG are drawn "
             "by Graphviz's library where it is installed; DOT and text need nothing.",
    .example = "inferom graph run.folded -o run.dot",
    .options = graph_options,
    .defaults = &(const struct graph_settings){.node_threshold = "0.5", .edge_threshold = "0.1", .most_nodes = 200, .use_filter = true},
    .settings_size = sizeof(struct graph_settings),
    .run = graph,
};
