/* Many conversations at once with one model, each on a thread of its own: each says what it says alone. */
#include "check.h"
#include "lab/model.h"

#include <pthread.h>

enum { SESSIONS = 6, TOKENS = 24 };

struct talk {
    struct model *model;
    uint64_t seed;
    uint32_t said[TOKENS];
    bool failed;
};

static void *talk(void *arg)
{
    struct talk *t = arg;
    struct err e = {0};
    own(tokens) struct tokens prompt = {0};
    model_tokenize(t->model, VIEW("Tell me"), &prompt);
    own(session) struct session *s = session_new(t->model, &(struct session_plan){.seed = t->seed, .temperature = 1});
    t->failed = !session_feed(s, prompt.at, prompt.n, &e);
    for (int i = 0; i < TOKENS && !t->failed; i++)
        t->failed = !session_next(s, &t->said[i], &e);
    return NULL;
}

int main(void)
{
    struct err e = {0};
    own(model) struct model *m = NULL;
    struct talk alone[SESSIONS], together[SESSIONS];
    pthread_t threads[SESSIONS];
    CHECK(model_preset("small", &(struct model_plan){.seed = 1, .threads = 2}, &m, &e));
    for (uint64_t i = 0; i < SESSIONS; i++) {
        alone[i] = together[i] = (struct talk){.model = m, .seed = i};
        talk(&alone[i]);
    }
    for (int i = 0; i < SESSIONS; i++)
        CHECK(pthread_create(&threads[i], NULL, talk, &together[i]) == 0);
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(!alone[i].failed && !together[i].failed);
        CHECK(!memcmp(alone[i].said, together[i].said, sizeof alone[i].said));
        CHECK(i == 0 || memcmp(alone[i].said, alone[0].said, sizeof alone[i].said) != 0);
    }
    return CHECK_DONE();
}
