/*
 * bench_unwind - what unwinding costs: making the table of a library, and walking over it
 *
 *     bench_unwind LIBRARY
 *
 * Prints one JSON object. The stacks are made up of the library's own rules: each frame is
 * a place picked at random among those that count from the stack pointer, 40 deep. Few
 * different stacks are what a program in a loop looks like (warm), many are what a compiler
 * looks like (cold: hardly any frame's rows are in a cache).
 */
#include "../unit/self_space.h"
#include "base/mem.h"
#include "unwind/unwind_table.h"

#include <time.h>

enum { DEPTH = 40, WARM_STACKS = 16, COLD_STACKS = 20000, FRAMES_WALKED = 8000000, STACK_BYTES = 16384 };

#define STACK_ADDRESS UINT64_C(0x7ffd00000000)

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

struct made_up {
    uint64_t pc;
    uint8_t bytes[STACK_BYTES];
    size_t n;
};

/* An address whose rule is sp + n with the return address below, n not huge. */
static uint64_t pick(const struct unwind_table *t, int32_t *out_offset)
{
    for (;;) {
        uint64_t at = t->start + random_bits() % (t->end - t->start);
        const struct unwind_rule *r = unwind_table_at(t, at);
        if (r->how == CFA_REGISTER && r->reg == 7 && r->ra.how == SAVED_AT_CFA && r->offset <= STACK_BYTES / DEPTH) {
            *out_offset = r->offset;
            return at;
        }
    }
}

static void make_up(struct made_up *s, const struct unwind_table *t)
{
    int32_t offset;
    s->pc = pick(t, &offset);
    s->n = 0;
    for (int i = 0; i < DEPTH; i++) {
        s->n += (size_t)offset;
        uint64_t ra = i == DEPTH - 1 ? 0 : pick(t, &offset) + 1;
        memcpy(s->bytes + s->n - 8, &ra, 8);
    }
}

/* CPU time: on a shared machine the other kind says more about the neighbours. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double ns_per_frame(const struct unwind_table *t, size_t n_stacks)
{
    own(free) struct made_up *stacks = mem_new(n_stacks * sizeof *stacks);
    for (size_t i = 0; i < n_stacks; i++)
        make_up(&stacks[i], t);
    struct unwind_map map = {t->start, t->end, 0, t};
    struct unwind_space space = {t->arch, &map, 1};
    uint64_t out[DEPTH + 8], frames = 0;
    double start_s = cpu_s();
    for (size_t i = 0; frames < FRAMES_WALKED; i = (i + 1) % n_stacks) {
        struct unwind_registers r = {.at = {[7] = STACK_ADDRESS, [16] = stacks[i].pc}};
        struct unwind_stack stack = {STACK_ADDRESS, stacks[i].bytes, stacks[i].n};
        enum unwind_end why;
        size_t n = unwind_walk(&space, &r, &stack, out, DEPTH + 8, &why);
        if (n != DEPTH || why != UNWIND_COMPLETE)
            abort();
        frames += n;
    }
    return (cpu_s() - start_s) * 1e9 / (double)frames;
}

int main(int argc, char **argv)
{
    struct elf_file f = argc == 2 ? elf_map(argv[1]) : (struct elf_file){0};
    if (!f.bytes) {
        fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
        return 2;
    }
    struct unwind_sections s = elf_sections(f);
    struct err e = {0};
    own(unwind_table) struct unwind_table *warm_up = NULL; /* and the file into memory */
    own(unwind_table) struct unwind_table *t = NULL;
    if (!unwind_table_new(&warm_up, &s, &e))
        return fprintf(stderr, "%s: %s\n", argv[1], e.text), 1;
    double start_s = cpu_s();
    if (!unwind_table_new(&t, &s, &e))
        return 1;
    double build_s = cpu_s() - start_s;
    double warm = ns_per_frame(t, WARM_STACKS), cold = ns_per_frame(t, COLD_STACKS);
    printf("{\"rows\": %zu, \"rules\": %zu, \"bytes\": %zu, \"eh_frame_bytes\": %zu, \"left_out\": %zu, \"build_s\": %.6f, "
           "\"rows_per_s\": %.0f, \"warm_ns_per_frame\": %.1f, \"cold_ns_per_frame\": %.1f}\n",
           t->n_rows, t->n_rules, unwind_table_bytes(t), s.eh_frame.n, t->left_out, build_s, (double)t->n_rows / build_s, warm,
           cold);
    return 0;
}
