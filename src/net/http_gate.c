/*
 * The gate. A head is looked at where the kernel keeps it (MSG_PEEK) until it is whole, so that the
 * library behind us reads the very bytes that were judged. The poll set tells of new bytes only
 * (EPOLLET): those that were seen and left would otherwise be news for ever.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "net/http_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define LEAVING_NS UINT64_C(2000000000) /* for a client that was refused to read why */
#define LEAVING_BYTES (1 << 20)         /* of a request that nobody wants, before the connection is simply closed */

/* The address. */

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    socklen_t bytes;
};

static bool read_address(const char *text, uint16_t port, struct address *out)
{
    *out = (struct address){0};
    if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        out->bytes = sizeof out->v4;
        return true;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    out->bytes = sizeof out->v6;
    return inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1;
}

static uint16_t port_of(int fd)
{
    struct address a = {.bytes = sizeof a.v6};
    if (getsockname(fd, &a.any, &a.bytes) < 0)
        return 0;
    return ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
}

bool http_gate_open(struct http_server *s, struct err *e)
{
    struct address a;
    int one = 1;
    if (!read_address(s->plan.address, s->plan.port, &a))
        return err_set(e, ERR_USAGE, "'%s' is not a numeric address such as 127.0.0.1", s->plan.address);
    s->listener = socket(a.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listener < 0 || setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(s->listener, &a.any, a.bytes) < 0 || listen(s->listener, SOMAXCONN) < 0)
        return err_os(e, "listening on %s, port %u", s->plan.address, s->plan.port);
    s->port = port_of(s->listener);
    http_gate_listen_again(s);
    return true;
}

static void watch_listener(struct http_server *s, bool want)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};
    if (s->listener < 0 || s->is_listening == want)
        return;
    epoll_ctl(s->poll, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, s->listener, &event);
    s->is_listening = want;
}

void http_gate_listen_again(struct http_server *s) { watch_listener(s, true); }

void http_gate_close(struct http_server *s)
{
    watch_listener(s, false);
    if (s->listener >= 0)
        close(s->listener);
    s->listener = -1;
}

/* Coming. */

static struct http_connection *connection_new(struct http_server *s, int fd)
{
    struct http_connection *c = mem_new(sizeof *c);
    *c = (struct http_connection){.server = s, .fd = fd, .before = s->newest};
    c->deadline_ns = clock_monotonic_ns() + s->plan.limits.head_ns;
    *(c->before ? &c->before->after : &s->oldest) = c;
    s->newest = c;
    s->n_connections++;
    pthread_mutex_lock(&s->lock);
    s->has_connections = true;
    pthread_mutex_unlock(&s->lock);
    return c;
}

/* Whoever has not said what he wants makes place for somebody who may. */
static bool make_place(struct http_server *s, const struct http_connection *newest)
{
    for (struct http_connection *c = s->oldest; c && c != newest; c = c->after)
        if (c->state == HTTP_HEAD || (c->state == HTTP_TALKING && !c->reply && !c->is_dropped)) {
            http_connection_drop(c);
            return true;
        }
    return false;
}

static void come_in(struct http_server *s, int fd)
{
    struct http_connection *c = connection_new(s, fd);
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &event) < 0)
        http_connection_drop(c);
    else if (s->n_connections > s->plan.limits.connections && !make_place(s, c))
        watch_listener(s, false); /* until one of those that are answered has gone */
}

void http_gate_accept(struct http_server *s)
{
    while (s->is_listening) {
        /* cppcheck-suppress nullPointer ; who it is may stay unknown: accept(2) */
        int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            come_in(s, fd);
            continue;
        }
        bool is_full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (is_full && !make_place(s, NULL) && s->n_connections)
            watch_listener(s, false);
        return;
    }
}

/* Being refused. */

static const char *reason_of(int status)
{
    switch (status) {
    case 403: return "Forbidden";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 505: return "HTTP Version Not Supported";
    default: return "Bad Request";
    }
}

static void drain(struct http_connection *c)
{
    char waste[16384];
    ssize_t n;
    while ((n = recv(c->fd, waste, sizeof waste, 0)) > 0 && c->drained < LEAVING_BYTES)
        c->drained += (size_t)n;
    if (n >= 0 || errno != EAGAIN)
        http_connection_drop(c);
}

/* A close() while bytes of the client are unread resets the connection, and the refusal with it: read on for a while. */
static void leave(struct http_connection *c, int status, const char *sentence)
{
    own(buf) struct buf body, all;
    buf_init(&body, 4096);
    buf_init(&all, 8192);
    http_explain(c->server, status, sentence, &body);
    buf_printf(&all, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
               status, reason_of(status), body.len, body.data);
    c->state = HTTP_LEAVING;
    c->deadline_ns = clock_monotonic_ns() + LEAVING_NS;
    /* The kernel's buffer is empty: it takes all, or nobody is there. */
    if (send(c->fd, all.data, all.len, MSG_NOSIGNAL) < 0 || shutdown(c->fd, SHUT_WR) < 0)
        http_connection_drop(c);
    else
        drain(c);
}

/* Being judged. */

static struct http_head head_of(const struct http_connection *c)
{
    const struct http_plan *p = &c->server->plan;
    struct http_head_rules rules = {
        .most_bytes = p->limits.head_bytes,
        .most_body_bytes = p->limits.body_bytes,
        .only_local_names = view_starts(view_of(p->address), VIEW("127.")) || !strcmp(p->address, "::1"),
    };
    ssize_t n = recv(c->fd, c->server->seen, rules.most_bytes, MSG_PEEK);
    return http_head_judge((struct view){c->server->seen, n > 0 ? (size_t)n : 0}, &rules);
}

static void judge(struct http_connection *c, bool has_hung_up)
{
    struct http_head head = head_of(c);
    if (head.is == HTTP_HEAD_GOOD)
        http_talk_enter(c);
    else if (head.is == HTTP_HEAD_BAD)
        leave(c, head.status, head.sentence);
    else if (has_hung_up)
        http_connection_drop(c);
}

void http_gate_event(struct http_connection *c, bool has_hung_up)
{
    if (c->state == HTTP_LEAVING)
        drain(c);
    else
        judge(c, has_hung_up);
}

/* Too slow with the head. */
void http_gate_late(struct http_connection *c)
{
    if (c->state == HTTP_HEAD)
        leave(c, 408, "the head of the request took too long");
    else
        http_connection_drop(c);
}
