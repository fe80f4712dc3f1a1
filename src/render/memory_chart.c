#include "render/memory_chart.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>

enum { WIDTH = 900, HEIGHT = 220, LEFT = 74, RIGHT = 12, TOP = 10, BOTTOM = 26, COLUMNS = 400, LAYERS = 3 };

static const struct {
    enum memory_kind kind;
    const char *css, *title;
} layers[LAYERS] = {
    {MEMORY_USE_ANON, "anon", "anonymous"}, {MEMORY_USE_FILE, "file", "files"}, {MEMORY_USE_SHARED, "shared", "shared"},
};

struct moment {
    uint64_t time_ns;
    double bytes[LAYERS];
};

static double all_of(const struct moment *m) { return m->bytes[0] + m->bytes[1] + m->bytes[2]; }

/* As of the next reading of the first; the others are read together with it, or not at all. `at` are where we are in each. */
static struct moment next_moment(const struct memory_owner *o, size_t at[LAYERS])
{
    const struct series *first = o->of[layers[0].kind];
    struct moment m = {.time_ns = first->readings[at[0]].time_ns};
    for (size_t k = 0; k < LAYERS; k++) {
        const struct series *s = o->of[layers[k].kind];
        while (s && at[k] < s->n && s->readings[at[k]].time_ns <= m.time_ns)
            at[k]++;
        double bytes = s && at[k] ? s->readings[at[k] - 1].value : 0;
        m.bytes[k] = bytes > 0 ? bytes : 0;
    }
    return m;
}

static size_t moments_of(const struct memory_owner *o, struct moment out[COLUMNS])
{
    const struct series *s = o->of[layers[0].kind];
    size_t n = 0, at[LAYERS] = {0}, per_column = (s->n + COLUMNS - 1) / COLUMNS, taken = 0;
    while (at[0] < s->n && n <= COLUMNS) {
        struct moment m = next_moment(o, at);
        if (taken++ % per_column == 0)
            out[n++] = m;
        else if (all_of(&m) > all_of(&out[n - 1]))
            out[n - 1] = m;
    }
    return n;
}

struct scale {
    uint64_t from_ns, to_ns;
    double most;
};

static double x_of(const struct scale *s, uint64_t ns)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (double)(ns - s->from_ns) / (double)(s->to_ns - s->from_ns);
}

static double y_of(const struct scale *s, double bytes) { return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * bytes / s->most; }

/* Powers of two: round numbers of bytes, as they are written. */
static double step_of(double most)
{
    double step = 1;
    while (most / step > 4)
        step *= 2;
    return step;
}

/* 1, 2 or 5 times a power of ten, so that there are four to ten of them. */
static double seconds_of(double length_s)
{
    double step = pow(10, floor(log10(length_s)) - 1);
    static const double larger[] = {2, 2.5, 2};
    for (size_t i = 0; length_s / step > 9; i++)
        step *= larger[i % 3];
    return step;
}

static void put_grid(const struct scale *s, struct sink *out)
{
    char text[32];
    double step = step_of(s->most);
    for (unsigned i = 0; i * step <= s->most; i++) {
        double bytes = i * step;
        text_bytes(text, bytes);
        sink_printf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT,
                    WIDTH - RIGHT, y_of(s, bytes), y_of(s, bytes), LEFT - 6, y_of(s, bytes) + 4, text);
    }
    double length_s = (double)(s->to_ns - s->from_ns) / 1e9, step_s = seconds_of(length_s);
    for (unsigned i = 0; i * step_s <= length_s; i++) {
        double at_s = i * step_s;
        double x = x_of(s, s->from_ns + (uint64_t)(at_s * 1e9));
        sink_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%.6g s</text>\n", x, HEIGHT - 8, i ? "middle" : "start", at_s);
    }
}

static void put_layer(const struct moment *m, size_t n, size_t layer, const struct scale *s, struct sink *out)
{
    sink_printf(out, "<path class=\"%s\" d=\"M", layers[layer].css);
    for (size_t edge = 0; edge < 2; edge++) { /* the upper one forwards, the lower one back */
        for (size_t k = 0; k < n; k++) {
            size_t i = edge ? n - 1 - k : k;
            double bytes = 0;
            for (size_t below = 0; below < layer + !edge; below++)
                bytes += m[i].bytes[below];
            sink_printf(out, "%s%.1f,%.1f", edge || k ? "L" : "", x_of(s, m[i].time_ns), y_of(s, bytes));
        }
    }
    sink_puts(out, "Z\"/>\n");
}

void memory_chart(const struct profile *p, const struct memory_owner *o, struct sink *out)
{
    const struct series *first = o->of[layers[0].kind];
    if (!first || first->n < 2)
        return;
    own(free) struct moment *m = mem_new((COLUMNS + 1) * sizeof *m);
    size_t n = moments_of(o, m);
    struct scale s = {.from_ns = profile_start_ns(p), .to_ns = m[n - 1].time_ns, .most = 1};
    if (s.from_ns > m[0].time_ns)
        s.from_ns = m[0].time_ns;
    for (size_t i = 0; i < n; i++)
        s.most = fmax(s.most, 1.05 * all_of(&m[i]));
    if (s.to_ns <= s.from_ns)
        return;
    sink_printf(out, "<figure class=\"memory\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Resident memory over time\">\n", WIDTH, HEIGHT);
    for (size_t i = 0; i < LAYERS; i++)
        put_layer(m, n, i, &s, out);
    put_grid(&s, out);
    sink_puts(out, "</svg><figcaption>Resident memory of ");
    text_markup(out, o->name, 40);
    sink_printf(out, " (%lld): ", (long long)o->pid);
    for (size_t i = 0; i < LAYERS; i++)
        sink_printf(out, "<span class=\"%s\"></span>%s ", layers[i].css, layers[i].title);
    sink_puts(out, "</figcaption></figure>\n");
}
