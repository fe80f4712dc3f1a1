#include "capture/cpu/slice.h"
#include "check.h"

enum { TINY, SMALL, MIDDLE, LARGE };

static void learn(struct slice *s, size_t size, int samples)
{
    for (int i = 0; i < samples; i++)
        if (slice_wants_look(s))
            slice_needed(s, size);
}

static int cuts_until_larger(struct slice *s, int not_cut_between)
{
    for (int cuts = 1; cuts < 10000; cuts++) {
        if (slice_saw(s, true))
            return cuts;
        for (int i = 0; i < not_cut_between; i++)
            if (slice_saw(s, false))
                return -1;
    }
    return 0;
}

static void begins_as_large_as_the_ring_allows(void)
{
    CHECK_EQ(slice_first(8 << 20).now, LARGE);
    CHECK_EQ(slice_first(2 << 20).now, MIDDLE);
    CHECK_EQ(slice_first(512 << 10).now, SMALL);
    CHECK_EQ(slice_first(128 << 10).now, TINY);
}

static void settles_on_what_is_needed(void)
{
    struct slice s = slice_first(64 << 20);
    learn(&s, SMALL, 63);
    CHECK_EQ(s.now, LARGE); /* not yet */
    learn(&s, SMALL, 1000);
    CHECK_EQ(s.now, SMALL);

    s = slice_first(64 << 20);
    learn(&s, MIDDLE, 1); /* one deep stack among the first */
    learn(&s, SMALL, 1000);
    CHECK_EQ(s.now, MIDDLE);
    learn(&s, SMALL, 100); /* and none since */
    CHECK_EQ(s.now, SMALL);

    s = slice_first(128 << 10); /* learning never takes a larger one: the ring has no room */
    learn(&s, LARGE, 1000);
    CHECK_EQ(s.now, TINY);
}

static void begins_anew_when_stacks_are_cut(void)
{
    struct slice s = slice_first(64 << 20);
    learn(&s, TINY, 1000);
    CHECK_EQ(s.now, TINY);
    CHECK_EQ(cuts_until_larger(&s, 0), 2);
    CHECK_EQ(s.now, LARGE);
    learn(&s, MIDDLE, 64);
    CHECK_EQ(s.now, MIDDLE);
    CHECK_EQ(cuts_until_larger(&s, 100), 2);
    CHECK_EQ(s.now, LARGE);
    learn(&s, TINY, 5000); /* what was too small once is not tried again */
    CHECK_EQ(s.now, LARGE);
    CHECK_EQ(cuts_until_larger(&s, 0), 0); /* there is no larger one */

    s = slice_first(2 << 20); /* a cut is worse than a ring that holds few */
    CHECK_EQ(cuts_until_larger(&s, 0), 2);
    CHECK_EQ(s.now, LARGE);
}

/* However long it went well before: only the last samples count. And a rare cut is no reason. */
static void looks_at_the_last_samples_only(void)
{
    struct slice s = slice_first(64 << 20);
    learn(&s, SMALL, 1000);
    CHECK_EQ(cuts_until_larger(&s, 1000), 0);
    for (int i = 0; i < 1000000; i++)
        slice_saw(&s, false);
    CHECK(cuts_until_larger(&s, 0) <= 4);
}

int main(void)
{
    begins_as_large_as_the_ring_allows();
    settles_on_what_is_needed();
    begins_anew_when_stacks_are_cut();
    looks_at_the_last_samples_only();
    return CHECK_DONE();
}
