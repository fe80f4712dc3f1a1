/*
 * A body of a chat request, and of a completion. One that is taken has what the rest of the server counts on;
 * one that is refused says why.
 */
#include "lab/openai_answer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_taken(const struct openai_request *q)
{
    if (q->kind == OPENAI_CHAT ? !q->n_messages : !q->prompt.at)
        abort();
    for (size_t i = 0; i < q->n_messages; i++)
        if (!q->messages[i].role)
            abort();
    for (size_t i = 0; i < q->n_stops; i++)
        if (!q->stops[i].n || q->stops[i].n > OPENAI_STOP_BYTES)
            abort();
    if (!(q->temperature >= 0 && q->temperature <= 2) || q->n_stops > OPENAI_STOPS || !q->model)
        abort();
}

static void check_refused(const struct openai_error *why)
{
    own(buf) struct buf json;
    buf_init(&json, 1 << 16);
    openai_error_json(why, &json);
    if (why->status != 400 || !why->message[0] || json.full)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum openai_kind kinds[] = {OPENAI_CHAT, OPENAI_TEXT};
    for (size_t i = 0; i < 2; i++) {
        own(openai_request) struct openai_request q = {0};
        struct openai_error why = {0};
        if (openai_request_read(&q, kinds[i], (struct view){(const char *)data, size}, &why))
            check_taken(&q);
        else
            check_refused(&why);
    }
    return 0;
}
