#include "analyse/wait_times.h"
#include "base/mem.h"

static const struct sample_set *set_named(const struct profile *p, struct view name)
{
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *s = profile_set(p, (set_id){i});
        if (view_same(profile_string(p, s->name), name))
            return s;
    }
    return NULL;
}

/* Contexts are few, samples are many: those are added up by context first, and sorted out afterwards. */
struct context_sum {
    int64_t ns;
    size_t samples;
};

static struct context_sum *sums_of(const struct profile *p, const struct sample_set *s)
{
    struct context_sum *sums = mem_new(profile_contexts(p) * sizeof *sums);
    for (size_t i = 0; s && i < s->n; i++) {
        struct context_sum *sum = &sums[s->contexts ? s->contexts[i].i : 0];
        sum->ns += s->values[0][i];
        sum->samples++;
    }
    return sums;
}

static struct view wait_of(const struct profile *p, const struct context *c)
{
    const struct label *l = profile_label(p, c->labels, VIEW("wait"));
    return l ? profile_string(p, l->text) : VIEW("unknown");
}

static void add_wait(struct wait_times *w, struct view wait, const struct context_sum *sum)
{
    size_t i = 0;
    while (i < w->n_waits && !view_same(w->waits[i].wait, wait))
        i++;
    if (i == w->n_waits) {
        w->waits = mem_resize(w->waits, (i + 1) * sizeof *w->waits);
        w->waits[w->n_waits++] = (struct wait_share){.wait = wait};
    }
    w->waits[i].ns += sum->ns;
    w->waits[i].samples += sum->samples;
}

static int longest_first(int64_t a, int64_t b) { return (a < b) - (a > b); }

static int by_wait(const void *pa, const void *pb)
{
    const struct wait_share *a = pa, *b = pb;
    int order = longest_first(a->ns, b->ns);
    return order ? order : view_compare(a->wait, b->wait);
}

static int by_life(const void *pa, const void *pb)
{
    const struct wait_thread *a = pa, *b = pb;
    int order = longest_first(a->on_ns + a->off_ns, b->on_ns + b->off_ns);
    return order ? order : (a->thread.i > b->thread.i) - (a->thread.i < b->thread.i);
}

/* One context is one thread and one kind of wait, so the largest of a thread's contexts is what it waited for most. */
static void sort_out(const struct profile *p, struct wait_times *w, const struct context_sum *on, const struct context_sum *off)
{
    w->n_threads = profile_threads(p);
    w->threads = mem_new(w->n_threads * sizeof *w->threads);
    for (uint32_t i = 0; i < profile_contexts(p); i++) {
        const struct context *c = profile_context(p, (context_id){i});
        struct wait_thread *t = &w->threads[c->thread.i];
        t->thread = c->thread;
        t->on_ns += on[i].ns;
        t->off_ns += off[i].ns;
        w->on_ns += on[i].ns;
        w->off_ns += off[i].ns;
        if (off[i].ns > t->most_ns) {
            t->most_ns = off[i].ns;
            t->most = wait_of(p, c);
        }
        if (off[i].samples)
            add_wait(w, wait_of(p, c), &off[i]);
    }
    if (w->n_waits)
        qsort(w->waits, w->n_waits, sizeof *w->waits, by_wait);
    qsort(w->threads, w->n_threads, sizeof *w->threads, by_life);
    while (w->n_threads && !w->threads[w->n_threads - 1].on_ns && !w->threads[w->n_threads - 1].off_ns)
        w->n_threads--;
}

static bool is_time(const struct sample_set *s) { return s && s->n_measures && s->measures[0].unit == UNIT_NS; }

bool wait_times_of(const struct profile *p, struct wait_times *out)
{
    const struct sample_set *on_set = set_named(p, VIEW("cpu")), *off_set = set_named(p, VIEW("off-cpu"));
    *out = (struct wait_times){0};
    if (!is_time(off_set))
        return false;
    own(free) struct context_sum *on = sums_of(p, is_time(on_set) ? on_set : NULL);
    own(free) struct context_sum *off = sums_of(p, off_set);
    sort_out(p, out, on, off);
    return true;
}

void wait_times_done(struct wait_times *w)
{
    free(w->waits);
    free(w->threads);
    *w = (struct wait_times){0};
}

const struct wait_thread *wait_times_thread(const struct wait_times *w, thread_id id)
{
    for (size_t i = 0; i < w->n_threads; i++)
        if (w->threads[i].thread.i == id.i)
            return &w->threads[i];
    return NULL;
}
