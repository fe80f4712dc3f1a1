#include "analyse/by_thread.h"
#include "base/mem.h"

static uint32_t thread_of(const struct profile *p, const struct sample_set *set, size_t i)
{
    return set->contexts ? profile_context(p, set->contexts[i])->thread.i : 0;
}

static int heaviest_first(const void *pa, const void *pb)
{
    const struct thread_share *a = pa, *b = pb;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    return (a->thread.i > b->thread.i) - (a->thread.i < b->thread.i);
}

/* A counting sort: one pass to see how many each thread has, one to lay them out. */
struct by_thread by_thread_of(const struct profile *p, const struct sample_set *set, size_t measure)
{
    size_t n_threads = profile_threads(p);
    struct by_thread t = {.rows = mem_new(n_threads * sizeof *t.rows), .indexes = mem_new(set->n * sizeof *t.indexes)};
    for (size_t i = 0; i < set->n; i++)
        t.rows[thread_of(p, set, i)].n++;

    size_t next = 0;
    for (uint32_t k = 0; k < n_threads; k++) {
        t.rows[k].thread = (thread_id){k};
        t.rows[k].samples = t.indexes + next;
        next += t.rows[k].n;
        t.rows[k].n = 0;
    }
    for (size_t i = 0; i < set->n; i++) {
        struct thread_share *row = &t.rows[thread_of(p, set, i)];
        t.indexes[(size_t)(row->samples - t.indexes) + row->n++] = i;
        row->total += set->values[measure][i];
    }
    for (size_t k = 0; k < n_threads; k++)
        if (t.rows[k].n)
            t.rows[t.n++] = t.rows[k];
    qsort(t.rows, t.n, sizeof *t.rows, heaviest_first);
    return t;
}

void by_thread_done(struct by_thread *t)
{
    free(t->rows);
    free(t->indexes);
    *t = (struct by_thread){0};
}
