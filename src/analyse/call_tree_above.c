/*
 * A large profile has millions of nodes, and a picture shows some thousand. What is too
 * small is left out while the tree grows: a callee never has more than its caller (and,
 * inverted, a caller not more than those it called), so what is too small has nothing
 * below it that is not.
 */
#include "analyse/call_tree.h"
#include "base/mem.h"
#include "model/weights.h"

static const struct frame *frame_of(const struct profile *p, stack_id s) { return profile_frame(p, profile_stack(p, s)->frame); }

static uint32_t add_node(struct call_tree *t, struct call_node node)
{
    GROW(t->nodes, t->cap, t->n + 1);
    t->nodes[t->n] = node;
    return (uint32_t)t->n++;
}

/* From the whole tree. A parent stands before its children, so one pass is enough. */
static size_t drop_below(struct call_tree *t, int64_t least)
{
    own(free) uint32_t *now = mem_new(t->n * sizeof *now);
    size_t n = 1;
    for (size_t i = 1; i < t->n; i++) {
        if (t->nodes[i].total < least)
            continue;
        now[i] = (uint32_t)n;
        t->nodes[n] = t->nodes[i];
        t->nodes[n].parent = now[t->nodes[i].parent];
        n++;
    }
    size_t dropped = t->n - n;
    t->n = n;
    return dropped;
}

/* From the root down, where two frames are never the same function: stacks are the nodes of the tree already. */

static bool frames_are_functions(const struct profile *p)
{
    own(free) bool *seen = mem_new(profile_functions(p));
    for (uint32_t f = 1; f < profile_frames(p); f++) {
        func_id is = profile_frame(p, (frame_id){f})->function;
        if (seen[is.i])
            return false;
        seen[is.i] = true;
    }
    return true;
}

static struct call_tree stacks_above(const struct profile *p, const struct weights *w, int64_t least, size_t *out_left_out)
{
    struct call_tree t = {0};
    size_t n = profile_stacks(p);
    own(free) uint32_t *node_of = mem_new(n * sizeof *node_of);
    add_node(&t, (struct call_node){.self = w->self[0], .total = w->total[0]});
    for (uint32_t s = 1; s < n; s++) {
        if (w->total[s] < least)
            continue;
        const struct frame *f = frame_of(p, (stack_id){s});
        node_of[s] = add_node(&t, (struct call_node){.parent = node_of[profile_stack(p, (stack_id){s})->caller.i],
                                                     .function = f->function, .kind = f->kind,
                                                     .self = w->self[s], .total = w->total[s]});
    }
    *out_left_out = n - t.n;
    return t;
}

/*
 * From the leaves up. A node is a range of stacks, each walked up so far; the next level
 * sorts the range by the functions it has come to, and keeps those that have enough.
 */

struct walker {
    stack_id at; /* STACK_ROOT: nobody called further */
    int64_t value;
};

struct range {
    uint32_t node;
    size_t from, to;
};

struct ascent {
    const struct profile *p;
    int64_t least;
    struct call_tree tree;
    struct walker *walkers, *moved;
    int64_t *sums;   /* by function, of the range in hand; 0 between ranges */
    size_t *next;    /* by function: where its next walker goes */
    uint32_t *nodes; /* by function: its node under the range in hand; 0: too small */
    struct range *todo;
    size_t n_todo, cap_todo;
    size_t left_out;
};

static func_id function_at(const struct ascent *a, size_t i) { return frame_of(a->p, a->walkers[i].at)->function; }

static void add_up_range(struct ascent *a, struct range r)
{
    for (size_t i = r.from; i < r.to; i++) {
        if (!a->walkers[i].at.i) {
            a->tree.nodes[r.node].self += a->walkers[i].value;
            continue;
        }
        func_id f = function_at(a, i);
        a->sums[f.i] += a->walkers[i].value;
        a->next[f.i]++;
    }
}

/* A node and a range for whoever has enough; what they are is known from the first walker that got there. */
static size_t open_node(struct ascent *a, uint32_t parent, const struct frame *f, size_t at)
{
    if (a->sums[f->function.i] < a->least) {
        a->left_out++;
        a->nodes[f->function.i] = 0;
        return at;
    }
    uint32_t made = add_node(&a->tree, (struct call_node){.parent = parent, .function = f->function, .kind = f->kind,
                                                          .total = a->sums[f->function.i]});
    size_t n = a->next[f->function.i];
    GROW(a->todo, a->cap_todo, a->n_todo + 1);
    a->todo[a->n_todo++] = (struct range){.node = made, .from = at, .to = at + n};
    a->nodes[f->function.i] = made;
    a->next[f->function.i] = at;
    return at + n;
}

static void split_range(struct ascent *a, struct range r)
{
    size_t end = r.from;
    add_up_range(a, r);
    for (size_t i = r.from; i < r.to; i++) {
        if (!a->walkers[i].at.i)
            continue;
        const struct frame *f = frame_of(a->p, a->walkers[i].at);
        if (a->sums[f->function.i]) { /* the first of this function in the range */
            end = open_node(a, r.node, f, end);
            a->sums[f->function.i] = 0;
        }
        if (a->nodes[f->function.i])
            a->moved[a->next[f->function.i]++] =
                (struct walker){profile_stack(a->p, a->walkers[i].at)->caller, a->walkers[i].value};
    }
    for (size_t i = r.from; i < r.to; i++)
        if (a->walkers[i].at.i)
            a->next[function_at(a, i).i] = 0;
    memcpy(a->walkers + r.from, a->moved + r.from, (end - r.from) * sizeof *a->walkers);
}

static size_t set_off(struct ascent *a, const int64_t *self)
{
    size_t n = 0;
    for (uint32_t s = 0; s < profile_stacks(a->p); s++)
        if (self[s])
            a->walkers[n++] = (struct walker){{s}, self[s]};
    return n;
}

static struct call_tree leaves_above(const struct profile *p, const struct weights *w, int64_t least, size_t *out_left_out)
{
    size_t n = profile_stacks(p), functions = profile_functions(p);
    own(free) int64_t *sums = mem_new(functions * sizeof *sums);
    own(free) size_t *next = mem_new(functions * sizeof *next);
    own(free) uint32_t *nodes = mem_new(functions * sizeof *nodes);
    own(free) struct walker *walkers = mem_new(n * sizeof *walkers);
    own(free) struct walker *moved = mem_new(n * sizeof *moved);
    struct ascent a = {.p = p, .least = least, .walkers = walkers, .moved = moved, .sums = sums, .next = next, .nodes = nodes};
    add_node(&a.tree, (struct call_node){.total = w->total[0]});
    GROW(a.todo, a.cap_todo, 1);
    a.todo[a.n_todo++] = (struct range){.to = set_off(&a, w->self)};
    while (a.n_todo)
        split_range(&a, a.todo[--a.n_todo]);
    free(a.todo);
    *out_left_out = a.left_out;
    return a.tree;
}

static bool any_is_negative(const struct sample_set *set, size_t measure)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->values[measure][i] < 0)
            return true;
    return false;
}

/* With negative values a part may be more than the whole, and a callee be kept whose caller is not. */
struct call_tree call_tree_above(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted,
                                 int64_t least, size_t *out_left_out)
{
    struct call_tree t;
    *out_left_out = 0;
    if (least < 1 || any_is_negative(set, measure))
        return call_tree_of(p, set, measure, inverted);
    if (inverted || frames_are_functions(p)) {
        own(weights) struct weights w = weights_of(p, set, measure);
        t = (inverted ? leaves_above : stacks_above)(p, &w, least, out_left_out);
    } else {
        t = call_tree_of(p, set, measure, inverted);
        *out_left_out = drop_below(&t, least);
    }
    call_tree_link(&t);
    call_tree_sort(&t, p, CALL_BY_WEIGHT);
    return t;
}
