#include "analyse/quality.h"
#include "analyse/sampling.h"
#include "model/weights.h"

#include <math.h>

/* The frames a recorder and a reader put where callers are missing. */
static bool is_mark(struct view name)
{
    static const struct view marks[] = {{"[truncated]", 11}, {"[unknown caller]", 16}, {"[lost callers]", 14}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (view_same(name, marks[i]))
            return true;
    return false;
}

/* "[libfoo.so+0x1234]" is what an address becomes that nobody could name. */
static bool is_unnamed(struct view name)
{
    return !name.n || view_same(name, VIEW("[unknown]")) ||
           (name.n > 4 && name.at[0] == '[' && name.at[name.n - 1] == ']' && memmem(name.at, name.n, "+0x", 3));
}

struct quality quality_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct quality q = {.whole = set->measures[measure].total, .taken = samples_taken(p, set),
                        .damages = profile_damages(p)};
    q.counts_lost = samples_lost(p, set, &q.lost);
    own(weights) struct weights w = weights_of(p, set, measure);
    for (uint32_t s = 1; s < profile_stacks(p); s++) {
        const struct stack *at = profile_stack(p, (stack_id){s});
        const struct frame *f = profile_frame(p, at->frame);
        struct view name = profile_string(p, profile_function(p, f->function)->name);
        if (at->caller.i == STACK_ROOT.i && is_mark(name))
            q.cut += w.total[s];
        else if (is_unnamed(name))
            q.unnamed += w.self[s];
        if (f->kind == FRAME_KERNEL)
            q.kernel += w.self[s];
    }
    return q;
}

double quality_lost_share(const struct quality *q)
{
    if (q->taken < 0 || !q->counts_lost)
        return NAN;
    double all = (double)q->lost + (double)q->taken;
    return all > 0 ? (double)q->lost / all : NAN;
}
