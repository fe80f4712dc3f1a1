#include "lab/chat.h"
#include "base/clock.h"

#include <inferom.h>

static void write_turn(const struct chat *c, struct view prompt, struct tokens *out)
{
    if (!c->has_begun)
        model_chat_begin(c->model, out);
    else if (c->is_open)
        model_chat_answered(c->model, out);
    model_chat_turn(c->model, "user", prompt, out);
    model_chat_answer(c->model, out);
}

/* Tokens that a turn may take: some of the context is for the answer, as far as there is enough. */
static size_t room_for_prompt(const struct chat *c)
{
    size_t room = session_room(c->session), answer = c->most_tokens;
    size_t kept = answer < room / 2 ? answer : room / 2;
    return room - kept;
}

/* The tokens of the turn, and where they begin: what does not fit is left out from the front. */
static void fit(struct chat *c, struct view prompt, struct tokens *t, struct chat_turn *out)
{
    write_turn(c, prompt, t);
    if (t->n > room_for_prompt(c) && c->has_begun) {
        session_cut(c->session, 0);
        c->has_begun = c->is_open = false;
        out->began_anew = true;
        t->n = 0;
        write_turn(c, prompt, t);
    }
    size_t room = room_for_prompt(c);
    out->lost_tokens = t->n > room ? t->n - room : 0;
}

static bool answer(struct chat *c, chat_piece put, void *self, const volatile sig_atomic_t *stop, struct chat_turn *out, struct err *e)
{
    while (out->answer_tokens < c->most_tokens && session_room(c->session)) {
        uint32_t token;
        if (stop && *stop) {
            out->is_stopped = true;
            return true;
        }
        if (!session_next(c->session, &token, e))
            return false;
        out->answer_tokens++;
        if (model_ends(c->model, token)) {
            c->is_open = false; /* it closed the answer itself */
            return true;
        }
        put(self, model_piece(c->model, token));
    }
    return true;
}

bool chat_say(struct chat *c, struct view prompt, chat_piece put, void *self, const volatile sig_atomic_t *stop,
              struct chat_turn *out, struct err *e)
{
    INFEROM_SCOPE("turn");
    own(tokens) struct tokens t = {0};
    *out = (struct chat_turn){.begun_ns = clock_monotonic_ns()};
    fit(c, prompt, &t, out);
    out->cached_tokens = session_position(c->session);
    if (!session_feed(c->session, t.at + out->lost_tokens, t.n - out->lost_tokens, e))
        return false;
    out->prompt_tokens = session_position(c->session);
    out->fed_ns = clock_monotonic_ns();
    c->has_begun = c->is_open = true;
    bool ok = answer(c, put, self, stop, out, e);
    out->ended_ns = clock_monotonic_ns();
    return ok;
}
