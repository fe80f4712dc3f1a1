/*
 * load-infer WEIGHTS [TOKENS [TURN]]: what generating tokens looks like to an allocator.
 *
 * The file is mapped and read once for every token, in 32 layers of four products; each product has 64 KiB of room of its own, allocated before and
 * freed behind it. There is a large cache from the beginning, of which each layer writes a part, and a text for each
 * token. So one token is 129 allocations and a walk through all weights.
 *
 * It prints what it used by its own clock: {"tokens": ..., "cpu_ns": ..., "sum": ...}
 *
 * With TURN it waits for a line of input before each so many tokens, and prints such an answer behind them: several of them can take turns in short steps,
 * so that a machine that is slower for a while is slower for all.
 */
#include "truth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LAYERS = 32, PRODUCTS = 4, ROOM_BYTES = 64 << 10, CACHE_BYTES = 64 << 20, ROW_BYTES = 8192 };

static KEPT uint64_t product(const uint64_t *weights, size_t n, uint64_t *room)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        a += weights[i];
        b ^= weights[i + 1];
        c += weights[i + 2];
        d ^= weights[i + 3];
    }
    room[0] = a ^ b;
    return a + b + c + d;
}

static KEPT uint64_t layer(const uint64_t *weights, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < PRODUCTS; i++) {
        uint64_t *room = malloc(ROOM_BYTES);
        sum += room ? product(weights + n / PRODUCTS * i, n / PRODUCTS, room) : 0;
        free(room);
    }
    return sum;
}

static KEPT uint64_t token(const uint64_t *weights, size_t n, char *cache, size_t number)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < LAYERS; i++) {
        sum += layer(weights + n / LAYERS * i, n / LAYERS);
        memset(cache + (number * LAYERS + i) * ROW_BYTES % CACHE_BYTES, (int)number, ROW_BYTES);
    }
    char *text = malloc(24);
    snprintf(text, 24, "%" PRIu64, sum);
    sum += (uint64_t)text[0];
    free(text);
    return sum;
}

static void answer(size_t tokens, uint64_t sum)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    printf("{\"tokens\": %zu, \"cpu_ns\": %" PRIu64 ", \"sum\": %" PRIu64 "}\n", tokens,
           (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec, sum);
    fflush(stdout);
}

static bool is_our_turn(void)
{
    int c;
    while ((c = getchar()) != EOF && c != '\n')
        ;
    return c == '\n';
}

int main(int argc, char **argv)
{
    size_t turn = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    size_t tokens = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;
    int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        die("opening the weights", 0);
    const uint64_t *weights = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    char *cache = malloc(CACHE_BYTES);
    if (weights == MAP_FAILED || !cache)
        die("mapping the weights", 0);
    close(fd);
    uint64_t sum = 0;
    for (size_t i = 0; i < tokens; i++) {
        if (turn && i % turn == 0 && !is_our_turn())
            break;
        sum += token(weights, (size_t)st.st_size / sizeof *weights, cache, i);
        if (turn && (i + 1) % turn == 0)
            answer(i + 1, sum);
    }
    if (!turn)
        answer(tokens, sum);
    free(cache);
    return truth_told();
}
