#include "render/tree_text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/names.h"

enum { INDENT = 2, NUMBERS = 43 }; /* columns per level; columns the numbers take */

/* One node on the way: shown when met, then its children. A stack may be deeper than ours, so no recursion. */
struct visit {
    uint32_t node;
    uint32_t depth;
};

struct small {
    uint32_t n;
    int64_t total;
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

/* Puts the shown children on the list, the heaviest on top, and says what is not shown. */
static struct small descend(struct walk *w, struct visit at)
{
    const struct call_node *node = &w->t->nodes[at.node];
    uint32_t depth = at.node ? at.depth + 1 : 0;
    struct small hidden = {0};
    for (uint32_t i = node->n_children; i-- > 0;) {
        uint32_t child = call_tree_child(w->t, node, i);
        if (is_shown(w, child, depth)) {
            GROW(w->todo, w->cap, w->n + 1);
            w->todo[w->n++] = (struct visit){child, depth};
        } else {
            hidden.n++;
            hidden.total += w->t->nodes[child].total;
        }
    }
    return hidden;
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
    for (size_t i = 0; i < columns; i++)
        sink_char(out, ' ');
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

static void print_hidden(const struct walk *w, struct small hidden, uint32_t depth, struct sink *out)
{
    if (!hidden.n)
        return;
    sink_printf(out, "%*s", NUMBERS, "");
    print_indent(w->look->style.width, depth, out);
    sink_printf(out, "(%u more, %.1f %%)\n", hidden.n, 100 * share(w->t, hidden.total));
}

void tree_print(const struct call_tree *t, const struct profile *p, const struct tree_look *look, struct sink *out)
{
    struct walk w = {.t = t, .look = look};
    sink_printf(out, "%s%11s %8s  %11s %8s  %s%s\n", look->style.colour ? "\033[1m" : "", "Total", "",
                look->self_title, "", "Function", look->style.colour ? "\033[0m" : "");
    print_hidden(&w, descend(&w, (struct visit){0}), 0, out);
    while (w.n) {
        struct visit at = w.todo[--w.n];
        print_node(&w, p, at, out);
        print_hidden(&w, descend(&w, at), at.depth + 1, out);
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
        const struct call_node *n = &t->nodes[at.node];
        char room[NAME_ROOM];
        struct small hidden = descend(&w, at);
        json_open(j, '{');
        json_key(j, "depth");
        json_uint(j, at.depth);
        json_key(j, "function");
        json_text(j, name_of_function(p, n->function, room));
        json_key(j, "module");
        json_text(j, name_of_module(p, n->function));
        json_value(j, "total", look->measure, n->total);
        json_value(j, "self", look->measure, n->self);
        json_value(j, "not_shown", look->measure, hidden.total);
        json_close(j, '}');
    }
    json_close(j, ']');
    free(w.todo);
}
