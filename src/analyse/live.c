#include "analyse/live.h"
#include "base/mem.h"
#include "model/translate.h"

#include <math.h>

const struct profile *live_names(const struct live *l) { return builder_view(capture_names(l->capture)); }

/* Samples. */

static bool is_named(const struct profile *p, str_id id, struct view name) { return view_same(profile_string(p, id), name); }

/* Those that are out of the window make room; when there are too few of them, there is more room, up to a bound. */
static void make_room(struct live *l)
{
    size_t most = LIVE_SAMPLES_MOST / 4 * 3, kept = l->n - l->first;
    kept = kept < most ? kept : most;
    size_t from = l->n - kept;
    if (from) {
        memmove(l->time_ns, l->time_ns + from, kept * sizeof *l->time_ns);
        memmove(l->contexts, l->contexts + from, kept * sizeof *l->contexts);
        memmove(l->stacks, l->stacks + from, kept * sizeof *l->stacks);
        memmove(l->values, l->values + from, kept * sizeof *l->values);
    }
    l->first = 0;
    l->n = kept;
    if ((l->cap && kept < l->cap / 2) || l->cap == LIVE_SAMPLES_MOST)
        return;
    l->cap = l->cap ? l->cap * 2 : LIVE_SAMPLES_LEAST;
    l->time_ns = mem_resize(l->time_ns, l->cap * sizeof *l->time_ns);
    l->contexts = mem_resize(l->contexts, l->cap * sizeof *l->contexts);
    l->stacks = mem_resize(l->stacks, l->cap * sizeof *l->stacks);
    l->values = mem_resize(l->values, l->cap * sizeof *l->values);
}

static void see_sample(void *self, set_id set, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values)
{
    struct live *l = self;
    const struct profile *p = live_names(l);
    if (l->is_paused || !is_named(p, profile_set(p, set)->name, VIEW("cpu")))
        return;
    if (l->n == l->cap)
        make_room(l);
    l->time_ns[l->n] = time_ns;
    l->contexts[l->n] = context;
    l->stacks[l->n] = stack;
    l->values[l->n] = values[0];
    l->n++;
}

static void see_lost(void *self, set_id set, uint64_t count)
{
    struct live *l = self;
    (void)set;
    l->lost += count;
}

/* Processes. */

static struct live_process *process_of(struct live *l, int32_t pid, str_id name)
{
    for (size_t i = 0; i < l->n_processes; i++)
        if (l->processes[i].pid == pid)
            return &l->processes[i];
    GROW(l->processes, l->cap_processes, l->n_processes + 1);
    l->processes[l->n_processes] = (struct live_process){.pid = pid, .name = name, .cpu_ratio = NAN, .rss_bytes = NAN,
                                                             .anon_bytes = NAN, .file_bytes = NAN, .shared_bytes = NAN};
    return &l->processes[l->n_processes++];
}

static void see_reading(void *self, series_id id, uint64_t time_ns, double value)
{
    struct live *l = self;
    const struct profile *p = live_names(l);
    const struct series *s = profile_series(p, id);
    (void)time_ns;
    if (l->is_paused || !is_named(p, s->name, VIEW("cpu use")) || isnan(value))
        return;
    const struct label *pid = profile_label(p, s->labels, VIEW("pid")), *name = profile_label(p, s->labels, VIEW("process"));
    if (!pid)
        return;
    struct live_process *row = process_of(l, (int32_t)pid->number, name ? name->text : STR_EMPTY);
    row->sum += value / 100;
    row->n++;
}

/* What is in the window goes over to the new names; what is older is forgotten with the old ones. */
static void begun_again(void *self, const struct profile *old, struct builder *names)
{
    struct live *l = self;
    own(free) bool *wanted = mem_new(profile_stacks(old) * sizeof *wanted);
    own(translation) struct translation t;
    translation_init(&t, old, names);
    for (size_t i = l->first; i < l->n; i++)
        wanted[l->stacks[i].i] = true;
    translate_stacks(&t, wanted, NULL);
    for (size_t i = l->first; i < l->n; i++) {
        l->stacks[i].i = t.stacks[l->stacks[i].i];
        l->contexts[i] = translate_context(&t, l->contexts[i]);
    }
    for (size_t i = 0; i < l->n_processes; i++)
        l->processes[i].name = translate_string(&t, l->processes[i].name);
}

/* Who had no reading since the last tick has ended. */
static void average(struct live *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n_processes; i++) {
        struct live_process row = l->processes[i];
        if (!row.n)
            continue;
        row.cpu_ratio = row.sum / (double)row.n;
        row.sum = 0;
        row.n = 0;
        l->processes[kept++] = row;
    }
    l->n_processes = kept;
}

/* Busiest first; equals by number. */
static int busiest_first(const void *pa, const void *pb)
{
    const struct live_process *a = pa, *b = pb;
    if (a->cpu_ratio != b->cpu_ratio)
        return a->cpu_ratio < b->cpu_ratio ? 1 : -1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Life. */

void live_init(struct live *l, struct capture_writer *w, uint64_t window_ns, uint64_t now_ns)
{
    *l = (struct live){.capture = w, .window_ns = window_ns, .since_ns = now_ns};
    capture_watch(w, (struct capture_onlooker){.self = l, .sample = see_sample, .reading = see_reading, .lost = see_lost,
                                                .begun_again = begun_again});
}

void live_done(struct live *l)
{
    if (l->capture)
        capture_watch(l->capture, (struct capture_onlooker){0});
    free(l->time_ns);
    free(l->contexts);
    free(l->stacks);
    free(l->values);
    free(l->processes);
    *l = (struct live){0};
}

void live_tick(struct live *l, uint64_t now_ns)
{
    if (l->is_paused)
        return;
    uint64_t oldest = now_ns > l->window_ns ? now_ns - l->window_ns : 0;
    while (l->first < l->n && l->time_ns[l->first] < oldest)
        l->first++;
    average(l);
    if (l->n_processes)
        qsort(l->processes, l->n_processes, sizeof *l->processes, busiest_first);
}

void live_pause(struct live *l, bool is_paused, uint64_t now_ns)
{
    if (l->is_paused && !is_paused) {
        l->first = l->n = 0;
        l->since_ns = now_ns;
    }
    l->is_paused = is_paused;
}

/* Asking. */

uint64_t live_length_ns(const struct live *l, uint64_t now_ns)
{
    uint64_t seen = now_ns > l->since_ns ? now_ns - l->since_ns : 0;
    return seen < l->window_ns ? seen : l->window_ns;
}

struct sample_set live_set(const struct live *l)
{
    struct sample_set s = {
        .n_measures = 1,
        .measures = {{.unit = UNIT_NS}},
        .n = l->n - l->first,
    };
    if (!s.n)
        return s;
    s.time_ns = l->time_ns + l->first;
    s.stacks = l->stacks + l->first;
    s.contexts = l->contexts + l->first;
    s.values[0] = l->values + l->first;
    for (size_t i = 0; i < s.n; i++)
        s.measures[0].total += s.values[0][i];
    return s;
}
