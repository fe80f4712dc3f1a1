#include "verbs/report_memory.h"
#include "analyse/heap_change.h"
#include "analyse/sampling.h"
#include "base/log.h"
#include "base/text.h"

const char *const memory_grades[] = {"any", "a", NULL};

void memory_asked_done(struct memory_asked *m) { leak_suppressions_done(&m->known); }

/* "2s,10s": the state at the second moment less that at the first is what was written after the one, up to the other. */
static bool read_between(const char *text, struct selection *part, struct memory_asked *out, struct err *e)
{
    const char *comma = strchr(text, ',');
    uint64_t from, to;
    char a[32], b[32];
    if (!comma || !text_to_duration(view_between(text, comma), &from) || !text_to_duration(view_of(comma + 1), &to))
        return err_set(e, ERR_USAGE, "--between: '%s' is not two times such as 2s,10s", text);
    if (to <= from)
        return err_set(e, ERR_USAGE, "--between: '%s': the second time is not after the first", text);
    if (part->from_ns || part->to_ns)
        return err_set(e, ERR_USAGE, "--between is a time already: it does not go with --from and --to");
    part->from_ns = from ? from + 1 : 0; /* nothing was there before the start */
    part->to_ns = to + 1;
    text_ns(a, (double)from);
    text_ns(b, (double)to);
    snprintf(out->change, sizeof out->change, "from %s to %s after the start", a, b);
    return true;
}

/* Without its beginning a recording does not say what is live: only what changed. */
static bool read_from(const struct memory_wish *w, const struct selection *part, struct memory_asked *out, struct err *e)
{
    char from[32], to[32];
    if (w->leaks || w->fail_on_leaks)
        return err_set(e, ERR_USAGE, "--%s needs the recording from its start, and --from leaves that out", w->leaks ? "leaks" : "fail-on-leaks");
    text_ns(from, (double)part->from_ns);
    text_ns(to, (double)part->to_ns);
    snprintf(out->change, sizeof out->change, part->to_ns ? "from %s to %s after the start" : "from %s after the start to the end", from, to);
    return true;
}

static bool check(const struct memory_wish *w, struct err *e)
{
    bool change = w->between || w->base;
    if (w->between && w->base)
        return err_set(e, ERR_USAGE, "--between and --base are two different changes");
    if (change && (w->leaks || w->fail_on_leaks))
        return err_set(e, ERR_USAGE, "--%s: a change has no leaks; ask for them without --%s", w->leaks ? "leaks" : "fail-on-leaks",
                       w->base ? "base" : "between");
    if (w->blocks && (change || w->heap || w->leaks))
        return err_set(e, ERR_USAGE, "--blocks writes blocks and nothing else; --include chooses their stacks");
    return true;
}

bool memory_ask(const struct memory_wish *w, struct selection *part, struct memory_asked *out, struct err *e)
{
    if (!check(w, e) || (w->between && !read_between(w->between, part, out, e)) ||
        (!w->between && part->from_ns && !read_from(w, part, out, e)))
        return false;
    if (w->base)
        snprintf(out->change, sizeof out->change, "since %.160s", w->base);
    for (size_t i = 0; i < w->suppressions.n; i++)
        if (!leak_suppressions_open(&out->known, w->suppressions.at[i], e))
            return err_in(e, "--suppressions");
    out->is_only = w->heap || w->leaks || w->between || w->base;
    out->look = (struct heap_look){.parts = *out->change ? HEAP_CHANGE : w->leaks ? HEAP_LEAKS : HEAP_ALL, .growing_only = w->grade == 1,
                                   .known = &out->known, .change = out->change};
    return true;
}

static const char *option_of(const struct memory_wish *w)
{
    return w->leaks ? "leaks" : w->between ? "between" : w->base ? "base" : w->fail_on_leaks ? "fail-on-leaks" : "heap";
}

static bool no_heap(const struct memory_wish *w, const char *path, const struct selection *part, bool filtered, struct err *e)
{
    if (filtered)
        err_set(e, ERR_NOT_FOUND, "--%s: no allocation in %s passes the filters", option_of(w), path);
    if (filtered && part->request.n)
        return err_hint(e, "stacks do not know their request; --heap without --request has what each allocated");
    if (filtered)
        return false;
    err_set(e, ERR_USAGE, "--%s: %s has no allocations", option_of(w), path);
    return err_hint(e, "'inferom record --heap' records them");
}

static bool compare(const struct memory_wish *w, const struct selection *part, struct selected *out, struct err *e)
{
    own(selected) struct selected base = {0};
    struct profile *change = NULL;
    if (!selection_read(part, w->base, &base, e))
        return false;
    if (!heap_set(base.p))
        return no_heap(w, w->base, part, base.filtered, e);
    if (!heap_change_of(base.p, out->p, &change, e))
        return err_in(e, "--base");
    profile_free(out->p);
    out->p = change;
    return true;
}

bool memory_choose(const struct memory_wish *w, const struct selection *part, const char *path, struct memory_asked *m, struct selected *out,
                   struct err *e)
{
    bool must_be = m->is_only || w->fail_on_leaks;
    const struct sample_set *set = heap_set(out->p);
    if (must_be && (!set || (out->filtered && !set->n)))
        return no_heap(w, path, part, out->filtered, e);
    if (w->base && !compare(w, part, out, e))
        return false;
    m->look.filtered = selection_drops_samples(part);
    if (!m->is_only || part->set)
        return selection_choose(part, path, out, e);
    struct selection memory = *part;
    set = heap_set(out->p);
    if (!set)
        return err_set(e, ERR_NOT_FOUND, "--%s: nothing is left to show", option_of(w));
    memory.set = profile_string(out->p, set->name).at;
    if (!memory.measure)
        memory.measure = measure_named(out->p, set, VIEW("alloc_space")) < set->n_measures ? "alloc_space" : "inuse_space";
    return selection_choose(&memory, path, out, e);
}

bool memory_passes(const struct memory_wish *w, const struct heap_view *v)
{
    struct leak_sum all = heap_leaked(v);
    char bytes[32], blocks[32];
    if (!w->fail_on_leaks || !all.paths)
        return true;
    text_bytes(bytes, (double)all.bytes);
    text_count(blocks, all.blocks);
    log_error("leaks: %s in %s block%s from %zu path%s, and --fail-on-leaks allows none", bytes, blocks, all.blocks == 1 ? "" : "s", all.paths,
              all.paths == 1 ? "" : "s");
    return false;
}
