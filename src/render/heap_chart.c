/*
 * heap_chart.c - live memory over time, as a picture in a page
 *
 * Steps, since memory between two readings was not measured: a line that slopes would claim more. As many points as pixels
 * are drawn, of each the largest: a peak is never left out.
 */
#include "base/mem.h"
#include "base/text.h"
#include "render/heap_view.h"

enum { WIDTH = 1100, HEIGHT = 200, LEFT = 76, TOP = 12, BOTTOM = 24, RIGHT = 12, TICKS = 4 };

struct axes {
    uint64_t from_ns, to_ns;
    double most;
};

static double x_of(const struct axes *a, uint64_t t)
{
    double part = a->to_ns > a->from_ns ? (double)(t - a->from_ns) / (double)(a->to_ns - a->from_ns) : 0;
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *a, double bytes) { return TOP + (1 - bytes / a->most) * (HEIGHT - TOP - BOTTOM); }

/* 1, 2, 4, 8, ... 512 of a binary unit: lines at sizes people know. */
static double nice_step(double most)
{
    double step = 1;
    while (step * TICKS < most)
        step *= 2;
    return step;
}

static struct axes axes_of(const struct heap_view *v)
{
    const struct heap_growth *g = &v->growth;
    uint64_t start = profile_start_ns(v->heap.p);
    struct axes a = {.from_ns = g->moments[0].time_ns, .to_ns = g->moments[g->n - 1].time_ns, .most = 1};
    if (start != TIME_NONE && start < a.from_ns)
        a.from_ns = start;
    for (size_t i = 0; i < g->n; i++)
        a.most = fmax(a.most, (double)g->moments[i].live_bytes);
    a.most = nice_step(a.most) * ceil(a.most / nice_step(a.most));
    return a;
}

static void put_grid(const struct axes *a, struct sink *out)
{
    double step = nice_step(a->most);
    char text[32];
    for (int i = 0; i <= (int)lround(a->most / step); i++) {
        double at = step * i;
        text_bytes(text, at);
        sink_printf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" stroke-opacity=\"%s\"/>"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT, WIDTH - RIGHT, y_of(a, at), y_of(a, at),
                    at > 0 ? ".12" : ".5", LEFT - 8, y_of(a, at) + 4, text);
    }
    for (int i = 0; i <= TICKS; i++) {
        uint64_t t = a->from_ns + (a->to_ns - a->from_ns) / TICKS * (uint64_t)i;
        text_ns(text, (double)(t - a->from_ns));
        sink_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n", x_of(a, t), HEIGHT - 6,
                    i == 0 ? "start" : i == TICKS ? "end" : "middle", text);
    }
}

/* By pixel, the most that was live in it; below 0: nobody looked. */
static double *columns_of(const struct heap_growth *g, const struct axes *a)
{
    double *most = mem_new(WIDTH * sizeof *most);
    for (size_t i = 0; i < WIDTH; i++)
        most[i] = -1;
    for (size_t i = 0; i < g->n; i++) {
        size_t x = (size_t)x_of(a, g->moments[i].time_ns);
        most[x] = fmax(most[x], fmax(0, (double)g->moments[i].live_bytes));
    }
    return most;
}

static void put_steps(const struct heap_growth *g, const struct axes *a, struct sink *out)
{
    own(free) double *most = columns_of(g, a);
    size_t last = LEFT;
    sink_printf(out, "<path d=\"M%d %.1f", LEFT, y_of(a, 0));
    for (size_t x = LEFT; x < WIDTH; x++)
        if (most[x] >= 0) {
            sink_printf(out, "H%zuV%.1f", x, y_of(a, most[x]));
            last = x;
        }
    sink_printf(out, "H%zuV%.1fZ\" fill=\"var(--bar)\" stroke=\"var(--link)\" stroke-width=\"1.5\" stroke-linejoin=\"round\"/>\n", last, y_of(a, 0));
}

void heap_chart_svg(const struct heap_view *v, struct sink *out)
{
    if (!v->has_growth || v->growth.n < 2)
        return;
    struct axes a = axes_of(v);
    char most[32];
    double peak = 0;
    for (size_t i = 0; i < v->growth.n; i++)
        peak = fmax(peak, (double)v->growth.moments[i].live_bytes);
    text_bytes(most, peak);
    sink_puts(out, "<h3>Live memory over time</h3>\n");
    sink_printf(out, "<div class=\"picture\"><svg role=\"img\" aria-label=\"Live memory over time; the most is %s\" style=\"width:100%%;max-width:%dpx;height:auto\" "
                "viewBox=\"0 0 %d %d\" font-size=\"11\" fill=\"currentColor\">\n", most, WIDTH, WIDTH, HEIGHT);
    put_grid(&a, out);
    put_steps(&v->growth, &a, out);
    sink_puts(out, "</svg></div>\n");
}
