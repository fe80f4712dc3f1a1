/*
 * heap_view.c - the sections of a memory report, and the five ways to write them
 *
 * A section is a row of the table below: what it is called, what its words mean, and who makes its table. Every format
 * goes through the same rows.
 */
#include "render/heap_view.h"
#include "analyse/span_memory.h"
#include "base/json.h"
#include "base/text.h"
#include "render/heap_summary.h"
#include "render/heap_tables.h"
#include "render/markup.h"

bool heap_view_of(struct heap_view *v, const struct profile *p, const struct heap_look *look)
{
    *v = (struct heap_view){.look = *look};
    if (!heap_of(&v->heap, p, look->filtered || look->parts == HEAP_CHANGE))
        return false;
    v->has_leaks = heap_leaks_of(&v->leaks, &v->heap, look->known);
    v->has_growth = heap_growth_of(&v->growth, &v->heap);
    v->tokens = look->tokens ? look->tokens : tokens_of_run(p);
    return true;
}

void heap_view_done(struct heap_view *v)
{
    heap_growth_done(&v->growth);
    heap_leaks_done(&v->leaks);
    heap_done(&v->heap);
}

struct leak_sum heap_leaked(const struct heap_view *v)
{
    struct leak_sum a = v->leaks.by_grade[LEAK_A], b = v->leaks.by_grade[LEAK_B];
    if (v->look.growing_only)
        return a;
    return (struct leak_sum){a.paths + b.paths, heap_sum(a.blocks, b.blocks), heap_sum(a.bytes, b.bytes)};
}

/* What is said behind the definition of a leak. */

static void say_sum(struct buf *out, const struct leak_sum *s, const char *what)
{
    char bytes[32], blocks[32];
    text_bytes(bytes, (double)s->bytes);
    text_count(blocks, s->blocks);
    buf_printf(out, " %s: %s in %s block%s from %zu path%s.", what, bytes, blocks, s->blocks == 1 ? "" : "s", s->paths, s->paths == 1 ? "" : "s");
}

static void say_turns(const struct heap_view *v, struct buf *out)
{
    const struct heap_leaks *l = &v->leaks;
    struct view phase = profile_string(v->heap.p, l->turn_phase);
    if (!l->n_turns)
        buf_puts(out, " Nothing can be of grade A here: the recording names no requests or phases.");
    else if (l->turn_kind == SPAN_REQUEST)
        buf_printf(out, " Turns: %zu request%s.", l->n_turns, l->n_turns == 1 ? "" : "s");
    else
        buf_printf(out, " Turns: %zu time%s the end of phase '%.*s'.", l->n_turns, l->n_turns == 1 ? "" : "s", (int)(phase.n < 60 ? phase.n : 60), phase.at);
    if (l->n_turns && l->n_turns < LEAK_SURVIVES + LEAK_GROWS)
        buf_printf(out, " Grade A takes %d or more.", LEAK_SURVIVES + LEAK_GROWS);
}

static void say_leaks(const struct heap_view *v, struct buf *out)
{
    const struct heap_leaks *l = &v->leaks;
    size_t unused = 0;
    say_turns(v, out);
    if (l->by_grade[LEAK_A].paths)
        say_sum(out, &l->by_grade[LEAK_A], "Grade A");
    if (!v->look.growing_only && l->by_grade[LEAK_B].paths)
        say_sum(out, &l->by_grade[LEAK_B], "Grade B");
    if (!heap_leaked(v).paths)
        buf_puts(out, " There are none.");
    if (l->suppressed.paths)
        say_sum(out, &l->suppressed, "Suppressed");
    for (size_t i = 0; i < l->n_rules; i++)
        unused += !l->by_rule[i].paths;
    if (unused)
        buf_printf(out, " %zu of %zu suppressions met nothing.", unused, l->n_rules);
}

/* The sections. */

enum { IN_SHORT = 1 << HEAP_SHORT, IN_ALL = 1 << HEAP_ALL, IN_LEAKS = 1 << HEAP_LEAKS, IN_CHANGE = 1 << HEAP_CHANGE };

static const struct section {
    const char *key, *title, *note;
    struct heap_table *(*make)(const struct heap_view *v, bool for_eyes);
    unsigned in;
    void (*say)(const struct heap_view *v, struct buf *out); /* more of the note; the section is shown even when empty */
} sections[] = {
    {"changes", "What changed", "Live is what became more or, with a minus, less; allocated is all that was asked for in between. Paths "
     "that freed as much as they allocated have 0 live.", heap_table_changes, IN_CHANGE, NULL},
    {"leaks", "Leaks", "Grade A: what a turn leaves behind is still live 3 turns later, in at least 5 turns and at least half of those since "
     "it began, and does not fall back. Grade B: live at the end of the recording; not every such block is a mistake.", heap_table_leaks,
     IN_SHORT | IN_ALL | IN_LEAKS, say_leaks},
    {"peak", "Live at the peak", "The peak is the moment at which most bytes were live, of each process by itself.", heap_table_peak,
     IN_SHORT | IN_ALL, NULL},
    {"hotspots", "Allocations by stack", "All that was asked for, freed or not. The function that allocated stands first, then its callers.",
     heap_table_hotspots, IN_SHORT | IN_ALL, NULL},
    {"temporaries", "Temporary allocations", "Freed by the thread that allocated them, with at most one other allocation of that thread in between.",
     heap_table_temporaries, IN_ALL, NULL},
    {"growth", "Live memory over time", NULL, heap_table_moments, IN_ALL, NULL},
    {"growing", "Paths that grew", "Live bytes at a quarter, half, three quarters and the end of the time; those that have more at the end than "
     "at a quarter.", heap_table_growth_paths, IN_ALL, NULL},
    {"sizes", "Sizes of allocations", NULL, heap_table_sizes, IN_ALL, NULL},
    {"lifetimes", "Ages of blocks when they were freed", NULL, heap_table_lifetimes, IN_ALL, NULL},
    {"mappings", "Mapped by the program itself", "Calls of mmap and its like, apart from the heap: what is mapped at the end, and all that ever was. "
     "Files of model weights are called so.", heap_table_mappings, IN_ALL, NULL},
    {"threads", "Threads", "Live is what the thread allocated, whoever frees it.", heap_table_threads, IN_ALL, NULL},
    {"scopes", "Scopes", "Allocations made while the scope was the innermost one.", heap_table_scopes, IN_ALL, NULL},
    {"scope_threads", "Scopes on each thread", NULL, heap_table_scope_threads, IN_ALL, NULL},
    {"phases", "Phases", "Allocations made during the phase, in scopes inside it as well.", heap_table_phases, IN_ALL, NULL},
    {"requests", "Requests", "Allocations made while a thread worked for the request.", heap_table_requests, IN_ALL, NULL},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static bool is_in(const struct section *s, const struct heap_view *v) { return s->in & 1u << v->look.parts; }

static struct heap_table *table_of(const struct section *s, const struct heap_view *v, bool for_eyes)
{
    return is_in(s, v) ? s->make(v, for_eyes) : NULL;
}

/* A section that has something to say besides its table is there without one, too. */
static bool is_shown(const struct section *s, const struct heap_view *v, const struct heap_table *t)
{
    return is_in(s, v) && (t || (s->say && v->has_leaks));
}

static void note_of(const struct section *s, const struct heap_view *v, struct buf *out)
{
    buf_puts(out, s->note ? s->note : "");
    if (s->say)
        s->say(v, out);
}

/* On a screen. */

/* Lines after the first begin further right. */
static void print_wrapped(struct view text, unsigned width, size_t indent, struct sink *out)
{
    size_t most = width > indent + 20 ? width - indent : 100 - indent;
    for (bool is_first = true; text.at && text.n; is_first = false) {
        size_t n = text.n;
        sink_pad(out, is_first ? 0 : indent);
        if (n > most) {
            const char *blank = memrchr(text.at, ' ', most + 1);
            n = blank && blank > text.at ? (size_t)(blank - text.at) : most;
        }
        text_safe(out, (struct view){text.at, n}, 0);
        sink_char(out, '\n');
        n += n < text.n && text.at[n] == ' ';
        text = (struct view){text.at + n, text.n - n};
    }
}

static void print_title(const char *title, const struct table_style *style, struct sink *out)
{
    sink_printf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", title, style->colour ? "\033[0m" : "");
}

static void print_lines(const struct heap_view *v, const struct table_style *style, struct sink *out)
{
    struct heap_lines l;
    heap_lines_of(v, &l);
    for (size_t i = 0; i < l.n; i++) {
        sink_printf(out, "%-16s ", l.rows[i].title);
        print_wrapped(view_of(l.rows[i].text), style->width, 17, out);
    }
}

static void print_section(const struct section *s, const struct heap_view *v, const struct table_style *style, struct sink *out)
{
    own(heap_table) struct heap_table *t = table_of(s, v, true);
    own(buf) struct buf note;
    buf_init(&note, 4096);
    if (!is_shown(s, v, t))
        return;
    print_title(s->title, style, out);
    note_of(s, v, &note);
    print_wrapped(buf_view(&note), style->width, 0, out);
    if (t)
        table_print(t->table, style, out);
    if (t && t->left_out)
        sink_printf(out, "(%zu more)\n", t->left_out);
}

void heap_print(const struct heap_view *v, const struct table_style *style, struct sink *out)
{
    if (v->look.parts != HEAP_LEAKS) {
        print_title("Heap memory", style, out);
        print_lines(v, style, out);
    }
    for (size_t i = 0; i < SECTIONS; i++)
        print_section(&sections[i], v, style, out);
}

/* In documents. */

static void markdown_lines(const struct heap_view *v, struct sink *out)
{
    struct heap_lines l;
    heap_lines_of(v, &l);
    for (size_t i = 0; i < l.n; i++) {
        sink_printf(out, "- **%s:** ", l.rows[i].title);
        markdown_text(out, view_of(l.rows[i].text), 0);
        sink_char(out, '\n');
    }
}

static void markdown_section(const struct section *s, const struct heap_view *v, struct sink *out)
{
    own(heap_table) struct heap_table *t = table_of(s, v, true);
    own(buf) struct buf note;
    buf_init(&note, 4096);
    if (!is_shown(s, v, t))
        return;
    sink_printf(out, "\n### %s\n", s->title);
    note_of(s, v, &note);
    if (note.len) {
        sink_char(out, '\n');
        markdown_text(out, buf_view(&note), 0);
        sink_char(out, '\n');
    }
    if (t) {
        sink_char(out, '\n');
        table_markdown(t->table, out);
    }
    if (t && t->left_out)
        sink_printf(out, "\n%zu more.\n", t->left_out);
}

void heap_markdown(const struct heap_view *v, struct sink *out)
{
    markdown_lines(v, out);
    for (size_t i = 0; i < SECTIONS; i++)
        markdown_section(&sections[i], v, out);
}

static void html_lines(const struct heap_view *v, struct sink *out)
{
    struct heap_lines l;
    heap_lines_of(v, &l);
    sink_puts(out, "<dl class=\"sys\">\n");
    for (size_t i = 0; i < l.n; i++) {
        sink_printf(out, "<dt>%s</dt><dd>", l.rows[i].title);
        text_markup(out, view_of(l.rows[i].text), 0);
        sink_puts(out, "</dd>\n");
    }
    sink_puts(out, "</dl>\n");
}

static void html_section(const struct section *s, const struct heap_view *v, struct sink *out)
{
    own(heap_table) struct heap_table *t = table_of(s, v, true);
    own(buf) struct buf note, id;
    buf_init(&note, 4096);
    buf_init(&id, 64);
    if (!is_shown(s, v, t) || !strcmp(s->key, "growth")) /* the chart is on top */
        return;
    buf_printf(&id, "heap-%s", s->key);
    sink_printf(out, "<h3>%s</h3>\n", s->title);
    note_of(s, v, &note);
    if (note.len) {
        sink_puts(out, "<p class=\"lead\">");
        text_markup(out, buf_view(&note), 0);
        sink_puts(out, "</p>\n");
    }
    if (t)
        table_html(t->table, id.data, out);
    if (t && t->left_out)
        sink_printf(out, "<p class=\"rest\">%zu more.</p>\n", t->left_out);
}

void heap_html(const struct heap_view *v, struct sink *out)
{
    html_lines(v, out);
    if (v->look.parts == HEAP_SHORT || v->look.parts == HEAP_ALL)
        heap_chart_svg(v, out);
    for (size_t i = 0; i < SECTIONS; i++)
        html_section(&sections[i], v, out);
}

/* For machines. */

static void json_sum(struct json_writer *w, const char *key, const struct leak_sum *s)
{
    json_key(w, key);
    json_open(w, '{');
    json_key(w, "paths");
    json_uint(w, s->paths);
    json_key(w, "blocks");
    json_int(w, s->blocks);
    json_key(w, "bytes");
    json_int(w, s->bytes);
    json_close(w, '}');
}

static void json_leak_sums(const struct heap_view *v, struct json_writer *w)
{
    json_key(w, "leaked");
    json_open(w, '{');
    json_sum(w, "a", &v->leaks.by_grade[LEAK_A]);
    json_sum(w, "b", &v->leaks.by_grade[LEAK_B]);
    json_sum(w, "suppressed", &v->leaks.suppressed);
    json_key(w, "turns");
    json_uint(w, v->leaks.n_turns);
    json_close(w, '}');
}

void heap_json(const struct heap_view *v, struct json_writer *w)
{
    json_key(w, "heap");
    json_open(w, '{');
    heap_lines_json(v, w);
    if (v->has_leaks && v->look.parts != HEAP_CHANGE)
        json_leak_sums(v, w);
    for (size_t i = 0; i < SECTIONS; i++) {
        own(heap_table) struct heap_table *t = table_of(&sections[i], v, false);
        if (!t)
            continue;
        json_key(w, sections[i].key);
        table_json(t->table, w);
    }
    json_close(w, '}');
}

void heap_csv(const struct heap_view *v, struct sink *out)
{
    own(heap_table) struct heap_table *t = v->look.parts == HEAP_LEAKS    ? heap_table_leaks(v, false)
                                           : v->look.parts == HEAP_CHANGE ? heap_table_changes(v, false)
                                                                          : heap_table_hotspots(v, false);
    if (t)
        table_csv(t->table, out);
}

/* At the end of a recording. */

enum { SUMMARY_ROWS = 5 };

static void print_leaked(const struct heap_view *v, struct sink *out)
{
    char bytes[32], blocks[32];
    struct leak_sum all = heap_leaked(v);
    if (!v->has_leaks)
        return;
    text_bytes(bytes, (double)all.bytes);
    text_count(blocks, all.blocks);
    sink_printf(out, "not freed when the recording ended: %s in %s block%s from %zu path%s; 'inferom report --leaks' lists them\n", bytes, blocks, all.blocks == 1 ? "" : "s",
                all.paths, all.paths == 1 ? "" : "s");
}

void heap_summary_print(const struct profile *p, const struct table_style *style, struct sink *out)
{
    own(heap_view) struct heap_view v = {0};
    struct heap_look look = {.parts = HEAP_SHORT, .most_rows = SUMMARY_ROWS};
    if (!heap_view_of(&v, p, &look))
        return;
    own(heap_table) struct heap_table *t = heap_table_hotspots(&v, true);
    print_title("Allocations by stack", style, out);
    if (t)
        table_print(t->table, style, out);
    if (t && t->left_out)
        sink_printf(out, "(%zu more)\n", t->left_out);
    print_leaked(&v, out);
}

void heap_summary_json(const struct profile *p, struct json_writer *w)
{
    own(heap_view) struct heap_view v = {0};
    struct heap_look look = {.parts = HEAP_SHORT, .most_rows = SUMMARY_ROWS};
    if (!heap_view_of(&v, p, &look))
        return;
    json_key(w, "heap");
    json_open(w, '{');
    heap_lines_json(&v, w);
    if (v.has_leaks)
        json_leak_sums(&v, w);
    json_close(w, '}');
}
