#include "model/stack_memo.h"
#include "base/mem.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 64

struct stack_memo_slot {
    uint64_t low;
    uint32_t high;
    stack_id stack; /* STACK_ROOT: empty */
};

void stack_memo_init(struct stack_memo *m, uint64_t secret)
{
    *m = (struct stack_memo){
        .slots = mem_new(FIRST_SLOTS * sizeof *m->slots), .mask = FIRST_SLOTS - 1, .secret = secret};
}

void stack_memo_done(struct stack_memo *m)
{
    free(m->slots);
    *m = (struct stack_memo){0};
}

struct stack_key stack_memo_key(const struct stack_memo *m, const frame_id *root_first, size_t n)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(root_first, n * sizeof *root_first, m->secret);
    return (struct stack_key){.low = h.low64, .high = (uint32_t)h.high64};
}

/* Where the key is, or where it would go. */
static struct stack_memo_slot *slot_for(const struct stack_memo *m, struct stack_key key)
{
    for (size_t i = key.low & m->mask;; i = (i + 1) & m->mask) {
        struct stack_memo_slot *s = &m->slots[i];
        if (s->stack.i == STACK_ROOT.i || (s->low == key.low && s->high == key.high))
            return s;
    }
}

stack_id stack_memo_find(const struct stack_memo *m, struct stack_key key) { return slot_for(m, key)->stack; }

static void widen(struct stack_memo *m)
{
    struct stack_memo_slot *old = m->slots;
    size_t n = m->mask + 1;
    m->slots = mem_new(n * 2 * sizeof *m->slots);
    m->mask = n * 2 - 1;
    for (size_t i = 0; i < n; i++)
        if (old[i].stack.i != STACK_ROOT.i)
            *slot_for(m, (struct stack_key){old[i].low, old[i].high}) = old[i];
    free(old);
}

void stack_memo_add(struct stack_memo *m, struct stack_key key, stack_id stack)
{
    if ((m->used + 1) * 3 > (m->mask + 1) * 2)
        widen(m);
    *slot_for(m, key) = (struct stack_memo_slot){.low = key.low, .high = key.high, .stack = stack};
    m->used++;
}

size_t stack_memo_bytes(const struct stack_memo *m) { return (m->mask + 1) * sizeof *m->slots; }
