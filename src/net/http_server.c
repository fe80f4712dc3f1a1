#include "net/http_server.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/http_inside.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define SWEEP_NS (250 * NS_PER_MS) /* how late a deadline may be noticed */
#define MOST_EVENTS 64

void http_wake(struct http_server *s)
{
    ssize_t n = write(s->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)n; /* full: it is awake */
}

void http_explain(const struct http_server *s, int status, const char *sentence, struct buf *out)
{
    if (s->plan.explain) {
        s->plan.explain(status, sentence, out);
        return;
    }
    struct sink to;
    struct json_writer w;
    sink_to_buf(&to, out);
    json_to(&w, &to);
    json_open(&w, '{');
    json_key(&w, "error");
    json_text(&w, view_of(sentence));
    json_close(&w, '}');
    bool fits = sink_flush(&to, NULL);
    (void)fits; /* a sentence of ours does */
}

/* Connections. */

void http_connection_forget(struct http_connection *c)
{
    struct http_server *s = c->server;
    *(c->before ? &c->before->after : &s->oldest) = c->after;
    *(c->after ? &c->after->before : &s->newest) = c->before;
    c->is_over = true;
    c->after = s->over;
    s->over = c;
    s->n_connections--;
    if (!s->n_connections) {
        pthread_mutex_lock(&s->lock);
        s->has_connections = false;
        pthread_cond_broadcast(&s->is_empty);
        pthread_mutex_unlock(&s->lock);
    }
    if (s->n_connections < s->plan.limits.connections)
        http_gate_listen_again(s);
}

static void free_those_over(struct http_server *s)
{
    for (struct http_connection *c = s->over, *after; c; c = after) {
        after = c->after;
        free(c);
    }
    s->over = NULL;
}

void http_connection_drop(struct http_connection *c)
{
    if (c->state == HTTP_TALKING && c->server->daemon) {
        c->is_dropped = true;
        c->deadline_ns = UINT64_MAX;
        shutdown(c->fd, SHUT_RDWR); /* the library sees the end, and closes it */
        return;
    }
    close(c->fd);
    http_connection_forget(c);
}

/* The loop. */

static void serve_poked(struct http_server *s)
{
    uint64_t count;
    ssize_t got = read(s->wake, &count, sizeof count);
    (void)got;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        struct http_reply *r = s->poked;
        if (r) {
            s->poked = r->next;
            r->is_queued = false;
        }
        pthread_mutex_unlock(&s->lock);
        if (!r)
            return;
        http_talk_resume(r);
        http_reply_release(r);
    }
}

static void serve_connection(struct http_connection *c, uint32_t events)
{
    bool has_hung_up = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if (c->is_over)
        return;
    if (c->state != HTTP_TALKING)
        http_gate_event(c, has_hung_up);
    else if (has_hung_up && c->reply)
        http_reply_gone(c->reply);
}

static void serve_event(struct http_server *s, const struct epoll_event *event)
{
    if (event->data.ptr == s)
        http_gate_accept(s);
    else if (event->data.ptr == &s->wake)
        serve_poked(s);
    else if (event->data.ptr != &s->daemon) /* the library's turn comes anyway */
        serve_connection(event->data.ptr, event->events);
}

static void sweep(struct http_server *s, uint64_t now_ns)
{
    for (struct http_connection *c = s->oldest, *after; c; c = after) {
        after = c->after;
        if (now_ns >= c->deadline_ns)
            http_gate_late(c);
    }
}

static void hush(struct http_server *s)
{
    http_gate_close(s);
    for (struct http_connection *c = s->oldest, *after; c; c = after) {
        after = c->after;
        if (c->state == HTTP_HEAD || (c->state == HTTP_TALKING && !c->reply))
            http_connection_drop(c);
    }
}

static int wait_ms(struct http_server *s, uint64_t now_ns, uint64_t sweep_ns)
{
    uint64_t ms = 0, until_sweep = sweep_ns > now_ns ? (sweep_ns - now_ns) / NS_PER_MS + 1 : 0;
    bool has_time = http_talk_next_ms(s, &ms);
    if (!s->n_connections)
        return has_time ? (int)(ms < 1000 ? ms : 1000) : -1;
    return (int)(has_time && ms < until_sweep ? ms : until_sweep);
}

static bool wants(struct http_server *s, const bool *what)
{
    pthread_mutex_lock(&s->lock);
    bool is = *what;
    pthread_mutex_unlock(&s->lock);
    return is;
}

static void *serve(void *self)
{
    struct http_server *s = self;
    struct epoll_event events[MOST_EVENTS];
    uint64_t sweep_ns = 0;
    while (!wants(s, &s->want_end)) {
        uint64_t now_ns = clock_monotonic_ns();
        if (s->listener >= 0 && wants(s, &s->want_quiet))
            hush(s);
        if (now_ns >= sweep_ns) {
            sweep(s, now_ns);
            sweep_ns = now_ns + SWEEP_NS;
        }
        int n = epoll_wait(s->poll, events, MOST_EVENTS, wait_ms(s, now_ns, sweep_ns));
        for (int i = 0; i < n; i++)
            serve_event(s, &events[i]);
        http_talk_run(s);
        free_those_over(s);
    }
    return NULL;
}

/* Life. */

static struct http_limits with_defaults(struct http_limits l)
{
    l.connections = l.connections ? l.connections : 512;
    l.head_bytes = l.head_bytes ? l.head_bytes : 32 << 10;
    l.body_bytes = l.body_bytes ? l.body_bytes : 8 << 20;
    l.reply_bytes = l.reply_bytes ? l.reply_bytes : 256 << 10;
    l.head_ns = l.head_ns ? l.head_ns : 10 * NS_PER_S;
    l.body_ns = l.body_ns ? l.body_ns : 60 * NS_PER_S;
    l.idle_ns = l.idle_ns ? l.idle_ns : 30 * NS_PER_S;
    return l;
}

static bool watch(struct http_server *s, int fd, void *as)
{
    return epoll_ctl(s->poll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.ptr = as}) == 0;
}

/* Signals are for the threads of the program. */
static bool start_thread(struct http_server *s, struct err *e)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        errno = failed;
        return err_os(e, "starting the server's thread");
    }
    return true;
}

static struct http_server *server_new(const struct http_plan *p)
{
    struct http_server *s = mem_new(sizeof *s);
    *s = (struct http_server){.plan = *p, .listener = -1, .poll = -1, .wake = -1};
    s->plan.address = p->address ? p->address : "127.0.0.1";
    s->plan.limits = with_defaults(p->limits);
    s->seen = mem_new(s->plan.limits.head_bytes);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->is_empty, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return s;
}

static void server_free(struct http_server *s)
{
    http_talk_close(s);
    http_gate_close(s);
    while (s->oldest) /* the library has closed its own */
        http_connection_drop(s->oldest);
    free_those_over(s);
    for (struct http_reply *r = s->poked, *next; r; r = next) {
        next = r->next;
        http_reply_release(r);
    }
    close(s->wake);
    close(s->poll);
    pthread_cond_destroy(&s->is_empty);
    pthread_mutex_destroy(&s->lock);
    free(s->seen);
    free(s);
}

bool http_server_open(struct http_server **out, const struct http_plan *p, struct err *e)
{
    struct http_server *s = server_new(p);
    s->poll = epoll_create1(EPOLL_CLOEXEC);
    s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    bool ok = (s->poll >= 0 && s->wake >= 0) || err_os(e, "waiting for connections");
    ok = ok && http_talk_open(s, e) && http_gate_open(s, e);
    ok = ok && ((watch(s, s->wake, &s->wake) && watch(s, s->daemon_poll, &s->daemon)) || err_os(e, "waiting for connections"));
    if (!ok || !start_thread(s, e)) {
        server_free(s);
        return false;
    }
    *out = s;
    return true;
}

uint16_t http_server_port(const struct http_server *s) { return s->port; }

static void tell(struct http_server *s, bool *what)
{
    pthread_mutex_lock(&s->lock);
    *what = true;
    pthread_mutex_unlock(&s->lock);
    http_wake(s);
}

void http_server_quiet(struct http_server *s) { tell(s, &s->want_quiet); }

bool http_server_drain(struct http_server *s, uint64_t most_ns)
{
    uint64_t end_ns = clock_monotonic_ns() + most_ns;
    struct timespec end = {.tv_sec = (time_t)(end_ns / NS_PER_S), .tv_nsec = (long)(end_ns % NS_PER_S)};
    int waited = 0;
    pthread_mutex_lock(&s->lock);
    while (s->has_connections && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&s->is_empty, &s->lock, &end);
    bool is_empty = !s->has_connections;
    pthread_mutex_unlock(&s->lock);
    return is_empty;
}

void http_server_free(struct http_server *s)
{
    if (!s)
        return;
    tell(s, &s->want_end);
    pthread_join(s->thread, NULL);
    server_free(s);
}
