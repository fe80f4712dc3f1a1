#include "model/weights.h"
#include "base/mem.h"

struct weights weights_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    size_t n = profile_stacks(p);
    struct weights w = {.self = mem_new(n * sizeof *w.self), .total = mem_new(n * sizeof *w.total)};
    for (size_t i = 0; i < set->n; i++)
        w.self[set->stacks[i].i] = weights_sum(w.self[set->stacks[i].i], set->values[measure][i]);
    memcpy(w.total, w.self, n * sizeof *w.total);
    /* A callee's id is larger than its caller's, so going down the ids is going towards the root. */
    for (uint32_t s = (uint32_t)n - 1; s > 0; s--) {
        int64_t *caller = &w.total[profile_stack(p, (stack_id){s})->caller.i];
        *caller = weights_sum(*caller, w.total[s]);
    }
    return w;
}

void weights_done(struct weights *w)
{
    free(w->self);
    free(w->total);
    *w = (struct weights){0};
}
