#include "render/flame_svg_parts.h"
#include "analyse/sampling.h"
#include "base/text.h"
#include "render/measured.h"
#include "render/names.h"

#include <math.h>

void svg_number(struct sink *out, double n)
{
    char text[48];
    int length = snprintf(text, sizeof text, fabs(n) < 1 ? "%.4f" : "%.3f", n); /* a narrow box is to be as exact as a wide one */
    while (length > 1 && text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    sink_add(out, (struct view){text, (size_t)length});
}

/* Style. */

static void put_theme(struct sink *out, const char *back, const char *ink, const char *faint)
{
    sink_printf(out, "svg:root{background:%s}.bg{fill:%s}.frames rect{stroke:%s}\n", back, back, back);
    sink_printf(out, ".title{fill:%s}.sub,.details{fill:%s}\n", ink, faint);
    sink_printf(out, ".controls input,.controls button{background:%s;color:%s}.controls{color:%s}\n", back, ink, ink);
}

static void put_dark(struct sink *out) { put_theme(out, "#15171c", "#e8eaed", "#a3a9b5"); }
static void put_light(struct sink *out) { put_theme(out, "#ffffff", "#1b1d21", "#5c6370"); }

void svg_style(struct sink *out, enum flame_theme theme)
{
    sink_puts(out, "<style>\n"
                   "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;font-size:12px}\n"
                   ".title{font-size:16px;font-weight:600}\n"
                   ".frames text{font-family:ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono','Liberation Mono',monospace;"
                   "font-size:11px;pointer-events:none;white-space:pre}\n"
                   ".frames rect{stroke-width:.6}.frames g{cursor:pointer}.frames .h{pointer-events:none}\n"
                   ".frames g:hover rect,.frames .at rect{stroke:#000;stroke-width:1}.up{opacity:.55}\n"
                   ".searching .frames g{opacity:.45}.searching .frames .hit{opacity:1}.hit rect{fill:#d05ce3}.hit text{fill:#000}\n"
                   ".details{font-size:11px}\n"
                   ".controls{display:flex;gap:8px;justify-content:flex-end;align-items:center;font:12px system-ui,sans-serif}\n"
                   ".controls input,.controls button{font:inherit;border:1px solid #8a909c;border-radius:4px;padding:2px 6px}\n"
                   ".controls input{width:170px}\n");
    if (theme == FLAME_DARK)
        put_dark(out);
    else
        put_light(out);
    if (theme == FLAME_AUTO) {
        sink_puts(out, "@media (prefers-color-scheme:dark){\n");
        put_dark(out);
        sink_puts(out, "}\n");
    }
    sink_puts(out, "</style>\n");
}

/* Head: title, what was measured, what is missing. */

static struct view file_of(const char *path) { return view_last_part(view_of(path)); }

void svg_title(const struct flame_drawing *d, struct sink *out, size_t columns)
{
    const struct flame_page *page = d->page;
    own(buf) struct buf title;
    buf_init(&title, 65536);
    struct view source = file_of(page->source.path);
    if (page->title) {
        buf_puts(&title, page->title);
    } else if (page->difference) {
        struct view before = file_of(page->before.path);
        buf_printf(&title, "%.*s \xe2\x86\x92 %.*s", (int)before.n, before.at, (int)source.n, source.at);
    } else {
        buf_add(&title, source.at, source.n);
    }
    text_markup(out, buf_view(&title), columns);
}

/* "12.5 s of cpu, 12 500 samples, 999 Hz" */
static void add_measured(const struct flame_source *s, struct buf *to)
{
    const struct measure *m = &s->set->measures[s->measure];
    struct view name = profile_string(s->p, m->name);
    char text[32];
    value_text(text, m, m->total);
    buf_printf(to, "%s%s%.*s", text, m->unit == UNIT_NS || m->unit == UNIT_BYTES ? " of " : " ", (int)name.n, name.at);
    int64_t taken = samples_taken(s->p, s->set);
    double rate = measured_rate_hz(s->set, s->measure);
    if (taken >= 0 && !view_same(name, VIEW("samples"))) {
        text_count(text, taken);
        buf_printf(to, " in %s samples", text);
    }
    if (!isnan(rate))
        buf_printf(to, " at %.0f Hz", rate);
    uint64_t lost;
    bool counts_lost = samples_lost(s->p, s->set, &lost);
    if (lost && taken >= 0)
        buf_printf(to, ", %.2f %% lost", 100 * (double)lost / ((double)lost + (double)taken));
    else if (lost)
        buf_printf(to, ", %llu lost", (unsigned long long)lost);
    else if (counts_lost)
        buf_puts(to, ", none lost");
    if (profile_damages(s->p))
        buf_puts(to, ", part of the file could not be read");
}

static void put_line(const struct flame_drawing *d, struct sink *out, unsigned y, const struct buf *line)
{
    sink_printf(out, "<text class=\"sub\" x=\"%d\" y=\"%u\">", FLAME_MARGIN, y);
    text_markup(out, buf_view(line), (size_t)((d->page->width - 2 * FLAME_MARGIN) / 7));
    sink_puts(out, "</text>\n");
}

static void add_changed_whole(const struct difference *diff, struct buf *to)
{
    double before = (double)diff->whole.before.value, after = (double)diff->whole.after.value;
    if (before > 0)
        buf_printf(to, " (%+.1f %%)", 100 * (after - before) / before);
}

unsigned svg_head_height(const struct flame_drawing *d) { return d->page->difference ? 74 : 58; }

void svg_head(const struct flame_drawing *d, struct sink *out)
{
    const struct flame_page *page = d->page;
    own(buf) struct buf line;
    buf_init(&line, 4096);
    sink_printf(out, "<text class=\"title\" x=\"%d\" y=\"25\">", FLAME_MARGIN);
    svg_title(d, out, (size_t)((page->width - 2 * FLAME_MARGIN) / 9.5));
    sink_puts(out, "</text>\n");
    if (page->difference) {
        buf_puts(&line, "before: ");
        add_measured(&page->before, &line);
        put_line(d, out, 44, &line);
        buf_clear(&line);
        buf_puts(&line, "after: ");
    }
    add_measured(&page->source, &line);
    if (page->difference)
        add_changed_whole(page->difference, &line);
    if (page->filtered)
        buf_puts(&line, "; a part of it, as selected");
    put_line(d, out, page->difference ? 60 : 44, &line);
}

/* Foot: what the colours mean, and what is not drawn. */

struct legend {
    const struct flame_drawing *d;
    struct sink *out;
    double x, y;
};

static void put_swatch(struct legend *l, double wide, colour c, const char *pattern)
{
    for (int pass = 0; pass < (pattern ? 2 : 1); pass++) {
        sink_puts(l->out, "<rect x=\"");
        svg_number(l->out, l->x);
        sink_puts(l->out, "\" y=\"");
        svg_number(l->out, l->y - 10);
        sink_puts(l->out, "\" width=\"");
        svg_number(l->out, wide);
        sink_puts(l->out, "\" height=\"12\" fill=\"");
        if (pass)
            sink_printf(l->out, "url(#inferom-%s)\"/>", pattern);
        else
            sink_printf(l->out, "#%06x\"/>", c);
    }
    l->x += wide;
}

static bool has_room(const struct legend *l, size_t columns)
{
    return l->x + 30 + 7 * (double)columns < (double)l->d->page->width - FLAME_MARGIN;
}

static void put_word(struct legend *l, struct view word)
{
    l->x += l->x > FLAME_MARGIN ? 5 : 0;
    sink_puts(l->out, "<text class=\"sub\" x=\"");
    svg_number(l->out, l->x);
    sink_puts(l->out, "\" y=\"");
    svg_number(l->out, l->y);
    sink_puts(l->out, "\">");
    size_t columns = text_markup(l->out, word, 28);
    sink_puts(l->out, "</text>");
    l->x += 7 * (double)columns + 12;
}

/* One scale for all schemes by share, cut where any of them changes: pictures differ in nothing but colour. */
static void legend_of_shares(struct legend *l)
{
    put_word(l, VIEW("share:"));
    double wide = ((double)l->d->page->width - l->x - 40) / (double)(flame_share_step_count + 1);
    wide = wide > 30 ? 30 : wide;
    for (size_t i = 0; i <= flame_share_step_count; i++) {
        double from = i ? flame_share_steps[i - 1] : 0;
        put_swatch(l, wide, flame_by_share(l->d->page->scheme, from + 1e-9), NULL);
        if (i == flame_share_step_count)
            break;
        sink_puts(l->out, "<text class=\"sub\" text-anchor=\"middle\" style=\"font-size:9px\" x=\"");
        svg_number(l->out, l->x);
        sink_puts(l->out, "\" y=\"");
        svg_number(l->out, l->y + 12);
        sink_printf(l->out, "\">%g</text>", 100 * flame_share_steps[i]);
    }
    put_word(l, VIEW("%"));
}

static void legend_of_kinds(struct legend *l)
{
    bool there[FRAME_KIND_COUNT] = {false};
    for (size_t i = 1; i < l->d->layout.n; i++)
        there[l->d->tree.nodes[l->d->layout.boxes[i].node].kind] = true;
    for (int k = 0; k < FRAME_KIND_COUNT; k++) {
        if (!there[k])
            continue;
        put_swatch(l, 14, flame_by_kind((enum frame_kind)k), NULL);
        put_word(l, view_of(k == FRAME_SCOPE ? "thread, process or scope" : frame_kind_names[k]));
    }
}

/* Heaviest first, as many as there is room for. */
static void legend_of_modules(struct legend *l)
{
    const struct flame_modules *m = &l->d->modules;
    for (size_t i = 0; i < m->n && has_room(l, text_columns(m->rows[i].name)); i++) {
        if (!m->rows[i].self)
            continue;
        put_swatch(l, 14, m->rows[i].is, NULL);
        put_word(l, m->rows[i].name.n ? m->rows[i].name : VIEW("(not known)"));
    }
}

static void legend_of_changes(struct legend *l)
{
    const struct flame_page *page = l->d->page;
    static const double strengths[] = {1, 0.4, 0.2, 0.05};
    static const char *const of[FLAME_DIFF_OF_COUNT] = {
        [FLAME_DIFF_CAUSE] = "less", [FLAME_DIFF_SELF] = "self: less", [FLAME_DIFF_TOTAL] = "total: less",
    };
    put_word(l, view_of(of[page->diff_of]));
    for (size_t i = 0; i < 4; i++)
        put_swatch(l, 18, flame_by_change(page->diff_colours, CHANGE_LESS, strengths[i]), NULL);
    put_swatch(l, 18, FLAME_NEUTRAL, NULL);
    for (size_t i = 4; i-- > 0;)
        put_swatch(l, 18, flame_by_change(page->diff_colours, CHANGE_MORE, strengths[i]), NULL);
    put_word(l, VIEW("more"));
    put_swatch(l, 14, flame_by_change(page->diff_colours, CHANGE_NEW, 1), "new");
    put_word(l, VIEW("new"));
    put_swatch(l, 14, flame_by_change(page->diff_colours, CHANGE_GONE, 1), "gone");
    put_word(l, VIEW("gone"));
    put_swatch(l, 14, FLAME_NEUTRAL, NULL);
    put_word(l, VIEW("inside noise"));
}

static void put_legend(struct legend *l)
{
    const struct flame_page *page = l->d->page;
    sink_puts(l->out, "<g class=\"legend\">");
    if (page->difference)
        legend_of_changes(l);
    else if (page->scheme == FLAME_MODULE)
        legend_of_modules(l);
    else if (page->scheme == FLAME_KIND)
        legend_of_kinds(l);
    else
        legend_of_shares(l);
    sink_puts(l->out, "</g>\n");
}

static const char *const order_words[CALL_ORDER_COUNT] = {
    [CALL_BY_WEIGHT] = "widest first", [CALL_BY_NAME] = "by name", [CALL_BY_TIME] = "in order of time",
};

static void put_note(const struct flame_drawing *d, double y, struct sink *out)
{
    const struct flame_page *page = d->page;
    own(buf) struct buf note;
    buf_init(&note, 1024);
    if (page->difference)
        buf_printf(&note, "compared by %s; widths are %s; ", page->difference->by == DIFFERENCE_BY_SHARE ? "share" : "value",
                   page->layout == FLAME_UNION ? "the larger of both" : "those after");
    if (page->inverted)
        buf_puts(&note, "merged from the leaves; ");
    buf_puts(&note, order_words[page->order]);
    char count[32];
    text_count(count, (int64_t)d->left_out);
    if (d->left_out)
        buf_printf(&note, "; %s%s frame%s not drawn (--min-share, --max-frames)", page->inverted ? "at least " : "", count,
                   d->left_out == 1 ? " is" : "s are");
    put_line(d, out, (unsigned)y, &note);
}

void svg_foot(const struct flame_drawing *d, double top, struct sink *out)
{
    struct legend l = {.d = d, .out = out, .x = FLAME_MARGIN, .y = top + 18};
    put_legend(&l);
    sink_printf(out, "<text class=\"details\" x=\"%d\" y=\"%g\"></text>\n", FLAME_MARGIN, top + 18);
    put_note(d, top + 48, out);
}
