/*
 * turn.h - one request and its answer, made a step at a time
 *
 * A turn is fed its prompt in slices and then says one token a step, so that many of them can share a
 * model fairly (turns.h). A stream goes out as it is said; another answer when it is complete.
 *
 *     tokenize ──> feed a slice ──> ... ──> say a token ──> say a token ──> ... ──> answered
 *                                                                          └──> client gone: forgotten
 *
 * Every step works for the request's id (inferom.h), so that a recording of the server splits by request.
 *
 * Owns:     its request, its reply and its session.
 * Threads:  turn_new() anywhere; all else on the thread that has the model.
 */
#pragma once
#include "lab/model.h"
#include "lab/openai_answer.h"
#include "lab/openai_request.h"
#include "lab/stop_text.h"
#include "net/http_server.h"

#include <inferom.h>

enum { TURN_ID_BYTES = 80 };

enum turn_step { TURN_WORKED, TURN_BLOCKED, TURN_OVER }; /* blocked: the client has to read first */

struct turn {
    struct turn *next;
    char id[TURN_ID_BYTES];
    struct openai_request q;
    struct http_reply *reply;
    struct openai_answer answer;
    struct openai_usage usage;
    inferom_request *request;
    struct model *model;
    struct session_plan plan;
    struct session *session; /* NULL: has not begun */
    struct tokens prompt;
    size_t fed;
    uint64_t most_tokens;
    struct stop_text out;
    struct buf text; /* of an answer that goes out whole */
    bool has_spoken; /* a piece of the stream has gone out */
};

/* Takes the request and the reply. `usual` is what the request does not say; its context is a bound. */
struct turn *turn_new(struct model *m, struct openai_request *q, const char *id, const struct session_plan *usual, struct http_reply *r);

bool turn_begin(struct turn *t);          /* false: it was refused, and is over */
enum turn_step turn_step(struct turn *t); /* after TURN_OVER only turn_free() */
void turn_refuse(struct turn *t, const struct openai_error *why);
void turn_free(struct turn *t);
