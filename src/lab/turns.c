#include "lab/turns.h"
#include "base/clock.h"
#include "base/mem.h"

#include <pthread.h>

#define NS_PER_S UINT64_C(1000000000)
#define LOOK_NS (NS_PER_S / 10) /* how long after a signal it is noticed, when nothing happens */

struct turns {
    struct turns_plan plan;
    const volatile sig_atomic_t *stop;
    uint64_t until_ns;
    struct turn **running; /* the working thread's */
    size_t n_running;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t news;
    struct turn *first, **last; /* waiting */
    struct turns_counts counts;
    bool is_stirred, is_over;
};

struct turns *turns_new(const struct turns_plan *p)
{
    struct turns *t = mem_new(sizeof *t);
    *t = (struct turns){.plan = *p, .running = mem_new(p->most_running * sizeof *t->running)};
    t->last = &t->first;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return t;
}

/* Anybody's side. */

static bool has_place(const struct turns *t, struct openai_error *why)
{
    if (t->is_over)
        return openai_refuse(why, 503, NULL, "shutting_down", "the server is shutting down");
    if (t->counts.waiting >= t->plan.most_waiting)
        return openai_refuse(why, 429, NULL, "queue_full", "%zu requests are running and %zu are waiting; try again later",
                             t->counts.running, t->counts.waiting);
    return true;
}

bool turns_take(struct turns *t, struct openai_request *q, const char *id, struct http_reply *r, struct openai_error *why)
{
    pthread_mutex_lock(&t->lock);
    bool is_taken = has_place(t, why);
    if (is_taken) {
        *t->last = turn_new(t->plan.model, q, id, &t->plan.usual, r);
        t->last = &(*t->last)->next;
        t->counts.waiting++;
        t->is_stirred = true;
        pthread_cond_signal(&t->news);
    }
    pthread_mutex_unlock(&t->lock);
    return is_taken;
}

void turns_stir(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_stirred = true;
    pthread_cond_signal(&t->news);
    pthread_mutex_unlock(&t->lock);
}

struct turns_counts turns_counts(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    struct turns_counts c = t->counts;
    pthread_mutex_unlock(&t->lock);
    return c;
}

/* The working thread's side. */

static struct turn *next_waiting(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    struct turn *one = t->first;
    if (one) {
        t->first = one->next;
        if (!t->first)
            t->last = &t->first;
        t->counts.waiting--;
    }
    pthread_mutex_unlock(&t->lock);
    return one;
}

static void publish(struct turns *t)
{
    pthread_mutex_lock(&t->lock);
    t->counts.running = t->n_running;
    pthread_mutex_unlock(&t->lock);
}

static void admit(struct turns *t)
{
    struct turn *one;
    while (t->n_running < t->plan.most_running && (one = next_waiting(t))) {
        if (http_reply_is_gone(one->reply) || !turn_begin(one))
            turn_free(one);
        else
            t->running[t->n_running++] = one;
    }
    publish(t);
}

static bool is_time(const struct turns *t) { return *t->stop || clock_monotonic_ns() >= t->until_ns; }

/* A step for each; false when nobody could make one. */
static bool go_round(struct turns *t)
{
    size_t left = 0;
    bool has_worked = false;
    for (size_t i = 0; i < t->n_running; i++) {
        struct turn *one = t->running[i];
        enum turn_step step = is_time(t) ? TURN_BLOCKED : turn_step(one);
        has_worked |= step != TURN_BLOCKED;
        if (step == TURN_OVER)
            turn_free(one);
        else
            t->running[left++] = one;
    }
    t->n_running = left;
    publish(t);
    return has_worked;
}

static void wait_for_news(struct turns *t)
{
    uint64_t end_ns = clock_monotonic_ns() + LOOK_NS;
    struct timespec end = {.tv_sec = (time_t)(end_ns / NS_PER_S), .tv_nsec = (long)(end_ns % NS_PER_S)};
    pthread_mutex_lock(&t->lock);
    if (!t->is_stirred)
        pthread_cond_timedwait(&t->news, &t->lock, &end);
    t->is_stirred = false;
    pthread_mutex_unlock(&t->lock);
}

static void refuse_rest(struct turns *t)
{
    struct openai_error why;
    struct turn *one;
    openai_refuse(&why, 503, NULL, "shutting_down", "the server is shutting down");
    for (size_t i = 0; i < t->n_running; i++) {
        turn_refuse(t->running[i], &why);
        turn_free(t->running[i]);
    }
    t->n_running = 0;
    publish(t);
    while ((one = next_waiting(t))) {
        turn_refuse(one, &why);
        turn_free(one);
    }
}

void turns_run(struct turns *t, const volatile sig_atomic_t *stop, uint64_t until_ns)
{
    t->stop = stop;
    t->until_ns = until_ns;
    while (!is_time(t)) {
        admit(t);
        if (!go_round(t) && !is_time(t))
            wait_for_news(t);
    }
    pthread_mutex_lock(&t->lock);
    t->is_over = true;
    pthread_mutex_unlock(&t->lock);
    refuse_rest(t);
}

void turns_free(struct turns *t)
{
    if (!t)
        return;
    refuse_rest(t);
    pthread_cond_destroy(&t->news);
    pthread_mutex_destroy(&t->lock);
    free(t->running);
    free(t);
}
