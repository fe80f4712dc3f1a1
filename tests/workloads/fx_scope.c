/*
 * fx-scope: four threads in named scopes, by a plan that is known to the last call.
 *
 *     serve ─┬─ prefill ─── attention ── norm
 *            ├─ decode x DECODES ── layer x LAYERS ─┬─ attention ── norm
 *            │                                      └─ mlp (every second layer) ── norm
 *            └─ sample (leaves early every third time, and then has no norm)
 *
 * Thread k serves ROUNDS + k times. The truth has calls and pairs; and what each thread measured around all it did, which
 * the self times of its scopes must add up to, less the little between the two clocks.
 *
 * With --malloc, attention takes one block of so many bytes, mlp two, and serve one before and one after all that it calls;
 * nothing else in the threads takes any. The truth says how many, by thread and scope.
 *
 *     fx-scope [--rounds N] [--allocate BYTES] [--malloc BYTES]     (writes scopes to INFEROM_SCOPES_FILE as every program does)
 */
#include "inferom.h"
#include "truth.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, DECODES = 3, LAYERS = 4 };
enum name { NOBODY, SERVE, PREFILL, DECODE, LAYER, ATTENTION, MLP, NORM, SAMPLE, NAME_COUNT };

static const char *const names[NAME_COUNT] = {NULL, "serve", "prefill", "decode", "layer", "attention", "mlp", "norm", "sample"};
static double rounds = 100, allocate = 0, block_bytes = 0;

struct worker {
    pthread_t thread;
    size_t number;
    uint64_t wall_ns;
    uint64_t calls[NAME_COUNT][NAME_COUNT]; /* caller, callee */
    uint64_t blocks[NAME_COUNT];
};

static KEPT void take_block(struct worker *w, enum name scope)
{
    if (block_bytes <= 0)
        return;
    void *volatile block = malloc((size_t)block_bytes);
    w->blocks[scope]++;
    free(block);
}

static KEPT void norm(struct worker *w, enum name caller)
{
    INFEROM_SCOPE("norm");
    w->calls[caller][NORM]++;
    BURN(40, 1);
}

static KEPT void attention(struct worker *w, enum name caller)
{
    INFEROM_SCOPE("attention");
    w->calls[caller][ATTENTION]++;
    BURN(400, 2);
    norm(w, ATTENTION);
    take_block(w, ATTENTION);
    if (allocate > 0)
        inferom_allocated((size_t)allocate);
}

static KEPT void layer(struct worker *w, int number)
{
    INFEROM_SCOPE("layer");
    w->calls[DECODE][LAYER]++;
    attention(w, LAYER);
    if (number % 2)
        return;
    INFEROM_SCOPE("mlp");
    w->calls[LAYER][MLP]++;
    take_block(w, MLP);
    BURN(800, 3);
    norm(w, MLP);
    take_block(w, MLP);
}

/* Leaves early now and then; the scope ends all the same. */
static KEPT int sample(struct worker *w, uint64_t round)
{
    INFEROM_SCOPE("sample");
    w->calls[SERVE][SAMPLE]++;
    if (round % 3 == 0)
        return 1;
    norm(w, SAMPLE);
    return 0;
}

static KEPT void serve(struct worker *w, uint64_t round)
{
    INFEROM_FUNCTION();
    w->calls[NOBODY][SERVE]++;
    take_block(w, SERVE);
    {
        INFEROM_SCOPE("prefill");
        w->calls[SERVE][PREFILL]++;
        attention(w, PREFILL);
    }
    for (int i = 0; i < DECODES; i++) {
        INFEROM_SCOPE("decode");
        w->calls[SERVE][DECODE]++;
        for (int l = 0; l < LAYERS; l++)
            layer(w, l);
    }
    sample(w, round);
    take_block(w, SERVE);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    char name[16];
    snprintf(name, sizeof name, "fx-scope-%zu", w->number);
    pthread_setname_np(pthread_self(), name);
    uint64_t from = wall_now_ns();
    for (uint64_t i = 0; i < (uint64_t)rounds + w->number; i++)
        serve(w, i);
    w->wall_ns = wall_now_ns() - from;
    return NULL;
}

static void print_pairs(const struct worker *w)
{
    bool is_first = true;
    printf("{\"thread\": \"fx-scope-%zu\", \"wall_ns\": %" PRIu64 ", \"pairs\": [", w->number, w->wall_ns);
    for (int a = 0; a < NAME_COUNT; a++)
        for (int b = 0; b < NAME_COUNT; b++) {
            if (!w->calls[a][b])
                continue;
            printf("%s[%s%s%s, \"%s\", %" PRIu64 "]", is_first ? "" : ", ", a ? "\"" : "", a ? names[a] : "null", a ? "\"" : "",
                   names[b], w->calls[a][b]);
            is_first = false;
        }
    printf("], \"blocks\": {");
    for (int a = 1; a < NAME_COUNT; a++)
        printf("%s\"%s\": %" PRIu64, a > 1 ? ", " : "", names[a], w->blocks[a]);
    printf("}}");
}

static void print_rows(void)
{
    inferom_row rows[NAME_COUNT];
    size_t n = inferom_top(rows, NAME_COUNT, INFEROM_BY_SELF);
    printf("\"rows\": [");
    for (size_t i = 0; i < n && i < NAME_COUNT; i++)
        printf("%s{\"name\": \"%s\", \"calls\": %" PRIu64 ", \"timed\": %" PRIu64 ", \"total_ns\": %.3f, \"self_ns\": %.3f, "
               "\"min_ns\": %.3f, \"mean_ns\": %.3f, \"max_ns\": %.3f, \"p50_ns\": %.3f, \"p90_ns\": %.3f, \"p99_ns\": %.3f, "
               "\"deviation_ns\": %.3f, \"allocations\": %" PRId64 ", \"bytes\": %" PRId64 "}", i ? ", " : "", rows[i].name,
               rows[i].calls, rows[i].timed, rows[i].total_ns, rows[i].self_ns, rows[i].min_ns, rows[i].mean_ns, rows[i].max_ns,
               rows[i].p50_ns, rows[i].p90_ns, rows[i].p99_ns, rows[i].deviation_ns, rows[i].allocations, rows[i].bytes);
    printf("]");
}

int main(int argc, char **argv)
{
    const struct setting settings[] = {
        {"rounds", "N", "how often the first thread serves; each other one more", &rounds, 1, 1e9, true},
        {"allocate", "BYTES", "what attention says that it allocated, each time", &allocate, 0, 1e9, true},
        {"malloc", "BYTES", "how large the blocks are that some of the scopes take", &block_bytes, 0, 1e9, true},
    };
    settings_read(settings, 3, "four threads in scopes whose calls are known", argc, argv);
    struct worker workers[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].number = i;
        int error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (error)
            die("starting a thread", error);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    printf("{\"fixture\": \"fx-scope\", \"pid\": %d, \"threads\": [", (int)getpid());
    for (size_t i = 0; i < THREADS; i++) {
        printf("%s", i ? ", " : "");
        print_pairs(&workers[i]);
    }
    printf("], ");
    print_rows();
    printf("}\n");
    return truth_told();
}
