/*
 * gen_stacks - folded stacks as a large program would have them, for benchmarks
 *
 *     gen_stacks STACKS [SEED] > stacks.folded
 *
 * Every stack is distinct, 20 to 60 frames deep, and shares its callers with a
 * stack written before: a profile is a tree, and about six frames of each stack
 * are new to it. The order is that of discovery, which is no order at all.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 20000, SHALLOWEST = 20, DEEPEST = 60 };

struct stack {
    uint16_t depth;
    uint16_t frames[DEEPEST];
};

static uint64_t state;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * n >> 32);
}

static char names[FUNCTIONS][48];

static void make_names(void)
{
    static const char *const spaces[] = {"ggml", "llama", "std::vector", "torch::autograd", "cutlass::gemm", "Eigen", "runtime"};
    static const char *const deeds[] = {"mul_mat", "dispatch", "forward", "quantize_row", "copy_to", "evaluate", "schedule", "tokenize"};
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        snprintf(names[i], sizeof names[i], "%s::%s_%u", spaces[random_below(7)], deeds[random_below(8)], i);
}

/* A caller's part from an earlier stack, then frames of its own. The last frame makes it unlike all others. */
static void make_stack(struct stack *all, uint32_t i)
{
    struct stack *s = &all[i];
    s->depth = (uint16_t)(SHALLOWEST + random_below(DEEPEST - SHALLOWEST + 1));
    uint32_t own_frames = 1 + random_below(11);
    uint32_t shared = s->depth > own_frames ? s->depth - own_frames : 0;
    if (i) {
        const struct stack *like = &all[random_below(i)];
        shared = shared < like->depth ? shared : like->depth;
        memcpy(s->frames, like->frames, shared * sizeof *s->frames);
    } else {
        shared = 0;
    }
    for (uint32_t d = shared; d < s->depth; d++)
        s->frames[d] = (uint16_t)random_below(FUNCTIONS);
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_C(88172645463325252);
    struct stack *all = n ? malloc(n * sizeof *all) : NULL;
    if (!all || !state) {
        fprintf(stderr, "usage: gen_stacks STACKS [SEED]\n");
        return 2;
    }
    make_names();
    for (uint32_t i = 0; i < n; i++) {
        make_stack(all, i);
        for (uint32_t d = 0; d < all[i].depth; d++) {
            fputs(d ? ";" : "", stdout);
            fputs(names[all[i].frames[d]], stdout);
        }
        printf(" %u\n", 1 + random_below(1000));
    }
    free(all);
    return fflush(stdout) == 0 ? 0 : 1;
}
