#include "capture/scopes/scopes_join.h"
#include "base/mem.h"

enum { BATCH = 512, RECORDS_MOST = 1 << 22 }; /* of one thread, that are held */

/* A record as we keep it: its end is what they are in order of, `around` the record of the scope around it. */
struct ended {
    uint64_t began, end;
    uint32_t node, depth;
    uint64_t around; /* counted from the thread's first record, from 1; 0: has not ended yet */
};

struct joined {
    struct ended *rows;
    size_t n, cap;
    uint64_t dropped;  /* that came before rows[0] */
    uint64_t *waiting; /* those whose caller has not ended, the deepest last; as `around` counts */
    size_t n_waiting, cap_waiting;
    struct open_scope open[SCOPES_DEPTH_MOST + 1];
    size_t n_open;
};

static struct joined *joined_of(struct seen_thread *t)
{
    if (!t->joined)
        t->joined = mem_new(sizeof(struct joined));
    return t->joined;
}

/* Open. */

/* The way from the innermost scope to the thread's start is known; when each began is by depth. */
static size_t read_open(const struct scopes_memory *m, const struct seen_thread *t, struct open_scope *out)
{
    struct scopes_thread now;
    scopes_memory_copy(m, t->place, &now, sizeof now);
    uint32_t node = now.now < t->n_nodes ? now.now : 0;
    size_t depth = node ? t->nodes[node].depth : 0;
    for (size_t d = depth; d > 0; d--, node = t->nodes[node].caller)
        out[d - 1] = (struct open_scope){node, now.began[d]};
    return depth;
}

/* Two looks that agree: what changes under our eyes is open for a moment only, and may as well not be. */
static void look_at_open(const struct scopes_memory *m, const struct seen_thread *t, struct joined *j)
{
    struct open_scope again[SCOPES_DEPTH_MOST + 1];
    j->n_open = read_open(m, t, j->open);
    size_t n = read_open(m, t, again);
    size_t same = 0;
    while (same < j->n_open && same < n && j->open[same].node == again[same].node && j->open[same].began == again[same].began)
        same++;
    j->n_open = same;
}

/* Ended. */

static struct ended *row_at(const struct joined *j, uint64_t number)
{
    return number > j->dropped && number - j->dropped <= j->n ? &j->rows[number - j->dropped - 1] : NULL;
}

/* It is around all that waited and is deeper. */
static void settle_waiting(struct joined *j, uint32_t depth, uint64_t number)
{
    while (j->n_waiting) {
        struct ended *last = row_at(j, j->waiting[j->n_waiting - 1]);
        if (last && last->depth <= depth)
            break;
        if (last)
            last->around = number;
        j->n_waiting--;
    }
    GROW(j->waiting, j->cap_waiting, j->n_waiting + 1);
    j->waiting[j->n_waiting++] = number;
}

/* Ends do not go back; one that says so was not written by our library, or its processor's clock was a little off. */
static void add_record(struct joined *j, const struct seen_thread *t, const struct scopes_record *r)
{
    uint64_t end = r->began + r->length, last = j->n ? j->rows[j->n - 1].end : 0;
    if (!r->node || r->node >= t->n_nodes || end < r->began)
        return;
    GROW(j->rows, j->cap, j->n + 1);
    j->rows[j->n++] = (struct ended){r->began, end > last ? end : last, r->node, t->nodes[r->node].depth, 0};
    settle_waiting(j, t->nodes[r->node].depth, j->dropped + j->n);
}

static void drop_old(struct joined *j, uint64_t before_tick)
{
    size_t n = j->n > RECORDS_MOST ? j->n - RECORDS_MOST : 0;
    while (n < j->n && j->rows[n].end < before_tick)
        n++;
    if (n < j->n / 2 || !n)
        return; /* moving the rest is paid by what was dropped */
    memmove(j->rows, j->rows + n, (j->n - n) * sizeof *j->rows);
    j->n -= n;
    j->dropped += n;
    size_t gone = 0; /* those that waited in vain so far: their numbers go up */
    while (gone < j->n_waiting && j->waiting[gone] <= j->dropped)
        gone++;
    memmove(j->waiting, j->waiting + gone, (j->n_waiting - gone) * sizeof *j->waiting);
    j->n_waiting -= gone;
}

static void visit_thread(struct scopes_memory *m, struct seen_thread *t, uint64_t forget_before_tick)
{
    struct scopes_record batch[BATCH];
    struct joined *j = joined_of(t);
    scopes_memory_copy(m, t->place + offsetof(struct scopes_thread, tid), &t->tid, sizeof t->tid);
    look_at_open(m, t, j);
    size_t most = (size_t)SCOPES_RING_PIECES * SCOPES_RECORDS; /* who writes as we read does not keep us */
    for (size_t n; most && (n = scopes_memory_records(m, t, batch, BATCH)) > 0; most -= n < most ? n : most)
        for (size_t i = 0; i < n; i++)
            add_record(j, t, &batch[i]);
    drop_old(j, forget_before_tick);
}

void scopes_join_visit(struct scopes_memory *m, struct seen_process *p, uint64_t forget_before_tick)
{
    for (size_t i = 0; i < p->n_threads; i++)
        if (p->threads[i]->place)
            visit_thread(m, p->threads[i], forget_before_tick);
}

/* Asking. */

static uint32_t in_open(const struct joined *j, uint64_t tick)
{
    for (size_t i = j->n_open; i-- > 0;)
        if (j->open[i].began != SCOPES_NOT_TIMED && j->open[i].began < SCOPES_BEGAN_SPECIAL && j->open[i].began <= tick)
            return j->open[i].node;
    return 0;
}

uint32_t scopes_join_at(const struct seen_thread *t, uint64_t tick)
{
    const struct joined *j = t->joined;
    if (!j)
        return 0;
    size_t low = 0, high = j->n; /* the first that ends after the moment */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->rows[middle].end <= tick)
            low = middle + 1;
        else
            high = middle;
    }
    const struct ended *r = low < j->n ? &j->rows[low] : NULL;
    for (size_t steps = 0; r && r->began > tick && steps <= SCOPES_DEPTH_MOST; steps++)
        r = row_at(j, r->around);
    return r && r->began <= tick ? r->node : in_open(j, tick);
}

size_t scopes_join_open(const struct seen_thread *t, const struct open_scope **out)
{
    const struct joined *j = t->joined;
    *out = j ? j->open : NULL;
    return j ? j->n_open : 0;
}

void scopes_join_forget(struct seen_process *p)
{
    for (size_t i = 0; i < p->n_threads; i++) {
        struct joined *j = p->threads[i]->joined;
        if (j) {
            free(j->rows);
            free(j->waiting);
        }
        free(j);
        p->threads[i]->joined = NULL;
    }
}
