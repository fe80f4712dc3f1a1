#include "render/graph_text.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/graph_names.h"

/* The edges of each node, in the order of the cut: list[first[k] .. first[k + 1]) for the node at place k. */
struct edge_lists {
    uint32_t *first, *list;
};

static struct edge_lists edges_by(const struct graph_picture *d, bool by_caller)
{
    const struct graph_cut *c = d->c;
    struct edge_lists l = {.first = mem_new((c->n_nodes + 2) * sizeof *l.first), .list = mem_new((c->n_edges + 1) * sizeof *l.list)};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < c->n_edges; i++) {
            const struct graph_edge *e = &d->g->edges[c->edges[i]];
            uint32_t place = c->place[by_caller ? e->caller : e->callee];
            if (pass)
                l.list[l.first[place]++] = c->edges[i];
            else
                l.first[place + 1]++;
        }
        for (size_t k = 0; !pass && k <= c->n_nodes; k++)
            l.first[k + 1] += l.first[k];
    }
    return l;
}

static void print_name(const struct graph_picture *d, uint32_t node, struct sink *out)
{
    char room[NAME_ROOM];
    func_id f = d->g->nodes[node].function;
    text_safe(out, name_of_function(d->p, f, room), 0);
    struct view place = graph_place(d->p, f, room);
    if (!place.n)
        return;
    sink_puts(out, "  ");
    text_safe(out, place, 0);
}

/* Right-aligned; the multiplication sign is two bytes and one column. */
static void print_word(const char *word, size_t columns, struct sink *out)
{
    size_t wide = text_columns(view_of(word));
    sink_pad(out, wide < columns ? columns - wide : 0);
    sink_puts(out, word);
}

static void print_edge_numbers(const struct graph_picture *d, const struct graph_edge *e, struct sink *out)
{
    char share[GRAPH_WORD_ROOM] = "-", calls[GRAPH_WORD_ROOM];
    if (d->changes) {
        graph_change_text(share, d->difference, &d->changes->edges[e - d->g->edges]);
        print_word(share, 34, out);
        return;
    }
    if (e->has_value)
        graph_share_text(share, e->value, d->g->whole_total);
    graph_calls_text(calls, d->g, e->calls);
    print_word(share, 25, out);
    print_word(calls, 13, out);
}

static void print_edges(const struct graph_picture *d, const struct edge_lists *l, size_t place, bool to_callees, struct sink *out)
{
    for (uint32_t i = l->first[place]; i < l->first[place + 1]; i++) {
        const struct graph_edge *e = &d->g->edges[l->list[i]];
        print_edge_numbers(d, e, out);
        sink_puts(out, to_callees ? "    > " : "    < ");
        print_name(d, to_callees ? e->callee : e->caller, out);
        sink_char(out, '\n');
    }
}

static void print_node_numbers(const struct graph_picture *d, uint32_t node, struct sink *out)
{
    const struct graph_node *n = &d->g->nodes[node];
    char total[GRAPH_WORD_ROOM], self[GRAPH_WORD_ROOM], calls[GRAPH_WORD_ROOM];
    if (d->changes) {
        graph_change_text(total, d->difference, &d->changes->total[node]);
        graph_change_text(self, d->difference, &d->changes->self[node]);
        print_word(total, 28, out);
        sink_printf(out, "; self %s", self);
        return;
    }
    graph_share_text(total, n->total, d->g->whole_total);
    graph_share_text(self, n->self, d->g->whole);
    graph_calls_text(calls, d->g, n->calls);
    print_word(total, 10, out);
    sink_puts(out, "  self ");
    print_word(self, 8, out);
    print_word(calls, 13, out);
}

static void print_node(const struct graph_picture *d, size_t place, struct sink *out)
{
    print_node_numbers(d, d->c->nodes[place], out);
    sink_puts(out, "  ");
    print_name(d, d->c->nodes[place], out);
    if (d->c->cycle[place])
        sink_printf(out, "  (cycle %u)", d->c->cycle[place]);
    sink_char(out, '\n');
}

void graph_text(const struct graph_picture *d, struct sink *out)
{
    struct edge_lists callers = edges_by(d, false), callees = edges_by(d, true);
    graph_title(d, out);
    sink_puts(out, "\n");
    for (size_t k = 0; k < d->c->n_nodes; k++) {
        sink_char(out, '\n');
        print_node(d, k, out);
        print_edges(d, &callers, k, false, out);
        print_edges(d, &callees, k, true, out);
    }
    free(callers.first);
    free(callers.list);
    free(callees.first);
    free(callees.list);
}
