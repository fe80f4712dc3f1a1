#include "analyse/by_thread.h"
#include "analyse/call_tree.h"
#include "base/mem.h"

/* The nodes from the root to where the last sample was. */
struct trail {
    struct call_tree tree;
    uint32_t *path;
    size_t n, cap;
    stack_id *stack; /* of the sample in hand, leaf first */
    size_t cap_stack;
};

static uint32_t new_node(struct trail *t, uint32_t parent, const struct frame *f)
{
    GROW(t->tree.nodes, t->tree.cap, t->tree.n + 1);
    t->tree.nodes[t->tree.n] = (struct call_node){.parent = parent, .function = f->function, .kind = f->kind};
    return (uint32_t)t->tree.n++;
}

/* Stays on the trail as long as the functions are the same; from there on everything is a new call. */
static void add_sample(struct trail *t, const struct profile *p, stack_id leaf, int64_t value)
{
    size_t depth = 0, same = 0;
    for (stack_id s = leaf; s.i != STACK_ROOT.i; s = profile_stack(p, s)->caller) {
        GROW(t->stack, t->cap_stack, depth + 1);
        t->stack[depth++] = s;
    }
    uint32_t at = 0;
    for (size_t i = 0; i < depth; i++) {
        const struct frame *f = profile_frame(p, profile_stack(p, t->stack[depth - 1 - i])->frame);
        bool stays = same == i && i < t->n && t->tree.nodes[t->path[i]].function.i == f->function.i;
        same += stays;
        at = stays ? t->path[i] : new_node(t, at, f);
        GROW(t->path, t->cap, i + 1);
        t->path[i] = at;
    }
    t->n = depth;
    t->tree.nodes[at].self += value;
}

struct call_tree call_tree_in_time(const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct trail t = {0};
    own(by_thread) struct by_thread threads = by_thread_of(p, set, measure);
    new_node(&t, 0, profile_frame(p, (frame_id){0}));
    for (size_t k = 0; k < threads.n; k++) {
        t.n = 0; /* what another thread did is no part of this one's calls */
        for (size_t i = 0; i < threads.rows[k].n; i++) {
            size_t sample = threads.rows[k].samples[i];
            add_sample(&t, p, set->stacks[sample], set->values[measure][sample]);
        }
    }
    free(t.path);
    free(t.stack);
    call_tree_add_up(&t.tree);
    call_tree_link(&t.tree);
    return t.tree;
}
