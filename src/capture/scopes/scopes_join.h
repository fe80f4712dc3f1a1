/*
 * scopes_join.h - in which scope a thread was at a given moment
 *
 * A scope that ended left a record, when it was long enough; what is still open can be seen. Children end before their
 * callers, so of all scopes that a moment is in, the innermost is the one whose record comes first:
 *
 *     open    [ serve .......................................
 *     records     [ decode [ attention ]   [ mlp ]     ]          in order of their ends: attention, mlp, decode
 *     moment                            x                         mlp begins later; its caller, decode, has it
 *
 * What is open is looked at before the records are: so a scope that ends in between is in one of the two.
 *
 *     scopes_join_visit(m, process, tick_now);
 *     uint32_t node = scopes_join_at(thread, tick);       // of the thread's nodes; 0: in none
 *
 * Records are kept for so many ticks after their end; samples come later than they were taken, but not that late.
 *
 * Owns:     what it hangs on threads; scopes_join_forget() frees it.
 * Threads:  one at a time.
 */
#pragma once
#include "capture/scopes/scopes_memory.h"

void scopes_join_visit(struct scopes_memory *m, struct seen_process *p, uint64_t forget_before_tick);
uint32_t scopes_join_at(const struct seen_thread *t, uint64_t tick);
void scopes_join_forget(struct seen_process *p);

/* What is open on a thread, outermost first; a row that is not timed has began SCOPES_NOT_TIMED. Returns how many. */
struct open_scope {
    uint32_t node;
    uint64_t began;
};
size_t scopes_join_open(const struct seen_thread *t, const struct open_scope **out);
