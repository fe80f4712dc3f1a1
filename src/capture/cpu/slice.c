#include "capture/cpu/slice.h"

/* A record has room for 64 KiB; the largest leaves some for what else is in it. */
const uint32_t slice_bytes[SLICE_COUNT] = {4 << 10, 16 << 10, 62 << 10};

/* So many slices a ring should hold: a tenth of a second at 1000 Hz, and a sample that is lost is worse than one that is cut. */
enum { SLICES_IN_RING = 100 };

/* Samples that show what a program needs. */
enum { LEARNING = 64 };

/* A slice is too small when so many of the last samples were cut by its end. */
enum { WINDOW = 1000, CUT_MOST = 4 };

struct slice slice_first(size_t ring_bytes)
{
    size_t size = SLICE_COUNT - 1;
    while (size > 0 && (size_t)slice_bytes[size] * SLICES_IN_RING > ring_bytes)
        size--;
    return (struct slice){.now = size};
}

bool slice_is_learning(const struct slice *s) { return s->learned < LEARNING; }

bool slice_needed(struct slice *s, size_t size)
{
    if (size > s->deepest)
        s->deepest = size;
    if (++s->learned < LEARNING || s->deepest >= s->now)
        return false;
    s->now = s->deepest;
    return true;
}

bool slice_saw(struct slice *s, bool is_cut)
{
    if (s->looked == WINDOW)
        s->looked = s->cut = 0;
    s->looked++;
    s->cut += is_cut;
    if (s->cut < CUT_MOST || s->now + 1 >= SLICE_COUNT)
        return false;
    s->now++;
    s->learned = LEARNING;
    s->looked = s->cut = 0;
    return true;
}
