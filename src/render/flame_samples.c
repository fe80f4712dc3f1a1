#include "render/flame_samples.h"
#include "analyse/counting.h"
#include "base/mem.h"

#include <math.h>

/* No name, or the one that recorders give to an address in a module: "[libfoo.so+0x1234]". */
static bool is_unresolved(const struct flame_side *side, stack_id s)
{
    if (s.i == STACK_ROOT.i)
        return false;
    func_id f = profile_frame(side->p, profile_stack(side->p, s)->frame)->function;
    struct view name = profile_string(side->p, profile_function(side->p, f)->name);
    return !name.n || view_same(name, VIEW("[unknown]")) || (name.at[0] == '[' && memmem(name.at, name.n, "+0x", 3));
}

static void take_rows(struct flame_samples *s, const struct flame_side *side, const uint32_t *node_of,
                      const struct flame_who *who, size_t side_number)
{
    const struct sample_set *set = side->set;
    struct counting counting = counting_of(side->p, set, side->measure);
    bool has_times = set->time_ns && set->n <= FLAME_TIMED_MOST;
    uint64_t first_ns = has_times && set->n ? set->time_ns[0] : 0;
    s->rows = mem_new((set->n ? set->n : 1) * sizeof *s->rows);
    for (size_t i = 0; i < set->n; i++) {
        uint64_t value = (uint64_t)flame_value(side, i);
        if (!value)
            continue;
        bool is_timed = has_times && set->time_ns[i] != TIME_NONE;
        uint64_t count = (uint64_t)counting_at(&counting, i, (int64_t)value);
        s->rows[s->n++] = (struct flame_sample){
            .node = node_of[set->stacks[i].i],
            .context = set->contexts ? who->context_of[side_number][set->contexts[i].i] : 0,
            .value = value, .count = count, .time_ns = is_timed ? set->time_ns[i] - first_ns : 0,
        };
        s->timed += is_timed;
        s->value_sum += value;
        s->count_sum += count;
        s->unresolved_sum += is_unresolved(side, set->stacks[i]) ? value : 0;
    }
}

static int by_node_and_context(const void *pa, const void *pb)
{
    const struct flame_sample *a = pa, *b = pb;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->context > b->context) - (a->context < b->context);
}

static void add_equal_rows(struct flame_samples *s)
{
    qsort(s->rows, s->n, sizeof *s->rows, by_node_and_context);
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (kept && !by_node_and_context(&s->rows[kept - 1], &s->rows[i])) {
            s->rows[kept - 1].value += s->rows[i].value;
            s->rows[kept - 1].count += s->rows[i].count;
        } else {
            s->rows[kept++] = s->rows[i];
        }
    }
    s->n = kept;
}

/* What need not be written because it follows from something else. */
static void find_rules(struct flame_samples *s, const struct flame_side *side)
{
    const struct measure *m = &side->set->measures[side->measure];
    uint64_t unit = (uint64_t)pow(10, m->decimals);
    bool same = true, is_value = true, is_periods = s->period > 0;
    for (size_t i = 0; i < s->n; i++) {
        same &= s->rows[i].value == s->rows[0].value;
        is_value &= s->rows[i].count * unit == s->rows[i].value;
        is_periods = is_periods && s->rows[i].count * (uint64_t)s->period == s->rows[i].value;
    }
    s->common_value = same && s->n ? s->rows[0].value : 0;
    s->count_is_value = is_value;
    s->count_is_periods = is_periods;
}

struct flame_samples flame_samples_of(const struct flame_side *side, const struct flame_tree *tree, size_t side_number,
                                      const struct flame_who *who)
{
    struct flame_samples s = {.time_unit_ns = 1, .period = side->measure == side->set->shown ? side->set->period : 0};
    take_rows(&s, side, tree->node_of[side_number], who, side_number);
    if (!s.timed)
        add_equal_rows(&s);
    else
        s.time_unit_ns += s.rows[s.timed - 1].time_ns >> 32;
    find_rules(&s, side);
    return s;
}

void flame_samples_done(struct flame_samples *s)
{
    free(s->rows);
    *s = (struct flame_samples){0};
}

uint64_t flame_samples_divisor(const struct flame_samples *s, uint64_t so_far)
{
    for (size_t i = 0; i < s->n && so_far != 1; i++)
        for (uint64_t a = s->rows[i].value; a;) {
            uint64_t rest = so_far % a;
            so_far = a;
            a = rest;
        }
    return so_far;
}

struct naming {
    size_t side;
    char name[32];
};

static const char *column_name(struct naming *n, const char *what)
{
    snprintf(n->name, sizeof n->name, "side%zu_%s", n->side, what);
    return n->name;
}

static void node_column(const struct flame_samples *s, struct naming *n, struct flame_columns *to)
{
    own(free) int32_t *step = mem_new((s->n ? s->n : 1) * sizeof *step);
    for (size_t i = 0; i < s->n; i++)
        step[i] = (int32_t)(s->rows[i].node - (i ? s->rows[i - 1].node : 0));
    flame_column_signed(to, column_name(n, "node"), step, s->n);
}

static void time_column(const struct flame_samples *s, struct naming *n, struct flame_columns *to)
{
    own(free) uint32_t *step = mem_new((s->timed ? s->timed : 1) * sizeof *step);
    uint64_t before = 0;
    for (size_t i = 0; i < s->timed; i++) {
        uint64_t now = s->rows[i].time_ns / s->time_unit_ns;
        step[i] = (uint32_t)(now - before);
        before = now;
    }
    flame_column_numbers(to, column_name(n, "time"), step, s->timed);
}

void flame_samples_columns(const struct flame_samples *s, size_t side_number, uint64_t scale, struct flame_columns *to)
{
    struct naming n = {.side = side_number};
    own(free) uint64_t *numbers = mem_new((s->n ? s->n : 1) * sizeof *numbers);
    own(free) uint32_t *contexts = mem_new((s->n ? s->n : 1) * sizeof *contexts);
    bool has_context = false;
    node_column(s, &n, to);
    for (size_t i = 0; i < s->n; i++) {
        contexts[i] = s->rows[i].context;
        has_context |= contexts[i] != 0;
    }
    if (has_context)
        flame_column_numbers(to, column_name(&n, "context"), contexts, s->n);
    for (size_t i = 0; i < s->n; i++)
        numbers[i] = s->rows[i].value / scale;
    if (!s->common_value)
        flame_column_large(to, column_name(&n, "value"), numbers, s->n);
    for (size_t i = 0; i < s->n; i++)
        numbers[i] = s->rows[i].count;
    if (!s->count_is_value && !s->count_is_periods)
        flame_column_large(to, column_name(&n, "count"), numbers, s->n);
    if (s->timed)
        time_column(s, &n, to);
}
