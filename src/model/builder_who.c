/* The builder's tables of who was running, and for whom. */
#include "model/builder_inside.h"

static bool same_process(const void *rows, uint32_t i, const void *key)
{
    const struct process *a = (const struct process *)rows + i, *p = key;
    return a->pid == p->pid && a->start_ns == p->start_ns;
}

process_id builder_process(struct builder *b, int32_t pid, uint64_t start_ns)
{
    struct process row = {.pid = pid, .start_ns = start_ns};
    uint64_t key[] = {(uint64_t)(uint32_t)pid, start_ns};
    return (process_id){INTERN(b, processes, processes, same_process, key, row)};
}

static bool same_thread(const void *rows, uint32_t i, const void *key)
{
    const struct thread *a = (const struct thread *)rows + i, *t = key;
    return a->process.i == t->process.i && a->tid == t->tid;
}

thread_id builder_thread(struct builder *b, process_id process, int32_t tid)
{
    struct thread row = {.process = process, .tid = tid};
    uint32_t key[] = {process.i, (uint32_t)tid};
    return (thread_id){INTERN(b, threads, threads, same_thread, key, row)};
}

void builder_name_process(struct builder *b, process_id id, struct view name)
{
    if (id.i)
        b->p->processes.rows[id.i].name = builder_string(b, name);
}

void builder_name_thread(struct builder *b, thread_id id, struct view name)
{
    if (id.i)
        b->p->threads.rows[id.i].name = builder_string(b, name);
}

struct label_key {
    const struct builder *b;
    const struct label *labels;
    size_t n;
};

static bool same_label(const struct label *a, const struct label *b)
{
    return a->key.i == b->key.i && a->text.i == b->text.i && a->number == b->number && a->unit.i == b->unit.i;
}

static bool same_labels(const void *rows, uint32_t i, const void *key)
{
    const struct label_run *run = (const struct label_run *)rows + i;
    const struct label_key *k = key;
    if (run->n != k->n)
        return false;
    for (size_t l = 0; l < k->n; l++)
        if (!same_label(&k->b->p->labels.rows[run->first + l], &k->labels[l]))
            return false;
    return true;
}

static int by_key(const void *pa, const void *pb)
{
    const struct label *a = pa, *b = pb;
    if (a->key.i != b->key.i)
        return a->key.i < b->key.i ? -1 : 1;
    if (a->text.i != b->text.i)
        return a->text.i < b->text.i ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

labels_id builder_labels(struct builder *b, const struct label *labels, size_t n)
{
    own(free) struct label *sorted = mem_new(n * sizeof *sorted);
    own(free) uint64_t *bits = mem_new(n * 3 * sizeof *bits);
    if (n)
        memcpy(sorted, labels, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_key);
    for (size_t i = 0; i < n; i++) {
        bits[3 * i] = (uint64_t)sorted[i].key.i << 32 | sorted[i].text.i;
        bits[3 * i + 1] = (uint64_t)sorted[i].number;
        bits[3 * i + 2] = sorted[i].unit.i;
    }
    struct label_key key = {b, sorted, n};
    uint64_t h = idmap_hash(&b->label_sets, bits, n * 3 * sizeof *bits);
    uint32_t found = idmap_find(&b->label_sets, h, same_labels, b->p->label_sets.rows, &key);
    if (found != IDMAP_NONE)
        return (labels_id){found};
    struct label_run run = {.first = (uint32_t)b->p->labels.n, .n = (uint32_t)n};
    for (size_t i = 0; i < n; i++)
        APPEND(b, labels, sorted[i]);
    found = APPEND(b, label_sets, run);
    idmap_add(&b->label_sets, h, found);
    return (labels_id){found};
}

static bool same_context(const void *rows, uint32_t i, const void *key)
{
    const struct context *a = (const struct context *)rows + i, *c = key;
    return a->thread.i == c->thread.i && a->labels.i == c->labels.i;
}

context_id builder_context(struct builder *b, thread_id thread, labels_id labels)
{
    struct context row = {.thread = thread, .labels = labels};
    uint32_t key[] = {thread.i, labels.i};
    return (context_id){INTERN(b, contexts, contexts, same_context, key, row)};
}
