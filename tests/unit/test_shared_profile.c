/*
 * Many threads read one finished profile at the same time, each in its own way, and
 * all get the same answers. Run under the thread sanitizer in every test run.
 */
#include "analyse/call_tree.h"
#include "analyse/top.h"
#include "base/log.h"
#include "check.h"
#include "model/builder.h"
#include "model/filter.h"
#include "model/weights.h"

#include <pthread.h>

enum { READERS = 4, ROUNDS = 20, STACKS = 500 };

static struct profile *make(void)
{
    struct builder *b = builder_new();
    static const struct measure_spec ns = {.name = {"cpu", 3}, .unit = UNIT_NS};
    set_id cpu = builder_set(b, VIEW("cpu"), &ns, 1);
    stack_id at = STACK_ROOT;
    for (uint32_t i = 0; i < STACKS; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%u", i % 37);
        at = builder_push(b, i % 11 ? at : STACK_ROOT, builder_frame_named(b, view_of(name)));
        int64_t value = i;
        builder_sample(b, cpu, i, CONTEXT_NONE, at, &value);
    }
    struct profile *p = NULL;
    struct err e = {0};
    CHECK(builder_finish(b, &p, &e));
    return p;
}

static int64_t ask_everything(const struct profile *p)
{
    const struct sample_set *set = profile_set(p, (set_id){0});
    own(weights) struct weights w = weights_of(p, set, 0);
    own(top) struct top t = top_of(p, set, 0, NULL, 0);
    own(call_tree) struct call_tree tree = call_tree_of(p, set, 0, true);
    struct filter f = {.exclude = (const char *const[]){"f3*", NULL}};
    own(profile) struct profile *part = NULL;
    struct err e = {0};
    if (!profile_filtered(p, &f, &part, &e))
        return -1;
    log_debug("nobody sees this, but everybody may say it");
    return w.total[0] + t.whole + tree.nodes[0].total + profile_set(part, (set_id){0})->measures[0].total;
}

static void *reader(void *shared)
{
    int64_t first = ask_everything(shared), differences = 0;
    for (int i = 0; i < ROUNDS; i++)
        differences += ask_everything(shared) != first;
    return (void *)(intptr_t)(differences ? -1 : first);
}

int main(void)
{
    own(profile) struct profile *p = make();
    int64_t want = ask_everything(p);
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, reader, p), 0);
    for (int i = 0; i < READERS; i++) {
        void *got;
        CHECK_EQ(pthread_join(threads[i], &got), 0);
        CHECK_EQ((intptr_t)got, want);
    }
    return CHECK_DONE();
}
