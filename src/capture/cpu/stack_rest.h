/*
 * stack_rest.h - the part of a stack that a sample had no room for
 *
 * A sample has the innermost bytes of a stack. What lies further out is older: as long as the
 * frame at the border has not returned, none of those behind it has, and their bytes are where
 * they were. So the rest is read from the process itself, and believed only when the last bytes
 * of the sample are the same there, still:
 *
 *     sp ── the sample ──[ border: the same now? ]── the rest, as it is now ── the thread's start
 *
 * Without it a stack deeper than the 62 KiB a sample can hold would never be whole.
 *
 *     struct unwind_stack whole;
 *     while (end == UNWIND_CUT && stack_rest_read(&rest, pid, &sample, &whole))
 *         walk again, over `whole`
 *
 * Owns:    one buffer, used again for every stack; `whole` points into it until the next call, whatever that says.
 * Threads: one at a time.
 * Fails:   it says false: not ours to read, gone, changed, or nothing further out.
 */
#pragma once
#include "unwind/unwind.h"

struct stack_rest {
    uint8_t *bytes;
    size_t cap;
};

void stack_rest_done(struct stack_rest *r);

/* `have` is the sample, or what the last call gave: then there is more of it. */
bool stack_rest_read(struct stack_rest *r, int32_t pid, const struct unwind_stack *have, struct unwind_stack *out_whole);
