#include "analyse/root_labels.h"
#include "base/mem.h"
#include "model/scope_path.h"
#include "model/settle.h"
#include "model/span_labels.h"

static const struct root_kind {
    struct view key;
    enum span_kind span; /* that may say it, too */
    struct view nobody;
} kinds[ROOT_BY_COUNT] = {
    [ROOT_BY_PHASE] = {VIEW("phase"), SPAN_PHASE, VIEW("(in no phase)")},
    [ROOT_BY_REQUEST] = {VIEW("request"), SPAN_REQUEST, VIEW("(for no request)")},
    [ROOT_BY_SCOPE] = {VIEW(SCOPE_KEY), SPAN_SCOPE, VIEW("(in no scope)")},
};

struct root_labels {
    const struct profile *p;
    const struct root_kind *kind;
    struct span_labels *spans; /* NULL: no span says anything */
};

struct root_labels *root_labels_new(const struct profile *p, enum root_by by)
{
    if (!kinds[by].key.n)
        return NULL;
    struct root_labels *r = mem_new(sizeof *r);
    *r = (struct root_labels){.p = p, .kind = &kinds[by], .spans = span_labels_new(p)};
    return r;
}

void root_labels_free(struct root_labels *r)
{
    if (r)
        span_labels_free(r->spans);
    free(r);
}

static stack_id push(struct builder *to, stack_id caller, struct view name)
{
    func_id f = builder_function(to, (struct function){.name = builder_string(to, name)});
    return builder_push(to, caller, builder_frame(to, (struct frame){.function = f, .kind = FRAME_SCOPE}));
}

/* What is said of this sample; empty: nothing. A moment that is none is TIME_NONE. */
static struct view said_of(const struct root_labels *r, const struct context *c, uint64_t time_ns)
{
    if (r->kind->span == SPAN_SCOPE)
        return scope_path_of(r->p, c->labels);
    const struct label *l = profile_label(r->p, c->labels, r->kind->key);
    if (!l && r->spans && time_ns == TIME_NONE && r->kind->span == SPAN_PHASE)
        return span_labels_phase(r->spans, r->p, c->labels);
    if (!l && r->spans)
        l = profile_label(r->p, span_labels_at(r->spans, r->kind->span, c->thread, time_ns), r->kind->key);
    return l ? profile_string(r->p, l->text) : (struct view){0};
}

static stack_id root_of(const struct root_labels *r, const struct context *c, uint64_t time_ns, struct builder *to)
{
    struct view said = said_of(r, c, time_ns), name;
    stack_id root = STACK_ROOT;
    if (!said.n)
        return push(to, root, r->kind->nobody);
    if (r->kind->span != SPAN_SCOPE)
        return push(to, root, said);
    own(buf) struct buf room;
    buf_init(&room, SCOPE_PATH_BYTES_MOST);
    while (scope_path_next(&said, &room, &name))
        root = push(to, root, name);
    return root;
}

static int by_root(const void *pa, const void *pb)
{
    const struct rooted *a = pa, *b = pb;
    if (a->root.i != b->root.i)
        return a->root.i < b->root.i ? -1 : 1;
    return (a->sample > b->sample) - (a->sample < b->sample);
}

struct rooted *roots_in_order(const struct root_labels *r, const struct sample_set *set, struct builder *to)
{
    struct rooted *all = mem_new((set->n + 1) * sizeof *all);
    bool has_moments = set->time_ns && !set_is_of_readings(r->p, set);
    for (size_t i = 0; i < set->n; i++) {
        const struct context *c = profile_context(r->p, set->contexts ? set->contexts[i] : CONTEXT_NONE);
        all[i] = (struct rooted){root_of(r, c, has_moments ? set->time_ns[i] : TIME_NONE, to), i};
    }
    qsort(all, set->n, sizeof *all, by_root);
    return all;
}
