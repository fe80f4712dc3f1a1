#include "verbs/selection.h"
#include "formats/format.h"
#include "model/filter.h"
#include "model/settle.h"

void selected_done(struct selected *s)
{
    profile_free(s->p);
    s->p = NULL;
}

/* The profile, narrowed. */

static const char *const *words(struct option_list *l)
{
    l->at[l->n < OPTION_LIST_MOST ? l->n : OPTION_LIST_MOST - 1] = NULL;
    return l->n ? l->at : NULL;
}

bool selection_read(const struct selection *s, const char *path, struct selected *out, struct err *e)
{
    struct selection own_lists = *s; /* the lists need an end */
    struct filter f = {
        .threads = words(&own_lists.thread), .processes = words(&own_lists.process),
        .phases = words(&own_lists.phase), .requests = words(&own_lists.request),
        .scopes = words(&own_lists.scope),
        .include = words(&own_lists.include), .exclude = words(&own_lists.exclude),
        .hide = words(&own_lists.hide), .hide_system = s->hide_system,
        .from_ns = s->from_ns, .to_ns = s->to_ns,
    };
    if (s->to_ns && s->to_ns <= s->from_ns)
        return err_set(e, ERR_USAGE, "--to is not after --from");
    own(profile) struct profile *p = NULL;
    if (!profile_open(path, &p, e))
        return false;
    out->filtered = !filter_is_empty(&f);
    if (out->filtered)
        return profile_filtered(p, &f, &out->p, e);
    out->p = take(p);
    return true;
}

/* Which samples, which value. */

static bool no_such(const char *option, const char *name, const char *const *known, struct err *e)
{
    own(buf) struct buf list;
    buf_init(&list, 200);
    for (; *known; known++)
        buf_printf(&list, "%s%s", list.len ? ", " : "", *known);
    err_set(e, ERR_USAGE, "--%s: the profile has no '%s'", option, name);
    return err_hint(e, "it has %s", list.len ? list.data : "none");
}

enum { NAMES_MOST = 16 };

static bool has_measure(const struct profile *p, const struct sample_set *set, const char *name)
{
    for (size_t m = 0; m < set->n_measures; m++)
        if (view_same(profile_string(p, set->measures[m].name), view_of(name)))
            return true;
    return false;
}

/* Only one kind of samples may have the value that was asked for. */
static const struct sample_set *set_with_measure(const struct profile *p, const char *name)
{
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *set = profile_set(p, (set_id){i});
        if (set->n && has_measure(p, set, name))
            return set;
    }
    return NULL;
}

static bool nothing_passes(const struct selection *s, struct err *e)
{
    err_set(e, ERR_NOT_FOUND, "no sample%s%s passes the filters", s->set ? " of " : "", s->set ? s->set : "");
    if (s->set && s->request.n && !strcmp(s->set, "heap"))
        err_hint(e, "stacks do not know their request; 'inferom report --heap' without --request has what each allocated");
    return false;
}

static bool choose_set(const struct selection *s, struct selected *out, struct err *e)
{
    if (!s->set && s->measure && (out->set = set_with_measure(out->p, s->measure)))
        return true;
    const char *names[NAMES_MOST + 1] = {NULL};
    for (uint32_t i = 0; i < profile_sets(out->p); i++) {
        const struct sample_set *set = profile_set(out->p, (set_id){i});
        struct view is = profile_string(out->p, set->name);
        if (i < NAMES_MOST)
            names[i] = is.at;
        if (s->set ? view_same(is, view_of(s->set)) : set->n > 0) {
            out->set = set;
            return set->n || !out->filtered || nothing_passes(s, e);
        }
    }
    if (s->set)
        return no_such("set", s->set, names, e);
    if (out->filtered)
        return nothing_passes(s, e);
    return err_set(e, ERR_MALFORMED, "there are no samples in it");
}

static bool choose_measure(const struct selection *s, struct selected *out, struct err *e)
{
    const char *names[MEASURES_MOST + 1] = {NULL};
    out->measure = out->set->shown;
    for (size_t m = 0; m < out->set->n_measures; m++) {
        struct view is = profile_string(out->p, out->set->measures[m].name);
        names[m] = is.at;
        if (s->measure && view_same(is, view_of(s->measure))) {
            out->measure = m;
            return true;
        }
    }
    return !s->measure || no_such("measure", s->measure, names, e);
}

bool selection_choose(const struct selection *s, const char *path, struct selected *out, struct err *e)
{
    if (choose_set(s, out, e) && choose_measure(s, out, e))
        return true;
    return e && e->kind == ERR_USAGE ? false : err_in(e, "%s", path);
}

bool selection_drops_samples(const struct selection *s)
{
    return s->include.n || s->exclude.n || s->thread.n || s->process.n || s->phase.n || s->request.n || s->scope.n || s->from_ns || s->to_ns;
}

bool selection_settle(struct selected *s, struct err *e)
{
    struct profile *settled = NULL;
    if (!set_has_changes(s->set))
        return true;
    if (!profile_settled(s->p, &settled, e))
        return false;
    struct view name = profile_string(s->p, s->set->name);
    for (uint32_t i = 0; i < profile_sets(settled); i++) {
        const struct sample_set *set = profile_set(settled, (set_id){i});
        if (view_same(profile_string(settled, set->name), name))
            s->set = set;
    }
    profile_free(s->p);
    s->p = settled;
    return true;
}

bool selection_open(const struct selection *s, const char *path, struct selected *out, struct err *e)
{
    return selection_read(s, path, out, e) && selection_choose(s, path, out, e);
}
