/*
 * bench_symbols - how long it takes to name addresses of one file
 *
 *     bench_symbols FILE < addresses in hex
 *
 * Prints one JSON object: opening the file; every address once, which reads the units it
 * meets (cold); the same addresses again (warm); and what is held in the end. Times are
 * CPU time of the process.
 */
#include "base/mem.h"
#include "symbols/symbols.h"

#include <inttypes.h>
#include <time.h>

enum { WARM_ROUNDS = 10 };

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

struct addresses {
    uint64_t *at;
    size_t n, cap;
};

static struct addresses read_addresses(void)
{
    struct addresses a = {0};
    for (char line[64]; fgets(line, sizeof line, stdin);) {
        GROW(a.at, a.cap, a.n + 1);
        a.at[a.n++] = strtoull(line, NULL, 16);
    }
    return a;
}

/* How many frames they have in all, inlined ones included; and how many have a name. */
static size_t ask_all(struct image *i, const struct addresses *a, size_t *out_named)
{
    size_t frames = 0;
    *out_named = 0;
    for (size_t k = 0; k < a->n; k++) {
        struct place places[PLACES_MOST];
        size_t n = image_places(i, a->at[k], places);
        frames += n;
        *out_named += places[n - 1].name.n != 0;
    }
    return frames;
}

int main(int argc, char **argv)
{
    struct addresses a = read_addresses();
    struct err e = {0};
    own(image) struct image *i = NULL;
    uint64_t t0 = cpu_ns();
    if (argc != 2 || !a.n || !image_open(&i, &(struct image_file){.path = argv[1]}, &e)) {
        fprintf(stderr, "bench_symbols: %s\n", e.kind ? e.text : "usage: bench_symbols FILE < addresses");
        return 1;
    }
    uint64_t t1 = cpu_ns();
    size_t named, frames = ask_all(i, &a, &named);
    uint64_t t2 = cpu_ns();
    for (int k = 0; k < WARM_ROUNDS; k++)
        ask_all(i, &a, &named);
    uint64_t t3 = cpu_ns();
    printf("{\"addresses\": %zu, \"named\": %zu, \"frames\": %zu, \"open_ms\": %.2f, \"cold_us_each\": %.2f, "
           "\"warm_us_each\": %.3f, \"held_mib\": %.1f}\n",
           a.n, named, frames, (double)(t1 - t0) / 1e6, (double)(t2 - t1) / 1e3 / (double)a.n,
           (double)(t3 - t2) / 1e3 / WARM_ROUNDS / (double)a.n, (double)image_held_bytes(i) / 1048576);
    free(a.at);
    return 0;
}
