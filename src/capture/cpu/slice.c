#include "capture/cpu/slice.h"

/* A record has room for 64 KiB; the largest leaves some for what else is in it. */
const uint32_t slice_bytes[SLICE_COUNT] = {2 << 10, 4 << 10, 16 << 10, 62 << 10};

/* So many slices a ring should hold: a tenth of a second at 1000 Hz, and a sample that is lost is worse than one that is cut. */
enum { SLICES_IN_RING = 100 };

/* Samples that show what a program needs: the first ones, and later one in so many, since looking costs the recorder time. */
enum { LOOKS = 64, APART = 16 };

/* A slice is too small when so many of the last samples were cut by its end. */
enum { WINDOW = 1000, CUT_MOST = 2 };

struct slice slice_first(size_t ring_bytes)
{
    size_t size = SLICE_COUNT - 1;
    while (size > 0 && (size_t)slice_bytes[size] * SLICES_IN_RING > ring_bytes)
        size--;
    return (struct slice){.now = size, .first = size};
}

bool slice_wants_look(struct slice *s)
{
    if (s->now <= s->least)
        return false;
    if (!s->has_settled)
        return true;
    s->until_look = s->until_look ? s->until_look - 1 : APART - 1;
    return s->until_look == 0;
}

bool slice_needed(struct slice *s, size_t size)
{
    if (size > s->deepest)
        s->deepest = size;
    if (++s->looks < LOOKS)
        return false;
    size_t enough = s->deepest > s->least ? s->deepest : s->least;
    bool is_smaller = enough < s->now;
    if (is_smaller)
        s->now = enough;
    s->has_settled = true;
    s->deepest = s->looks = 0;
    return is_smaller;
}

bool slice_saw(struct slice *s, bool is_cut)
{
    if (s->looked == WINDOW)
        s->looked = s->cut = 0;
    s->looked++;
    s->cut += is_cut;
    if (s->cut < CUT_MOST || s->now + 1 >= SLICE_COUNT)
        return false;
    s->least = s->now + 1;
    s->now = s->least > s->first ? s->least : s->first;
    s->has_settled = false;
    s->deepest = s->looks = s->looked = s->cut = 0;
    return true;
}
