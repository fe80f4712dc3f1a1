#include "render/flame_colours.h"

const char *const flame_scheme_names[FLAME_SCHEME_COUNT + 1] = {
    [FLAME_HOT] = "hot",   [FLAME_COLD] = "cold",     [FLAME_RAINBOW] = "rainbow", [FLAME_MONOCHROME] = "monochrome",
    [FLAME_SAFE] = "safe", [FLAME_MODULE] = "module", [FLAME_KIND] = "kind",
    [FLAME_SCHEME_AUTO] = "auto",
};

const char *const flame_diff_colour_names[FLAME_DIFF_COLOURS_COUNT + 1] = {
    [FLAME_BLUE_ORANGE] = "blue-orange",
    [FLAME_RED_GREEN] = "red-green",
};

/* By share. */

enum { ZONES = 6 };

/* Above so much of the whole; the last zone is for everything. */
static const struct zone {
    double above;
    colour is;
} zones[][ZONES] = {
    [FLAME_HOT] = {{0.10, 0xff3030}, {0.05, 0xff8000}, {0.02, 0xffaa00}, {0.01, 0xffcc00}, {-1, 0xffff00}},
    [FLAME_COLD] = {{0.10, 0x0000ff}, {0.05, 0x3366ff}, {0.02, 0x6699ff}, {0.01, 0x99ccff}, {-1, 0xccffff}},
    [FLAME_RAINBOW] = {{0.15, 0xf03b3b}, {0.12, 0xff9f1c}, {0.09, 0xffe045}, {0.06, 0x58c86a}, {0.03, 0x4aa8ff}, {-1, 0xb48ae8}},
    [FLAME_MONOCHROME] = {{0.10, 0x6b6b6b}, {0.05, 0x8f8f8f}, {0.02, 0xb0b0b0}, {0.01, 0xcccccc}, {-1, 0xe6e6e6}},
    [FLAME_SAFE] = {{0.10, 0x35456c}, {0.05, 0x666970}, {0.02, 0x948e77}, {0.01, 0xc8b866}, {-1, 0xfdea45}}, /* steps of cividis */
};

const double flame_share_steps[] = {0.01, 0.02, 0.03, 0.05, 0.06, 0.09, 0.10, 0.12, 0.15};
const size_t flame_share_step_count = sizeof flame_share_steps / sizeof *flame_share_steps;

colour flame_by_share(enum flame_scheme s, double share)
{
    const struct zone *z = zones[s];
    while (z->above >= 0 && share <= z->above)
        z++;
    return z->is;
}

/* By whose code it is. */

/* Light enough for black letters, and apart from each other for most eyes. */
static const colour palette[FLAME_PALETTE] = {
    0x8ecae6, 0xffb703, 0xa7c957, 0xf4978e, 0xcdb4db, 0x74c69d, 0xffd6a5, 0x90a8ed,
    0xe9c46a, 0x80ced7, 0xf2a6c8, 0xc5d86d, 0xb8c0ff, 0xe5989b, 0x9bc1bc, 0xd4a373,
};

/* FNV-1a. */
size_t flame_favourite(struct view name)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < name.n; i++)
        h = (h ^ (unsigned char)name.at[i]) * 16777619u;
    return (h ^ h >> 15) % FLAME_PALETTE;
}

colour flame_palette(size_t i) { return palette[i % FLAME_PALETTE]; }

colour flame_by_kind(enum frame_kind kind)
{
    static const colour kinds[FRAME_KIND_COUNT] = {
        [FRAME_NATIVE] = 0xffb35c, [FRAME_INLINED] = 0xffd9a0, [FRAME_KERNEL] = 0xf28e8e,
        [FRAME_PYTHON] = 0x8fc1e8, [FRAME_SCOPE] = FLAME_NEUTRAL, [FRAME_GPU] = 0xa3d977,
    };
    return kinds[kind];
}

/* By change. */

enum { STRENGTHS = 4 };

static const struct {
    colour more[STRENGTHS], less[STRENGTHS];
} changes[FLAME_DIFF_COLOURS_COUNT] = {
    [FLAME_BLUE_ORANGE] = {{0xfdd9b0, 0xfdb863, 0xf08a24, 0xd35f00}, {0xcfe3f2, 0x92c5de, 0x4a9fd0, 0x1f6fb2}},
    [FLAME_RED_GREEN] = {{0xf9cdc8, 0xf49a90, 0xe8604f, 0xc9291b}, {0xcdebc9, 0x98d594, 0x55b35c, 0x1f8a3b}},
};

colour flame_by_change(enum flame_diff_colours c, enum change is, double part)
{
    size_t strength = part > 0.5 ? 3 : part > 0.25 ? 2 : part > 0.1 ? 1 : 0;
    switch (is) {
    case CHANGE_MORE: return changes[c].more[strength];
    case CHANGE_NEW: return changes[c].more[STRENGTHS - 1];
    case CHANGE_LESS: return changes[c].less[strength];
    case CHANGE_GONE: return changes[c].less[STRENGTHS - 1];
    default: return FLAME_NEUTRAL;
    }
}

/* Light as eyes see it: squares are near enough to the curve of a screen, green counts most and blue least. */
colour flame_text_on(colour fill)
{
    uint32_t r = fill >> 16 & 255, g = fill >> 8 & 255, b = fill & 255;
    double light = (0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b) / (255 * 255);
    return light < 0.18 ? 0xffffff : 0x000000; /* there, both are as easy to read */
}
