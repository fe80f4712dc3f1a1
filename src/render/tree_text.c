#include "render/tree_text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/names.h"

enum { INDENT = 2, NUMBERS = 44 }; /* columns per level; columns the numbers take */

struct small {
    uint32_t n;
    int64_t total;
};

/*
 * One thing still to be shown: a node, or (when small.n is not 0) a remark about siblings
 * that are not. A stack may be deeper than ours, so there is a list instead of recursion.
 */
struct visit {
    uint32_t node;
    uint32_t depth;
    struct small small;
};

struct walk {
    const struct call_tree *t;
    const struct tree_look *look;
    struct visit *todo;
    size_t n, cap;
};

static bool is_shown(const struct walk *w, uint32_t node, uint32_t depth)
{
    int64_t total = w->t->nodes[node].total;
    return llabs(total) >= w->look->min_total && (!w->look->most_depth || depth < w->look->most_depth);
}

static void put(struct walk *w, struct visit v)
{
    GROW(w->todo, w->cap, w->n + 1);
    w->todo[w->n++] = v;
}

static struct small not_shown(const struct walk *w, const struct call_node *node, uint32_t depth)
{
    struct small s = {0};
    for (uint32_t i = 0; i < node->n_children; i++) {
        uint32_t child = call_tree_child(w->t, node, i);
        if (is_shown(w, child, depth))
            continue;
        s.n++;
        s.total += w->t->nodes[child].total;
    }
    return s;
}

/* Puts the children on the list, the heaviest on top, a remark about the small ones below all of them. */
static struct small descend(struct walk *w, struct visit at)
{
    const struct call_node *node = &w->t->nodes[at.node];
    uint32_t depth = at.node ? at.depth + 1 : 0;
    struct small small = not_shown(w, node, depth);
    if (small.n)
        put(w, (struct visit){.depth = depth, .small = small});
    for (uint32_t i = node->n_children; i-- > 0;) {
        uint32_t child = call_tree_child(w->t, node, i);
        if (is_shown(w, child, depth))
            put(w, (struct visit){.node = child, .depth = depth});
    }
    return small;
}

static double share(const struct call_tree *t, int64_t value)
{
    return t->nodes[0].total ? (double)value / (double)t->nodes[0].total : 0;
}

/* Past the middle of the line, depth is written as a number instead. */
static size_t print_indent(unsigned width, uint32_t depth, struct sink *out)
{
    size_t most = width > NUMBERS ? (width - NUMBERS) / 2 : width ? 8 : 80;
    size_t columns = (size_t)depth * INDENT;
    char number[16] = "";
    if (columns > most)
        columns = most - (size_t)snprintf(number, sizeof number, "+%u ", depth);
    sink_pad(out, columns);
    sink_puts(out, number);
    return columns + strlen(number);
}

static void print_numbers(const struct walk *w, const struct call_node *n, struct sink *out)
{
    char total[32], self[32];
    value_text(total, w->look->measure, n->total);
    value_text(self, w->look->measure, n->self);
    sink_printf(out, "%11s %6.1f %%  %11s %6.1f %%  ", total, 100 * share(w->t, n->total), self,
                100 * share(w->t, n->self));
}

static void print_node(const struct walk *w, const struct profile *p, struct visit at, struct sink *out)
{
    const struct call_node *n = &w->t->nodes[at.node];
    unsigned width = w->look->style.width;
    char room[NAME_ROOM];
    print_numbers(w, n, out);
    size_t used = NUMBERS + print_indent(width, at.depth, out);
    text_safe(out, name_of_function(p, n->function, room), width > used + 12 ? width - used : width ? 12 : 0);
    sink_char(out, '\n');
}

static void print_remark(const struct walk *w, struct visit at, struct sink *out)
{
    sink_pad(out, NUMBERS);
    print_indent(w->look->style.width, at.depth, out);
    sink_printf(out, "(%u more, %.1f %%)\n", at.small.n, 100 * share(w->t, at.small.total));
}

void tree_print(const struct call_tree *t, const struct profile *p, const struct tree_look *look, struct sink *out)
{
    struct walk w = {.t = t, .look = look};
    sink_printf(out, "%s%11s %8s  %11s %8s  %s%s\n", look->style.colour ? "\033[1m" : "", "Total", "",
                look->self_title, "", "Function", look->style.colour ? "\033[0m" : "");
    descend(&w, (struct visit){0});
    while (w.n) {
        struct visit at = w.todo[--w.n];
        if (at.small.n) {
            print_remark(&w, at, out);
            continue;
        }
        print_node(&w, p, at, out);
        descend(&w, at);
    }
    free(w.todo);
}

static void json_value(struct json_writer *j, const char *key, const struct measure *m, int64_t value)
{
    json_key(j, key);
    if (m->decimals)
        json_decimal(j, value, m->decimals);
    else
        json_int(j, value);
}

void tree_json(const struct call_tree *t, const struct profile *p, const struct tree_look *look, struct json_writer *j)
{
    struct walk w = {.t = t, .look = look};
    json_open(j, '[');
    descend(&w, (struct visit){0});
    while (w.n) {
        struct visit at = w.todo[--w.n];
        if (at.small.n)
            continue; /* said with its parent */
        const struct call_node *n = &t->nodes[at.node];
        char room[NAME_ROOM];
        struct small small = descend(&w, at);
        json_open(j, '{');
        json_key(j, "depth");
        json_uint(j, at.depth);
        json_key(j, "function");
        json_text(j, name_of_function(p, n->function, room));
        json_key(j, "module");
        json_text(j, name_of_module(p, n->function));
        json_value(j, "total", look->measure, n->total);
        json_value(j, "self", look->measure, n->self);
        json_value(j, "not_shown", look->measure, small.total);
        json_close(j, '}');
    }
    json_close(j, ']');
    free(w.todo);
}
