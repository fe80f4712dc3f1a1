#include "render/graph_names.h"
#include "base/text.h"

struct view graph_place(const struct profile *p, func_id id, char room[NAME_ROOM])
{
    const struct function *f = profile_function(p, id);
    struct view file = view_last_part(profile_string(p, f->file));
    if (!file.n || view_same(file, VIEW("~"))) /* Python's word for "in C" */
        return name_of_module(p, id);
    if (!f->line)
        return file;
    int n = snprintf(room, NAME_ROOM, "%.*s:%u", (int)(file.n < 300 ? file.n : 300), file.at, f->line);
    return (struct view){room, (size_t)n};
}

void graph_share_text(char out[GRAPH_WORD_ROOM], int64_t value, int64_t whole)
{
    snprintf(out, GRAPH_WORD_ROOM, "%.2f %%", whole ? 100 * (double)value / (double)whole : 0);
}

void graph_calls_text(char out[GRAPH_WORD_ROOM], const struct call_graph *g, int64_t n)
{
    char count[32];
    out[0] = '\0';
    if (n == CALLS_UNKNOWN)
        return;
    text_count(count, n);
    snprintf(out, GRAPH_WORD_ROOM, g->counts_samples ? "%s samples" : "%s\u00d7", count);
}

static void side_text(char out[32], const struct difference *d, const struct amount *a, const struct amount *whole)
{
    if (d->by == DIFFERENCE_BY_VALUE)
        value_text(out, &d->measure, a->value);
    else
        snprintf(out, 32, "%.2f %%", whole->value ? 100 * (double)a->value / (double)whole->value : 0);
}

void graph_change_text(char out[GRAPH_WORD_ROOM], const struct difference *d, const struct changed *c)
{
    char before[32], after[32];
    side_text(before, d, &c->before, &d->whole.before);
    side_text(after, d, &c->after, &d->whole.after);
    snprintf(out, GRAPH_WORD_ROOM, "%s \u2192 %s, %s", before, after, change_words[c->is]);
}

void graph_wholes(const struct difference *d, struct sink *out)
{
    char before[32], after[32];
    value_text(before, &d->measure, d->whole.before.value);
    value_text(after, &d->measure, d->whole.after.value);
    sink_printf(out, "%s \u2192 %s%s", before, after, d->measure.unit == UNIT_NS || d->measure.unit == UNIT_BYTES ? " of " : " ");
    text_safe(out, profile_string(d->p, d->measure.name), 60);
}

double graph_change(const struct difference *d, const struct changed *c)
{
    const struct changed *w = &d->whole;
    double whole = (double)(w->before.value > w->after.value ? w->before.value : w->after.value);
    if (c->is == CHANGE_SAME)
        return 0;
    double amount = difference_amount(d, c);
    if (d->by == DIFFERENCE_BY_VALUE)
        amount = whole > 0 ? amount / whole : 0;
    return amount < -1 ? -1 : amount > 1 ? 1 : amount;
}

void graph_extent(const struct profile *p, const struct call_graph *g, const struct graph_cut *c, const struct measure *m,
                  struct sink *out)
{
    char whole[32];
    value_text(whole, m, g->whole);
    sink_printf(out, "%s%s", whole, m->unit == UNIT_NS || m->unit == UNIT_BYTES ? " of " : " ");
    text_safe(out, profile_string(p, m->name), 60);
    graph_counts(g, c, out);
}

void graph_counts(const struct call_graph *g, const struct graph_cut *c, struct sink *out)
{
    sink_printf(out, ", %zu of %zu functions, %zu of %zu calls", c->n_nodes, g->n_nodes, c->n_edges, g->n_edges);
}
