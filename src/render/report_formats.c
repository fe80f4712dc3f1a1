#include "render/report_formats.h"
#include "model/counted_calls.h"
#include "render/pstats_text.h"
#include "render/report_parts.h"

static void print_text(const struct findings *f, struct sink *out) { report_print(f->r, out); }

/* Those that cannot fail. */
#define WRITES(name, how)                                                               \
    static bool name(const struct findings *f, struct sink *out, struct err *e)         \
    {                                                                                   \
        (void)e;                                                                        \
        how(f, out);                                                                    \
        return true;                                                                    \
    }
WRITES(write_text, print_text)
WRITES(write_json, report_json)
WRITES(write_markdown, report_markdown)
WRITES(write_html, report_html)
WRITES(write_csv, report_csv)
WRITES(write_junit, report_junit)
#undef WRITES

static bool counts_calls(const struct findings *f)
{
    struct counted_calls counted;
    return counted_calls_of(f->r->p, &counted);
}

static bool write_pstats(const struct findings *f, struct sink *out, struct err *e)
{
    static const enum pstats_order orders[TOP_ORDER_COUNT] = {
        [TOP_BY_SELF] = PSTATS_TIME, [TOP_BY_TOTAL] = PSTATS_CUMULATIVE, [TOP_BY_NAME] = PSTATS_NAME,
    };
    struct pstats_look look = {.source = strcmp(f->r->source, "-") != 0 ? f->r->source : NULL, .order = orders[f->r->order],
                               .most_rows = f->r->deep ? 0 : f->r->most_rows};
    return pstats_print(f->r->p, &look, out, e);
}

static const struct report_format formats[] = {
    {"text",   ".txt",            "for a terminal",                                  write_text,     NEEDS_REPORT,    NULL},
    {"md",     ".md .markdown",   "Markdown, six sections",                          write_markdown, NEEDS_HIERARCHY, NULL},
    {"json",   ".json",           "for programs",                                    write_json,     NEEDS_FINDINGS,  NULL},
    {"html",   ".html .htm",      "one page, for a browser or a printer",            write_html,     NEEDS_HIERARCHY, NULL},
    {"csv",    ".csv",            "the functions, for spreadsheets and data frames", write_csv,      NEEDS_FINDINGS,  NULL},
    {"junit",  ".junit.xml .xml", "test results, for machines that build",           write_junit,    NEEDS_FINDINGS,  NULL},
    {"pstats", ".pstats.txt",     "the table that Python's pstats prints",           write_pstats,   NEEDS_REPORT,    counts_calls},
    {"dot",    ".dot",            "who calls whom, for Graphviz",                    report_graph_dot, NEEDS_HIERARCHY, NULL},
    {"svg",    ".svg",            "who calls whom, drawn by Graphviz",               report_graph_svg, NEEDS_HIERARCHY, NULL},
    {"flame",  ".flame.svg",      "the flame graph",                                 report_flame,   NEEDS_FINDINGS,  report_has_stacks},
};

const struct report_format *report_format_at(size_t i) { return i < sizeof formats / sizeof *formats ? &formats[i] : NULL; }

/* How much of the end of the path is a suffix of the list. */
static size_t suffix_length(const char *path, const char *suffixes)
{
    size_t longest = 0;
    for (const char *at = suffixes; *at;) {
        size_t n = strcspn(at, " ");
        if (n > longest && view_ends(view_of(path), (struct view){at, n}))
            longest = n;
        at += n + strspn(at + n, " ");
    }
    return longest;
}

const struct report_format *report_format_for_path(const char *path)
{
    const struct report_format *f, *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; (f = report_format_at(i)); i++) {
        size_t n = suffix_length(path, f->suffixes);
        if (n > longest) {
            longest = n;
            best = f;
        }
    }
    return best;
}
