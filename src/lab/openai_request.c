/*
 * One row per parameter: its name, who reads it, where it goes. A parameter that is null was not said.
 */
#include "lab/openai_request.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>

#define MOST_TOKENS UINT32_MAX
#define MOST_TEMPERATURE 2.0 /* the API's */

/* One parameter while it is read. */
struct reading {
    struct openai_request *q;
    struct json_reader *j;
    struct openai_error *why;
    const struct parameter *row;
    struct json_token t; /* the first token of its value */
    struct err e;        /* of the JSON itself */
    size_t body_bytes;
};

struct parameter {
    const char *name;
    bool (*read)(struct reading *r);
    size_t at;         /* in the request, for those that only store */
    double must_be;    /* of what we cannot change */
    const char *usual; /* how that is written */
};

bool openai_refuse(struct openai_error *why, int status, const char *param, const char *code, const char *fmt, ...)
{
    va_list args;
    *why = (struct openai_error){.status = status, .param = param, .code = code};
    va_start(args, fmt);
    vsnprintf(why->message, sizeof why->message, fmt, args);
    va_end(args);
    return false;
}

static bool not_json(struct reading *r)
{
    return openai_refuse(r->why, 400, NULL, "invalid_json", "the body is not the JSON of a request: %s", r->e.text);
}

static bool is_not(struct reading *r, const char *what)
{
    return openai_refuse(r->why, 400, r->row->name, NULL, "'%s' must be %s, and is %s", r->row->name, what, json_kind_name(r->t.kind));
}

static bool is_outside(struct reading *r, const char *what)
{
    return openai_refuse(r->why, 400, r->row->name, NULL, "'%s' must be %s", r->row->name, what);
}

static struct view kept(struct reading *r, struct view text)
{
    return (struct view){arena_text(&r->q->texts, text), text.n};
}

static bool next(struct reading *r) { return json_next(r->j, &r->t, &r->e) || not_json(r); }

static bool skip(struct reading *r) { return json_skip_rest(r->j, &r->t, &r->e) || not_json(r); }

/* Plain values. */

static bool read_number(struct reading *r, double *out)
{
    char text[64];
    if (r->t.kind != JSON_NUMBER || r->t.text.n >= sizeof text)
        return is_not(r, "a number");
    memcpy(text, r->t.text.at, r->t.text.n);
    text[r->t.text.n] = 0;
    *out = strtod(text, NULL);
    return isfinite(*out) || is_outside(r, "a number that fits");
}

static bool read_flag(struct reading *r)
{
    if (r->t.kind != JSON_BOOL)
        return is_not(r, "true or false");
    *(bool *)((char *)r->q + r->row->at) = r->t.yes;
    return true;
}

static bool read_count(struct reading *r, uint64_t least, const char *what)
{
    uint64_t n;
    if (r->t.kind != JSON_NUMBER)
        return is_not(r, what);
    if (!text_to_uint(r->t.text, &n) || n < least || n > MOST_TOKENS)
        return is_outside(r, what);
    *(uint64_t *)((char *)r->q + r->row->at) = n;
    return true;
}

static bool read_tokens(struct reading *r) { return read_count(r, 1, "a whole number above 0"); }

static bool read_top_k(struct reading *r)
{
    r->q->has_top_k = true;
    return read_count(r, 0, "a whole number");
}

static bool read_seed(struct reading *r)
{
    int64_t n;
    if (r->t.kind != JSON_NUMBER)
        return is_not(r, "a whole number");
    if (!text_to_int(r->t.text, &n))
        return is_outside(r, "a whole number that fits into 64 bits");
    r->q->seed = (uint64_t)n;
    r->q->has_seed = true;
    return true;
}

static bool read_temperature(struct reading *r)
{
    double n = 0;
    if (!read_number(r, &n))
        return false;
    if (n < 0 || n > MOST_TEMPERATURE)
        return is_outside(r, "between 0 and 2");
    r->q->temperature = n;
    r->q->has_temperature = true;
    return true;
}

static bool read_model(struct reading *r)
{
    if (r->t.kind != JSON_TEXT)
        return is_not(r, "a text");
    r->q->model = kept(r, r->t.text).at;
    return true;
}

/* What we have only one of. */

static bool read_fixed_number(struct reading *r)
{
    double n = 0;
    if (!read_number(r, &n))
        return false;
    return n == r->row->must_be ||
           openai_refuse(r->why, 400, r->row->name, "unsupported_value", "'%s' can only be %s here", r->row->name, r->row->usual);
}

/* false, "", [] and {} ask for nothing. */
static bool read_nothing(struct reading *r)
{
    bool is_empty = (r->t.kind == JSON_BOOL && !r->t.yes) || (r->t.kind == JSON_TEXT && !r->t.text.n);
    if (r->t.kind == JSON_ARRAY || r->t.kind == JSON_OBJECT) {
        if (!next(r))
            return false;
        is_empty = r->t.kind == JSON_ARRAY_END || r->t.kind == JSON_OBJECT_END;
    }
    return is_empty || openai_refuse(r->why, 400, r->row->name, "unsupported_parameter", "'%s' is not supported here", r->row->name);
}

static bool read_response_format(struct reading *r)
{
    bool is_text = false;
    if (r->t.kind != JSON_OBJECT)
        return is_not(r, "an object");
    while (next(r) && r->t.kind != JSON_OBJECT_END) {
        bool is_type = view_same(r->t.text, VIEW("type"));
        if (!next(r))
            return false;
        if (is_type)
            is_text = r->t.kind == JSON_TEXT && view_same(r->t.text, VIEW("text"));
        if (!skip(r))
            return false;
    }
    if (r->e.kind)
        return false;
    return is_text || openai_refuse(r->why, 400, r->row->name, "unsupported_value", "'response_format' can only be text here");
}

static bool read_stream_options(struct reading *r)
{
    if (r->t.kind != JSON_OBJECT)
        return is_not(r, "an object");
    while (next(r) && r->t.kind != JSON_OBJECT_END) {
        bool is_usage = view_same(r->t.text, VIEW("include_usage"));
        if (!next(r))
            return false;
        if (is_usage && r->t.kind != JSON_BOOL)
            return openai_refuse(r->why, 400, "stream_options", NULL, "'stream_options.include_usage' must be true or false");
        if (is_usage)
            r->q->want_usage = r->t.yes;
        if (!skip(r))
            return false;
    }
    return !r->e.kind;
}

/* Texts that end the answer. */

static bool add_stop(struct reading *r)
{
    if (r->t.kind != JSON_TEXT)
        return is_not(r, "a text or a list of texts");
    if (!r->t.text.n || r->t.text.n > OPENAI_STOP_BYTES)
        return openai_refuse(r->why, 400, "stop", NULL, "a text in 'stop' must have 1 to %d bytes", OPENAI_STOP_BYTES);
    if (r->q->n_stops == OPENAI_STOPS)
        return openai_refuse(r->why, 400, "stop", NULL, "'stop' must have %d texts at most", OPENAI_STOPS);
    r->q->stops[r->q->n_stops++] = kept(r, r->t.text);
    return true;
}

static bool read_stop(struct reading *r)
{
    r->q->n_stops = 0;
    if (r->t.kind != JSON_ARRAY)
        return add_stop(r);
    while (next(r) && r->t.kind != JSON_ARRAY_END)
        if (!add_stop(r))
            return false;
    return !r->e.kind;
}

/* What is to be answered. */

/* A text, or a list of one. */
static bool read_prompt(struct reading *r)
{
    bool is_list = r->t.kind == JSON_ARRAY;
    if (is_list && !next(r))
        return false;
    if (r->t.kind != JSON_TEXT)
        return openai_refuse(r->why, 400, "prompt", NULL, "'prompt' must be a text, or a list of one text");
    r->q->prompt = kept(r, r->t.text);
    if (is_list && !next(r))
        return false;
    return !is_list || r->t.kind == JSON_ARRAY_END ||
           openai_refuse(r->why, 400, "prompt", "unsupported_value", "'prompt' can only have one text here");
}

static const char *const roles[] = {"system", "developer", "user", "assistant", "tool", NULL};

static bool read_role(struct reading *r, struct openai_message *m)
{
    for (const char *const *role = roles; r->t.kind == JSON_TEXT && *role; role++)
        if (view_same(r->t.text, view_of(*role)))
            m->role = *role;
    return m->role || openai_refuse(r->why, 400, "messages", NULL, "a 'role' must be system, developer, user, assistant or tool");
}

/* {"type": "text", "text": "..."} */
static bool read_part(struct reading *r, struct buf *text)
{
    bool is_text = false, has_text = false;
    if (r->t.kind != JSON_OBJECT)
        return openai_refuse(r->why, 400, "messages", NULL, "a part of 'content' must be an object");
    while (next(r) && r->t.kind != JSON_OBJECT_END) {
        bool is_type = view_same(r->t.text, VIEW("type")), is_words = view_same(r->t.text, VIEW("text"));
        if (!next(r))
            return false;
        if (is_type)
            is_text = r->t.kind == JSON_TEXT && view_same(r->t.text, VIEW("text"));
        if (is_words && r->t.kind == JSON_TEXT) {
            has_text = true;
            buf_add(text, r->t.text.at, r->t.text.n);
        }
        if (!skip(r))
            return false;
    }
    if (r->e.kind)
        return false;
    return (is_text && has_text) || openai_refuse(r->why, 400, "messages", "unsupported_value", "'content' can only be text here");
}

static bool read_content(struct reading *r, struct openai_message *m)
{
    own(buf) struct buf text;
    buf_init(&text, r->body_bytes * 3); /* an escape of one byte may stand for three, never for more than its six */
    if (r->t.kind == JSON_TEXT)
        buf_add(&text, r->t.text.at, r->t.text.n);
    else if (r->t.kind == JSON_ARRAY)
        while (next(r) && r->t.kind != JSON_ARRAY_END)
            if (!read_part(r, &text))
                return false;
    if (r->e.kind)
        return false;
    if (r->t.kind != JSON_TEXT && r->t.kind != JSON_ARRAY_END && r->t.kind != JSON_NULL)
        return openai_refuse(r->why, 400, "messages", NULL, "'content' must be a text or a list of parts");
    m->text = kept(r, buf_view(&text));
    return true;
}

static bool read_message(struct reading *r)
{
    struct openai_message m = {0};
    if (r->t.kind != JSON_OBJECT)
        return openai_refuse(r->why, 400, "messages", NULL, "a message must be an object");
    while (next(r) && r->t.kind != JSON_OBJECT_END) {
        bool is_role = view_same(r->t.text, VIEW("role")), is_content = view_same(r->t.text, VIEW("content"));
        if (!next(r))
            return false;
        bool ok = is_role ? read_role(r, &m) : is_content ? read_content(r, &m) : skip(r);
        if (!ok)
            return false;
    }
    if (r->e.kind)
        return false;
    if (!m.role)
        return openai_refuse(r->why, 400, "messages", NULL, "a message has no 'role'");
    GROW(r->q->messages, r->q->messages_cap, r->q->n_messages + 1);
    r->q->messages[r->q->n_messages++] = m;
    return true;
}

static bool read_messages(struct reading *r)
{
    r->q->n_messages = 0;
    if (r->t.kind != JSON_ARRAY)
        return is_not(r, "a list of messages");
    while (next(r) && r->t.kind != JSON_ARRAY_END)
        if (!read_message(r))
            return false;
    return !r->e.kind;
}

/* The table. */

#define FIELD(name) offsetof(struct openai_request, name)
static const struct parameter parameters[] = {
    {"messages", read_messages},
    {"prompt", read_prompt},
    {"model", read_model},
    {"max_tokens", read_tokens, FIELD(most_tokens)},
    {"max_completion_tokens", read_tokens, FIELD(most_tokens)},
    {"temperature", read_temperature},
    {"top_k", read_top_k, FIELD(top_k)},
    {"seed", read_seed},
    {"stop", read_stop},
    {"stream", read_flag, FIELD(is_stream)},
    {"stream_options", read_stream_options},
    {"ignore_eos", read_flag, FIELD(goes_on)},
    {"n", read_fixed_number, 0, 1, "1"},
    {"best_of", read_fixed_number, 0, 1, "1"},
    {"top_p", read_fixed_number, 0, 1, "1"},
    {"min_p", read_fixed_number, 0, 0, "0"},
    {"presence_penalty", read_fixed_number, 0, 0, "0"},
    {"frequency_penalty", read_fixed_number, 0, 0, "0"},
    {"repetition_penalty", read_fixed_number, 0, 1, "1"},
    {"response_format", read_response_format},
    {"logprobs", read_nothing},
    {"logit_bias", read_nothing},
    {"echo", read_nothing},
    {"suffix", read_nothing},
    {"tools", read_nothing},
    {"functions", read_nothing},
};

static const struct parameter *parameter_named(struct view name)
{
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (view_same(name, view_of(parameters[i].name)))
            return &parameters[i];
    return NULL;
}

static bool read_parameters(struct reading *r)
{
    if (!next(r))
        return false;
    if (r->t.kind != JSON_OBJECT)
        return openai_refuse(r->why, 400, NULL, "invalid_json", "the body must be a JSON object, and is %s", json_kind_name(r->t.kind));
    while (next(r) && r->t.kind != JSON_OBJECT_END) {
        r->row = parameter_named(r->t.text);
        if (!next(r))
            return false;
        bool is_said = r->row && r->t.kind != JSON_NULL;
        if (is_said ? !r->row->read(r) : !skip(r))
            return false;
    }
    return !r->e.kind && next(r); /* and nothing behind it */
}

static bool has_question(const struct openai_request *q, struct openai_error *why)
{
    if (q->kind == OPENAI_CHAT && !q->n_messages)
        return openai_refuse(why, 400, "messages", NULL, "'messages' must be a list of one message or more");
    if (q->kind == OPENAI_TEXT && !q->prompt.at)
        return openai_refuse(why, 400, "prompt", NULL, "'prompt' is missing");
    return true;
}

bool openai_request_read(struct openai_request *out, enum openai_kind kind, struct view body, struct openai_error *why)
{
    own(reader) struct reader in;
    reader_over(&in, "the body", body);
    own(json_reader) struct json_reader j;
    json_from(&j, &in);
    *out = (struct openai_request){.kind = kind, .model = ""};
    struct reading r = {.q = out, .j = &j, .why = why, .body_bytes = body.n};
    return read_parameters(&r) && has_question(out, why);
}

void openai_request_done(struct openai_request *q)
{
    free(q->messages);
    arena_done(&q->texts);
    *q = (struct openai_request){0};
}
