/*
 * openai_answer.h - what the OpenAI API says back, as JSON and as events of a stream
 *
 *     whole:   {"id", "object", "created", "model", "choices": [...], "usage": {...}, "timings": {...}}
 *     stream:  data: {... "choices": [{"delta": {"content": "..."}}]}      one a piece of text
 *              data: {... "choices": [{"delta": {}, "finish_reason": "stop"}], "timings": {...}}
 *              data: {... "choices": [], "usage": {...}}                  when it was asked for
 *              data: [DONE]
 *
 * The role comes with the first text, so that the first event is the first token. Timings are those of
 * llama.cpp's server, on the clock on the wall: prompt_ms until the first token is there, predicted_ms from then to
 * the last one, over one token less; and queued_ms, what came before. Unknown is null.
 *
 * Text is what the model said: bytes that are no UTF-8 become U+FFFD.
 *
 * Threads: any; nothing is kept.
 */
#pragma once
#include "lab/openai_request.h"

struct openai_usage {
    uint64_t prompt_tokens, answer_tokens;
    uint64_t arrived_ns, began_ns, first_ns, last_ns; /* of tokens; 0: not yet */
};

struct openai_answer {
    enum openai_kind kind;
    const char *id, *model; /* the id without its "chatcmpl-" */
    int64_t created_s;
    bool want_usage;
};

/* finish: "stop", "length"; NULL: not yet. */
void openai_whole(const struct openai_answer *a, struct view text, const char *finish, const struct openai_usage *u, struct buf *out);
void openai_piece(const struct openai_answer *a, struct view text, bool is_first, struct buf *out);
void openai_last(const struct openai_answer *a, const char *finish, bool is_first, const struct openai_usage *u, struct buf *out);

void openai_error_json(const struct openai_error *why, struct buf *out);
void openai_error_event(const struct openai_error *why, struct buf *out); /* ends a stream that has begun */
