#include "render/graph_colours.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

struct rgb {
    double r, g, b;
};

struct stop {
    double at;
    struct rgb colour;
};

static struct rgb mixed(struct rgb a, struct rgb b, double t)
{
    return (struct rgb){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

/* Between the two stops around x. */
static struct rgb on_ramp(const struct stop *stops, size_t n, double x)
{
    if (!(x > stops[0].at))
        return stops[0].colour;
    for (size_t i = 1; i < n; i++)
        if (x < stops[i].at)
            return mixed(stops[i - 1].colour, stops[i].colour, (x - stops[i - 1].at) / (stops[i].at - stops[i - 1].at));
    return stops[n - 1].colour;
}

static void spell(char out[COLOUR_ROOM], struct rgb c)
{
    unsigned r = (unsigned)lround(c.r), g = (unsigned)lround(c.g), b = (unsigned)lround(c.b);
    snprintf(out, COLOUR_ROOM, "#%02x%02x%02x", r & 0xff, g & 0xff, b & 0xff);
}

/* Dark type on light fill and the other way round; the border is the fill, darker. */
static struct node_colours around(struct rgb fill)
{
    static const struct rgb ink = {31, 35, 40}, paper = {255, 255, 255};
    double light = 0.299 * fill.r + 0.587 * fill.g + 0.114 * fill.b;
    struct node_colours c = {0};
    spell(c.fill, fill);
    spell(c.border, mixed(fill, ink, 0.28));
    spell(c.text, light < 140 ? paper : ink);
    return c;
}

static const struct stop heat[] = {
    {0.00, {246, 247, 249}}, {0.04, {252, 246, 236}}, {0.15, {253, 230, 200}},
    {0.40, {249, 193, 131}}, {0.70, {234, 138, 70}},  {1.00, {200, 82, 28}},
};

struct node_colours colours_of_share(double share) { return around(on_ramp(heat, sizeof heat / sizeof *heat, share)); }

struct node_colours colours_plain(void) { return around((struct rgb){252, 252, 253}); }

struct node_colours colours_of_name(struct view module)
{
    static const struct rgb tints[] = {
        {215, 230, 245}, {250, 225, 200}, {213, 238, 221}, {246, 215, 224}, {232, 222, 246}, {252, 240, 198},
        {207, 236, 240}, {236, 226, 212}, {226, 236, 200}, {243, 214, 204}, {219, 222, 232}, {222, 240, 232},
    };
    uint32_t hash = 2166136261u; /* FNV-1a: the same picture everywhere */
    for (size_t i = 0; i < module.n; i++)
        hash = (hash ^ (unsigned char)module.at[i]) * 16777619u;
    return module.n ? around(tints[hash % (sizeof tints / sizeof *tints)]) : colours_plain();
}

static const struct stop more[] = {{0, {238, 240, 242}}, {0.02, {252, 229, 205}}, {0.2, {247, 178, 103}}, {1, {204, 93, 14}}};
static const struct stop less[] = {{0, {238, 240, 242}}, {0.02, {215, 230, 244}}, {0.2, {133, 180, 222}}, {1, {33, 102, 172}}};

static struct rgb change_rgb(double change) { return change < 0 ? on_ramp(less, 4, -change) : on_ramp(more, 4, change); }

struct node_colours colours_of_change(double change) { return around(change_rgb(change)); }

void colour_of_edge(char out[COLOUR_ROOM], double share)
{
    static const struct stop ramp[] = {{0, {178, 185, 194}}, {0.1, {140, 142, 148}}, {0.5, {160, 98, 56}}, {1, {158, 62, 18}}};
    spell(out, on_ramp(ramp, sizeof ramp / sizeof *ramp, share));
}

void colour_of_edge_change(char out[COLOUR_ROOM], double change)
{
    static const struct rgb grey = {166, 172, 180};
    double strong = change < 0 ? -0.3 + 0.7 * change : 0.3 + 0.7 * change; /* a line has less colour than a box */
    spell(out, change == 0 ? grey : change_rgb(strong));
}
