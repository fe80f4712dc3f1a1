/*
 * A pool for the few allocations that come before the real functions are known: dlsym() makes some while we look
 * for them. It only ever gives; what is freed stays. In front of each block is its size.
 */
#include "agent.h"

#include <stdint.h>

enum { POOL_BYTES = 1 << 18, HEAD_BYTES = 16 };

static _Alignas(4096) uint8_t pool[POOL_BYTES];
static _Atomic size_t used;

void *early_new(size_t bytes, size_t align)
{
    if (align < HEAD_BYTES)
        align = HEAD_BYTES;
    if (bytes > POOL_BYTES / 2 || align > 4096)
        return NULL;
    size_t room = HEAD_BYTES + bytes + align;
    size_t at = atomic_fetch_add(&used, (room + 15) & ~(size_t)15);
    if (at + room > POOL_BYTES)
        return NULL;
    size_t block = (at + HEAD_BYTES + align - 1) & ~(align - 1);
    *(size_t *)(void *)(pool + block - sizeof(size_t)) = bytes;
    return pool + block;
}

bool early_has(const void *p) { return (uintptr_t)p - (uintptr_t)pool < POOL_BYTES; }

size_t early_size(const void *p) { return *(const size_t *)(const void *)((const uint8_t *)p - sizeof(size_t)); }
