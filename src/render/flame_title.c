/*
 * What a tool-tip says:
 *
 *     ggml_mul_mat
 *     total 12.5 s, 12 500 samples, 41.67 %
 *     self 1.2 s, 1 200 samples, 4.00 %
 *     ggml.c:42, libggml.so
 */
#include "base/text.h"
#include "render/flame_drawing.h"
#include "render/measured.h"
#include "render/names.h"

#include <math.h>

enum { LONGEST_NAME = 1000 };

static struct view measure_name(const struct flame_drawing *d) { return profile_string(d->p, d->measure.name); }

static bool is_of_samples(const struct flame_drawing *d) { return view_same(measure_name(d), VIEW("samples")); }

/* "12.5 s", "12 500 samples", "64 alloc_objects" */
static void put_value(const struct flame_drawing *d, struct sink *out, int64_t value)
{
    char text[32];
    value_text(text, &d->measure, value);
    sink_puts(out, text);
    if (d->measure.unit != UNIT_COUNT && d->measure.unit != UNIT_OTHER)
        return;
    struct view unit = profile_string(d->p, d->measure.unit_name);
    bool is_one = !strcmp(text, "1") && is_of_samples(d) && !unit.n;
    sink_char(out, ' ');
    text_markup(out, unit.n ? unit : is_one ? VIEW("sample") : measure_name(d), 60);
}

static void put_samples(const struct flame_drawing *d, struct sink *out, double samples)
{
    if (isnan(samples) || is_of_samples(d))
        return;
    char text[32];
    text_count(text, (int64_t)samples);
    sink_printf(out, ", %s sample%s", text, samples == 1 ? "" : "s");
}

static double percent(int64_t part, int64_t whole) { return whole ? 100 * (double)part / (double)whole : 0; }

static void put_line(const struct flame_drawing *d, struct sink *out, const char *what, int64_t value)
{
    const struct flame_page *page = d->page;
    sink_printf(out, "\n%s ", what);
    put_value(d, out, value);
    put_samples(d, out, measured_samples_in(page->p, page->set, page->measure, value));
    sink_printf(out, ", %.2f %%", percent(value, d->tree.nodes[0].total));
}

/* Two profiles. */

static void put_side(const struct flame_drawing *d, struct sink *out, const char *side, const struct amount *a, int64_t whole)
{
    sink_puts(out, side);
    put_value(d, out, a->value);
    put_samples(d, out, (double)a->samples);
    sink_printf(out, ", %.2f %%", percent(a->value, whole));
}

static void put_change(const struct flame_drawing *d, struct sink *out, const char *what, const struct changed *c)
{
    const struct difference *diff = d->page->difference;
    sink_printf(out, "\n%s: ", what);
    put_side(d, out, "before ", &c->before, diff->whole.before.value);
    put_side(d, out, "; after ", &c->after, diff->whole.after.value);
    int64_t by = c->after.value - c->before.value;
    if (diff->by == DIFFERENCE_BY_SHARE) {
        sink_printf(out, "; %+.2f points", 100 * difference_amount(diff, c));
    } else if (by) {
        sink_puts(out, by < 0 ? "; -" : "; +");
        put_value(d, out, by < 0 ? -by : by);
        if (c->before.value)
            sink_printf(out, " (%+.1f %%)", 100 * (double)by / fabs((double)c->before.value));
    }
    if (c->before.samples || c->after.samples)
        sink_printf(out, ", %s", c->is == CHANGE_SAME ? "inside noise" : change_words[c->is]);
}

static void put_place(const struct flame_drawing *d, struct sink *out, func_id f)
{
    char room[NAME_ROOM];
    struct view place = name_of_place(d->p, f, room), module = name_of_module(d->p, f);
    if (!place.n && !module.n)
        return;
    sink_char(out, '\n');
    text_markup(out, place, 0);
    sink_puts(out, place.n && module.n ? ", " : "");
    text_markup(out, module, 0);
}

void flame_title(const struct flame_drawing *d, uint32_t node, struct sink *out)
{
    const struct call_node *n = &d->tree.nodes[node];
    char room[NAME_ROOM];
    text_markup(out, flame_name(d, node, room), LONGEST_NAME);
    if (d->page->difference) {
        put_change(d, out, "total", &d->page->difference->total[node]);
        put_change(d, out, d->page->inverted ? "no caller" : "self", &d->page->difference->self[node]);
    } else {
        put_line(d, out, "total", n->total);
        put_line(d, out, d->page->inverted ? "no caller" : "self", n->self);
    }
    put_place(d, out, n->function);
}
