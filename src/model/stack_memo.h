/*
 * stack_memo.h - whole stacks seen before; for the builder only
 *
 * A sampler hands in the same stacks again and again. Looking one up frame by
 * frame touches forty places in memory; as one key it touches one. The key is 96
 * bits of a hash with a secret seed: among a million stacks the chance that any
 * two are taken for each other is 2^-57, and no file can be made to raise it.
 */
#pragma once
#include "base/own.h"
#include "model/profile.h"

struct stack_key {
    uint64_t low;
    uint32_t high;
};

struct stack_memo {
    struct stack_memo_slot *slots;
    size_t mask, used;
    uint64_t secret;
};

void stack_memo_init(struct stack_memo *m, uint64_t secret);
void stack_memo_done(struct stack_memo *m);
struct stack_key stack_memo_key(const struct stack_memo *m, const frame_id *root_first, size_t n);
stack_id stack_memo_find(const struct stack_memo *m, struct stack_key key); /* STACK_ROOT: not seen before */
void stack_memo_add(struct stack_memo *m, struct stack_key key, stack_id stack);
size_t stack_memo_bytes(const struct stack_memo *m);
