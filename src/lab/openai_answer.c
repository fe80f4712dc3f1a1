#include "lab/openai_answer.h"
#include "base/json.h"

#include <math.h>

struct writing {
    struct sink to;
    struct json_writer w;
};

static struct json_writer *write_to(struct writing *x, struct buf *out)
{
    sink_to_buf(&x->to, out);
    json_to(&x->w, &x->to);
    return &x->w;
}

static void written(struct writing *x)
{
    bool fits = sink_flush(&x->to, NULL);
    (void)fits; /* the buffer remembers */
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    if (text)
        json_text(w, view_of(text));
    else
        json_null(w);
}

static void put_count(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

/* Microseconds are what a clock of ours is good for. */
static void put_ms(struct json_writer *w, const char *key, double ns)
{
    json_key(w, key);
    json_double(w, round(ns / 1e3) / 1e3);
}

static void put_rate(struct json_writer *w, const char *key, double n, double ns)
{
    json_key(w, key);
    json_double(w, ns > 0 ? round(n / ns * 1e12) / 1e3 : NAN);
}

/* What was used. */

static double between(uint64_t from_ns, uint64_t to_ns) { return from_ns && to_ns ? (double)(to_ns - from_ns) : NAN; }

static void put_usage(struct json_writer *w, const struct openai_usage *u)
{
    json_key(w, "usage");
    json_open(w, '{');
    put_count(w, "prompt_tokens", u->prompt_tokens);
    put_count(w, "completion_tokens", u->answer_tokens);
    put_count(w, "total_tokens", u->prompt_tokens + u->answer_tokens);
    json_key(w, "prompt_tokens_details");
    json_open(w, '{');
    put_count(w, "cached_tokens", 0); /* every prompt is evaluated whole */
    json_close(w, '}');
    json_close(w, '}');
}

/* The first token belongs to the prompt: after it, there is one gap less than there are tokens. */
static void put_timings(struct json_writer *w, const struct openai_usage *u)
{
    double prompt_ns = between(u->began_ns, u->first_ns), answer_ns = between(u->first_ns, u->last_ns);
    double prompt = (double)u->prompt_tokens, gaps = u->answer_tokens > 1 ? (double)(u->answer_tokens - 1) : NAN;
    json_key(w, "timings");
    json_open(w, '{');
    put_ms(w, "queued_ms", between(u->arrived_ns, u->began_ns));
    put_count(w, "cache_n", 0);
    put_count(w, "prompt_n", u->prompt_tokens);
    put_ms(w, "prompt_ms", prompt_ns);
    put_ms(w, "prompt_per_token_ms", prompt_ns / prompt);
    put_rate(w, "prompt_per_second", prompt, prompt_ns);
    put_count(w, "predicted_n", u->answer_tokens);
    put_ms(w, "predicted_ms", answer_ns);
    put_ms(w, "predicted_per_token_ms", answer_ns / gaps);
    put_rate(w, "predicted_per_second", gaps, answer_ns);
    json_close(w, '}');
}

/* What every piece of JSON begins with. */
static void open_answer(struct json_writer *w, const struct openai_answer *a, bool is_stream)
{
    char id[128];
    bool is_chat = a->kind == OPENAI_CHAT;
    snprintf(id, sizeof id, "%s-%s", is_chat ? "chatcmpl" : "cmpl", a->id);
    json_open(w, '{');
    put_text(w, "id", id);
    put_text(w, "object", !is_chat ? "text_completion" : is_stream ? "chat.completion.chunk" : "chat.completion");
    json_key(w, "created");
    json_int(w, a->created_s);
    put_text(w, "model", a->model);
}

static void close_choice(struct json_writer *w, const char *finish)
{
    json_key(w, "logprobs");
    json_null(w);
    put_text(w, "finish_reason", finish);
    json_close(w, '}');
    json_close(w, ']');
}

static void open_choice(struct json_writer *w)
{
    json_key(w, "choices");
    json_open(w, '[');
    json_open(w, '{');
    put_count(w, "index", 0);
}

static void put_said(struct json_writer *w, const char *as, struct view text, bool with_role)
{
    json_key(w, as);
    json_open(w, '{');
    if (with_role)
        put_text(w, "role", "assistant");
    if (text.at) {
        json_key(w, "content");
        json_text(w, text);
    }
    json_close(w, '}');
}

void openai_whole(const struct openai_answer *a, struct view text, const char *finish, const struct openai_usage *u, struct buf *out)
{
    struct writing x;
    struct json_writer *w = write_to(&x, out);
    open_answer(w, a, false);
    open_choice(w);
    if (a->kind == OPENAI_CHAT) {
        put_said(w, "message", text, true);
    } else {
        json_key(w, "text");
        json_text(w, text);
    }
    close_choice(w, finish);
    put_usage(w, u);
    put_timings(w, u);
    json_close(w, '}');
    written(&x);
}

/* Events. */

static struct json_writer *open_event(struct writing *x, const struct openai_answer *a, struct buf *out)
{
    buf_puts(out, "data: ");
    struct json_writer *w = write_to(x, out);
    open_answer(w, a, true);
    return w;
}

static void close_event(struct writing *x, struct buf *out)
{
    json_close(&x->w, '}');
    written(x);
    buf_puts(out, "\n\n");
}

static void put_delta(struct json_writer *w, const struct openai_answer *a, struct view text, bool is_first, const char *finish)
{
    open_choice(w);
    if (a->kind == OPENAI_CHAT) {
        put_said(w, "delta", text, is_first);
    } else {
        json_key(w, "text");
        json_text(w, text.at ? text : VIEW(""));
    }
    close_choice(w, finish);
    if (a->want_usage) {
        json_key(w, "usage");
        json_null(w);
    }
}

void openai_piece(const struct openai_answer *a, struct view text, bool is_first, struct buf *out)
{
    struct writing x;
    put_delta(open_event(&x, a, out), a, text, is_first, NULL);
    close_event(&x, out);
}

static void usage_event(const struct openai_answer *a, const struct openai_usage *u, struct buf *out)
{
    struct writing x;
    struct json_writer *w = open_event(&x, a, out);
    json_key(w, "choices");
    json_open(w, '[');
    json_close(w, ']');
    put_usage(w, u);
    close_event(&x, out);
}

void openai_last(const struct openai_answer *a, const char *finish, bool is_first, const struct openai_usage *u, struct buf *out)
{
    struct writing x;
    struct json_writer *w = open_event(&x, a, out);
    put_delta(w, a, (struct view){0}, is_first, finish);
    put_timings(w, u);
    close_event(&x, out);
    if (a->want_usage)
        usage_event(a, u, out);
    buf_puts(out, "data: [DONE]\n\n");
}

/* Refusals. */

static const struct {
    int status;
    const char *type;
} types[] = {
    {400, "invalid_request_error"},
    {403, "permission_error"},
    {404, "not_found_error"},
    {429, "rate_limit_error"},
    {503, "server_error"},
};

static const char *type_of(int status)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].status == status)
            return types[i].type;
    return status >= 500 ? "server_error" : "invalid_request_error";
}

static void put_error(struct json_writer *w, const struct openai_error *why)
{
    json_open(w, '{');
    json_key(w, "error");
    json_open(w, '{');
    put_text(w, "message", why->message);
    put_text(w, "type", type_of(why->status));
    put_text(w, "param", why->param);
    put_text(w, "code", why->code);
    json_close(w, '}');
    json_close(w, '}');
}

void openai_error_json(const struct openai_error *why, struct buf *out)
{
    struct writing x;
    put_error(write_to(&x, out), why);
    written(&x);
}

void openai_error_event(const struct openai_error *why, struct buf *out)
{
    buf_puts(out, "data: ");
    openai_error_json(why, out);
    buf_puts(out, "\n\n");
}
