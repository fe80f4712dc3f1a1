#include "lab/model_server.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "lab/turns.h"
#include "net/http_server.h"

#include <sys/random.h>
#include <time.h>

#define DRAIN_NS UINT64_C(2000000000) /* for the last words to go out, when the server ends */
#define MODELS_PATH "/v1/models/"

struct model_server {
    struct model_server_plan plan;
    struct http_server *http;
    struct turns *turns;
    uint32_t run;    /* any number: ids of two runs differ */
    uint32_t number; /* of the last request; the connections' thread has it */
    int64_t since_s;
    size_t longest_piece; /* bytes of a token */
};

/* Refusals. */

static void refuse(struct http_reply *r, const struct openai_error *why)
{
    own(buf) struct buf body;
    buf_init(&body, 8192);
    openai_error_json(why, &body);
    if (why->status == 429 || why->status == 503)
        http_reply_field(r, "Retry-After", "1");
    http_reply_whole(r, why->status, "application/json", buf_view(&body));
}

static void explain(int status, const char *sentence, struct buf *out)
{
    struct openai_error why;
    openai_refuse(&why, status, NULL, NULL, "%s", sentence);
    openai_error_json(&why, out);
}

/* Who is asking. */

static bool is_id(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-");
    return n > 0 && n <= 64 && !text[n];
}

static void name_request(struct model_server *s, const struct http_request *q, char id[TURN_ID_BYTES])
{
    const char *given = http_request_field(q, "X-Request-Id");
    s->number++;
    if (given && is_id(given))
        snprintf(id, TURN_ID_BYTES, "%s", given);
    else
        snprintf(id, TURN_ID_BYTES, "%08x%08x", s->run, s->number);
}

/* What is asked. */

static bool is_model(const struct model_server *s, const char *name, struct openai_error *why)
{
    const char *ours = model_facts(s->plan.model)->name;
    return !*name || !strcmp(name, ours) ||
           openai_refuse(why, 404, "model", "model_not_found", "there is no model '%s' here, only '%s'", name, ours);
}

/* Tokens at least: their pieces put together are the text, and a message needs one to say whose it is. */
static size_t least_tokens(const struct openai_request *q, size_t longest_piece)
{
    size_t n = q->prompt.n;
    for (size_t i = 0; i < q->n_messages; i++)
        n += q->messages[i].text.n;
    return n / longest_piece + q->n_messages;
}

/* Making tokens of megabytes that cannot fit would keep everybody waiting. */
static bool may_fit(const struct model_server *s, const struct openai_request *q, struct openai_error *why)
{
    size_t n = least_tokens(q, s->longest_piece);
    return n <= s->plan.usual.context ||
           openai_refuse(why, 400, q->kind == OPENAI_CHAT ? "messages" : "prompt", "context_length_exceeded",
                         "the prompt has %zu tokens at least, and the context is %u tokens", n, s->plan.usual.context);
}

static void answer(struct model_server *s, enum openai_kind kind, const struct http_request *h, struct http_reply *r)
{
    own(openai_request) struct openai_request q = {0};
    struct openai_error why = {0};
    char id[TURN_ID_BYTES];
    name_request(s, h, id);
    http_reply_field(r, "X-Request-Id", id);
    log_info("%s: %s %s", id, h->method, h->path);
    if (!openai_request_read(&q, kind, h->body, &why) || !is_model(s, q.model, &why) || !may_fit(s, &q, &why) ||
        !turns_take(s->turns, &q, id, r, &why)) {
        log_info("%s: %d %s", id, why.status, why.message);
        refuse(r, &why);
    }
}

static void answer_chat(void *self, const struct http_request *q, struct http_reply *r) { answer(self, OPENAI_CHAT, q, r); }
static void answer_text(void *self, const struct http_request *q, struct http_reply *r) { answer(self, OPENAI_TEXT, q, r); }

/* What there is. */

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    json_text(w, view_of(text));
}

static void put_count(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

static void put_model(struct json_writer *w, const struct model_server *s)
{
    const struct model_facts *f = model_facts(s->plan.model);
    json_open(w, '{');
    put_text(w, "id", f->name);
    put_text(w, "object", "model");
    json_key(w, "created");
    json_int(w, s->since_s);
    put_text(w, "owned_by", "inferom");
    json_key(w, "meta"); /* llama.cpp's words: enough for a roof */
    json_open(w, '{');
    put_text(w, "architecture", f->architecture);
    put_text(w, "ftype", f->precision);
    put_count(w, "n_vocab", f->vocabulary);
    put_count(w, "n_ctx", s->plan.usual.context);
    put_count(w, "n_ctx_train", f->context);
    put_count(w, "n_embd", f->width);
    put_count(w, "n_layer", f->layers);
    put_count(w, "n_params", f->parameters);
    put_count(w, "size", f->weight_bytes);
    json_close(w, '}');
    json_close(w, '}');
}

static void reply_json(struct http_reply *r, struct sink *to, struct buf *body)
{
    bool fits = sink_flush(to, NULL);
    http_reply_whole(r, fits ? 200 : 500, "application/json", buf_view(body));
}

static void list_models(void *self, const struct http_request *q, struct http_reply *r)
{
    own(buf) struct buf body;
    struct sink to;
    struct json_writer w;
    (void)q;
    buf_init(&body, 1 << 16);
    sink_to_buf(&to, &body);
    json_to(&w, &to);
    json_open(&w, '{');
    put_text(&w, "object", "list");
    json_key(&w, "data");
    json_open(&w, '[');
    put_model(&w, self);
    json_close(&w, ']');
    json_close(&w, '}');
    reply_json(r, &to, &body);
}

static void show_model(void *self, const struct http_request *q, struct http_reply *r)
{
    own(buf) struct buf body;
    struct sink to;
    struct json_writer w;
    struct openai_error why;
    if (!is_model(self, q->path + strlen(MODELS_PATH), &why)) {
        refuse(r, &why);
        return;
    }
    buf_init(&body, 1 << 16);
    sink_to_buf(&to, &body);
    json_to(&w, &to);
    put_model(&w, self);
    reply_json(r, &to, &body);
}

static void show_health(void *self, const struct http_request *q, struct http_reply *r)
{
    struct model_server *s = self;
    struct turns_counts c = turns_counts(s->turns);
    own(buf) struct buf body;
    (void)q;
    buf_init(&body, 256);
    buf_printf(&body, "{\"status\":\"ok\",\"running\":%zu,\"waiting\":%zu}", c.running, c.waiting);
    http_reply_whole(r, 200, "application/json", buf_view(&body));
}

static const struct http_route routes[] = {
    {"POST", "/v1/chat/completions", answer_chat},
    {"POST", "/v1/completions", answer_text},
    {"GET", "/v1/models", list_models},
    {"GET", MODELS_PATH "*", show_model},
    {"GET", "/health", show_health},
    {NULL},
};

/* Life. */

static void stir(void *self)
{
    struct model_server *s = self;
    turns_stir(s->turns);
}

/* The tokens of a request and its answer together. */
static uint32_t context_of(const struct model_server_plan *p)
{
    uint32_t most = model_facts(p->model)->context, wanted = p->usual.context ? p->usual.context : SESSION_CONTEXT_USUAL;
    return wanted < most ? wanted : most;
}

static size_t longest_piece(const struct model *m)
{
    size_t longest = 1;
    for (uint32_t t = 0; t < model_facts(m)->vocabulary; t++) {
        size_t n = model_piece(m, t).n;
        longest = n > longest ? n : longest;
    }
    return longest;
}

bool model_server_open(struct model_server **out, const struct model_server_plan *p, struct err *e)
{
    own(model_server) struct model_server *s = mem_new(sizeof *s);
    s->plan = *p;
    s->plan.usual.context = context_of(p);
    s->longest_piece = longest_piece(p->model);
    s->since_s = time(NULL);
    if (getrandom(&s->run, sizeof s->run, 0) < 0)
        s->run = (uint32_t)s->since_s;
    s->turns = turns_new(&(struct turns_plan){
        .model = p->model, .most_running = p->most_running, .most_waiting = p->most_waiting, .usual = s->plan.usual});
    struct http_plan http = {
        .address = p->address, .port = p->port, .routes = routes, .self = s, .explain = explain, .changed = stir};
    if (!http_server_open(&s->http, &http, e))
        return false;
    *out = take(s);
    return true;
}

uint16_t model_server_port(const struct model_server *s) { return http_server_port(s->http); }

void model_server_run(struct model_server *s, const volatile sig_atomic_t *stop, uint64_t until_ns)
{
    turns_run(s->turns, stop, until_ns);
    http_server_quiet(s->http);
    bool all_said = http_server_drain(s->http, DRAIN_NS);
    if (!all_said)
        log_info("some clients did not read their last words");
}

/* Connections first: they may still ask for turns. */
void model_server_free(struct model_server *s)
{
    if (!s)
        return;
    http_server_free(s->http);
    turns_free(s->turns);
    free(s);
}
