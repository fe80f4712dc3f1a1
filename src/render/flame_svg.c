/*
 *     title
 *     what was measured                        flame_svg_parts.c
 *     ┌──────┐┌──┐
 *     │      ││  │      one <g> for each box: its tool-tip, its rectangle, as much of its name as fits
 *     └──────┘└──┘
 *     legend; what is not drawn                flame_svg_parts.c
 */
#include "render/flame_svg.h"
#include "base/text.h"
#include "render/flame_label.h"
#include "flame_script.h" /* FLAME_SCRIPT, made by the build from flame_svg.js */
#include "render/flame_svg_parts.h"
#include "render/names.h"

static double inner_width(const struct flame_page *page) { return (double)page->width - 2 * FLAME_MARGIN; }

static double row_at(const struct flame_drawing *d, uint32_t depth)
{
    return (double)(d->page->icicle ? depth : d->layout.deepest - depth) * FLAME_PITCH;
}

static void put_attribute(struct sink *out, const char *name, double value)
{
    sink_puts(out, name);
    sink_puts(out, "=\"");
    svg_number(out, value);
    sink_char(out, '"');
}

static void put_colour(struct sink *out, colour c)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = " fill=\"#rrggbb\"";
    for (unsigned i = 0; i < 6; i++)
        text[8 + i] = digits[c >> (20 - 4 * i) & 15];
    sink_add(out, (struct view){text, sizeof text - 1});
}

static void put_rect(struct sink *out, double x, double y, double wide)
{
    put_attribute(out, "<rect x", x);
    put_attribute(out, " y", y);
    put_attribute(out, " width", wide);
    sink_printf(out, " height=\"%d\"", FLAME_BOX);
}

static void put_label(struct sink *out, struct view name, double x, double y, double wide, colour fill)
{
    double letter = FLAME_FONT * FLAME_LETTER_WIDTH_PERCENT / 100.0;
    if (wide < 6 + 3 * letter)
        return;
    own(buf) struct buf label;
    buf_init(&label, 16384);
    label_fit(&label, name, (size_t)((wide - 6) / letter));
    put_attribute(out, "<text x", x + 3);
    put_attribute(out, " y", y + 11.5);
    put_colour(out, flame_text_on(fill));
    sink_char(out, '>');
    text_markup(out, buf_view(&label), 0);
    sink_puts(out, "</text>");
}

static void put_box(const struct flame_drawing *d, const struct flame_box *box, struct sink *out)
{
    double x = box->at * inner_width(d->page), wide = box->wide * inner_width(d->page), y = row_at(d, box->depth);
    colour fill = flame_fill(d, box->node);
    char room[NAME_ROOM];
    sink_puts(out, "<g><title>");
    flame_title(d, box->node, out);
    sink_puts(out, "</title>");
    put_rect(out, x, y, wide);
    put_colour(out, fill);
    sink_puts(out, "/>");
    enum change presence = flame_presence(d, box->node);
    if (presence != CHANGE_SAME) {
        put_rect(out, x, y, wide);
        sink_printf(out, " class=\"h\" fill=\"url(#inferom-%s)\"/>", change_words[presence]);
    }
    put_label(out, flame_name(d, box->node, room), x, y, wide, fill);
    sink_puts(out, "</g>\n");
}

static void put_boxes(const struct flame_drawing *d, double top, struct sink *out)
{
    sink_printf(out, "<g class=\"frames\" transform=\"translate(%d ", FLAME_MARGIN);
    svg_number(out, top);
    sink_printf(out, ")\" data-width=\"%u\" data-margin=\"%d\" data-pitch=\"%d\" data-icicle=\"%d\">\n",
                d->page->width - 2 * FLAME_MARGIN, FLAME_MARGIN, FLAME_PITCH, d->page->icicle);
    for (size_t i = 0; i < d->layout.n; i++)
        put_box(d, &d->layout.boxes[i], out);
    sink_puts(out, "</g>\n");
}

/* New frames are hatched one way, frames that are gone the other. */
static void put_patterns(struct sink *out)
{
    static const char *const pattern =
        "<pattern id=\"inferom-%s\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(%d)\">"
        "<rect width=\"2\" height=\"6\" fill=\"#fff\" fill-opacity=\".3\"/></pattern>";
    sink_puts(out, "<defs>");
    sink_printf(out, pattern, change_words[CHANGE_NEW], 45);
    sink_printf(out, pattern, change_words[CHANGE_GONE], -45);
    sink_puts(out, "</defs>\n");
}

static void put_picture(const struct flame_drawing *d, struct sink *out)
{
    unsigned width = d->page->width, top = svg_head_height(d);
    unsigned bottom = top + (d->layout.deepest + 1) * FLAME_PITCH, height = bottom + FLAME_FOOT_HEIGHT;
    sink_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    sink_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
                     "aria-label=\"",
                width, height, width, height);
    svg_title(d, out, 200);
    sink_puts(out, "\">\n");
    svg_style(out, d->page->theme);
    if (d->page->difference)
        put_patterns(out);
    sink_puts(out, "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
    svg_head(d, out);
    put_boxes(d, top, out);
    svg_foot(d, bottom, out);
    sink_puts(out, "<script><![CDATA[\n" FLAME_SCRIPT "]]></script>\n</svg>\n");
}

/* A box cannot be narrower than nothing, nor a callee wider than its caller. */
static bool can_be_drawn(const struct call_tree *t, struct err *e)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].self < 0)
            return err_set(e, ERR_UNSUPPORTED, "a flame graph shows amounts, and some of these are below zero");
    if (t->nodes[0].total == 0)
        return err_set(e, ERR_UNSUPPORTED, "a flame graph shows amounts, and these add up to nothing");
    return true;
}

bool flame_svg_write(const struct flame_page *page, struct sink *out, struct err *e)
{
    own(flame_drawing) struct flame_drawing d;
    flame_drawing_init(&d, page);
    if (!can_be_drawn(&d.tree, e))
        return false;
    put_picture(&d, out);
    return true;
}
