#include "analyse/reshape.h"
#include "analyse/by_thread.h"
#include "analyse/root_labels.h"
#include "base/mem.h"
#include "model/translate.h"

bool reshaping_is_empty(const struct reshaping *r) { return r->by == ROOT_BY_NONE && !r->merge_recursion; }

/*
 * Samples are taken root by root, so that `made` may be by stack alone: what
 * it says is true for the root that is in hand, and `made_for` tells which that was.
 */
struct reshaper {
    const struct reshaping *how;
    struct translation names;
    struct root_labels *labels; /* what a root is called by; NULL: the thread */
    uint32_t *made, *made_for; /* by stack id */
    stack_id *todo;
    size_t cap;
    uint32_t turn;
};

static frame_id root_frame(struct reshaper *r, thread_id thread)
{
    const struct profile *p = r->names.from;
    const struct thread *t = profile_thread(p, thread);
    bool by_process = r->how->by == ROOT_BY_PROCESS;
    int32_t number = by_process ? profile_process(p, t->process)->pid : t->tid;
    struct view name = profile_string(p, by_process ? profile_process(p, t->process)->name : t->name);
    char text[400];
    int length = (int)(name.n < 300 ? name.n : 300);
    if (!name.n && number <= 0) /* files without numbers have their own below zero */
        snprintf(text, sizeof text, by_process ? "(no process known)" : "(no thread known)");
    else if (!name.n)
        snprintf(text, sizeof text, by_process ? "process %d" : "thread %d", number);
    else if (r->how->numbers && number > 0)
        snprintf(text, sizeof text, "%.*s (%d)", length, name.at, number);
    else
        snprintf(text, sizeof text, "%.*s", length, name.at);
    func_id f = builder_function(r->names.to, (struct function){.name = builder_string(r->names.to, view_of(text))});
    return builder_frame(r->names.to, (struct frame){.function = f, .kind = FRAME_SCOPE});
}

static func_id function_of(const struct profile *p, stack_id s)
{
    return profile_frame(p, profile_stack(p, s)->frame)->function;
}

static stack_id push(struct reshaper *r, stack_id caller, stack_id s)
{
    const struct profile *p = r->names.from;
    const struct stack *row = profile_stack(p, s);
    if (r->how->merge_recursion && row->caller.i && function_of(p, row->caller).i == function_of(p, s).i)
        return caller;
    return builder_push(r->names.to, caller, translate_frame(&r->names, row->frame));
}

/* Up to what is there already, and down again. */
static stack_id reshaped(struct reshaper *r, stack_id leaf, stack_id root)
{
    const struct profile *p = r->names.from;
    size_t n = 0;
    stack_id s = leaf;
    for (; s.i && r->made_for[s.i] != r->turn; s = profile_stack(p, s)->caller) {
        GROW(r->todo, r->cap, n + 1);
        r->todo[n++] = s;
    }
    stack_id at = root;
    if (s.i)
        at.i = r->made[s.i];
    while (n) {
        s = r->todo[--n];
        at = push(r, at, s);
        r->made[s.i] = at.i;
        r->made_for[s.i] = r->turn;
    }
    return at;
}

static void add_sample(struct reshaper *r, set_id to, const struct sample_set *set, size_t i, stack_id root)
{
    int64_t values[MEASURES_MOST];
    for (size_t m = 0; m < set->n_measures; m++)
        values[m] = set->values[m][i];
    context_id context = set->contexts ? translate_context(&r->names, set->contexts[i]) : CONTEXT_NONE;
    builder_sample(r->names.to, to, set->time_ns ? set->time_ns[i] : TIME_NONE, context, reshaped(r, set->stacks[i], root), values);
}

static void add_thread(struct reshaper *r, set_id to, const struct sample_set *set, const struct thread_share *t)
{
    stack_id root = r->how->by == ROOT_BY_NONE ? STACK_ROOT : builder_push(r->names.to, STACK_ROOT, root_frame(r, t->thread));
    r->turn++;
    for (size_t k = 0; k < t->n; k++)
        add_sample(r, to, set, t->samples[k], root);
}

static void add_by_labels(struct reshaper *r, set_id to, const struct sample_set *set)
{
    own(free) struct rooted *order = roots_in_order(r->labels, set, r->names.to);
    for (size_t k = 0; k < set->n; k++) {
        r->turn += !k || order[k].root.i != order[k - 1].root.i;
        add_sample(r, to, set, order[k].sample, order[k].root);
    }
}

static set_id set_like(struct builder *b, const struct profile *p, const struct sample_set *set)
{
    struct measure_spec specs[MEASURES_MOST];
    for (size_t m = 0; m < set->n_measures; m++)
        specs[m] = (struct measure_spec){.name = profile_string(p, set->measures[m].name), .unit = set->measures[m].unit,
                                         .unit_name = profile_string(p, set->measures[m].unit_name),
                                         .decimals = set->measures[m].decimals};
    set_id made = builder_set(b, profile_string(p, set->name), specs, set->n_measures);
    builder_show(b, made, set->shown, set->period);
    return made;
}

bool profile_reshaped(const struct profile *p, const struct sample_set *set, const struct reshaping *how,
                      struct profile **out, struct err *e)
{
    own(builder) struct builder *b = builder_new();
    size_t n = profile_stacks(p);
    struct reshaper r = {.how = how, .made = mem_new(n * sizeof *r.made), .made_for = mem_new(n * sizeof *r.made_for)};
    translation_init(&r.names, p, b);
    own(root_labels) struct root_labels *labels = root_labels_new(p, how->by);
    own(by_thread) struct by_thread threads = by_thread_of(p, set, 0);
    set_id to = set_like(b, p, set);
    r.labels = labels;
    if (labels)
        add_by_labels(&r, to, set);
    for (size_t k = 0; !labels && k < threads.n; k++)
        add_thread(&r, to, set, &threads.rows[k]);
    translate_rest(&r.names);
    free(r.made);
    free(r.made_for);
    free(r.todo);
    translation_done(&r.names);
    return builder_finish(take(b), out, e);
}
