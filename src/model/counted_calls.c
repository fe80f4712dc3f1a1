#include "model/counted_calls.h"

static const struct measure_spec traced[COUNTED_COUNT] = {
    [COUNTED_CALLS]      = {.name = {"calls", 5}, .unit = UNIT_COUNT},
    [COUNTED_PRIMITIVE]  = {.name = {"primitive calls", 15}, .unit = UNIT_COUNT},
    [COUNTED_SELF]       = {.name = {"self", 4}, .unit = UNIT_NS},
    [COUNTED_CUMULATIVE] = {.name = {"cumulative", 10}, .unit = UNIT_NS},
};

static const struct measure_spec sampled[COUNTED_COUNT] = {
    [COUNTED_CALLS]      = {.name = {"stack samples", 13}, .unit = UNIT_COUNT},
    [COUNTED_PRIMITIVE]  = {.name = {"samples", 7}, .unit = UNIT_COUNT},
    [COUNTED_SELF]       = {.name = {"self", 4}, .unit = UNIT_NS},
    [COUNTED_CUMULATIVE] = {.name = {"cumulative", 10}, .unit = UNIT_NS},
};

set_id counted_functions_set(struct builder *b, bool is_sampled)
{
    set_id set = builder_set(b, VIEW("functions"), is_sampled ? sampled : traced, COUNTED_COUNT);
    builder_show(b, set, COUNTED_SELF, 0);
    return set;
}

set_id counted_calls_set(struct builder *b, bool is_sampled, bool only_counts)
{
    set_id set = builder_set(b, VIEW("calls"), is_sampled ? sampled : traced, only_counts ? 1 : COUNTED_COUNT);
    if (!only_counts)
        builder_show(b, set, COUNTED_SELF, 0);
    return set;
}

static bool has_measures(const struct profile *p, const struct sample_set *set, const struct measure_spec *specs, size_t n)
{
    if (set->n_measures != n)
        return false;
    for (size_t m = 0; m < n; m++)
        if (!view_same(profile_string(p, set->measures[m].name), specs[m].name) ||
            set->measures[m].unit != specs[m].unit || set->measures[m].decimals)
            return false;
    return true;
}

static bool is_named(const struct profile *p, const struct sample_set *set, struct view name)
{
    return view_same(profile_string(p, set->name), name);
}

bool counted_calls_of(const struct profile *p, struct counted_calls *out)
{
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *set = profile_set(p, (set_id){i});
        bool is_sampled = has_measures(p, set, sampled, COUNTED_COUNT);
        if (!is_named(p, set, VIEW("functions")) || (!is_sampled && !has_measures(p, set, traced, COUNTED_COUNT)))
            continue;
        *out = (struct counted_calls){.functions = set, .is_sampled = is_sampled};
        return true;
    }
    return false;
}

bool counted_is_calls(const struct profile *p, const struct sample_set *set, const struct counted_calls *of)
{
    const struct measure_spec *specs = of->is_sampled ? sampled : traced;
    return is_named(p, set, VIEW("calls")) && (has_measures(p, set, specs, COUNTED_COUNT) || has_measures(p, set, specs, 1));
}

bool counted_pair(const struct profile *p, stack_id stack, frame_id *out_caller, frame_id *out_callee)
{
    if (stack.i == STACK_ROOT.i)
        return false;
    const struct stack *callee = profile_stack(p, stack);
    if (callee->caller.i == STACK_ROOT.i)
        return false;
    const struct stack *caller = profile_stack(p, callee->caller);
    if (caller->caller.i != STACK_ROOT.i)
        return false;
    *out_caller = caller->frame;
    *out_callee = callee->frame;
    return true;
}
