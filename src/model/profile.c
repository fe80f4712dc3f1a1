#include "model/profile.h"
#include "model/tables.h"

#include <assert.h>

const char *const frame_kind_names[FRAME_KIND_COUNT + 1] = {
    "native", "inlined", "kernel", "python", "scope", "gpu", NULL,
};
const char *const span_kind_names[SPAN_KIND_COUNT + 1] = {
    "scope", "request", "phase", "token", "gpu", "other", NULL,
};
const char *const unit_names[UNIT_KIND_COUNT + 1] = {"count", "ns", "bytes", "other", NULL};

static void free_columns(const struct sample_set *s)
{
    free((void *)(uintptr_t)s->time_ns);
    free((void *)(uintptr_t)s->stacks);
    free((void *)(uintptr_t)s->contexts);
    for (size_t m = 0; m < s->n_measures; m++)
        free((void *)(uintptr_t)s->values[m]);
}

void profile_free(struct profile *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->sets.n; i++)
        free_columns(&p->sets.rows[i]);
    for (size_t i = 0; i < p->series.n; i++)
        free((void *)(uintptr_t)p->series.rows[i].readings);
    intern_done(&p->strings);
    free(p->mappings.rows);
    free(p->functions.rows);
    free(p->frames.rows);
    free(p->stacks.rows);
    free(p->processes.rows);
    free(p->threads.rows);
    free(p->labels.rows);
    free(p->label_sets.rows);
    free(p->contexts.rows);
    free(p->sets.rows);
    free(p->spans.rows);
    free(p->series.rows);
    free(p->facts.rows);
    free(p->losses.rows);
    free(p->damages.rows);
    free(p);
}

size_t profile_strings(const struct profile *p) { return p->strings.n; }
size_t profile_mappings(const struct profile *p) { return p->mappings.n; }
size_t profile_functions(const struct profile *p) { return p->functions.n; }
size_t profile_frames(const struct profile *p) { return p->frames.n; }
size_t profile_stacks(const struct profile *p) { return p->stacks.n; }
size_t profile_processes(const struct profile *p) { return p->processes.n; }
size_t profile_threads(const struct profile *p) { return p->threads.n; }
size_t profile_label_sets(const struct profile *p) { return p->label_sets.n; }
size_t profile_contexts(const struct profile *p) { return p->contexts.n; }
size_t profile_sets(const struct profile *p) { return p->sets.n; }
size_t profile_spans(const struct profile *p) { return p->spans.n - 1; }
size_t profile_series_count(const struct profile *p) { return p->series.n; }
size_t profile_facts(const struct profile *p) { return p->facts.n; }
size_t profile_losses(const struct profile *p) { return p->losses.n; }
size_t profile_damages(const struct profile *p) { return p->damages.n; }

/* A wrong id is our own mistake: readers of foreign files check before they ask. */
#define ROW(table, id) (assert((id).i < (table).n), &(table).rows[(id).i])

struct view profile_string(const struct profile *p, str_id id) { return *ROW(p->strings, id); }
const struct mapping *profile_mapping(const struct profile *p, mapping_id id) { return ROW(p->mappings, id); }
const struct function *profile_function(const struct profile *p, func_id id) { return ROW(p->functions, id); }
const struct frame *profile_frame(const struct profile *p, frame_id id) { return ROW(p->frames, id); }
const struct stack *profile_stack(const struct profile *p, stack_id id) { return ROW(p->stacks, id); }
const struct process *profile_process(const struct profile *p, process_id id) { return ROW(p->processes, id); }
const struct thread *profile_thread(const struct profile *p, thread_id id) { return ROW(p->threads, id); }
const struct context *profile_context(const struct profile *p, context_id id) { return ROW(p->contexts, id); }
const struct sample_set *profile_set(const struct profile *p, set_id id) { return ROW(p->sets, id); }
const struct span *profile_span(const struct profile *p, span_id id) { return ROW(p->spans, id); }
const struct series *profile_series(const struct profile *p, series_id id) { return ROW(p->series, id); }

const struct label *profile_labels(const struct profile *p, labels_id id, size_t *out_n)
{
    const struct label_run *run = ROW(p->label_sets, id);
    *out_n = run->n;
    return run->n ? p->labels.rows + run->first : NULL;
}

const struct fact *profile_fact(const struct profile *p, size_t i) { return &p->facts.rows[i]; }
const struct loss *profile_loss(const struct profile *p, size_t i) { return &p->losses.rows[i]; }
struct view profile_damage(const struct profile *p, size_t i) { return profile_string(p, p->damages.rows[i]); }

const struct fact *profile_fact_named(const struct profile *p, struct view key)
{
    for (size_t i = 0; i < p->facts.n; i++)
        if (view_same(profile_string(p, p->facts.rows[i].key), key))
            return &p->facts.rows[i];
    return NULL;
}

const struct label *profile_label(const struct profile *p, labels_id id, struct view key)
{
    size_t n;
    const struct label *labels = profile_labels(p, id, &n);
    for (size_t i = 0; i < n; i++)
        if (view_same(profile_string(p, labels[i].key), key))
            return &labels[i];
    return NULL;
}

struct view profile_frame_name(const struct profile *p, frame_id id)
{
    return profile_string(p, profile_function(p, profile_frame(p, id)->function)->name);
}

struct view profile_frame_module(const struct profile *p, frame_id id)
{
    const struct function *f = profile_function(p, profile_frame(p, id)->function);
    return profile_string(p, profile_mapping(p, f->mapping)->path);
}

bool profile_has_wall_offset(const struct profile *p) { return p->has_wall_offset; }
int64_t profile_wall_offset_ns(const struct profile *p) { return p->wall_offset_ns; }
uint64_t profile_start_ns(const struct profile *p) { return p->start_ns; }
uint64_t profile_end_ns(const struct profile *p) { return p->end_ns; }

static size_t held_by_set(const struct sample_set *s)
{
    size_t row = sizeof *s->stacks + s->n_measures * sizeof(int64_t);
    row += s->time_ns ? sizeof *s->time_ns : 0;
    row += s->contexts ? sizeof *s->contexts : 0;
    return row * s->n;
}

#define HELD(table) ((table).cap * sizeof *(table).rows)

size_t profile_held_bytes(const struct profile *p)
{
    size_t bytes = sizeof *p + p->strings.texts.held_bytes + HELD(p->strings) + HELD(p->mappings) +
                   HELD(p->functions) + HELD(p->frames) + HELD(p->stacks) + HELD(p->processes) +
                   HELD(p->threads) + HELD(p->labels) + HELD(p->label_sets) + HELD(p->contexts) +
                   HELD(p->sets) + HELD(p->spans) + HELD(p->series) + HELD(p->facts) +
                   HELD(p->losses) + HELD(p->damages);
    for (size_t i = 0; i < p->sets.n; i++)
        bytes += held_by_set(&p->sets.rows[i]);
    for (size_t i = 0; i < p->series.n; i++)
        bytes += p->series.rows[i].n * sizeof(struct reading);
    return bytes;
}
