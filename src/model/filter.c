#include "model/filter.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/scope_path.h"
#include "model/settle.h"
#include "model/span_labels.h"
#include "model/translate.h"

#include <inttypes.h>

/* The run-time parts of the system that a program does not choose: what "hide system" means. */
static const char *const system_modules[] = {
    "libc.so*", "libc-*.so", "libm.so*", "libm-*.so", "libmvec*.so*", "libpthread*.so*", "libdl*.so*",
    "librt*.so*", "ld-linux*.so*", "ld-*.so", "ld-musl*", "libgcc_s.so*", "libstdc++.so*", "libc++.so*",
    "libc++abi.so*", "linux-vdso.so*", "linux-gate.so*", "[[]vdso[]]", "[[]vsyscall[]]", "[[]kernel*",
    "[[]guest.kernel*", "vmlinux*", NULL,
};

static bool any_matches(struct view text, const char *const *patterns)
{
    for (; *patterns; patterns++)
        if (text_matches(text, *patterns))
            return true;
    return false;
}

bool frame_is_system(const struct profile *p, frame_id id)
{
    return profile_frame(p, id)->kind == FRAME_KERNEL ||
           any_matches(view_last_part(profile_frame_module(p, id)), system_modules);
}

static bool frame_matches(const struct profile *p, frame_id id, const char *const *patterns)
{
    struct view module = profile_frame_module(p, id);
    return any_matches(profile_frame_name(p, id), patterns) ||
           (module.n && (any_matches(module, patterns) || any_matches(view_last_part(module), patterns)));
}

/* By frame id: which frames one of the patterns speaks of. NULL when there are no patterns. */
static bool *matching_frames(const struct profile *p, const char *const *patterns)
{
    if (!patterns || !*patterns)
        return NULL;
    bool *matches = mem_new(profile_frames(p));
    for (uint32_t i = 1; i < profile_frames(p); i++)
        matches[i] = frame_matches(p, (frame_id){i}, patterns);
    return matches;
}

/* By stack id: whether a marked frame is anywhere on it. Callers come before callees: one pass. */
static bool *stacks_with(const struct profile *p, const bool *frames)
{
    bool *with = mem_new(profile_stacks(p));
    for (uint32_t s = 1; s < profile_stacks(p); s++) {
        const struct stack *row = profile_stack(p, (stack_id){s});
        with[s] = with[row->caller.i] || frames[row->frame.i];
    }
    return with;
}

static bool *hidden_frames(const struct profile *p, const struct filter *f)
{
    bool *hidden = matching_frames(p, f->hide);
    if (!f->hide_system)
        return hidden;
    if (!hidden)
        hidden = mem_new(profile_frames(p));
    for (uint32_t i = 1; i < profile_frames(p); i++)
        hidden[i] |= frame_is_system(p, (frame_id){i});
    return hidden;
}

/* By stack id: whether include and exclude let it through. */
static bool *stacks_selected(const struct profile *p, const struct filter *f)
{
    bool *selected = mem_new(profile_stacks(p));
    memset(selected, true, profile_stacks(p));
    own(free) bool *include = matching_frames(p, f->include);
    own(free) bool *exclude = matching_frames(p, f->exclude);
    own(free) bool *included = include ? stacks_with(p, include) : NULL;
    own(free) bool *excluded = exclude ? stacks_with(p, exclude) : NULL;
    for (uint32_t s = 0; s < profile_stacks(p); s++)
        selected[s] = (!included || included[s]) && (!excluded || !excluded[s]);
    return selected;
}

/* Threads and processes answer to their name, a pattern of it, or their number. */
static bool answers_to(struct view name, int32_t number, const char *const *words)
{
    if (!words || !*words)
        return true;
    char digits[16];
    snprintf(digits, sizeof digits, "%" PRId32, number);
    return any_matches(name, words) || any_matches(view_of(digits), words);
}

static bool thread_selected(const struct profile *p, thread_id id, const struct filter *f)
{
    const struct thread *t = profile_thread(p, id);
    const struct process *proc = profile_process(p, t->process);
    return answers_to(profile_string(p, t->name), t->tid, f->threads) &&
           answers_to(profile_string(p, proc->name), proc->pid, f->processes);
}

static bool label_selected(const struct profile *p, labels_id labels, struct view key, const char *const *words)
{
    if (!words || !*words)
        return true;
    const struct label *l = profile_label(p, labels, key);
    if (!l)
        return false;
    struct view text = profile_string(p, l->text);
    char digits[24];
    if (!text.n) {
        snprintf(digits, sizeof digits, "%" PRId64, l->number);
        text = view_of(digits);
    }
    return any_matches(text, words);
}

/* In one of these scopes, however far inside. */
static bool scope_selected(const struct profile *p, labels_id labels, const char *const *words)
{
    if (!words || !*words)
        return true;
    struct view path = scope_path_of(p, labels), name;
    own(buf) struct buf room;
    buf_init(&room, SCOPE_PATH_BYTES_MOST);
    while (scope_path_next(&path, &room, &name))
        if (any_matches(name, words))
            return true;
    return false;
}

static bool who_selected(const struct profile *p, thread_id thread, labels_id labels, const struct filter *f)
{
    return thread_selected(p, thread, f) && label_selected(p, labels, VIEW("phase"), f->phases) &&
           label_selected(p, labels, VIEW("request"), f->requests) && scope_selected(p, labels, f->scopes);
}

static bool *contexts_selected(const struct profile *p, const struct filter *f)
{
    bool *selected = mem_new(profile_contexts(p));
    for (uint32_t i = 0; i < profile_contexts(p); i++) {
        const struct context *c = profile_context(p, (context_id){i});
        selected[i] = who_selected(p, c->thread, c->labels, f);
    }
    return selected;
}

struct range {
    uint64_t from_ns, to_ns;
    bool whole;
};

static struct range range_of(const struct profile *p, const struct filter *f)
{
    uint64_t start = profile_start_ns(p) == TIME_NONE ? 0 : profile_start_ns(p);
    struct range r = {.from_ns = start + f->from_ns, .to_ns = f->to_ns ? start + f->to_ns : TIME_NONE,
                      .whole = !f->from_ns && !f->to_ns};
    return r;
}

/* What has no time cannot be said to lie inside a range. */
static bool in_range(uint64_t time_ns, struct range r)
{
    return r.whole || (time_ns != TIME_NONE && time_ns >= r.from_ns && time_ns < r.to_ns);
}

static bool list_is_empty(const char *const *words) { return !words || !*words; }

bool filter_is_empty(const struct filter *f)
{
    return list_is_empty(f->threads) && list_is_empty(f->processes) && list_is_empty(f->phases) &&
           list_is_empty(f->requests) && list_is_empty(f->scopes) && list_is_empty(f->include) && list_is_empty(f->exclude) &&
           list_is_empty(f->hide) && !f->hide_system && !f->from_ns && !f->to_ns;
}

struct selection {
    const struct profile *p;
    const struct filter *f;
    bool *contexts, *stacks;
    struct range range;
    const struct span_labels *spans; /* NULL: nobody asks for phases or requests, or no span knows */
    bool is_of_readings;             /* the set at hand (settle.h) */
};

/* What the sample itself does not say, a span of its thread may. */
static bool told_by_spans(const struct selection *sel, context_id id, uint64_t time_ns)
{
    const struct context *c = profile_context(sel->p, id);
    const struct {
        enum span_kind kind;
        struct view key;
        const char *const *words;
    } asked[] = {{SPAN_PHASE, VIEW("phase"), sel->f->phases}, {SPAN_REQUEST, VIEW("request"), sel->f->requests}};
    if (!thread_selected(sel->p, c->thread, sel->f) || !scope_selected(sel->p, c->labels, sel->f->scopes))
        return false;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        labels_id spans = span_labels_at(sel->spans, asked[i].kind, c->thread, time_ns);
        labels_id own_or_spans = profile_label(sel->p, c->labels, asked[i].key) ? c->labels : spans;
        if (!label_selected(sel->p, own_or_spans, asked[i].key, asked[i].words))
            return false;
    }
    return true;
}

/* Where times are those of readings, the phase is one of the scopes; and the request is known by a label only. */
static bool told_by_scopes(const struct selection *sel, context_id id)
{
    const struct context *c = profile_context(sel->p, id);
    const char *const *phases = sel->f->phases;
    struct view phase = span_labels_phase(sel->spans, sel->p, c->labels);
    bool is_phase = label_selected(sel->p, c->labels, VIEW("phase"), phases) || (phase.n && any_matches(phase, phases));
    return is_phase && thread_selected(sel->p, c->thread, sel->f) && scope_selected(sel->p, c->labels, sel->f->scopes) &&
           label_selected(sel->p, c->labels, VIEW("request"), sel->f->requests);
}

static bool sample_selected(const struct sample_set *s, size_t i, const struct selection *sel)
{
    context_id context = s->contexts ? s->contexts[i] : (context_id){0};
    uint64_t time_ns = s->time_ns ? s->time_ns[i] : TIME_NONE;
    if (!sel->stacks[s->stacks[i].i] || !in_range(time_ns, sel->range))
        return false;
    if (sel->contexts[context.i] || !sel->spans)
        return sel->contexts[context.i];
    return sel->is_of_readings ? told_by_scopes(sel, context) : told_by_spans(sel, context, time_ns);
}

/* By stack id: whether any selected sample ends there. */
static bool *stacks_used(const struct profile *p, struct selection *sel)
{
    bool *used = mem_new(profile_stacks(p));
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *s = profile_set(p, (set_id){k});
        sel->is_of_readings = set_is_of_readings(p, s);
        for (size_t i = 0; i < s->n; i++)
            used[s->stacks[i].i] |= sample_selected(s, i, sel);
    }
    return used;
}

static void copy_samples(struct translation *t, struct selection *sel)
{
    for (uint32_t k = 0; k < profile_sets(t->from); k++) {
        const struct sample_set *s = profile_set(t->from, (set_id){k});
        set_id to = translate_set(t, (set_id){k});
        sel->is_of_readings = set_is_of_readings(t->from, s);
        for (size_t i = 0; i < s->n; i++)
            if (sample_selected(s, i, sel))
                translate_sample(t, (set_id){k}, to, i);
    }
}

static void copy_spans(struct translation *t, const struct filter *f, struct range r)
{
    size_t n = profile_spans(t->from) + 1;
    own(free) bool *wanted = mem_new(n);
    for (uint32_t i = 1; i < n; i++) {
        const struct span *s = profile_span(t->from, (span_id){i});
        bool overlaps = r.whole || (s->start_ns < r.to_ns && s->start_ns + s->length_ns >= r.from_ns);
        wanted[i] = overlaps && who_selected(t->from, s->thread, s->labels, f);
    }
    translate_spans(t, wanted);
}

bool profile_filtered(const struct profile *p, const struct filter *f, struct profile **out, struct err *e)
{
    own(builder) struct builder *b = builder_new();
    own(translation) struct translation t;
    translation_init(&t, p, b);
    own(free) bool *contexts = contexts_selected(p, f);
    own(free) bool *stacks = stacks_selected(p, f);
    own(free) bool *hidden = hidden_frames(p, f);
    bool asks_spans = !list_is_empty(f->phases) || !list_is_empty(f->requests);
    own(span_labels) struct span_labels *spans = asks_spans ? span_labels_new(p) : NULL;
    struct selection sel = {.p = p, .f = f, .contexts = contexts, .stacks = stacks, .range = range_of(p, f), .spans = spans};
    own(free) bool *used = stacks_used(p, &sel);

    if (profile_has_wall_offset(p))
        builder_clock(b, profile_start_ns(p), profile_end_ns(p), profile_wall_offset_ns(p));
    translate_stacks(&t, used, hidden);
    copy_samples(&t, &sel);
    copy_spans(&t, f, sel.range);
    translate_series(&t, sel.range.whole ? 0 : sel.range.from_ns, sel.range.to_ns);
    translate_rest(&t);
    return builder_finish(take(b), out, e);
}
