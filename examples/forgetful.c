/*
 * A pretended chat server that forgets to give back a little with every request: something to find.
 *
 *     cc -O2 -g forgetful.c -o forgetful $(pkg-config --cflags --libs inferom)
 *     inferom record --heap -o forgetful.inferom -- ./forgetful
 *     inferom report --heap forgetful.inferom
 */
#define _GNU_SOURCE
#include <inferom.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAYERS = 8, REQUESTS = 60, TOKENS = 32 };

struct model {
    float *layers[LAYERS];
    float *cache;
};

struct message {
    struct message *older;
    char text[2000];
};

static struct message *history; /* grows, and nobody ever looks at it again */

__attribute__((noinline)) static void *filled(size_t bytes) { return memset(malloc(bytes), 1, bytes); }

__attribute__((noinline)) static struct model *load_model(void)
{
    struct model *m = filled(sizeof *m);
    for (int i = 0; i < LAYERS; i++)
        m->layers[i] = filled(512 << 10);
    return m;
}

__attribute__((noinline)) static void grow_cache(struct model *m, int tokens) { m->cache = realloc(m->cache, (size_t)tokens * 16384); }

__attribute__((noinline)) static int sample_token(int vocabulary)
{
    float *probabilities = filled((size_t)vocabulary * sizeof *probabilities);
    int best = (int)probabilities[vocabulary / 2];
    free(probabilities);
    return best;
}

__attribute__((noinline)) static void remember(const char *text)
{
    struct message *m = filled(sizeof *m);
    snprintf(m->text, sizeof m->text, "%s", text);
    m->older = history;
    history = m;
}

__attribute__((noinline)) static void answer(struct model *m, int number)
{
    char id[32];
    snprintf(id, sizeof id, "chat-%d", number);
    inferom_request *r = inferom_request_new(id);
    INFEROM_REQUEST(r);
    m->cache = NULL;
    for (int token = 1; token <= TOKENS; token++) {
        grow_cache(m, token);
        sample_token(32000);
        remember(id);
        INFEROM_COUNT("tokens", 1);
        usleep(5000);
    }
    free(m->cache);
}

int main(void)
{
    struct model *m = load_model();
    for (int i = 0; i < REQUESTS; i++)
        answer(m, i);
    return history ? 0 : 1; /* the model is the system's to clean up */
}
