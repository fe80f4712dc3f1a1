#include "model/translate.h"

/*
 * Two recordings have two monotonic clocks when they come from two machines or
 * from before and after a restart. The wall clock is what they share, so where
 * both know their offset the second is moved onto the axis of the first.
 */
static int64_t shift_between(const struct profile *first, const struct profile *second)
{
    if (!profile_has_wall_offset(first) || !profile_has_wall_offset(second))
        return 0;
    return profile_wall_offset_ns(second) - profile_wall_offset_ns(first);
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t later(uint64_t a, uint64_t b)
{
    if (a == TIME_NONE || b == TIME_NONE)
        return earlier(a, b);
    return a > b ? a : b;
}

static uint64_t moved(uint64_t time_ns, int64_t by_ns)
{
    return time_ns == TIME_NONE ? TIME_NONE : time_ns + (uint64_t)by_ns;
}

static void merge_clock(struct builder *b, const struct profile *p, int64_t shift_ns)
{
    const struct profile *here = builder_view(b);
    if (!profile_has_wall_offset(p))
        return;
    int64_t offset_ns = profile_has_wall_offset(here) ? profile_wall_offset_ns(here) : profile_wall_offset_ns(p);
    builder_clock(b, earlier(profile_start_ns(here), moved(profile_start_ns(p), shift_ns)),
                  later(profile_end_ns(here), moved(profile_end_ns(p), shift_ns)), offset_ns);
}

void builder_merge(struct builder *b, const struct profile *p)
{
    own(translation) struct translation t;
    translation_init(&t, p, b);
    t.shift_ns = shift_between(builder_view(b), p);
    merge_clock(b, p, t.shift_ns);
    translate_stacks(&t, NULL, NULL);
    for (uint32_t s = 0; s < profile_sets(p); s++) {
        set_id to = translate_set(&t, (set_id){s});
        for (size_t i = 0; i < profile_set(p, (set_id){s})->n; i++)
            translate_sample(&t, (set_id){s}, to, i);
    }
    translate_spans(&t, NULL);
    translate_series(&t, 0, TIME_NONE);
    translate_rest(&t);
}
