/*
 * openai_request.h - what a client of the OpenAI API asks for, from its JSON
 *
 * POST /v1/chat/completions has messages, POST /v1/completions has a prompt; the rest is alike. What
 * we would have to ignore although it changes the answer (n above 1, top_p, tools, ...) is refused
 * with its name; what we have never heard of is passed over, as everybody does.
 *
 * Use:
 *     own(openai_request) struct openai_request q = {0};
 *     struct openai_error why = {0};
 *     if (!openai_request_read(&q, OPENAI_CHAT, body, &why))
 *         ... openai_error_json(&why, out)
 *
 * Owns:     every text in it.
 * Threads:  any; a request belongs to one at a time.
 * Fails:    with a status, a sentence and the parameter it is about.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

enum openai_kind { OPENAI_CHAT, OPENAI_TEXT };

enum { OPENAI_STOPS = 4, OPENAI_STOP_BYTES = 256 };

struct openai_message {
    const char *role; /* "system", "developer", "user", "assistant" or "tool" */
    struct view text;
};

struct openai_request {
    enum openai_kind kind;
    struct arena texts; /* of all below */
    struct openai_message *messages; /* of a chat; at least one */
    size_t n_messages, messages_cap;
    struct view prompt; /* of the other */
    const char *model;  /* "": not said */
    uint64_t most_tokens; /* 0: not said */
    double temperature;
    uint64_t top_k; /* 0: all */
    uint64_t seed;
    bool has_temperature, has_top_k, has_seed; /* said; else the server's own are used */
    struct view stops[OPENAI_STOPS];
    size_t n_stops;
    bool is_stream, want_usage; /* usage as a last piece of the stream */
    bool goes_on;               /* past the model's own end: "ignore_eos" */
};

/* A refusal as the API says it: {"error": {"message", "type", "param", "code"}}. */
struct openai_error {
    int status;
    const char *code;  /* a literal, or NULL */
    const char *param; /* a literal, or NULL */
    char message[480];
};

bool openai_request_read(struct openai_request *out, enum openai_kind kind, struct view body, struct openai_error *why) MUST_CHECK;
void openai_request_done(struct openai_request *q);
DEFINE_OWN_IN_PLACE(openai_request, struct openai_request)

bool openai_refuse(struct openai_error *why, int status, const char *param, const char *code, const char *fmt, ...)
    PRINTF_LIKE(5, 6); /* false */
