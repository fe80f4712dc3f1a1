#include "model/translate.h"
#include "base/mem.h"

void translation_init(struct translation *t, const struct profile *from, struct builder *to)
{
    *t = (struct translation){
        .from = from,
        .to = to,
        .mappings = mem_new(profile_mappings(from) * sizeof(uint32_t)),
        .functions = mem_new(profile_functions(from) * sizeof(uint32_t)),
        .frames = mem_new(profile_frames(from) * sizeof(uint32_t)),
        .processes = mem_new(profile_processes(from) * sizeof(uint32_t)),
        .threads = mem_new(profile_threads(from) * sizeof(uint32_t)),
        .labels = mem_new(profile_label_sets(from) * sizeof(uint32_t)),
        .contexts = mem_new(profile_contexts(from) * sizeof(uint32_t)),
        .stacks = mem_new(profile_stacks(from) * sizeof(uint32_t)),
    };
}

void translation_done(struct translation *t)
{
    free(t->mappings);
    free(t->functions);
    free(t->frames);
    free(t->processes);
    free(t->threads);
    free(t->labels);
    free(t->contexts);
    free(t->stacks);
    *t = (struct translation){0};
}

/* Looks up what `id` has become; makes it with `make` the first time. */
#define TRANSLATED(memo, make)        \
    __extension__({                   \
        uint32_t *known_ = &(memo);   \
        if (!*known_)                 \
            *known_ = (make).i + 1;   \
        *known_ - 1;                  \
    })

str_id translate_string(struct translation *t, str_id id)
{
    return builder_string(t->to, profile_string(t->from, id));
}

static mapping_id make_mapping(struct translation *t, mapping_id id)
{
    struct mapping m = *profile_mapping(t->from, id);
    m.path = translate_string(t, m.path);
    m.build_id = translate_string(t, m.build_id);
    return builder_mapping(t->to, m);
}

static func_id make_function(struct translation *t, func_id id)
{
    struct function f = *profile_function(t->from, id);
    f.name = translate_string(t, f.name);
    f.file = translate_string(t, f.file);
    f.mapping = (mapping_id){TRANSLATED(t->mappings[f.mapping.i], make_mapping(t, f.mapping))};
    return builder_function(t->to, f);
}

static frame_id make_frame(struct translation *t, frame_id id)
{
    struct frame f = *profile_frame(t->from, id);
    f.function = (func_id){TRANSLATED(t->functions[f.function.i], make_function(t, f.function))};
    return builder_frame(t->to, f);
}

frame_id translate_frame(struct translation *t, frame_id id)
{
    return (frame_id){TRANSLATED(t->frames[id.i], make_frame(t, id))};
}

static process_id make_process(struct translation *t, process_id id)
{
    const struct process *p = profile_process(t->from, id);
    process_id made = builder_process(t->to, p->pid, p->start_ns);
    struct view name = profile_string(t->from, p->name);
    if (name.n)
        builder_name_process(t->to, made, name);
    return made;
}

static thread_id make_thread(struct translation *t, thread_id id)
{
    const struct thread *th = profile_thread(t->from, id);
    process_id process = {TRANSLATED(t->processes[th->process.i], make_process(t, th->process))};
    thread_id made = builder_thread(t->to, process, th->tid);
    struct view name = profile_string(t->from, th->name);
    if (name.n)
        builder_name_thread(t->to, made, name);
    return made;
}

thread_id translate_thread(struct translation *t, thread_id id)
{
    return (thread_id){TRANSLATED(t->threads[id.i], make_thread(t, id))};
}

static labels_id make_labels(struct translation *t, labels_id id)
{
    size_t n;
    const struct label *from = profile_labels(t->from, id, &n);
    own(free) struct label *to = mem_new(n * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = (struct label){.key = translate_string(t, from[i].key), .text = translate_string(t, from[i].text),
                               .number = from[i].number, .unit = translate_string(t, from[i].unit)};
    return builder_labels(t->to, to, n);
}

labels_id translate_labels(struct translation *t, labels_id id)
{
    return (labels_id){TRANSLATED(t->labels[id.i], make_labels(t, id))};
}

static context_id make_context(struct translation *t, context_id id)
{
    const struct context *c = profile_context(t->from, id);
    thread_id thread = translate_thread(t, c->thread);
    return builder_context(t->to, thread, translate_labels(t, c->labels));
}

context_id translate_context(struct translation *t, context_id id)
{
    return (context_id){TRANSLATED(t->contexts[id.i], make_context(t, id))};
}

void translate_stacks(struct translation *t, bool *wanted, const bool *hidden)
{
    uint32_t n = (uint32_t)profile_stacks(t->from);
    for (uint32_t s = n - 1; wanted && s > 0; s--)
        if (wanted[s])
            wanted[profile_stack(t->from, (stack_id){s})->caller.i] = true;
    stack_id nothing_left = {0};
    for (uint32_t s = 1; s < n; s++) {
        if (wanted && !wanted[s])
            continue;
        const struct stack *row = profile_stack(t->from, (stack_id){s});
        stack_id caller = {t->stacks[row->caller.i]};
        if (hidden && hidden[row->frame.i])
            t->stacks[s] = caller.i;
        else
            t->stacks[s] = builder_push(t->to, caller, translate_frame(t, row->frame)).i;
    }
    /* Only now, so that a caller of which nothing is left does not stand above what is shown. */
    for (uint32_t s = 1; hidden && s < n; s++) {
        if (t->stacks[s] || (wanted && !wanted[s]))
            continue;
        if (!nothing_left.i)
            nothing_left = builder_push(t->to, STACK_ROOT, builder_frame_named(t->to, VIEW("[hidden]")));
        t->stacks[s] = nothing_left.i;
    }
}

void translate_rest(struct translation *t)
{
    for (uint32_t i = 1; i < profile_threads(t->from); i++)
        translate_thread(t, (thread_id){i});
    for (size_t i = 0; i < profile_facts(t->from); i++) {
        const struct fact *f = profile_fact(t->from, i);
        builder_fact(t->to, profile_string(t->from, f->key), profile_string(t->from, f->value));
    }
    for (size_t i = 0; i < profile_losses(t->from); i++) {
        const struct loss *l = profile_loss(t->from, i);
        builder_lost(t->to, translate_set(t, l->set), profile_string(t->from, l->reason), l->count);
    }
    for (size_t i = 0; i < profile_damages(t->from); i++)
        builder_damage(t->to, profile_damage(t->from, i));
}

set_id translate_set(struct translation *t, set_id id)
{
    const struct sample_set *s = profile_set(t->from, id);
    struct measure_spec specs[MEASURES_MOST];
    for (size_t m = 0; m < s->n_measures; m++)
        specs[m] = (struct measure_spec){.name = profile_string(t->from, s->measures[m].name),
                                         .unit = s->measures[m].unit,
                                         .unit_name = profile_string(t->from, s->measures[m].unit_name),
                                         .decimals = s->measures[m].decimals};
    size_t before = profile_sets(builder_view(t->to));
    set_id made = builder_set(t->to, profile_string(t->from, s->name), specs, s->n_measures);
    const struct sample_set *there = profile_set(builder_view(t->to), made);
    /* Two runs at different rates have no common period. */
    int64_t period = made.i >= before || there->period == s->period ? s->period : 0;
    builder_show(t->to, made, s->shown, period);
    return made;
}

static uint64_t shifted(const struct translation *t, uint64_t time_ns)
{
    return time_ns == TIME_NONE ? TIME_NONE : time_ns + (uint64_t)t->shift_ns;
}

/* The other set may carry more decimals than ours. Overflow shows in the builder's total. */
static int64_t rescaled(int64_t value, unsigned from, unsigned to)
{
    for (; from < to; from++)
        if (__builtin_mul_overflow(value, INT64_C(10), &value))
            return value < 0 ? INT64_MIN : INT64_MAX;
    return value;
}

void translate_sample(struct translation *t, set_id from, set_id to, size_t i)
{
    const struct sample_set *s = profile_set(t->from, from);
    const struct sample_set *there = profile_set(builder_view(t->to), to);
    int64_t values[MEASURES_MOST];
    for (size_t m = 0; m < s->n_measures; m++)
        values[m] = rescaled(s->values[m][i], s->measures[m].decimals, there->measures[m].decimals);
    context_id context = s->contexts ? translate_context(t, s->contexts[i]) : CONTEXT_NONE;
    builder_sample(t->to, to, s->time_ns ? shifted(t, s->time_ns[i]) : TIME_NONE, context,
                   (stack_id){t->stacks[s->stacks[i].i]}, values);
}

/* Spans are in order of time, so a link may point to a later one: first all, then who points where. */
void translate_spans(struct translation *t, const bool *wanted)
{
    uint32_t n = (uint32_t)profile_spans(t->from);
    own(free) uint32_t *made = mem_new(((size_t)n + 1) * sizeof *made);
    for (uint32_t i = 1; i <= n; i++) {
        if (wanted && !wanted[i])
            continue;
        struct span s = *profile_span(t->from, (span_id){i});
        s.start_ns = shifted(t, s.start_ns);
        s.thread = translate_thread(t, s.thread);
        s.name = translate_string(t, s.name);
        s.labels = translate_labels(t, s.labels);
        s.parent = s.link = (span_id){0};
        made[i] = builder_span(t->to, s).i;
    }
    for (uint32_t i = 1; i <= n; i++) {
        const struct span *s = profile_span(t->from, (span_id){i});
        if (made[i])
            builder_span_relate(t->to, (span_id){made[i]}, (span_id){made[s->parent.i]}, (span_id){made[s->link.i]});
    }
}

void translate_series(struct translation *t, uint64_t from_ns, uint64_t to_ns)
{
    for (uint32_t i = 0; i < profile_series_count(t->from); i++) {
        const struct series *s = profile_series(t->from, (series_id){i});
        series_id made = builder_series(t->to, profile_string(t->from, s->name), s->unit,
                                        profile_string(t->from, s->unit_name), translate_labels(t, s->labels));
        for (size_t r = 0; r < s->n; r++)
            if (s->readings[r].time_ns >= from_ns && s->readings[r].time_ns < to_ns)
                builder_reading(t->to, made, shifted(t, s->readings[r].time_ns), s->readings[r].value);
    }
}
