/*
 * bench_model - how long a profile takes to build from memory, and how large it is
 *
 *     bench_model SAMPLES STACKS
 *
 * Prints one JSON object. The stacks are made beforehand, 20 to 60 frames deep,
 * most of each shared with an earlier one; then every sample hands in its whole
 * stack, as a sampler does, with a time, one of 16 threads, and a weight.
 */
#include "model/builder.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

enum { FUNCTIONS = 20000, SHALLOWEST = 20, DEEPEST = 60, THREADS = 16 };

struct input {
    uint32_t *first; /* where stack i begins in frames */
    frame_id *frames;
    uint32_t n;
};

static uint64_t state = UINT64_C(88172645463325252);

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * n >> 32);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long peak_rss_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static struct input make_stacks(struct builder *b, uint32_t n)
{
    static frame_id functions[FUNCTIONS];
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "function_%u", i);
        functions[i] = builder_frame_named(b, view_of(name));
    }
    struct input in = {.first = malloc((n + 1) * sizeof *in.first), .frames = malloc((size_t)n * DEEPEST * sizeof *in.frames), .n = n};
    if (!in.first || !in.frames)
        abort();
    in.first[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t depth = SHALLOWEST + random_below(DEEPEST - SHALLOWEST + 1), shared = 0;
        frame_id *to = in.frames + in.first[i];
        if (i) {
            uint32_t like = random_below(i), deep = in.first[like + 1] - in.first[like];
            shared = depth - 1 - random_below(11);
            shared = shared < deep ? shared : deep;
            memcpy(to, in.frames + in.first[like], shared * sizeof *to);
        }
        for (uint32_t d = shared; d < depth; d++)
            to[d] = functions[random_below(FUNCTIONS)];
        in.first[i + 1] = in.first[i] + depth;
    }
    return in;
}

static void add_samples(struct builder *b, const struct input *in, uint64_t n)
{
    static const struct measure_spec cpu = {.name = {"cpu", 3}, .unit = UNIT_NS};
    set_id set = builder_set(b, VIEW("cpu"), &cpu, 1);
    context_id contexts[THREADS];
    process_id process = builder_process(b, 1, 0);
    for (int32_t t = 0; t < THREADS; t++)
        contexts[t] = builder_context(b, builder_thread(b, process, t + 1), LABELS_NONE);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t s = i < in->n ? (uint32_t)i : random_below(in->n); /* each at least once */
        int64_t value = 1000000;
        stack_id stack = builder_stack(b, in->frames + in->first[s], in->first[s + 1] - in->first[s]);
        builder_sample(b, set, i * 1000, contexts[i % THREADS], stack, &value);
    }
}

int main(int argc, char **argv)
{
    uint64_t samples = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    uint32_t stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (!samples || !stacks) {
        fprintf(stderr, "usage: bench_model SAMPLES STACKS\n");
        return 2;
    }
    own(builder) struct builder *b = builder_new();
    struct input in = make_stacks(b, stacks);
    long before_kib = peak_rss_kib();
    double start = cpu_s();
    add_samples(b, &in, samples);
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    if (!builder_finish(take(b), &p, &e)) {
        fprintf(stderr, "bench_model: %s\n", e.text);
        return 1;
    }
    printf("{\"samples\": %" PRIu64 ", \"stacks\": %u, \"nodes\": %zu, \"cpu_s\": %.3f, \"peak_mib\": %.1f, \"held_mib\": %.1f}\n",
           samples, stacks, profile_stacks(p), cpu_s() - start, (double)(peak_rss_kib() - before_kib) / 1024,
           (double)profile_held_bytes(p) / 1048576);
    free(in.first);
    free(in.frames);
    return 0;
}
