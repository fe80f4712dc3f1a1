#include "symbols/name_ranges.h"
#include "base/mem.h"

static int by_start(const void *pa, const void *pb)
{
    const struct name_range *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->priority > b->priority) - (a->priority < b->priority);
}

struct rows {
    struct name_range *at;
    size_t n, cap;
};

/* Pieces of the same range that touch become one row again. */
static void add_row(struct rows *r, const struct name_range *of, uint64_t start, uint64_t end)
{
    struct name_range *last = r->n ? &r->at[r->n - 1] : NULL;
    if (last && last->end == start && last->name == of->name && last->priority == of->priority) {
        last->end = end;
        return;
    }
    GROW(r->at, r->cap, r->n + 1);
    r->at[r->n] = *of;
    r->at[r->n].start = start;
    r->at[r->n++].end = end;
}

static struct name_ranges fit(struct rows r)
{
    return (struct name_ranges){r.n ? mem_resize(r.at, r.n * sizeof *r.at) : NULL, r.n};
}

/* A heap of the ranges that are open at some address, the one that is seen on top. */
struct pile {
    const struct name_range **at;
    size_t n, cap;
};

static void pile_swap(struct pile *p, size_t i, size_t k)
{
    const struct name_range *was = p->at[i];
    p->at[i] = p->at[k];
    p->at[k] = was;
}

static bool above(const struct pile *p, size_t i, size_t k) { return p->at[i]->priority > p->at[k]->priority; }

static void pile_add(struct pile *p, const struct name_range *r)
{
    GROW(p->at, p->cap, p->n + 1);
    p->at[p->n++] = r;
    for (size_t i = p->n - 1; i && above(p, i, (i - 1) / 2); i = (i - 1) / 2)
        pile_swap(p, i, (i - 1) / 2);
}

static void pile_drop_top(struct pile *p)
{
    p->at[0] = p->at[--p->n];
    for (size_t i = 0, child; (child = 2 * i + 1) < p->n; i = child) {
        if (child + 1 < p->n && above(p, child + 1, child))
            child++;
        if (!above(p, child, i))
            break;
        pile_swap(p, i, child);
    }
}

struct name_ranges name_ranges_make(struct name_range *pieces, size_t n)
{
    if (n)
        qsort(pieces, n, sizeof *pieces, by_start);
    struct rows out = {0};
    struct pile open = {0};
    uint64_t here = 0;
    for (size_t i = 0; i < n || open.n;) {
        if (!open.n)
            here = pieces[i].start;
        for (; i < n && pieces[i].start == here; i++)
            pile_add(&open, &pieces[i]);
        while (open.n && open.at[0]->end <= here)
            pile_drop_top(&open);
        if (!open.n)
            continue;
        const struct name_range *top = open.at[0];
        uint64_t next = i < n && pieces[i].start < top->end ? pieces[i].start : top->end;
        add_row(&out, top, here, next);
        here = next;
    }
    free(open.at);
    return fit(out);
}

/* Each row of `under` without what the rows of `over` hide; `at` is the first of those that may. */
static void add_visible(struct rows *out, const struct name_range *under, const struct name_ranges *over, size_t at)
{
    uint64_t from = under->start;
    for (; at < over->n && over->rows[at].start < under->end; at++) {
        if (over->rows[at].start > from)
            add_row(out, under, from, over->rows[at].start);
        if (over->rows[at].end > from)
            from = over->rows[at].end;
    }
    if (from < under->end)
        add_row(out, under, from, under->end);
}

void name_ranges_cover(struct name_ranges *r, const struct name_ranges *newer)
{
    struct rows left = {0}, out = {0};
    size_t at = 0;
    for (size_t i = 0; i < r->n; i++) {
        while (at < newer->n && newer->rows[at].end <= r->rows[i].start)
            at++;
        add_visible(&left, &r->rows[i], newer, at);
    }
    for (size_t i = 0, k = 0; i < left.n || k < newer->n;) {
        bool is_old = k == newer->n || (i < left.n && left.at[i].start < newer->rows[k].start);
        const struct name_range *row = is_old ? &left.at[i++] : &newer->rows[k++];
        add_row(&out, row, row->start, row->end);
    }
    free(left.at);
    name_ranges_done(r);
    *r = fit(out);
}

void name_ranges_done(struct name_ranges *r)
{
    free(r->rows);
    *r = (struct name_ranges){0};
}

struct view name_ranges_at(const struct name_ranges *r, uint64_t address)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->rows[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->n || address < r->rows[low].start)
        return VIEW("");
    return (struct view){r->rows[low].name, r->rows[low].name_bytes};
}
