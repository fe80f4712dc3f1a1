/* The builder's tables of what was measured, and of what else is known about the run. */
#include "model/builder_inside.h"

/* Samples. */

static bool same_set(const void *rows, uint32_t i, const void *key)
{
    const struct sample_set *a = (const struct sample_set *)rows + i, *s = key;
    if (a->name.i != s->name.i || a->n_measures != s->n_measures)
        return false;
    for (size_t m = 0; m < s->n_measures; m++)
        if (a->measures[m].name.i != s->measures[m].name.i || a->measures[m].unit != s->measures[m].unit ||
            a->measures[m].unit_name.i != s->measures[m].unit_name.i)
            return false;
    return true;
}

set_id builder_set(struct builder *b, struct view name, const struct measure_spec *measures, size_t n)
{
    assert(n >= 1 && n <= MEASURES_MOST);
    struct sample_set row = {.name = builder_string(b, name), .n_measures = n};
    uint32_t key[2] = {row.name.i, (uint32_t)n};
    for (size_t m = 0; m < n; m++)
        row.measures[m] = (struct measure){.name = builder_string(b, measures[m].name),
                                           .unit = measures[m].unit,
                                           .unit_name = builder_string(b, measures[m].unit_name)};
    set_id id = {INTERN(b, sets, sets, same_set, key, row)};
    if (id.i == b->columns.n) {
        GROW(b->columns.rows, b->columns.cap, b->columns.n + 1);
        columns_init(&b->columns.rows[b->columns.n++], n);
    }
    for (size_t m = 0; m < n; m++)
        if (measures[m].decimals > b->p->sets.rows[id.i].measures[m].decimals)
            builder_set_decimals(b, id, m, measures[m].decimals);
    return id;
}

void builder_show(struct builder *b, set_id set, size_t measure, int64_t period)
{
    struct sample_set *s = &b->p->sets.rows[set.i];
    assert(measure < s->n_measures);
    s->shown = measure;
    s->period = period;
}

void builder_add_up(struct builder *b) { b->adds_up = true; }

void builder_sample(struct builder *b, set_id set, uint64_t time_ns, context_id context, stack_id stack,
                    const int64_t *values)
{
    struct sample_set *s = &b->p->sets.rows[set.i];
    assert(stack.i < b->p->stacks.n && context.i < b->p->contexts.n);
    if (b->adds_up)
        columns_add_up(&b->columns.rows[set.i], stack, values);
    else
        columns_add(&b->columns.rows[set.i], time_ns, context, stack, values);
    for (size_t m = 0; m < s->n_measures; m++)
        if (__builtin_add_overflow(s->measures[m].total, values[m], &s->measures[m].total))
            b->overflowed = b->p->strings.rows[s->name.i].at;
}

void builder_set_decimals(struct builder *b, set_id set, size_t measure, unsigned decimals)
{
    struct sample_set *s = &b->p->sets.rows[set.i];
    struct measure *m = &s->measures[measure];
    for (; m->decimals < decimals; m->decimals++)
        if (__builtin_mul_overflow(m->total, INT64_C(10), &m->total) ||
            !columns_times_ten(&b->columns.rows[set.i], measure))
            b->overflowed = b->p->strings.rows[s->name.i].at;
}

/* Spans and series. */

span_id builder_span(struct builder *b, struct span s)
{
    assert(s.parent.i < b->p->spans.n && s.link.i < b->p->spans.n);
    return (span_id){APPEND(b, spans, s)};
}

void builder_span_length(struct builder *b, span_id id, uint64_t length_ns)
{
    if (id.i)
        b->p->spans.rows[id.i].length_ns = length_ns;
}

void builder_span_relate(struct builder *b, span_id id, span_id parent, span_id link)
{
    assert(id.i < b->p->spans.n && parent.i < b->p->spans.n && link.i < b->p->spans.n);
    if (!id.i)
        return;
    b->p->spans.rows[id.i].parent = parent;
    b->p->spans.rows[id.i].link = link;
}

static bool same_series(const void *rows, uint32_t i, const void *key)
{
    const struct series *a = (const struct series *)rows + i, *s = key;
    return a->name.i == s->name.i && a->labels.i == s->labels.i;
}

series_id builder_series(struct builder *b, struct view name, enum unit unit, struct view unit_name, labels_id labels)
{
    struct series row = {.name = builder_string(b, name), .unit = unit,
                         .unit_name = builder_string(b, unit_name), .labels = labels};
    uint32_t key[] = {row.name.i, labels.i};
    series_id id = {INTERN(b, series, series, same_series, key, row)};
    if (id.i == b->readings.n) {
        GROW(b->readings.rows, b->readings.cap, b->readings.n + 1);
        b->readings.rows[b->readings.n++] = (struct reading_column){0};
    }
    return id;
}

void builder_reading(struct builder *b, series_id id, uint64_t time_ns, double value)
{
    struct reading_column *c = &b->readings.rows[id.i];
    GROW(c->rows, c->cap, c->n + 1);
    c->rows[c->n++] = (struct reading){time_ns, value};
}

/* About the run. */

static bool same_fact(const void *rows, uint32_t i, const void *key)
{
    return ((const struct fact *)rows)[i].key.i == ((const struct fact *)key)->key.i;
}

void builder_fact(struct builder *b, struct view key, struct view value)
{
    struct fact row = {.key = builder_string(b, key), .value = builder_string(b, value)};
    uint32_t i = INTERN(b, facts, facts, same_fact, row.key, row);
    b->p->facts.rows[i].value = row.value;
}

static bool same_loss(const void *rows, uint32_t i, const void *key)
{
    const struct loss *a = (const struct loss *)rows + i, *l = key;
    return a->set.i == l->set.i && a->reason.i == l->reason.i;
}

void builder_lost(struct builder *b, set_id set, struct view reason, uint64_t count)
{
    if (!count)
        return;
    struct loss row = {.set = set, .reason = builder_string(b, reason)};
    uint32_t key[] = {set.i, row.reason.i};
    uint32_t i = INTERN(b, losses, losses, same_loss, key, row);
    if (__builtin_add_overflow(b->p->losses.rows[i].count, count, &b->p->losses.rows[i].count))
        b->p->losses.rows[i].count = UINT64_MAX;
}

void builder_damage(struct builder *b, struct view sentence)
{
    str_id s = builder_string(b, sentence);
    APPEND(b, damages, s);
}

void builder_clock(struct builder *b, uint64_t start_ns, uint64_t end_ns, int64_t wall_offset_ns)
{
    b->p->start_ns = start_ns;
    b->p->end_ns = end_ns;
    b->p->wall_offset_ns = wall_offset_ns;
    b->p->has_wall_offset = true;
}
