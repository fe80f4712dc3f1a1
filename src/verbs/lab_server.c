#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "lab/model_server.h"
#include "verbs/model_options.h"
#include "verbs/verb.h"

struct server_settings {
    struct model_settings model;
    const char *host;
    uint64_t port, parallel, queue, duration_ns;
};

#define NS_PER_S UINT64_C(1000000000)

#define S struct server_settings
static const struct option server_options[] = {
    TEXT(0, "host", S, host, "ADDRESS", "numeric address to listen on"),
    NUMBER('p', "port", S, port, "PORT", "port to listen on; 0 is any that is free", 0, 65535),
    NUMBER(0, "parallel", S, parallel, "N", "requests that are answered at the same time", 1, 4096),
    NUMBER(0, "queue", S, queue, "N", "requests that may wait beside them; more are told to come again", 1, 65536),
    DURATION('d', "duration", S, duration_ns, "end after this long; 0 is never", 0, 86400 * NS_PER_S),
    MODEL_OPTIONS(S),
    OPTIONS_END
};
#undef S

/* Names are looked up nowhere: an address of the machine is a number, but for the one that everybody types. */
static const char *address_of(const struct server_settings *s) { return strcmp(s->host, "localhost") ? s->host : "127.0.0.1"; }

static bool is_loopback(const char *host) { return !strncmp(host, "127.", 4) || !strcmp(host, "::1"); }

static bool say_where(const struct call *c, const struct model *m, uint16_t port, struct err *e)
{
    const struct server_settings *s = c->settings;
    const char *address = address_of(s);
    bool is_v6 = strchr(address, ':');
    if (!is_loopback(address))
        log_warn("everybody who reaches %s can use this server: it asks for no key", address);
    text_safe(c->out, view_of(model_facts(m)->name), 0);
    sink_printf(c->out, " listens on http://%s%s%s:%u\n", is_v6 ? "[" : "", address, is_v6 ? "]" : "", port);
    return sink_flush(c->out, e);
}

static bool serve(const struct call *c, struct model *m, const struct session_plan *usual, struct err *e)
{
    const struct server_settings *s = c->settings;
    own(model_server) struct model_server *server = NULL;
    struct model_server_plan plan = {
        .model = m,
        .address = address_of(s),
        .port = (uint16_t)s->port,
        .most_running = s->parallel,
        .most_waiting = s->queue,
        .usual = *usual,
    };
    if (!model_server_open(&server, &plan, e) || !say_where(c, m, model_server_port(server), e))
        return false;
    model_server_run(server, c->stop, s->duration_ns ? clock_monotonic_ns() + s->duration_ns : UINT64_MAX);
    return true;
}

static bool lab_server(const struct call *c, struct err *e)
{
    const struct server_settings *s = c->settings;
    own(model) struct model *m = NULL;
    struct model_plan plan;
    struct session_plan usual;
    return model_settings_read(&s->model, &plan, &usual, e) && model_open(c->n_args ? c->args[0] : "medium", &plan, &m, e) &&
           serve(c, m, &usual, e);
}

const struct verb verb_lab_server = {
    .name = "lab server",
    .args = "[MODEL]",
    .most_args = 1,
    .what = "serve the reference model as an OpenAI-compatible HTTP server",
    .about = "MODEL is what 'inferom lab model' takes: a preset or a .gguf file. Answers POST /v1/chat/completions and "
             "/v1/completions, whole or as a stream, and GET /v1/models and /health. Requests take turns, a token each; beyond "
             "--parallel they wait, beyond --queue they are refused with status 429. The same seed and words give the same text, "
             "whoever else is asking. Answers carry token counts and llama.cpp's timings. What a request does not say, --seed, "
             "--temperature and --top-k do.\n"
             "\n"
             "The address is printed when it can be asked. Ctrl-C ends the server: answers that are not complete say so. "
             "Each request is a request of a recording: 'inferom record inferom lab server' splits by it.",
    .example = "inferom lab server small --port 0 --duration 1s",
    .options = server_options,
    .defaults = &(const struct server_settings){
        .model = {.seed = 1, .threads = 1, .temperature = "1"}, .host = "127.0.0.1", .port = 8080, .parallel = 32, .queue = 256},
    .settings_size = sizeof(struct server_settings),
    .watches_stop = true,
    .run = lab_server,
};
