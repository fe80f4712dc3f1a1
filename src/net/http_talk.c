/*
 * Behind the gate. The library is driven by our loop and never has a thread; a connection whose
 * reply has nothing to send is suspended, and resumed when the reply pokes us.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "net/http_inside.h"
#include "net/http_routes.h"

#include <microhttpd.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define MOST_EXCESS 8 /* times the limit: how much of a body that is too large is read and thrown away before we hang up */
#define BLOCK_BYTES 8192
#define NS_PER_S UINT64_C(1000000000)

/* One request and its reply. */
struct exchange {
    struct http_connection *c;
    struct MHD_Connection *inside;
    struct buf body;
    uint64_t arrived; /* of the body */
    bool is_suspended;
};

/* The request. */

const char *http_request_field(const struct http_request *q, const char *name)
{
    return MHD_lookup_connection_value((struct MHD_Connection *)(uintptr_t)q->inside, MHD_HEADER_KIND, name);
}

static struct exchange *exchange_new(struct MHD_Connection *inside)
{
    struct exchange *x = mem_new(sizeof *x);
    x->inside = inside;
    x->c = MHD_get_connection_info(inside, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    buf_init(&x->body, (size_t)x->c->server->plan.limits.body_bytes);
    return x;
}

/* Announced lengths were judged at the gate; pieces say their length as they come. */
static bool take_body(struct exchange *x, const char *bytes, size_t n)
{
    x->arrived += n;
    buf_add(&x->body, bytes, n);
    return x->arrived / MOST_EXCESS <= x->c->server->plan.limits.body_bytes;
}

static void refuse(struct http_server *s, struct http_reply *r, int status, const char *sentence)
{
    own(buf) struct buf body;
    buf_init(&body, 4096);
    http_explain(s, status, sentence, &body);
    http_reply_whole(r, status, "application/json", buf_view(&body));
}

static void call_handler(struct exchange *x, const char *method, const char *path, struct http_reply *r)
{
    struct http_server *s = x->c->server;
    char allow[HTTP_ALLOW_BYTES];
    const struct http_route *route = http_route_for(s->plan.routes, method, path, allow);
    struct http_request q = {.method = method, .path = path, .body = buf_view(&x->body), .inside = x->inside};
    if (x->body.full)
        refuse(s, r, 413, "the body is larger than we agreed to take");
    else if (route)
        route->handle(s->plan.self, &q, r);
    else if (*allow)
        http_reply_field(r, "Allow", allow), refuse(s, r, 405, "this path does not have that method");
    else
        refuse(s, r, 404, "there is no such path here");
}

/* The reply. */

static void poke(void *server, struct http_reply *r)
{
    struct http_server *s = server;
    pthread_mutex_lock(&s->lock);
    bool is_new = !r->is_queued;
    if (is_new) {
        r->is_queued = true;
        r->holders++; /* by the list; the reply is locked */
        r->next = s->poked;
        s->poked = r;
    }
    pthread_mutex_unlock(&s->lock);
    if (is_new)
        http_wake(s);
}

static void begin_reply(struct exchange *x, const char *method, const char *path)
{
    struct http_server *s = x->c->server;
    struct http_reply_ends ends = {
        .poke = poke,
        .server = s,
        .changed = s->plan.changed,
        .self = s->plan.self,
        .most_bytes = s->plan.limits.reply_bytes,
    };
    struct http_reply *r = http_reply_new(&ends);
    r->exchange = x;
    x->c->reply = r;
    x->c->deadline_ns = UINT64_MAX;
    /* Who hung up while he sent the request is not told about again, unless asked for. */
    epoll_ctl(s->poll, EPOLL_CTL_MOD, x->c->fd, &(struct epoll_event){.events = EPOLLRDHUP | EPOLLET, .data.ptr = x->c});
    call_handler(x, method, path, r);
    buf_done(&x->body);
    buf_init(&x->body, 1);
}

static void suspend(struct exchange *x)
{
    x->is_suspended = true;
    MHD_suspend_connection(x->inside);
}

/* The library asks for more bytes of a stream. */
static ssize_t next_bytes(void *self, uint64_t position, char *into, size_t most)
{
    struct exchange *x = self;
    size_t n = 0;
    (void)position;
    switch (http_reply_take(x->c->reply, into, most, &n)) {
    case HTTP_REPLY_BYTES: return (ssize_t)n;
    case HTTP_REPLY_ENDED: return MHD_CONTENT_READER_END_OF_STREAM;
    case HTTP_REPLY_CUT: return MHD_CONTENT_READER_END_WITH_ERROR;
    default: break;
    }
    suspend(x);
    return 0;
}

static enum MHD_Result send_reply(struct exchange *x)
{
    struct http_reply *r = x->c->reply;
    if (!r->status)
        return MHD_NO; /* it was cut before it began */
    bool is_whole = http_reply_is_whole(r);
    struct MHD_Response *response =
        is_whole ? MHD_create_response_from_buffer(r->bytes.len, r->bytes.data, MHD_RESPMEM_MUST_COPY)
                 : MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, next_bytes, x, NULL);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    for (unsigned i = 0; i < r->n_fields; i++)
        MHD_add_response_header(response, r->fields[i].name, r->fields[i].value);
    enum MHD_Result is = MHD_queue_response(x->inside, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return is;
}

/* The library's calls. */

static enum MHD_Result on_request(void *self, struct MHD_Connection *inside, const char *path, const char *method,
                                  const char *version, const char *bytes, size_t *n, void **exchange)
{
    struct exchange *x = *exchange;
    (void)self;
    (void)version;
    if (!x) {
        *exchange = exchange_new(inside);
        return MHD_YES;
    }
    if (*n) {
        bool go_on = take_body(x, bytes, *n);
        *n = 0;
        return go_on ? MHD_YES : MHD_NO;
    }
    if (!x->c->reply)
        begin_reply(x, method, path);
    if (http_reply_has_begun(x->c->reply))
        return send_reply(x);
    suspend(x);
    return MHD_YES;
}

static void on_completed(void *self, struct MHD_Connection *inside, void **exchange, enum MHD_RequestTerminationCode why)
{
    struct exchange *x = *exchange;
    (void)self;
    (void)inside;
    (void)why;
    if (!x)
        return;
    struct http_reply *r = x->c->reply;
    if (r) {
        x->c->reply = NULL;
        r->exchange = NULL;
        http_reply_detach(r);
        http_reply_release(r);
    }
    x->c->deadline_ns = clock_monotonic_ns() + NS_PER_S; /* nothing is left but to close it */
    buf_done(&x->body);
    free(x);
    *exchange = NULL;
}

static void on_connection(void *self, struct MHD_Connection *inside, void **context, enum MHD_ConnectionNotificationCode what)
{
    struct http_server *s = self;
    (void)inside;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = s->entering;
        s->entering = NULL;
        return;
    }
    struct http_connection *c = *context;
    if (c)
        http_connection_forget(c);
}

/* Life. */

bool http_talk_open(struct http_server *s, struct err *e)
{
    const struct http_limits *l = &s->plan.limits;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request, s,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
        MHD_OPTION_CONNECTION_LIMIT, 2 * l->connections, /* the gate keeps the count; those being closed are still in the library's */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, 2 * l->head_bytes, /* for its own tables, too: the gate's limit is the one that is met */
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(l->idle_ns / NS_PER_S),
        MHD_OPTION_END);
    const union MHD_DaemonInfo *info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info || info->epoll_fd < 0)
        return err_set(e, ERR_IO, "libmicrohttpd could not be started");
    s->daemon_poll = info->epoll_fd;
    return true;
}

void http_talk_enter(struct http_connection *c)
{
    struct http_server *s = c->server;
    struct sockaddr_storage peer = {0};
    socklen_t bytes = sizeof peer;
    c->state = HTTP_TALKING;
    c->deadline_ns = clock_monotonic_ns() + s->plan.limits.body_ns;
    epoll_ctl(s->poll, EPOLL_CTL_MOD, c->fd, &(struct epoll_event){.events = EPOLLRDHUP | EPOLLET, .data.ptr = c});
    getpeername(c->fd, (struct sockaddr *)&peer, &bytes);
    s->entering = c;
    MHD_add_connection(s->daemon, c->fd, (const struct sockaddr *)&peer, bytes);
    if (s->entering) { /* it was not taken, and its descriptor is closed */
        s->entering = NULL;
        http_connection_forget(c);
    }
}

void http_talk_resume(struct http_reply *r)
{
    struct exchange *x = r->exchange;
    if (!x || !x->is_suspended)
        return;
    x->is_suspended = false;
    MHD_resume_connection(x->inside);
}

void http_talk_run(struct http_server *s) { MHD_run(s->daemon); }

bool http_talk_next_ms(struct http_server *s, uint64_t *out_ms)
{
    unsigned long long ms = 0;
    if (MHD_get_timeout(s->daemon, &ms) != MHD_YES)
        return false;
    *out_ms = ms;
    return true;
}

/* The library wants nobody suspended when it ends. */
void http_talk_close(struct http_server *s)
{
    if (!s->daemon)
        return;
    for (struct http_connection *c = s->oldest; c; c = c->after)
        if (c->reply)
            http_talk_resume(c->reply);
    MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
}
