/*
 * bench_capture - what recording into a capture file costs, and reading it back
 *
 *     bench_capture SAMPLES STACKS
 *
 * Prints one JSON object. A recorder with 16 threads at 999 samples a second each
 * is played back as fast as it goes: times with jitter, stacks 10 frames deep of
 * which few are hot and most are rare, ticks ten times a second. Memory is the
 * writer's alone: the profile is read back afterwards.
 */
#include "base/clock.h"
#include "model/capture_reader.h"
#include "model/capture_writer.h"

#include <inttypes.h>
#include <sys/resource.h>

enum { THREADS = 16, RATE_HZ = 999, DEPTH = 10 };

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static stack_id *make_stacks(struct builder *b, uint32_t n)
{
    stack_id *stacks = malloc(n * sizeof *stacks);
    if (!stacks)
        abort();
    for (uint32_t i = 0; i < n; i++) {
        stacks[i] = STACK_ROOT;
        for (uint32_t d = 0, part = i; d < DEPTH; d++, part /= 2) {
            char name[32];
            snprintf(name, sizeof name, "function_%u_%u", d, d < DEPTH - 1 ? part % 3 : i);
            stacks[i] = builder_push(b, stacks[i], builder_frame_named(b, view_of(name)));
        }
    }
    return stacks;
}

/* Squaring makes low numbers likely: half of the samples fall on a quarter of the stacks. */
static uint32_t pick(uint32_t n)
{
    double r = (double)(random_bits() >> 11) / (double)(UINT64_C(1) << 53);
    return (uint32_t)(r * r * (double)n);
}

static bool record(const char *path, uint64_t samples, uint32_t n_stacks, struct err *e)
{
    static const struct measure_spec cpu = {.name = {"cpu", 3}, .unit = UNIT_NS};
    own(capture_writer) struct capture_writer *w = NULL;
    if (!capture_open(&w, path, 0, e))
        return false;
    struct builder *b = capture_names(w);
    own(free) stack_id *stacks = make_stacks(b, n_stacks);
    set_id set = builder_set(b, VIEW("cpu"), &cpu, 1);
    context_id contexts[THREADS];
    for (int32_t t = 0; t < THREADS; t++)
        contexts[t] = builder_context(b, builder_thread(b, builder_process(b, 1, 0), t + 1), LABELS_NONE);
    const uint64_t period_ns = UINT64_C(1000000000) / RATE_HZ;
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t now_ns = i / THREADS * period_ns + random_bits() % 20000;
        int64_t value = (int64_t)period_ns;
        capture_sample(w, set, now_ns, contexts[i % THREADS], stacks[pick(n_stacks)], &value);
        if (i % (THREADS * RATE_HZ / 10) == 0 && !capture_tick(w, now_ns, e))
            return false;
    }
    return capture_close(w, e);
}

static bool read_back(const char *path, struct profile **out, uint64_t *out_bytes, struct err *e)
{
    own(reader) struct reader in = {.fd = -1};
    own(builder) struct builder *b = builder_new();
    if (!reader_open(&in, path, e) || !capture_read(b, &in, NULL, e))
        return false;
    *out_bytes = reader_offset(&in);
    return builder_finish(take(b), out, e);
}

int main(int argc, char **argv)
{
    uint64_t samples = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, bytes = 0;
    uint32_t stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (!samples || !stacks) {
        fprintf(stderr, "usage: bench_capture SAMPLES STACKS\n");
        return 2;
    }
    char path[64];
    snprintf(path, sizeof path, "bench_capture_%ld.inferom", (long)getpid());
    struct err e = {0};
    struct rusage used;
    own(profile) struct profile *p = NULL;
    uint64_t t0 = clock_monotonic_ns();
    bool ok = record(path, samples, stacks, &e);
    uint64_t t1 = clock_monotonic_ns();
    getrusage(RUSAGE_SELF, &used);
    ok = ok && read_back(path, &p, &bytes, &e);
    uint64_t t2 = clock_monotonic_ns();
    unlink(path);
    if (!ok) {
        fprintf(stderr, "bench_capture: %s\n", e.text);
        return 1;
    }
    printf("{\"samples\": %" PRIu64 ", \"stacks\": %u, \"bytes_per_sample\": %.2f, \"write_ns_per_sample\": %.0f, "
           "\"read_ns_per_sample\": %.0f, \"writer_peak_mib\": %.1f}\n",
           samples, stacks, (double)bytes / (double)samples, (double)(t1 - t0) / (double)samples,
           (double)(t2 - t1) / (double)samples, (double)used.ru_maxrss / 1024);
    return profile_set(p, (set_id){0})->n == samples ? 0 : 1;
}
