/*
 * frame_guess.h - does this number look like a return address?
 *
 * Used only where no table says anything. Nothing here is proof: what was found this
 * way is marked (UNWIND_GUESSED).
 */
#pragma once
#include "unwind/unwind_table.h"

/* Can we see the instruction before `address`? */
static inline bool frame_sees_text(const struct unwind_table *t, uint64_t address)
{
    return t->text.n && address - t->text_address <= t->text.n;
}

/* Is `address`, as linked, preceded by a call? True also where the text cannot be seen. */
bool frame_follows_call(const struct unwind_table *t, uint64_t address);
