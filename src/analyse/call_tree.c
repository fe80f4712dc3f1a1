#include "analyse/call_tree.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "model/weights.h"

struct growing {
    struct call_tree tree;
    struct idmap map;
};

static bool same_node(const void *nodes, uint32_t i, const void *key)
{
    const struct call_node *a = (const struct call_node *)nodes + i, *n = key;
    return a->parent == n->parent && a->function.i == n->function.i;
}

static uint32_t child_of(struct growing *g, uint32_t parent, func_id function, enum frame_kind kind)
{
    struct call_node row = {.parent = parent, .function = function, .kind = kind};
    uint64_t h = idmap_hash_pair(&g->map, parent, function.i);
    uint32_t found = idmap_find(&g->map, h, same_node, g->tree.nodes, &row);
    if (found != IDMAP_NONE)
        return found;
    GROW(g->tree.nodes, g->tree.cap, g->tree.n + 1);
    found = (uint32_t)g->tree.n++;
    g->tree.nodes[found] = row;
    idmap_add(&g->map, h, found);
    return found;
}

static const struct frame *frame_of(const struct profile *p, uint32_t stack)
{
    return profile_frame(p, profile_stack(p, (stack_id){stack})->frame);
}

/* Callers have smaller ids than callees, so a stack's caller has its node already. */
static void grow_down(struct growing *g, const struct profile *p, const struct weights *w, uint32_t *node_of)
{
    size_t n = profile_stacks(p);
    g->tree.nodes[0].self = w->self[0];
    for (uint32_t s = 1; s < n; s++) {
        const struct frame *f = frame_of(p, s);
        uint32_t caller = node_of[profile_stack(p, (stack_id){s})->caller.i];
        node_of[s] = child_of(g, caller, f->function, f->kind);
        struct call_node *node = &g->tree.nodes[node_of[s]];
        node->self = weights_sum(node->self, w->self[s]);
    }
}

/* Every stack that something was measured at, from its leaf towards the root. */
static void grow_up(struct growing *g, const struct profile *p, const struct weights *w, uint32_t *node_of)
{
    for (uint32_t leaf = 0; leaf < profile_stacks(p); leaf++) {
        if (!w->self[leaf])
            continue;
        uint32_t at = 0;
        for (stack_id s = {leaf}; s.i != STACK_ROOT.i; s = profile_stack(p, s)->caller) {
            const struct frame *f = frame_of(p, s.i);
            at = child_of(g, at, f->function, f->kind);
        }
        g->tree.nodes[at].self = weights_sum(g->tree.nodes[at].self, w->self[leaf]);
        node_of[leaf] = at;
    }
}

/* A child is always younger than its parent: one pass backwards carries everything to the root. */
void call_tree_add_up(struct call_tree *t)
{
    for (size_t i = 0; i < t->n; i++)
        t->nodes[i].total = t->nodes[i].self;
    for (size_t i = t->n - 1; i > 0; i--) {
        struct call_node *parent = &t->nodes[t->nodes[i].parent];
        parent->total = weights_sum(parent->total, t->nodes[i].total);
    }
}

struct order {
    const struct profile *p;
    const struct call_node *nodes;
};

static int compare_names(const struct profile *p, func_id a, func_id b)
{
    return view_compare(profile_string(p, profile_function(p, a)->name), profile_string(p, profile_function(p, b)->name));
}

static int heaviest_first(const void *pa, const void *pb, void *pc)
{
    const struct order *o = pc;
    const struct call_node *a = &o->nodes[*(const uint32_t *)pa], *b = &o->nodes[*(const uint32_t *)pb];
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    int names = compare_names(o->p, a->function, b->function);
    return names ? names : (a->function.i > b->function.i) - (a->function.i < b->function.i);
}

static int first_name_first(const void *pa, const void *pb, void *pc)
{
    const struct order *o = pc;
    const struct call_node *a = &o->nodes[*(const uint32_t *)pa], *b = &o->nodes[*(const uint32_t *)pb];
    int names = compare_names(o->p, a->function, b->function);
    return names ? names : heaviest_first(pa, pb, pc);
}

void call_tree_link(struct call_tree *t)
{
    t->children = mem_resize(t->children, t->n * sizeof *t->children);
    for (size_t i = 0; i < t->n; i++)
        t->nodes[i].n_children = 0;
    for (size_t i = 1; i < t->n; i++)
        t->nodes[t->nodes[i].parent].n_children++;
    uint32_t next = 0;
    for (size_t i = 0; i < t->n; i++) {
        t->nodes[i].first_child = next;
        next += t->nodes[i].n_children;
        t->nodes[i].n_children = 0;
    }
    for (uint32_t i = 1; i < t->n; i++) {
        struct call_node *parent = &t->nodes[t->nodes[i].parent];
        t->children[parent->first_child + parent->n_children++] = i;
    }
}

void call_tree_sort(struct call_tree *t, const struct profile *p, enum call_order order)
{
    struct order o = {p, t->nodes};
    for (size_t i = 0; i < t->n && order != CALL_BY_TIME; i++)
        if (t->nodes[i].n_children > 1)
            qsort_r(t->children + t->nodes[i].first_child, t->nodes[i].n_children, sizeof *t->children,
                    order == CALL_BY_NAME ? first_name_first : heaviest_first, &o);
}

struct call_tree call_tree_with_ends(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted,
                                     uint32_t **out_ends)
{
    struct growing g = {0};
    idmap_init(&g.map);
    GROW(g.tree.nodes, g.tree.cap, 1);
    g.tree.nodes[g.tree.n++] = (struct call_node){0};
    own(weights) struct weights w = weights_of(p, set, measure);
    uint32_t *node_of = mem_new(profile_stacks(p) * sizeof *node_of);
    if (inverted)
        grow_up(&g, p, &w, node_of);
    else
        grow_down(&g, p, &w, node_of);
    idmap_done(&g.map);
    call_tree_add_up(&g.tree);
    call_tree_link(&g.tree);
    call_tree_sort(&g.tree, p, CALL_BY_WEIGHT);
    *out_ends = node_of;
    return g.tree;
}

struct call_tree call_tree_of(const struct profile *p, const struct sample_set *set, size_t measure, bool inverted)
{
    own(free) uint32_t *ends = NULL;
    return call_tree_with_ends(p, set, measure, inverted, &ends);
}

void call_tree_done(struct call_tree *t)
{
    free(t->nodes);
    free(t->children);
    *t = (struct call_tree){0};
}
