/*
 * turns.h - many requests, one model: each says a token, then the next one does
 *
 *     take ──> waiting (first come, first served) ──> running: round and round, a step each ──> answered
 *              full: refused with 429                 most_running of them
 *
 * A turn whose client does not read is passed over until it does; one whose client went away is
 * forgotten, and its session freed, at its next step.
 *
 * Owns:     the turns. The model is borrowed and must outlive it.
 * Threads:  take, stir and counts from any; run and end on one thread, which is the one that has the model.
 */
#pragma once
#include "lab/turn.h"

#include <signal.h>

struct turns;

struct turns_plan {
    struct model *model;
    size_t most_running, most_waiting;
    struct session_plan usual; /* what requests do not say; its context bounds all of them */
};

struct turns_counts {
    size_t running, waiting;
};

struct turns *turns_new(const struct turns_plan *p);
void turns_free(struct turns *t);
DEFINE_OWN(turns, struct turns *)

/* Takes the request and the reply. False: neither was taken, and `why` says what to answer. */
bool turns_take(struct turns *t, struct openai_request *q, const char *id, struct http_reply *r, struct openai_error *why) MUST_CHECK;
void turns_stir(struct turns *t); /* a reply has changed: look again */
struct turns_counts turns_counts(struct turns *t);

/* Works until *stop, or until_ns on the monotonic clock; what is left then is refused with 503. */
void turns_run(struct turns *t, const volatile sig_atomic_t *stop, uint64_t until_ns);
