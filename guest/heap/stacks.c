/*
 * Numbers of stacks. The index has levels, each four times as large as the one before, and a new stack goes to the first level
 * that has room near its place: a process with few stacks touches few pages. There is no lock. When two
 * threads write down the same stack at the same moment there may be two numbers for it, and the recorder, which reads
 * what they mean, makes one of them.
 */
#include "agent.h"
#include "common/bare_calls.h"

enum { PROBES = 8 };

static struct heap_stack *stack_at(uint32_t i)
{
    return (struct heap_stack *)(void *)(agent.area + HEAP_STACKS_AT + i * sizeof(struct heap_stack));
}

static struct heap_index *index_entry(uint32_t level, uint64_t i)
{
    return (struct heap_index *)(void *)(agent.area + heap_index_at(level) + i * sizeof(struct heap_index));
}

static uint32_t find(uint64_t hash, struct heap_index **out_free)
{
    *out_free = NULL;
    for (uint32_t level = 0; level < HEAP_INDEX_LEVELS && !*out_free; level++) {
        uint64_t mask = (UINT64_C(1024) << 2 * level) - 1;
        for (uint32_t k = 0; k < PROBES; k++) {
            struct heap_index *e = index_entry(level, (hash + k) & mask);
            uint64_t at = atomic_load_explicit(&e->hash, memory_order_acquire);
            if (at == hash)
                return atomic_load_explicit(&e->stack, memory_order_acquire);
            if (!at) {
                *out_free = e;
                break;
            }
        }
    }
    return 0;
}

static uint32_t write_down(const struct walk *w)
{
    uint64_t at = atomic_fetch_add_explicit(&area()->frames, w->n, memory_order_relaxed);
    uint32_t number = atomic_fetch_add_explicit(&area()->stacks, 1, memory_order_relaxed);
    if (number >= HEAP_STACKS_MOST || at + w->n > HEAP_FRAMES_MOST) {
        atomic_store_explicit(&area()->stacks, HEAP_STACKS_MOST, memory_order_relaxed);
        atomic_store_explicit(&area()->frames, HEAP_FRAMES_MOST, memory_order_relaxed);
        return 0;
    }
    uint64_t *frames = (uint64_t *)(void *)(agent.area + HEAP_FRAMES_AT) + at;
    for (uint32_t i = 0; i < w->n; i++)
        frames[i] = w->frames[i];
    struct heap_stack *s = stack_at(number);
    s->frames_at = at;
    s->end = w->end;
    s->unloads = atomic_load_explicit(&area()->unloads, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    s->n = w->n; /* the last: the recorder takes those that have frames */
    return number;
}

/* A library was loaded: whoever looks for names when this process is gone must know where it was. At most once a millisecond. */
static void tell_new_code(const struct walk *w)
{
    static _Atomic uint64_t last_ns;
    uint64_t now_ns = bare_clock_ns(CLOCK_MONOTONIC), before = atomic_load_explicit(&last_ns, memory_order_relaxed);
    if (!walk_knows_code(w) && now_ns - before > 1000000 && atomic_compare_exchange_strong(&last_ns, &before, now_ns))
        ring_maps();
}

COLD uint32_t stack_number(const struct walk *w)
{
    struct heap_index *place;
    uint64_t hash = w->hash | !w->hash, none = 0;
    uint32_t number = find(hash, &place);
    if (number)
        return number;
    tell_new_code(w);
    number = write_down(w);
    if (!number)
        return 0;
    if (place && atomic_compare_exchange_strong(&place->hash, &none, hash))
        atomic_store_explicit(&place->stack, number, memory_order_release);
    if (w->end == HEAP_WALK_SLICE)
        ring_slice(number, &w->at, w->stack_end);
    return number;
}
