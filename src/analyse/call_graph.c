/*
 * The call tree is walked once, depth first, with a counter for each node and each
 * edge of the graph: how often it is on the path from the root to here. The total of
 * a tree's node goes to a graph's node when that counter was 0, which is exactly
 * "once per sample" since a sample is one path. The cost is that of the tree, not
 * that of samples times depth.
 */
#include "analyse/call_graph.h"
#include "analyse/sampling.h"
#include "analyse/scopes.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "model/counted_calls.h"

struct growing {
    struct call_graph g;
    uint32_t *node_of; /* by function: node + 1 */
    struct idmap edge_map;
};

static void growing_init(struct growing *w, const struct profile *p)
{
    *w = (struct growing){.node_of = mem_new(profile_functions(p) * sizeof *w->node_of)};
    idmap_init(&w->edge_map);
}

static struct call_graph growing_end(struct growing *w)
{
    free(w->node_of);
    idmap_done(&w->edge_map);
    return w->g;
}

static uint32_t node_for(struct growing *w, func_id function, enum frame_kind kind)
{
    uint32_t *node = &w->node_of[function.i];
    if (!*node) {
        GROW(w->g.nodes, w->g.cap_nodes, w->g.n_nodes + 1);
        w->g.nodes[w->g.n_nodes] = (struct graph_node){.function = function, .kind = kind, .calls = CALLS_UNKNOWN};
        *node = (uint32_t)++w->g.n_nodes;
    }
    return *node - 1;
}

static bool same_edge(const void *edges, uint32_t row, const void *key)
{
    const struct graph_edge *a = (const struct graph_edge *)edges + row, *b = key;
    return a->caller == b->caller && a->callee == b->callee;
}

static uint32_t edge_for(struct growing *w, uint32_t caller, uint32_t callee)
{
    struct graph_edge key = {.caller = caller, .callee = callee, .calls = CALLS_UNKNOWN};
    uint64_t h = idmap_hash_pair(&w->edge_map, caller, callee);
    uint32_t row = idmap_find(&w->edge_map, h, same_edge, w->g.edges, &key);
    if (row != IDMAP_NONE)
        return row;
    GROW(w->g.edges, w->g.cap_edges, w->g.n_edges + 1);
    row = (uint32_t)w->g.n_edges++;
    w->g.edges[row] = key;
    idmap_add(&w->edge_map, h, row);
    return row;
}

/* From stacks. */

struct step {
    uint32_t tree_node, next_child, node, edge;
};

struct walk {
    struct growing w;
    const struct call_tree *t;
    struct step *path;
    size_t depth, cap;
    uint32_t *nodes_on_path, *edges_on_path;
    size_t cap_nodes, cap_edges;
    graph_visitor visit;
    void *self;
};

/* How often row i is on the path; rows come to be while we walk. */
static uint32_t *counter(uint32_t **counters, size_t *cap, size_t i)
{
    size_t was = *cap;
    *counters = mem_grow(*counters, cap, i + 1, sizeof **counters);
    if (*cap > was)
        memset(*counters + was, 0, (*cap - was) * sizeof **counters);
    return &(*counters)[i];
}

static void pay(struct walk *k, const struct step *at)
{
    const struct call_node *from = &k->t->nodes[at->tree_node];
    struct graph_visit v = {.tree_node = at->tree_node, .node = at->node, .edge = at->edge};
    v.pays_node = !(*counter(&k->nodes_on_path, &k->cap_nodes, at->node))++;
    if (at->edge != GRAPH_NO_EDGE)
        v.pays_edge = !(*counter(&k->edges_on_path, &k->cap_edges, at->edge))++;
    k->w.g.nodes[at->node].self += from->self;
    if (v.pays_node)
        k->w.g.nodes[at->node].total += from->total;
    if (v.pays_edge) {
        k->w.g.edges[at->edge].value += from->total;
        k->w.g.edges[at->edge].has_value = true;
    }
    if (k->visit)
        k->visit(k->self, &v);
}

static void enter(struct walk *k, uint32_t tree_node)
{
    const struct call_node *n = &k->t->nodes[tree_node];
    struct step at = {.tree_node = tree_node, .node = node_for(&k->w, n->function, n->kind), .edge = GRAPH_NO_EDGE};
    if (k->depth)
        at.edge = edge_for(&k->w, k->path[k->depth - 1].node, at.node);
    pay(k, &at);
    GROW(k->path, k->cap, k->depth + 1);
    k->path[k->depth++] = at;
}

static void leave(struct walk *k)
{
    const struct step *at = &k->path[--k->depth];
    k->nodes_on_path[at->node]--;
    if (at->edge != GRAPH_NO_EDGE)
        k->edges_on_path[at->edge]--;
}

/* The tree has nodes for stacks of other sample sets too: those lead to nothing. */
static bool *leads_somewhere(const struct call_tree *t)
{
    bool *is = mem_new(t->n * sizeof *is);
    for (size_t i = t->n; i-- > 1;) {
        is[i] |= t->nodes[i].self != 0;
        is[t->nodes[i].parent] |= is[i];
    }
    return is;
}

static void walk_below(struct walk *k, uint32_t top, const bool *leads)
{
    enter(k, top);
    while (k->depth) {
        struct step *at = &k->path[k->depth - 1];
        const struct call_node *n = &k->t->nodes[at->tree_node];
        if (at->next_child == n->n_children) {
            leave(k);
            continue;
        }
        uint32_t child = call_tree_child(k->t, n, at->next_child++);
        if (leads[child])
            enter(k, child);
    }
}

struct call_graph call_graph_of_tree(const struct profile *p, const struct call_tree *t, graph_visitor visit, void *self)
{
    struct walk k = {.t = t, .visit = visit, .self = self};
    growing_init(&k.w, p);
    own(free) bool *leads = leads_somewhere(t);
    const struct call_node *root = &t->nodes[0];
    for (uint32_t i = 0; i < root->n_children; i++) {
        uint32_t top = call_tree_child(t, root, i);
        if (leads[top])
            walk_below(&k, top, leads);
    }
    free(k.path);
    free(k.nodes_on_path);
    free(k.edges_on_path);
    k.w.g.whole = k.w.g.whole_total = root->total;
    return growing_end(&k.w);
}

/* From counted calls. */

/* Times are seen as self and cumulative, whichever of the two was chosen; counts as themselves. */
static bool is_time(size_t measure) { return measure == COUNTED_SELF || measure == COUNTED_CUMULATIVE; }

static void take_function(struct growing *w, const struct profile *p, const struct sample_set *set, size_t i, size_t measure)
{
    if (set->stacks[i].i == STACK_ROOT.i)
        return; /* hidden */
    const struct frame *f = profile_frame(p, profile_stack(p, set->stacks[i])->frame);
    uint32_t row = node_for(w, f->function, f->kind);
    struct graph_node *n = &w->g.nodes[row];
    n->self += set->values[is_time(measure) ? COUNTED_SELF : measure][i];
    n->total += set->values[is_time(measure) ? COUNTED_CUMULATIVE : measure][i];
    n->calls = (n->calls == CALLS_UNKNOWN ? 0 : n->calls) + set->values[COUNTED_CALLS][i];
}

static void take_pair(struct growing *w, const struct profile *p, const struct sample_set *set, size_t i, size_t measure)
{
    frame_id caller, callee;
    if (!counted_pair(p, set->stacks[i], &caller, &callee))
        return;
    const struct frame *a = profile_frame(p, caller), *b = profile_frame(p, callee);
    uint32_t from = node_for(w, a->function, a->kind), to = node_for(w, b->function, b->kind);
    uint32_t row = edge_for(w, from, to);
    struct graph_edge *e = &w->g.edges[row];
    e->calls = (e->calls == CALLS_UNKNOWN ? 0 : e->calls) + set->values[COUNTED_CALLS][i];
    size_t shown = is_time(measure) ? COUNTED_CUMULATIVE : measure;
    if (shown >= set->n_measures)
        return; /* these pairs were only counted */
    e->value += set->values[shown][i];
    e->has_value = true;
}

static struct call_graph from_counted(const struct profile *p, const struct counted_calls *counted, size_t measure)
{
    struct growing w;
    growing_init(&w, p);
    for (size_t i = 0; i < counted->functions->n; i++)
        take_function(&w, p, counted->functions, i, measure);
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        for (size_t i = 0; counted_is_calls(p, set, counted) && i < set->n; i++)
            take_pair(&w, p, set, i, measure);
    }
    w.g.counts_samples = counted->is_sampled;
    w.g.whole = w.g.whole_total = counted->functions->measures[is_time(measure) ? COUNTED_SELF : measure].total;
    for (size_t i = 0; i < w.g.n_nodes; i++)
        if (w.g.nodes[i].total > w.g.whole_total)
            w.g.whole_total = w.g.nodes[i].total;
    return growing_end(&w);
}

/* From stacks whose samples say how often the top of the stack was called from the frame below it: scopes. */

static void add_call(struct growing *w, const struct profile *p, stack_id stack, int64_t calls)
{
    const struct stack *top = profile_stack(p, stack);
    uint32_t callee = w->node_of[profile_frame(p, top->frame)->function.i];
    uint32_t caller = top->caller.i == STACK_ROOT.i ? 0 : w->node_of[profile_frame(p, profile_stack(p, top->caller)->frame)->function.i];
    if (!callee)
        return;
    w->g.nodes[callee - 1].calls += calls;
    if (!caller)
        return;
    struct graph_edge *e = &w->g.edges[edge_for(w, caller - 1, callee - 1)];
    e->calls = (e->calls == CALLS_UNKNOWN ? 0 : e->calls) + calls;
}

static struct call_graph with_calls(struct call_graph g, const struct profile *p, const struct sample_set *set, const int64_t *calls)
{
    struct growing w;
    growing_init(&w, p);
    w.g = g;
    for (uint32_t i = 0; i < g.n_nodes; i++) {
        w.node_of[g.nodes[i].function.i] = i + 1;
        w.g.nodes[i].calls = 0;
    }
    for (uint32_t i = 0; i < g.n_edges; i++)
        idmap_add(&w.edge_map, idmap_hash_pair(&w.edge_map, g.edges[i].caller, g.edges[i].callee), i);
    for (size_t i = 0; i < set->n; i++)
        if (set->stacks[i].i != STACK_ROOT.i)
            add_call(&w, p, set->stacks[i], calls[i]);
    return growing_end(&w);
}

struct call_graph call_graph_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    struct counted_calls counted;
    if (counted_calls_of(p, &counted) && set == counted.functions)
        return from_counted(p, &counted, measure);
    own(call_tree) struct call_tree t = call_tree_of(p, set, measure, false);
    struct call_graph g = call_graph_of_tree(p, &t, NULL, NULL);
    return set == scopes_counted(p) ? with_calls(g, p, set, set->values[measure_named(p, set, VIEW("calls"))]) : g;
}

void call_graph_done(struct call_graph *g)
{
    free(g->nodes);
    free(g->edges);
    *g = (struct call_graph){0};
}
