#include "model/settle.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "model/translate.h"

bool set_has_changes(const struct sample_set *set)
{
    for (size_t m = 0; set->time_ns && m < set->n_measures; m++)
        for (size_t i = 0; i < set->n; i++)
            if (set->values[m][i] < 0)
                return true;
    return false;
}

bool set_is_detail(const struct profile *p, const struct sample_set *set)
{
    struct view name = profile_string(p, set->name);
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        struct view of = profile_string(p, profile_set(p, (set_id){k})->name);
        if (of.n && name.n > of.n + 1 && view_starts(name, of) && name.at[of.n] == '.')
            return true;
    }
    return false;
}

bool set_is_of_readings(const struct profile *p, const struct sample_set *set)
{
    static const char *const names[] = {"heap", "heap.left", "heap.lifetimes", "heap.sizes", "heap.variance"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (view_same(profile_string(p, set->name), view_of(names[i])))
            return true;
    return false;
}

bool profile_is_settled(const struct profile *p)
{
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        if (set_has_changes(set) || set_is_detail(p, set))
            return false;
    }
    return true;
}

/* One row for each stack and context. */

struct settled_row {
    stack_id stack;
    context_id context;
    int64_t values[MEASURES_MOST];
};

struct settling {
    struct settled_row *rows;
    size_t n, cap;
    struct idmap map;
};

static bool same_row(const void *rows, uint32_t i, const void *key)
{
    const struct settled_row *a = (const struct settled_row *)rows + i, *b = key;
    return a->stack.i == b->stack.i && a->context.i == b->context.i;
}

static struct settled_row *row_for(struct settling *s, stack_id stack, context_id context)
{
    struct settled_row key = {.stack = stack, .context = context};
    uint64_t h = idmap_hash_pair(&s->map, stack.i, context.i);
    uint32_t found = idmap_find(&s->map, h, same_row, s->rows, &key);
    if (found == IDMAP_NONE) {
        GROW(s->rows, s->cap, s->n + 1);
        found = (uint32_t)s->n++;
        s->rows[found] = key;
        idmap_add(&s->map, h, found);
    }
    return &s->rows[found];
}

/* False: the values of one stack add up past 2^63. */
static bool add_up(struct settling *s, const struct sample_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        struct settled_row *r = row_for(s, set->stacks[i], set->contexts ? set->contexts[i] : (context_id){0});
        for (size_t m = 0; m < set->n_measures; m++)
            if (__builtin_add_overflow(r->values[m], set->values[m][i], &r->values[m]))
                return false;
    }
    return true;
}

static bool settle(struct translation *t, set_id from, set_id to)
{
    struct settling s = {0};
    idmap_init(&s.map);
    bool ok = add_up(&s, profile_set(t->from, from));
    for (size_t i = 0; ok && i < s.n; i++)
        builder_sample(t->to, to, TIME_NONE, translate_context(t, s.rows[i].context), (stack_id){t->stacks[s.rows[i].stack.i]}, s.rows[i].values);
    idmap_done(&s.map);
    free(s.rows);
    return ok;
}

static bool copy_sets(struct translation *t, struct err *e)
{
    for (uint32_t k = 0; k < profile_sets(t->from); k++) {
        const struct sample_set *set = profile_set(t->from, (set_id){k});
        if (set_is_detail(t->from, set))
            continue;
        set_id to = translate_set(t, (set_id){k});
        if (set_has_changes(set)) {
            if (!settle(t, (set_id){k}, to))
                return err_set(e, ERR_LIMIT, "the values of one stack add up past 2^63");
            continue;
        }
        for (size_t i = 0; i < set->n; i++)
            translate_sample(t, (set_id){k}, to, i);
    }
    return true;
}

bool profile_settled(const struct profile *p, struct profile **out, struct err *e)
{
    own(builder) struct builder *b = builder_new();
    own(translation) struct translation t;
    translation_init(&t, p, b);
    if (profile_has_wall_offset(p))
        builder_clock(b, profile_start_ns(p), profile_end_ns(p), profile_wall_offset_ns(p));
    translate_stacks(&t, NULL, NULL);
    if (!copy_sets(&t, e))
        return false;
    translate_spans(&t, NULL);
    translate_series(&t, 0, TIME_NONE);
    translate_rest(&t);
    return builder_finish(take(b), out, e);
}
