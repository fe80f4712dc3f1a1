#include "lab/turn.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#include <time.h>

#define SLICE 32             /* tokens of a prompt between two looks at the others */
#define LEAST_ROOM (64 << 10) /* of a stream, before a step: an event always fits */
#define TEXT_DEFAULT 16       /* tokens of a completion when nothing was said: the API's */

struct turn *turn_new(struct model *m, struct openai_request *q, const char *id, const struct session_plan *usual, struct http_reply *r)
{
    struct turn *t = mem_new(sizeof *t);
    t->model = m;
    t->q = *q;
    *q = (struct openai_request){0};
    t->reply = r;
    snprintf(t->id, sizeof t->id, "%s", id);
    t->answer = (struct openai_answer){
        .kind = t->q.kind, .id = t->id, .model = model_facts(m)->name, .created_s = time(NULL), .want_usage = t->q.want_usage};
    t->usage.arrived_ns = clock_monotonic_ns();
    t->plan = (struct session_plan){
        .seed = t->q.has_seed ? t->q.seed : usual->seed,
        .temperature = t->q.has_temperature ? t->q.temperature : usual->temperature,
        .top_k = t->q.has_top_k ? (uint32_t)t->q.top_k : usual->top_k,
        .context = usual->context,
    };
    stop_text_init(&t->out, t->q.stops, t->q.n_stops);
    buf_init(&t->text, SIZE_MAX / 16); /* bounded by the tokens it is made of */
    return t;
}

void turn_free(struct turn *t)
{
    if (t->reply)
        http_reply_end(t->reply);
    session_free(t->session);
    tokens_done(&t->prompt);
    stop_text_done(&t->out);
    buf_done(&t->text);
    openai_request_done(&t->q);
    free(t);
}

/* The reply leaves with its last bytes. */

static void reply_whole(struct turn *t, int status, struct view body)
{
    http_reply_whole(take(t->reply), status, "application/json", body);
}

void turn_refuse(struct turn *t, const struct openai_error *why)
{
    own(buf) struct buf body;
    buf_init(&body, 8192);
    log_info("%s: %d %s", t->id, why->status, why->message);
    if (t->session && t->q.is_stream) { /* the status has gone out; what follows may still say that this is no end */
        openai_error_event(why, &body);
        http_reply_add(t->reply, buf_view(&body));
        http_reply_end(take(t->reply));
        return;
    }
    openai_error_json(why, &body);
    reply_whole(t, why->status, buf_view(&body));
}

/* Beginning. */

static void tokenize(struct turn *t)
{
    model_chat_begin(t->model, &t->prompt);
    if (t->q.kind == OPENAI_TEXT) {
        model_tokenize(t->model, t->q.prompt, &t->prompt);
        return;
    }
    for (size_t i = 0; i < t->q.n_messages; i++)
        model_chat_turn(t->model, t->q.messages[i].role, t->q.messages[i].text, &t->prompt);
    model_chat_answer(t->model, &t->prompt);
}

static bool refuse(struct turn *t, const struct openai_error *why)
{
    turn_refuse(t, why);
    return false;
}

static bool fits(struct turn *t)
{
    struct openai_error why;
    uint64_t context = t->plan.context;
    if (!t->prompt.n)
        return openai_refuse(&why, 400, "prompt", NULL, "the prompt is empty"), refuse(t, &why);
    if (t->prompt.n >= context) {
        openai_refuse(&why, 400, t->q.kind == OPENAI_CHAT ? "messages" : "prompt", "context_length_exceeded",
                      "the prompt has %zu tokens, and the context is %llu tokens", t->prompt.n, (unsigned long long)context);
        return refuse(t, &why);
    }
    uint64_t room = context - t->prompt.n, wanted = t->q.most_tokens;
    if (!wanted)
        wanted = t->q.kind == OPENAI_TEXT ? TEXT_DEFAULT : room;
    t->most_tokens = wanted < room ? wanted : room;
    return true;
}

bool turn_begin(struct turn *t)
{
    t->request = inferom_request_new(t->id);
    INFEROM_REQUEST(t->request);
    INFEROM_SCOPE("begin");
    t->usage.began_ns = clock_monotonic_ns();
    tokenize(t);
    t->usage.prompt_tokens = t->prompt.n;
    if (!fits(t))
        return false;
    t->plan.context = (uint32_t)(t->prompt.n + t->most_tokens); /* as large as it can become, and no larger */
    t->session = session_new(t->model, &t->plan);
    if (t->q.is_stream) {
        http_reply_field(t->reply, "Cache-Control", "no-cache");
        http_reply_begin(t->reply, 200, "text/event-stream");
    }
    return true;
}

/* Saying. */

static void say(struct turn *t, struct view text)
{
    if (!text.n)
        return;
    if (!t->q.is_stream) {
        buf_add(&t->text, text.at, text.n);
        return;
    }
    own(buf) struct buf event;
    buf_init(&event, LEAST_ROOM);
    openai_piece(&t->answer, text, !t->has_spoken, &event);
    t->has_spoken = true;
    http_reply_add(t->reply, buf_view(&event)); /* there is room, or nobody reads it */
}

static enum turn_step finish(struct turn *t, const char *why)
{
    own(buf) struct buf body;
    say(t, stop_text_end(&t->out));
    buf_init(&body, t->text.len * 6 + LEAST_ROOM); /* a byte is \u001b at worst */
    log_info("%s: %llu + %llu tokens, %s", t->id, (unsigned long long)t->usage.prompt_tokens,
             (unsigned long long)t->usage.answer_tokens, why);
    if (t->q.is_stream) {
        openai_last(&t->answer, why, !t->has_spoken, &t->usage, &body);
        http_reply_add(t->reply, buf_view(&body));
        http_reply_end(take(t->reply));
    } else {
        openai_whole(&t->answer, buf_view(&t->text), why, &t->usage, &body);
        reply_whole(t, 200, buf_view(&body));
    }
    return TURN_OVER;
}

static enum turn_step fail(struct turn *t, const struct err *e)
{
    struct openai_error why;
    openai_refuse(&why, 500, NULL, NULL, "%s", e->text);
    turn_refuse(t, &why);
    return TURN_OVER;
}

static enum turn_step feed(struct turn *t)
{
    struct err e = {0};
    size_t left = t->prompt.n - t->fed, n = left < SLICE ? left : SLICE;
    if (!session_feed(t->session, t->prompt.at + t->fed, n, &e))
        return fail(t, &e);
    t->fed += n;
    return TURN_WORKED;
}

static enum turn_step speak(struct turn *t)
{
    struct err e = {0};
    uint32_t token;
    if (!session_next(t->session, &token, &e))
        return fail(t, &e);
    if (!t->q.goes_on && model_ends(t->model, token))
        return finish(t, "stop");
    t->usage.last_ns = clock_monotonic_ns();
    if (!t->usage.answer_tokens++)
        t->usage.first_ns = t->usage.last_ns;
    say(t, stop_text_add(&t->out, model_piece(t->model, token)));
    if (t->out.is_met)
        return finish(t, "stop");
    return t->usage.answer_tokens == t->most_tokens ? finish(t, "length") : TURN_WORKED;
}

enum turn_step turn_step(struct turn *t)
{
    if (http_reply_is_gone(t->reply)) {
        log_info("%s: the client went away", t->id);
        return TURN_OVER;
    }
    if (t->q.is_stream && http_reply_room(t->reply) < LEAST_ROOM)
        return TURN_BLOCKED;
    INFEROM_REQUEST(t->request);
    return t->fed < t->prompt.n ? feed(t) : speak(t);
}
