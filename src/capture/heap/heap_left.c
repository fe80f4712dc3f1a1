#include "capture/heap/heap_left.h"
#include "base/mem.h"
#include "capture/heap/heap_target.h"

#include <math.h>

/* The table. */

static bool same_row(const void *rows, uint32_t i, const void *key)
{
    const struct heap_left_row *a = (const struct heap_left_row *)rows + i, *b = key;
    return a->row == b->row && a->request == b->request;
}

static void left_init(struct heap_left *l)
{
    *l = (struct heap_left){.is_made = true};
    idmap_init(&l->map);
}

void heap_left_done(struct heap_left *l)
{
    if (l->is_made)
        idmap_done(&l->map);
    free(l->rows);
    *l = (struct heap_left){0};
}

/* NULL: there are too many. */
static struct heap_left_row *row_for(struct heap_left *l, uint32_t row, uint32_t request)
{
    struct heap_left_row key = {.row = row, .request = request};
    uint64_t hash = idmap_hash_pair(&l->map, row, request);
    uint32_t found = idmap_find(&l->map, hash, same_row, l->rows, &key);
    if (found == IDMAP_NONE && l->n >= HEAP_LEFT_MOST)
        return NULL;
    if (found == IDMAP_NONE) {
        GROW(l->rows, l->cap, l->n + 1);
        found = (uint32_t)l->n++;
        l->rows[found] = key;
        idmap_add(&l->map, hash, found);
    }
    return &l->rows[found];
}

/* One look. */

struct look {
    struct heap_target *t;
    struct heap_book *b;
    struct heap_left now;
    context_id *contexts; /* by thread of the target, while looking; 0: not asked yet */
    bool is_counter;
    uint64_t period_bytes;
};

static context_id context_of(struct look *k, uint32_t thread)
{
    context_id *c = &k->contexts[thread < HEAP_THREADS_MOST ? thread : 0];
    if (!c->i)
        *c = heap_target_context(k->t, k->b, thread, LABELS_NONE);
    return *c;
}

/* How many a sampled block stands for, as the agent has it. */
static int64_t weight_256(const struct look *k, const struct heap_block *block, uint64_t size)
{
    if (!(block->size & HEAP_BLOCK_SAMPLED) || !k->period_bytes)
        return HEAP_WHOLE;
    return llround(HEAP_WHOLE / -expm1(-(double)(size ? size : 1) / (double)k->period_bytes));
}

static void look_at(struct look *k, const struct heap_block *block)
{
    uint64_t size = block->size & HEAP_BLOCK_SIZE;
    if (block->row == 0 || block->row >= k->t->written_cap || size >= (uint64_t)HEAP_VALUE_MOST) /* rows that are told together have no requests */
        return;
    uint32_t request = capture_request_at(k->b->into, context_of(k, block->thread), (struct capture_tick){block->tick, k->is_counter});
    int64_t weight = weight_256(k, block, size);
    if (!request || size > (uint64_t)HEAP_VALUE_MOST / (uint64_t)weight)
        return;
    struct heap_left_row *r = row_for(&k->now, block->row, request);
    if (r && r->bytes < HEAP_VALUE_MOST && r->blocks_256 < HEAP_VALUE_MOST) { /* sums of what a target invented stop here */
        r->blocks_256 += weight;
        r->bytes += (int64_t)size * weight / HEAP_WHOLE;
    }
}

/* Tables of threads and tables of all lie behind each other, and are alike. Most of them was never used. */
static void look_at_all(struct look *k)
{
    static_assert((HEAP_OWN_AT | HEAP_LIVE_AT) % 4096 == 0, "a page has whole blocks");
    for (uint64_t at = HEAP_OWN_AT, end; heap_shared_stretch(k->b->shared, k->t->index, at, HEAP_AREA_BYTES, &at, &end); at = end)
        for (; at + sizeof(struct heap_block) <= end; at += sizeof(struct heap_block)) {
            struct heap_block block;
            shared_memory_copy(&block, k->t->area + at, sizeof block);
            if (atomic_load_explicit(&block.address, memory_order_relaxed) >= HEAP_BLOCK_NONE_COUNT)
                look_at(k, &block);
        }
}

/* What changed. */

static set_id left_set(struct heap_book *b)
{
    struct measure_spec measures[] = {{VIEW("left_objects"), UNIT_COUNT}, {VIEW("left_space"), UNIT_BYTES}};
    if (!b->has_left)
        b->left = builder_set(b->naming.names, VIEW("heap.left"), measures, 2);
    b->has_left = true;
    return b->left;
}

static int64_t whole(int64_t n_256) { return (n_256 + HEAP_WHOLE / 2) / HEAP_WHOLE; }

static void write_change(struct look *k, const struct heap_left_row *now, const struct heap_left_row *before, uint64_t now_ns)
{
    struct heap_row_rest rest;
    bool is_new;
    int64_t more[] = {whole(now->blocks_256) - whole(before->blocks_256), now->bytes - before->bytes};
    if (!more[0] && !more[1])
        return;
    heap_book_bound_names(k->b); /* contexts that were asked for before are none any more, perhaps */
    shared_memory_copy(&rest, k->t->area + HEAP_RESTS_AT + now->row * sizeof rest, sizeof rest);
    context_id who = capture_for_request(k->b->into, heap_target_context(k->t, k->b, rest.thread, LABELS_NONE), now->request);
    capture_sample(k->b->into, left_set(k->b), now_ns, who, heap_stacks_find(&k->t->stacks, &k->b->naming, rest.stack, &is_new), more);
}

static const struct heap_left_row *found_in(const struct heap_left *l, const struct heap_left_row *key)
{
    uint32_t i = l->is_made ? idmap_find(&l->map, idmap_hash_pair(&l->map, key->row, key->request), same_row, l->rows, key) : IDMAP_NONE;
    return i == IDMAP_NONE ? NULL : &l->rows[i];
}

static void write_changes(struct look *k, const struct heap_left *before, uint64_t now_ns)
{
    for (size_t i = 0; i < k->now.n; i++) {
        const struct heap_left_row *r = &k->now.rows[i], *was = found_in(before, r);
        write_change(k, r, was ? was : &(struct heap_left_row){0}, now_ns);
    }
    for (size_t i = 0; i < before->n; i++) {
        struct heap_left_row gone = {.row = before->rows[i].row, .request = before->rows[i].request};
        if (!found_in(&k->now, &gone))
            write_change(k, &gone, &before->rows[i], now_ns);
    }
}

void heap_left_write(struct heap_left *l, struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    if (!capture_has_requests(b->into))
        return;
    struct look k = {.t = t, .b = b, .contexts = mem_new(HEAP_THREADS_MOST * sizeof *k.contexts),
                     .is_counter = heap_shared_counts_ticks(b->shared), .period_bytes = heap_shared_period(b->shared)};
    left_init(&k.now);
    b->knows_requests = true;
    look_at_all(&k);
    free(k.contexts);
    write_changes(&k, l, now_ns);
    heap_left_done(l);
    *l = k.now;
}
