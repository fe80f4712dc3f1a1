#include "capture/cpu/wait_frames.h"
#include "base/mem.h"
#include "base/own.h"

struct frame_hint {
    bool is_known, is_kernel, is_scheduler;
    unsigned rank;
    const struct wait_rule *rule;
};

void wait_frames_done(struct wait_frames *f)
{
    free(f->hints);
    *f = (struct wait_frames){0};
}

/* A kernel function whose name we may not know has a word of ours in brackets, and tells nothing. */
static struct frame_hint make_hint(const struct profile *p, frame_id id)
{
    struct wait_name name = {profile_frame_name(p, id), profile_frame_module(p, id)};
    struct frame_hint h = {.is_known = true, .rank = wait_rank_nothing, .is_kernel = profile_frame(p, id)->kind == FRAME_KERNEL};
    if (h.is_kernel && !view_starts(name.name, VIEW("[")))
        h.rank = wait_rank_of(name);
    h.is_scheduler = h.is_kernel && wait_is_scheduler(name.name);
    h.rule = h.is_kernel ? NULL : wait_rule_of(name);
    return h;
}

static const struct frame_hint *hint_of(struct wait_frames *f, const struct profile *p, stack_id s)
{
    frame_id id = profile_stack(p, s)->frame;
    size_t had = f->hints_cap;
    GROW(f->hints, f->hints_cap, (size_t)id.i + 1);
    if (f->hints_cap > had)
        memset(f->hints + had, 0, (f->hints_cap - had) * sizeof *f->hints);
    if (!f->hints[id.i].is_known)
        f->hints[id.i] = make_hint(p, id);
    return &f->hints[id.i];
}

static stack_id caller_of(const struct profile *p, stack_id s) { return profile_stack(p, s)->caller; }

enum wait_class wait_frames_class(struct wait_frames *f, const struct profile *p, stack_id leaf, enum wait_class so_far)
{
    unsigned best = wait_rank_nothing;
    for (stack_id s = leaf; s.i != STACK_ROOT.i; s = caller_of(p, s)) {
        unsigned rank = hint_of(f, p, s)->rank;
        best = rank < best ? rank : best;
    }
    enum wait_class is = best == wait_rank_nothing ? so_far : wait_rank_class(best);
    for (stack_id s = leaf; s.i != STACK_ROOT.i; s = caller_of(p, s))
        is = wait_rule_class(hint_of(f, p, s)->rule, is);
    return is;
}

stack_id wait_frames_trim(struct wait_frames *f, const struct profile *p, stack_id leaf, bool want_kernel)
{
    for (stack_id s = leaf; s.i != STACK_ROOT.i; s = caller_of(p, s)) {
        const struct frame_hint *h = hint_of(f, p, s);
        bool is_noise = want_kernel ? h->is_scheduler : h->is_kernel;
        if (!is_noise)
            return s;
    }
    return leaf;
}
