/*
 * shared_memory.h - memory that guests inside targets and the recorder share
 *
 * Made by the recorder, sealed against growing and shrinking: no target can take it away while we read it. Guests find
 * it by a descriptor they inherit, or by its path below /proc.
 *
 * What guests write there names processes. One that does not have the memory mapped cannot have written it: then
 * somebody else gave us its number, and we do not look into it.
 *
 * Owns:     nothing: descriptor and mapping are the caller's.
 * Threads:  any.
 * Fails:    making, when the system has no such memory for us.
 */
#pragma once
#include "base/err.h"
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* `mapped` bytes of it, from the beginning; what nobody writes to takes no memory. */
bool shared_memory_make(const char *name, uint64_t bytes, uint64_t mapped, int *out_fd, void **out, struct err *e) MUST_CHECK;

/* What was copied is what is used: after this the compiler cannot take a second look at the original. */
static inline void shared_memory_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    __asm__ volatile("" ::: "memory");
}

/* True also when the process is gone: then it can do no harm. */
bool shared_memory_is_in(int32_t pid, dev_t device, ino_t inode);
