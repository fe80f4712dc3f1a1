#include "lab/joining.h"
#include "base/mem.h"
#include "base/own.h"

struct candidate {
    double cost;
    uint32_t left, right, token;
    size_t bytes; /* of both when they were looked at: a candidate whose parts have grown is out of date */
};

struct heap {
    struct candidate *at;
    size_t n, cap;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    return a->cost < b->cost || (!(b->cost < a->cost) && a->left < b->left);
}

static void heap_push(struct heap *h, struct candidate c)
{
    GROW(h->at, h->cap, h->n + 1);
    size_t i = h->n++;
    for (; i && is_better(&c, &h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = c;
}

static struct candidate heap_pop(struct heap *h)
{
    struct candidate best = h->at[0], last = h->at[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && is_better(&h->at[child + 1], &h->at[child]))
            child++;
        if (!is_better(&h->at[child], &last))
            break;
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    return best;
}

static void look_at(struct heap *h, const struct symbol *s, uint32_t left, uint32_t right, symbols_pair pair, const void *self)
{
    struct candidate c = {.left = left, .right = right};
    if (left == SYMBOL_NONE || right == SYMBOL_NONE || !pair(self, &s[left], &s[right], &c.token, &c.cost))
        return;
    c.bytes = s[left].text.n + s[right].text.n;
    heap_push(h, c);
}

static void join(struct symbol *s, const struct candidate *c)
{
    struct symbol *left = &s[c->left], *right = &s[c->right];
    left->token = c->token;
    left->text.n += right->text.n;
    right->text.n = 0;
    left->after = right->after;
    if (right->after != SYMBOL_NONE)
        s[right->after].before = c->left;
}

void symbols_join(struct symbol *s, size_t n, symbols_pair pair, const void *self)
{
    struct heap h = {0};
    for (uint32_t i = 0; i + 1 < n; i++)
        look_at(&h, s, i, i + 1, pair, self);
    while (h.n) {
        struct candidate c = heap_pop(&h);
        struct symbol *left = &s[c.left];
        if (!left->text.n || !s[c.right].text.n || left->text.n + s[c.right].text.n != c.bytes)
            continue;
        join(s, &c);
        look_at(&h, s, left->before, c.left, pair, self);
        look_at(&h, s, c.left, left->after, pair, self);
    }
    free(h.at);
}
