#include "capture/cpu/slice.h"
#include "check.h"

enum { SMALL, MIDDLE, LARGE };

static void learn(struct slice *s, size_t size, int n)
{
    for (int i = 0; i < n && slice_is_learning(s); i++)
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
}

static void settles_on_what_is_needed(void)
{
    struct slice s = slice_first(64 << 20);
    learn(&s, SMALL, 63);
    CHECK_EQ(s.now, LARGE); /* not yet */
    learn(&s, SMALL, 1000);
    CHECK_EQ(s.now, SMALL);

    s = slice_first(64 << 20);
    learn(&s, MIDDLE, 1); /* one deep stack among many */
    learn(&s, SMALL, 1000);
    CHECK_EQ(s.now, MIDDLE);

    s = slice_first(128 << 10); /* learning never takes a larger one: the ring has no room */
    learn(&s, LARGE, 1000);
    CHECK_EQ(s.now, SMALL);
}

static void grows_when_stacks_are_cut(void)
{
    struct slice s = slice_first(64 << 20);
    learn(&s, SMALL, 1000);
    CHECK_EQ(cuts_until_larger(&s, 0), 4);
    CHECK_EQ(s.now, MIDDLE);
    CHECK(!slice_is_learning(&s)); /* no way back */
    CHECK_EQ(cuts_until_larger(&s, 100), 4);
    CHECK_EQ(s.now, LARGE);
    CHECK_EQ(cuts_until_larger(&s, 0), 0); /* there is no larger one */
}

/* However long it went well before: only the last samples count. And a rare cut is no reason. */
static void looks_at_the_last_samples_only(void)
{
    struct slice s = slice_first(64 << 20);
    learn(&s, SMALL, 1000);
    CHECK_EQ(cuts_until_larger(&s, 500), 0);
    for (int i = 0; i < 1000000; i++)
        slice_saw(&s, false);
    CHECK(cuts_until_larger(&s, 0) <= 8);
}

int main(void)
{
    begins_as_large_as_the_ring_allows();
    settles_on_what_is_needed();
    grows_when_stacks_are_cut();
    looks_at_the_last_samples_only();
    return CHECK_DONE();
}
