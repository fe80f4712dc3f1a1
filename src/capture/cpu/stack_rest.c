#include "capture/cpu/stack_rest.h"
#include "base/mem.h"

#include <string.h>
#include <sys/uio.h>

enum { BORDER_BYTES = 1024, REST_LEAST = 128 << 10, REST_MOST = 8 << 20 };

void stack_rest_done(struct stack_rest *r)
{
    free(r->bytes);
    *r = (struct stack_rest){0};
}

/* Stops early, without an error, where the mapping ends: that is the end of the stack. */
static size_t read_memory(int32_t pid, uint64_t address, uint8_t *into, size_t n)
{
    struct iovec here = {into, n}, there = {(void *)(uintptr_t)address, n};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

bool stack_rest_read(struct stack_rest *r, int32_t pid, const struct unwind_stack *have, struct unwind_stack *out_whole)
{
    if (have->n < BORDER_BYTES || have->n >= REST_MOST)
        return false;
    size_t more = have->n > REST_LEAST ? 4 * have->n : REST_LEAST, room = have->n + more < REST_MOST ? have->n + more : REST_MOST;
    uint8_t border[BORDER_BYTES];
    memcpy(border, have->bytes + have->n - BORDER_BYTES, BORDER_BYTES);
    if (r->cap < room) {
        uint8_t *larger = mem_new(room);
        memcpy(larger, have->bytes, have->n);
        free(r->bytes);
        *r = (struct stack_rest){larger, room};
    } else {
        memmove(r->bytes, have->bytes, have->n);
    }
    size_t from = have->n - BORDER_BYTES;
    size_t got = read_memory(pid, have->start + from, r->bytes + from, room - from);
    if (got <= BORDER_BYTES || memcmp(border, r->bytes + from, BORDER_BYTES) != 0)
        return false;
    *out_whole = (struct unwind_stack){have->start, r->bytes, from + got};
    return true;
}
