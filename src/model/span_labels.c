/*
 * Phases of one thread do not overlap, and neither do requests: a thread works for one at a time. So of one kind and
 * thread, the span that began last before a moment is the one, if it has not ended.
 */
#include "model/span_labels.h"
#include "base/mem.h"

enum { KINDS = 2 };

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
};

static int kind_index(enum span_kind kind) { return kind == SPAN_PHASE ? 0 : kind == SPAN_REQUEST ? 1 : -1; }

static int by_thread_and_start(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
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
