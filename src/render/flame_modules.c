#include "render/flame_modules.h"
#include "base/mem.h"

static struct view name_of(const struct profile *p, uint32_t mapping)
{
    return view_last_part(profile_string(p, profile_mapping(p, (mapping_id){mapping})->path));
}

static uint32_t row_named(struct flame_modules *m, struct view name)
{
    uint32_t row = 0;
    while (row < m->n && !view_same(m->rows[row].name, name))
        row++;
    m->n += row == m->n;
    m->rows[row].name = name;
    return row;
}

static int heaviest_first(const void *pa, const void *pb)
{
    const struct flame_module *a = pa, *b = pb;
    if (a->self != b->self)
        return a->self < b->self ? 1 : -1;
    return view_compare(a->name, b->name);
}

/* The favourite, or the next that nobody has; when all are taken, the favourite after all. */
static void choose_colours(struct flame_modules *m)
{
    bool taken[FLAME_PALETTE] = {false};
    for (size_t i = 0; i < m->n; i++) {
        if (!m->rows[i].name.n) {
            m->rows[i].is = FLAME_NEUTRAL;
            continue;
        }
        size_t favourite = flame_favourite(m->rows[i].name), next = 0;
        while (next < FLAME_PALETTE && taken[(favourite + next) % FLAME_PALETTE])
            next++;
        size_t chosen = (favourite + next) % FLAME_PALETTE;
        taken[chosen] = true;
        m->rows[i].is = flame_palette(chosen);
    }
}

struct flame_modules flame_modules_of(const struct profile *p, const struct call_tree *t)
{
    size_t n = profile_mappings(p);
    own(free) int64_t *self = mem_new(n * sizeof *self); /* by mapping id */
    for (size_t i = 1; i < t->n; i++)
        self[profile_function(p, t->nodes[i].function)->mapping.i] += t->nodes[i].self;
    struct flame_modules m = {.rows = mem_new(n * sizeof *m.rows), .row_of = mem_new(n * sizeof *m.row_of)};
    for (uint32_t i = 0; i < n; i++)
        m.rows[row_named(&m, name_of(p, i))].self += self[i];
    qsort(m.rows, m.n, sizeof *m.rows, heaviest_first);
    choose_colours(&m);
    for (uint32_t i = 0; i < n; i++)
        m.row_of[i] = row_named(&m, name_of(p, i));
    return m;
}

void flame_modules_done(struct flame_modules *m)
{
    free(m->rows);
    free(m->row_of);
    *m = (struct flame_modules){0};
}

colour flame_modules_colour(const struct flame_modules *m, const struct profile *p, func_id f)
{
    return m->rows[m->row_of[profile_function(p, f)->mapping.i]].is;
}
