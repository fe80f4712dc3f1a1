/*
 * fx-turns: a server of requests whose every allocation is known: which are forgotten, which are kept, which are only late.
 *
 *     load_model                  3 blocks of 4,096 bytes before the first request, never freed
 *     request ─┬─ phase prefill ─┬─ read_prompt    7 blocks of 1,000 bytes, freed with the request
 *              │                 └─ fill_cache    10 blocks of   512 bytes, by the first request alone, never freed
 *              ├─ phase decode ──── next_token     3 blocks of    64 bytes for each of 5 to 8 tokens, freed at once
 *              ├─ remember                         4 blocks of   256 bytes, never freed: the leak
 *              ├─ lend                             2 blocks of   128 bytes, freed by the second request after it
 *              ├─ five_times                       1 block  of    72 bytes, by requests 10 to 14, never freed
 *              └─ four_times                       1 block  of    40 bytes, by requests 8 to 11, never freed
 *
 * Requests are served one after the other; with --threads N each by the next of N threads, so that blocks are freed by
 * another than who made them. Nothing else allocates between the first request and the last, and the truth says what each made.
 */
#include "inferom.h"
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { REQUESTS_MOST = 1000, THREADS_MOST = 64, LENT_FOR = 2, LENT = 2, PROMPT = 7 };
enum phase { PREFILL, DECODE, PHASES };

struct amount {
    uint64_t times, blocks, bytes;
};

static double requests = 40, threads = 0;
static struct amount by_request[REQUESTS_MOST], by_phase[PHASES];
static void *lent[REQUESTS_MOST][LENT];
static uint64_t tokens;
static void *volatile kept; /* somebody might look at it: no allocation can be left out */

static void count(struct amount *to, uint64_t blocks, uint64_t bytes)
{
    to->blocks += blocks;
    to->bytes += blocks * bytes;
}

static KEPT void load_model(void)
{
    for (int i = 0; i < 3; i++) {
        kept = malloc(4096);
        STAY();
    }
}

static KEPT void read_prompt(void **out)
{
    for (int i = 0; i < PROMPT; i++) {
        out[i] = malloc(1000);
        STAY();
    }
}

static KEPT void fill_cache(void)
{
    for (int i = 0; i < 10; i++) {
        kept = malloc(512);
        STAY();
    }
}

static KEPT void next_token(void)
{
    for (int i = 0; i < 3; i++) {
        kept = malloc(64);
        free(kept);
        STAY();
    }
}

static KEPT void remember(void)
{
    for (int i = 0; i < 4; i++) {
        kept = malloc(256);
        STAY();
    }
}

static KEPT void lend(void **out)
{
    for (int i = 0; i < LENT; i++) {
        out[i] = malloc(128);
        STAY();
    }
}

static KEPT void five_times(void)
{
    kept = malloc(72);
    STAY();
}

static KEPT void four_times(void)
{
    kept = malloc(40);
    STAY();
}

static void give_back(uint64_t number)
{
    for (int i = 0; i < LENT; i++)
        free(lent[number][i]);
}

static KEPT void prefill(uint64_t number, void **prompt)
{
    struct amount before = by_request[number];
    INFEROM_PHASE("prefill");
    read_prompt(prompt);
    count(&by_request[number], PROMPT, 1000);
    if (number == 0) {
        fill_cache();
        count(&by_request[number], 10, 512);
    }
    by_phase[PREFILL].times++;
    by_phase[PREFILL].blocks += by_request[number].blocks - before.blocks;
    by_phase[PREFILL].bytes += by_request[number].bytes - before.bytes;
}

static KEPT void decode(uint64_t number)
{
    INFEROM_PHASE("decode");
    for (uint64_t t = 0; t < 5 + number % 4; t++) {
        next_token();
        count(&by_request[number], 3, 64);
        count(&by_phase[DECODE], 3, 64);
        tokens++;
        INFEROM_COUNT("tokens", 1);
    }
    by_phase[DECODE].times++;
}

static KEPT void serve(uint64_t number)
{
    char id[32];
    void *prompt[PROMPT];
    struct amount *mine = &by_request[number];
    snprintf(id, sizeof id, "r-%03" PRIu64, number);
    INFEROM_REQUEST(inferom_request_new(id));
    prefill(number, prompt);
    decode(number);
    INFEROM_PHASE_END();
    remember();
    count(mine, 4, 256);
    lend(lent[number]);
    count(mine, LENT, 128);
    if (number >= 10 && number < 15) {
        five_times();
        count(mine, 1, 72);
    }
    if (number >= 8 && number < 12) {
        four_times();
        count(mine, 1, 40);
    }
    if (number >= LENT_FOR)
        give_back(number - LENT_FOR);
    for (int i = 0; i < PROMPT; i++)
        free(prompt[i]);
}

/* One after the other, whoever serves. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_next = PTHREAD_COND_INITIALIZER;
static uint64_t next_request;

static void *worker(void *arg)
{
    for (uint64_t number = (uint64_t)(uintptr_t)arg; number < (uint64_t)requests; number += (uint64_t)threads) {
        pthread_mutex_lock(&lock);
        while (next_request != number)
            pthread_cond_wait(&is_next, &lock);
        serve(number);
        next_request++;
        pthread_cond_broadcast(&is_next);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void serve_on_threads(void)
{
    pthread_t all[THREADS_MOST] = {0};
    for (uintptr_t i = 0; i < (uintptr_t)threads; i++) {
        int error = pthread_create(&all[i], NULL, worker, (void *)i); /* NOLINT: a number */
        if (error)
            die("starting a thread", error);
    }
    for (size_t i = 0; i < (size_t)threads; i++)
        pthread_join(all[i], NULL);
}

/* The truth. */

static void print_amount(const char *key, const char *name, const struct amount *a)
{
    printf("{\"%s\": \"%s\", \"times\": %" PRIu64 ", \"allocations\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", key, name, a->times, a->blocks,
           a->bytes);
}

static void print_truth(void)
{
    static const char *const names[PHASES] = {"prefill", "decode"};
    char id[32];
    printf("{\"fixture\": \"fx-turns\", \"pid\": %d, \"tokens\": %" PRIu64 ", \"phases\": [", (int)getpid(), tokens);
    for (size_t i = 0; i < PHASES; i++) {
        printf("%s", i ? ", " : "");
        print_amount("phase", names[i], &by_phase[i]);
    }
    printf("], \"requests\": [");
    for (uint64_t i = 0; i < (uint64_t)requests; i++) {
        snprintf(id, sizeof id, "r-%03" PRIu64, i);
        by_request[i].times = 1;
        printf("%s", i ? ", " : "");
        print_amount("request", id, &by_request[i]);
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    static char buffer[1 << 18];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    const struct setting settings[] = {
        {"requests", "N", "how many are served", &requests, 1, REQUESTS_MOST, true},
        {"threads", "N", "that serve in turn; 0: the first", &threads, 0, THREADS_MOST, true},
    };
    settings_read(settings, 2, "serves requests whose every allocation is known", argc, argv);
    load_model();
    if (threads > 0)
        serve_on_threads();
    for (uint64_t i = 0; threads <= 0 && i < (uint64_t)requests; i++)
        serve(i);
    for (uint64_t i = (uint64_t)requests > LENT_FOR ? (uint64_t)requests - LENT_FOR : 0; i < (uint64_t)requests; i++)
        give_back(i);
    print_truth();
    return truth_told();
}
