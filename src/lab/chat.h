/*
 * chat.h - a conversation with a model, turn by turn
 *
 * What was said before stays in the session's cache, so a turn costs what is new in it. When a turn does not fit any
 * more the conversation begins anew with it; a prompt that is too long by itself loses its beginning. Both are said
 * in the turn's result, nothing happens silently.
 *
 *     struct chat c = {.model = m, .session = s, .most_tokens = 64};
 *     struct chat_turn t;
 *     if (!chat_say(&c, VIEW("Hello"), put_piece, self, stop, &t, e)) ...
 *
 * Owns: nothing; model and session are borrowed.
 */
#pragma once
#include "lab/model.h"
#include <signal.h>

struct chat {
    struct model *model;
    struct session *session;
    size_t most_tokens; /* of an answer */
    bool has_begun;
    bool is_open;       /* an answer was not closed yet */
};

struct chat_turn {
    size_t prompt_tokens;  /* the conversation up to the answer */
    size_t cached_tokens;  /* of them, evaluated before */
    size_t lost_tokens;    /* of the prompt, from its beginning */
    size_t answer_tokens;
    bool began_anew, is_stopped;
    uint64_t begun_ns, fed_ns, ended_ns; /* CLOCK_MONOTONIC */
};

/* Called with each piece as it is made: bytes, not always whole characters. */
typedef void (*chat_piece)(void *self, struct view piece);

/* `stop` may be NULL; becoming true it ends the answer after the token being made. */
bool chat_say(struct chat *c, struct view prompt, chat_piece put, void *self, const volatile sig_atomic_t *stop,
              struct chat_turn *out, struct err *e) MUST_CHECK;
