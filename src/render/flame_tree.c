#include "render/flame_tree.h"
#include "analyse/call_tree.h"
#include "analyse/function_union.h"
#include "base/mem.h"
#include "model/filter.h"

/* One id space: a profile's own, or that of both joined. */
static bool join(struct flame_tree *t, const struct flame_side *sides, size_t n_sides, stack_id *stacks[], struct err *e)
{
    t->names = sides[0].p;
    if (n_sides == 1)
        return true;
    struct builder *b = builder_new();
    own(function_union) struct function_union u;
    function_union_init(&u, b);
    for (size_t s = n_sides; s-- > 0;) /* the newer one first: its lines are the useful ones */
        stacks[s] = function_union_stacks(&u, sides[s].p);
    if (!builder_finish(b, &t->joined, e))
        return false;
    t->names = t->joined;
    return true;
}

static stack_id joined_stack(stack_id *const stacks[], size_t side, stack_id id)
{
    return stacks[side] ? stacks[side][id.i] : id;
}

/* Everything that ends at each stack, both sides together. */
static struct call_tree grow(const struct flame_tree *t, const struct flame_side *sides, size_t n_sides,
                             stack_id *const stacks[], uint32_t **out_ends)
{
    size_t n = profile_stacks(t->names);
    own(free) int64_t *widths = mem_new(n * sizeof *widths);
    own(free) stack_id *each = mem_new(n * sizeof *each);
    for (uint32_t s = 0; s < n; s++)
        each[s] = (stack_id){s};
    for (size_t side = 0; side < n_sides; side++)
        for (size_t i = 0; i < sides[side].set->n; i++)
            widths[joined_stack(stacks, side, sides[side].set->stacks[i]).i] += flame_value(&sides[side], i);
    struct sample_set all = {.n_measures = 1, .n = n, .stacks = each, .values = {widths}};
    return call_tree_with_ends(t->names, &all, 0, false, out_ends);
}

/* By function of the names: its row here, in order of first sight. */
struct rows {
    uint32_t *row_of;
    size_t cap_functions, cap_kinds;
};

static uint32_t append_row(struct flame_tree *t, struct rows *r, func_id f, enum frame_kind kind)
{
    GROW(t->functions, r->cap_functions, t->n_functions + 1);
    GROW(t->kinds, r->cap_kinds, t->n_functions + 1);
    t->functions[t->n_functions] = f;
    t->kinds[t->n_functions] = kind;
    return (uint32_t)t->n_functions++;
}

static uint32_t row_of(struct flame_tree *t, struct rows *r, func_id f, enum frame_kind kind)
{
    if (!r->row_of[f.i])
        r->row_of[f.i] = append_row(t, r, f, kind);
    else if (t->kinds[r->row_of[f.i]] == FRAME_INLINED)
        t->kinds[r->row_of[f.i]] = kind; /* inlined here and there, but a function of its own somewhere */
    return r->row_of[f.i];
}

/* Writes the tree depth first; by old node: its number here. */
static uint32_t *put_in_order(struct flame_tree *t, const struct call_tree *from, struct rows *r)
{
    uint32_t *number_of = mem_new(from->n * sizeof *number_of);
    own(free) uint32_t *depth = mem_new(from->n * sizeof *depth);
    own(free) uint32_t *waiting = mem_new(from->n * sizeof *waiting);
    t->rise = mem_new(from->n * sizeof *t->rise);
    t->function = mem_new(from->n * sizeof *t->function);
    uint32_t last_depth = 0;
    for (size_t n_waiting = 1; n_waiting;) {
        uint32_t at = waiting[--n_waiting];
        const struct call_node *node = &from->nodes[at];
        if (at) {
            depth[at] = depth[node->parent] + 1;
            t->rise[t->n - 1] = last_depth + 1 - depth[at];
            t->function[t->n - 1] = row_of(t, r, node->function, node->kind);
        }
        last_depth = depth[at];
        number_of[at] = (uint32_t)t->n++;
        for (uint32_t i = node->n_children; i-- > 0;)
            if (from->nodes[call_tree_child(from, node, i)].total > 0)
                waiting[n_waiting++] = call_tree_child(from, node, i);
    }
    return number_of;
}

static void find_system(struct flame_tree *t, const struct rows *r)
{
    t->is_system = mem_new(t->n_functions * sizeof *t->is_system);
    for (uint32_t f = 1; f < profile_frames(t->names); f++) {
        uint32_t row = r->row_of[profile_frame(t->names, (frame_id){f})->function.i];
        t->is_system[row] |= row && frame_is_system(t->names, (frame_id){f});
    }
}

static void map_stacks(struct flame_tree *t, const struct flame_side *sides, size_t n_sides, stack_id *const stacks[],
                       const uint32_t *ends, const uint32_t *number_of)
{
    for (size_t side = 0; side < n_sides; side++) {
        size_t n = profile_stacks(sides[side].p);
        t->node_of[side] = mem_new(n * sizeof *t->node_of[side]);
        for (uint32_t s = 0; s < n; s++)
            t->node_of[side][s] = number_of[ends[joined_stack(stacks, side, (stack_id){s}).i]];
    }
}

bool flame_tree_of(const struct flame_side *sides, size_t n_sides, struct flame_tree *out, struct err *e)
{
    *out = (struct flame_tree){0};
    stack_id *stacks[FLAME_SIDES_MOST] = {NULL};
    if (join(out, sides, n_sides, stacks, e)) {
        own(free) uint32_t *ends = NULL;
        own(call_tree) struct call_tree tree = grow(out, sides, n_sides, stacks, &ends);
        struct rows r = {.row_of = mem_new(profile_functions(out->names) * sizeof *r.row_of)};
        append_row(out, &r, (func_id){0}, FRAME_NATIVE); /* nobody's */
        own(free) uint32_t *number_of = put_in_order(out, &tree, &r);
        find_system(out, &r);
        map_stacks(out, sides, n_sides, stacks, ends, number_of);
        free(r.row_of);
    }
    for (size_t s = 0; s < FLAME_SIDES_MOST; s++)
        free(stacks[s]);
    return out->names && out->n;
}

void flame_tree_done(struct flame_tree *t)
{
    free(t->rise);
    free(t->function);
    free(t->functions);
    free(t->kinds);
    free(t->is_system);
    for (size_t s = 0; s < FLAME_SIDES_MOST; s++)
        free(t->node_of[s]);
    profile_free(t->joined);
    *t = (struct flame_tree){0};
}
