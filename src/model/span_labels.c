/*
 * Phases of one thread do not overlap, and neither do requests: a thread works for one at a time. So of one kind and
 * thread, the span that began last before a moment is the one, if it has not ended.
 */
#include "model/span_labels.h"
#include "base/mem.h"
#include "model/scope_path.h"

enum { KINDS = 2, PHASES_MOST = 64 }; /* a program with more of them than that uses them for something else */

struct piece {
    uint64_t start_ns, end_ns;
    uint32_t thread;
    labels_id labels;
};

struct span_labels {
    struct kind {
        struct piece *rows; /* by thread, then by start */
        size_t n, cap;
    } kinds[KINDS];
    str_id *phases; /* their names, each once */
    size_t n_phases, cap_phases;
};

static int kind_index(enum span_kind kind) { return kind == SPAN_PHASE ? 0 : kind == SPAN_REQUEST ? 1 : -1; }

static int by_thread_and_start(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void add_phase(struct span_labels *s, str_id name)
{
    for (size_t i = 0; i < s->n_phases; i++)
        if (s->phases[i].i == name.i)
            return;
    if (s->n_phases == PHASES_MOST)
        return;
    GROW(s->phases, s->cap_phases, s->n_phases + 1);
    s->phases[s->n_phases++] = name;
}

struct span_labels *span_labels_new(const struct profile *p)
{
    struct span_labels *s = mem_new(sizeof *s);
    for (uint32_t i = 1; i <= profile_spans(p); i++) {
        const struct span *span = profile_span(p, (span_id){i});
        int index = kind_index(span->kind);
        if (index < 0 || !span->labels.i || !span->thread.i)
            continue;
        struct kind *k = &s->kinds[index];
        uint64_t end = span->length_ns == TIME_NONE ? TIME_NONE : span->start_ns + span->length_ns;
        GROW(k->rows, k->cap, k->n + 1);
        k->rows[k->n++] = (struct piece){span->start_ns, end, span->thread.i, span->labels};
        const struct label *phase = span->kind == SPAN_PHASE ? profile_label(p, span->labels, VIEW("phase")) : NULL;
        if (phase && phase->text.i)
            add_phase(s, phase->text);
    }
    for (size_t k = 0; k < KINDS; k++)
        if (s->kinds[k].n)
            qsort(s->kinds[k].rows, s->kinds[k].n, sizeof *s->kinds[k].rows, by_thread_and_start);
    if (s->kinds[0].n || s->kinds[1].n)
        return s;
    span_labels_free(s);
    return NULL;
}

void span_labels_free(struct span_labels *s)
{
    for (size_t k = 0; s && k < KINDS; k++)
        free(s->kinds[k].rows);
    if (s)
        free(s->phases);
    free(s);
}

labels_id span_labels_at(const struct span_labels *s, enum span_kind kind, thread_id thread, uint64_t time_ns)
{
    int index = kind_index(kind);
    if (index < 0 || time_ns == TIME_NONE)
        return (labels_id){0};
    const struct kind *k = &s->kinds[index];
    const struct piece at = {.thread = thread.i, .start_ns = time_ns};
    size_t low = 0, high = k->n; /* the first that comes after this moment */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_thread_and_start(&k->rows[middle], &at) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct piece *last = low ? &k->rows[low - 1] : NULL;
    bool is_in = last && last->thread == thread.i && time_ns < last->end_ns;
    return is_in ? last->labels : (labels_id){0};
}

struct view span_labels_phase(const struct span_labels *s, const struct profile *p, labels_id labels)
{
    struct view path = scope_path_of(p, labels), name, found = {0};
    own(buf) struct buf room;
    buf_init(&room, SCOPE_PATH_BYTES_MOST);
    while (s->n_phases && scope_path_next(&path, &room, &name))
        for (size_t i = 0; i < s->n_phases; i++)
            if (view_same(name, profile_string(p, s->phases[i])))
                found = profile_string(p, s->phases[i]);
    return found;
}
