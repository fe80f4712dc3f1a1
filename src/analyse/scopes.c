#include "analyse/scopes.h"
#include "base/mem.h"

static struct scope_stats *row_of(struct scopes *s, uint32_t *row_by_name, str_id name)
{
    if (!row_by_name[name.i]) {
        GROW(s->rows, s->cap, s->n + 1);
        s->rows[s->n] = (struct scope_stats){.name = name, .least_ns = -1, .most_ns = -1};
        row_by_name[name.i] = (uint32_t)++s->n;
    }
    return &s->rows[row_by_name[name.i] - 1];
}

/* Inside another one of its name: that one's length has this one's in it. Ids of parents may be any, so count the steps. */
static bool is_inner(const struct profile *p, const struct span *s)
{
    size_t most = 4096; /* deeper than any program; a hostile file could be made to take for ever */
    for (span_id up = s->parent; up.i && most--; up = profile_span(p, up)->parent)
        if (profile_span(p, up)->name.i == s->name.i && profile_span(p, up)->kind == SPAN_SCOPE)
            return true;
    return false;
}

static void count(struct scope_stats *row, const struct profile *p, const struct span *s)
{
    row->calls++;
    if (s->length_ns == TIME_NONE) {
        row->open++;
        return;
    }
    int64_t ns = (int64_t)s->length_ns;
    row->self_ns += ns;
    row->total_ns += is_inner(p, s) ? 0 : ns;
    row->least_ns = row->least_ns < 0 || ns < row->least_ns ? ns : row->least_ns;
    row->most_ns = ns > row->most_ns ? ns : row->most_ns;
}

static int most_called_first(const void *pa, const void *pb, void *profile)
{
    const struct scope_stats *a = pa, *b = pb;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return view_compare(profile_string(profile, a->name), profile_string(profile, b->name));
}

struct scopes scopes_of(const struct profile *p)
{
    struct scopes all = {0};
    own(free) uint32_t *row_by_name = mem_new(profile_strings(p) * sizeof *row_by_name);
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *s = profile_span(p, (span_id){i});
        if (s->kind != SPAN_SCOPE)
            continue;
        count(row_of(&all, row_by_name, s->name), p, s);
        const struct span *outer = s->parent.i ? profile_span(p, s->parent) : NULL;
        if (outer && outer->kind == SPAN_SCOPE && outer->length_ns != TIME_NONE && s->length_ns != TIME_NONE)
            row_of(&all, row_by_name, outer->name)->self_ns -= (int64_t)s->length_ns;
    }
    if (all.n)
        qsort_r(all.rows, all.n, sizeof *all.rows, most_called_first, (void *)p);
    return all;
}

void scopes_done(struct scopes *s) { free(s->rows); }

const struct scope_stats *scopes_named(const struct scopes *s, str_id name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].name.i == name.i)
            return &s->rows[i];
    return NULL;
}
