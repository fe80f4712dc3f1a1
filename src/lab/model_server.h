/*
 * model_server.h - a reference model that answers like an OpenAI server
 *
 *     POST /v1/chat/completions    POST /v1/completions     whole or as a stream
 *     GET  /v1/models              GET  /v1/models/NAME     what there is
 *     GET  /health                                          {"status": "ok", "running": 2, "waiting": 0}
 *
 * Every request has an id: the client's X-Request-Id, or one of ours. It comes back with the answer and is the
 * request's name in a recording of the server.
 *
 * Use:
 *     own(model_server) struct model_server *s = NULL;
 *     if (!model_server_open(&s, &(struct model_server_plan){.model = m}, e))
 *         return false;
 *     model_server_run(s, stop, UINT64_MAX);      // until *stop
 *
 * Owns:     its connections and requests; the model is borrowed.
 * Threads:  one thread opens, runs and frees it. The connections have a thread of their own.
 * Fails:    opening, as http_server_open() does.
 */
#pragma once
#include "lab/model.h"

#include <signal.h>

struct model_server;

struct model_server_plan {
    struct model *model;
    const char *address; /* NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any */
    size_t most_running, most_waiting;
    struct session_plan usual; /* what requests do not say; a context of 0 is the model's, SESSION_CONTEXT_USUAL at most */
};

bool model_server_open(struct model_server **out, const struct model_server_plan *p, struct err *e) MUST_CHECK;
uint16_t model_server_port(const struct model_server *s);
void model_server_run(struct model_server *s, const volatile sig_atomic_t *stop, uint64_t until_ns); /* of the monotonic clock */
void model_server_free(struct model_server *s);
DEFINE_OWN(model_server, struct model_server *)
