#include "model/weights.h"
#include "base/mem.h"

struct weights weights_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    size_t n = profile_stacks(p);
    struct weights w = {.self = mem_new(n * sizeof *w.self), .total = mem_new(n * sizeof *w.total)};
    for (size_t i = 0; i < set->n; i++)
        w.self[set->stacks[i].i] += set->values[measure][i];
    memcpy(w.total, w.self, n * sizeof *w.total);
    /* A callee's id is larger than its caller's, so going down the ids is going towards the root. */
    for (uint32_t s = (uint32_t)n - 1; s > 0; s--)
        w.total[profile_stack(p, (stack_id){s})->caller.i] += w.total[s];
    return w;
}

void weights_done(struct weights *w)
{
    free(w->self);
    free(w->total);
    *w = (struct weights){0};
}

/* Counting sort by caller. */
struct children children_of(const struct profile *p)
{
    size_t n = profile_stacks(p);
    struct children c = {.first = mem_new((n + 1) * sizeof *c.first), .list = mem_new(n * sizeof *c.list)};
    for (uint32_t s = 1; s < n; s++)
        c.first[profile_stack(p, (stack_id){s})->caller.i + 1]++;
    for (size_t s = 0; s < n; s++)
        c.first[s + 1] += c.first[s];
    own(free) uint32_t *next = mem_resize(NULL, n * sizeof *next);
    memcpy(next, c.first, n * sizeof *next);
    for (uint32_t s = 1; s < n; s++)
        c.list[next[profile_stack(p, (stack_id){s})->caller.i]++] = s;
    return c;
}

void children_done(struct children *c)
{
    free(c->first);
    free(c->list);
    *c = (struct children){0};
}
