#include "capture/cpu/stack_rest.h"
#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* This process is its own target: the stack is a piece of memory that ends where nothing is mapped. */
enum { STACK_BYTES = 1 << 20, SAMPLE_BYTES = 16 << 10 };

static uint8_t *make_stack(void)
{
    uint8_t *at = mmap(NULL, STACK_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    munmap(at + STACK_BYTES, 4096);
    for (size_t i = 0; i < STACK_BYTES; i++)
        at[i] = (uint8_t)(i * 2654435761u >> 13);
    return at;
}

int main(void)
{
    uint8_t *stack = make_stack(), *sample = malloc(SAMPLE_BYTES);
    memcpy(sample, stack, SAMPLE_BYTES);
    struct stack_rest rest = {0};
    struct unwind_stack have = {(uint64_t)(uintptr_t)stack, sample, SAMPLE_BYTES}, whole = have;

    /* What was sampled stays as it was then, whatever is there now; what lies behind is read, up to the end. */
    memset(stack, 0, SAMPLE_BYTES / 2);
    int reads = 0;
    for (; stack_rest_read(&rest, getpid(), &whole, &whole); reads++) {
        CHECK(whole.start == have.start);
        CHECK(memcmp(whole.bytes, sample, SAMPLE_BYTES) == 0);
        CHECK(memcmp(whole.bytes + SAMPLE_BYTES, stack + SAMPLE_BYTES, whole.n - SAMPLE_BYTES) == 0);
    }
    CHECK_EQ(whole.n, STACK_BYTES);
    CHECK(reads > 1);

    /* The frame at the border has returned: nothing behind it can be trusted. */
    stack[SAMPLE_BYTES - 8] ^= 1;
    CHECK(!stack_rest_read(&rest, getpid(), &have, &whole));
    stack[SAMPLE_BYTES - 8] ^= 1;
    CHECK(stack_rest_read(&rest, getpid(), &have, &whole));

    /* Too little to compare, and a process that is not there. */
    CHECK(!stack_rest_read(&rest, getpid(), &(struct unwind_stack){have.start, sample, 8}, &whole));
    CHECK(!stack_rest_read(&rest, 0x7ffffffe, &have, &whole));

    stack_rest_done(&rest);
    free(sample);
    munmap(stack, STACK_BYTES);
    return CHECK_DONE();
}
