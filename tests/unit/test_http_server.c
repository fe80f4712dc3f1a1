/* A server and its clients in one program: what goes in and comes out, in pieces, too slowly, and not at all. */
#include "check.h"
#include "base/clock.h"
#include "net/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#define SECOND UINT64_C(1000000000)

/* What handlers leave for the tests. */
struct kept {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct http_reply *reply; /* of /kept */
    unsigned changes;
    bool may_go_on; /* of /held */
};

static void say(void *self, const struct http_request *q, struct http_reply *r)
{
    own(buf) struct buf body;
    const char *name = http_request_field(q, "x-NAME");
    (void)self;
    buf_init(&body, 1 << 21);
    buf_printf(&body, "%s %s %s ", q->method, q->path, name ? name : "-");
    buf_add(&body, q->body.at, q->body.n);
    http_reply_field(r, "X-Test", "yes");
    http_reply_whole(r, 200, "text/plain", buf_view(&body));
}

static void keep(void *self, const struct http_request *q, struct http_reply *r)
{
    struct kept *k = self;
    (void)q;
    pthread_mutex_lock(&k->lock);
    k->reply = r;
    pthread_cond_broadcast(&k->news);
    pthread_mutex_unlock(&k->lock);
}

/* A handler that must not be: it holds up the server, so that a test knows what happens in one round. */
static void hold_up(void *self, const struct http_request *q, struct http_reply *r)
{
    struct kept *k = self;
    keep(self, q, r);
    pthread_mutex_lock(&k->lock);
    while (!k->may_go_on)
        pthread_cond_wait(&k->news, &k->lock);
    k->may_go_on = false;
    pthread_mutex_unlock(&k->lock);
}

static void cut(void *self, const struct http_request *q, struct http_reply *r)
{
    (void)self;
    (void)q;
    http_reply_cut(r);
}

static void changed(void *self)
{
    struct kept *k = self;
    pthread_mutex_lock(&k->lock);
    k->changes++;
    pthread_cond_broadcast(&k->news);
    pthread_mutex_unlock(&k->lock);
}

static const struct http_route routes[] = {
    {"GET", "/say", say}, {"POST", "/say", say}, {"GET", "/kept", keep}, {"GET", "/cut", cut}, {"GET", "/held", hold_up}, {NULL},
};

static struct http_reply *wait_reply(struct kept *k)
{
    pthread_mutex_lock(&k->lock);
    while (!k->reply)
        pthread_cond_wait(&k->news, &k->lock);
    struct http_reply *r = k->reply;
    k->reply = NULL;
    pthread_mutex_unlock(&k->lock);
    return r;
}

static void wait_change(struct kept *k, unsigned beyond)
{
    pthread_mutex_lock(&k->lock);
    while (k->changes <= beyond)
        pthread_cond_wait(&k->news, &k->lock);
    pthread_mutex_unlock(&k->lock);
}

static unsigned changes(struct kept *k)
{
    pthread_mutex_lock(&k->lock);
    unsigned n = k->changes;
    pthread_mutex_unlock(&k->lock);
    return n;
}

/* A client. */

static int dial(const struct http_server *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(http_server_port(s)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static void put(int fd, struct view bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.at, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes.at += n;
        bytes.n -= (size_t)n;
    }
}

static void get(int fd, struct buf *out)
{
    char part[4096];
    for (ssize_t n; (n = recv(fd, part, sizeof part, 0)) > 0;)
        buf_add(out, part, (size_t)n);
}

/* What the server says to these bytes, until it closes the connection. */
static void ask(const struct http_server *s, struct view bytes, struct buf *out)
{
    own(close) int fd = dial(s);
    buf_clear(out);
    put(fd, bytes);
    get(fd, out);
}

#define HOST "Host: localhost\r\n"

static void check_answers(const struct http_server *s)
{
    static const struct {
        const char *what;
        struct view request;
        const char *begins, *has, *ends;
    } rows[] = {
        {"a simple one", VIEW("GET /say HTTP/1.1\r\n" HOST "X-Name: me\r\n\r\n"), "HTTP/1.1 200 ", "X-Test: yes\r\n", "\r\n\r\nGET /say me "},
        {"it is the last of its connection", VIEW("GET /say HTTP/1.1\r\n" HOST "\r\nGET /cut HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 200 ", "Connection: close\r\n", "GET /say - "},
        {"HTTP/1.0", VIEW("GET /say HTTP/1.0\r\n\r\n"), "HTTP/1.", " 200 ", "GET /say - "},
        {"a body", VIEW("POST /say HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello"), "HTTP/1.1 200 ", "Content-Length: 17\r\n", "POST /say - hello"},
        {"a body in pieces", VIEW("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"), "HTTP/1.1 200 ", "", "POST /say - hello"},
        {"a piece of impossible size", VIEW("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx"), "HTTP/1.1 413 ", "", ""},
        {"a piece with no size", VIEW("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), "HTTP/1.1 400 ", "", ""},
        {"only the head of it", VIEW("HEAD /say HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 200 ", "Content-Length: ", "\r\n\r\n"},
        {"no such path", VIEW("GET /sya HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 404 ", "application/json", "{\"error\":\"there is no such path here\"}"},
        {"no such method", VIEW("DELETE /say HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 405 ", "Allow: GET, POST\r\n", "}"},
        {"refused at the gate", VIEW("GET /say HTTP/1.1\nHost: localhost\n\n"), "HTTP/1.1 400 ", "Connection: close\r\n", "{\"error\":\"a line of the head does not end with CR LF\"}"},
        {"a body that is announced too large", VIEW("POST /say HTTP/1.1\r\n" HOST "Content-Length: 1000001\r\n\r\n"), "HTTP/1.1 413 ", "", "}"},
        {"cut before it began", VIEW("GET /cut HTTP/1.1\r\n" HOST "\r\n"), "", "", ""},
    };
    own(buf) struct buf got;
    buf_init(&got, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ask(s, rows[i].request, &got);
        bool good = view_starts(buf_view(&got), view_of(rows[i].begins)) && strstr(got.data, rows[i].has) &&
                    view_ends(buf_view(&got), view_of(rows[i].ends));
        if (!good)
            printf("%s: got %s\n", rows[i].what, got.data);
        CHECK(good);
    }
    CHECK_STR(got.data, ""); /* of the last row: nothing at all */
}

/* A byte at a time is as good as all at once. */
static void check_byte_by_byte(const struct http_server *s)
{
    struct view request = VIEW("POST /say HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello");
    own(close) int fd = dial(s);
    own(buf) struct buf got;
    buf_init(&got, 1 << 16);
    for (size_t i = 0; i < request.n; i++)
        put(fd, (struct view){request.at + i, 1});
    get(fd, &got);
    CHECK(view_ends(buf_view(&got), VIEW("POST /say - hello")));
}

/* Pieces that add up to more than was agreed: some are read, to say so; a flood is cut off. */
static void check_endless_body(const struct http_server *s)
{
    own(buf) struct buf got, piece;
    buf_init(&got, 1 << 16);
    buf_init(&piece, 2 << 20);
    buf_puts(&piece, "10000\r\n");
    for (int i = 0; i < 0x10000 / 16; i++)
        buf_puts(&piece, "0123456789abcdef");
    buf_puts(&piece, "\r\n");
    for (unsigned pieces = 17; pieces <= 17 * 64; pieces *= 64) {
        own(close) int fd = dial(s);
        buf_clear(&got);
        put(fd, VIEW("POST /say HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"));
        for (unsigned i = 0; i < pieces; i++)
            put(fd, buf_view(&piece));
        put(fd, VIEW("0\r\n\r\n"));
        get(fd, &got);
        CHECK(pieces == 17 ? view_starts(buf_view(&got), VIEW("HTTP/1.1 413 ")) : got.len == 0);
    }
}

/* A reply in pieces by another thread, each seen by the client before the next is made. */
static void check_stream(const struct http_server *s, struct kept *k)
{
    own(close) int fd = dial(s);
    own(buf) struct buf got;
    buf_init(&got, 1 << 16);
    put(fd, VIEW("GET /kept HTTP/1.1\r\n" HOST "\r\n"));
    struct http_reply *r = wait_reply(k);
    http_reply_begin(r, 200, "text/event-stream");
    for (int i = 0; i < 100; i++) {
        char piece[16], part[4096];
        snprintf(piece, sizeof piece, "piece %d.", i);
        CHECK(http_reply_add(r, view_of(piece)));
        while (!memmem(got.data, got.len, piece, strlen(piece))) {
            ssize_t n = recv(fd, part, sizeof part, 0);
            if (n <= 0)
                break;
            buf_add(&got, part, (size_t)n);
        }
    }
    http_reply_end(r);
    get(fd, &got);
    CHECK(view_starts(buf_view(&got), VIEW("HTTP/1.1 200 ")));
    CHECK(strstr(got.data, "Transfer-Encoding: chunked\r\n") && strstr(got.data, "text/event-stream"));
    CHECK(strstr(got.data, "piece 99.") && view_ends(buf_view(&got), VIEW("\r\n0\r\n\r\n")));
}

/* A stream that is cut has no last chunk: nobody takes it for complete. */
static void check_cut_stream(const struct http_server *s, struct kept *k)
{
    own(close) int fd = dial(s);
    own(buf) struct buf got;
    buf_init(&got, 1 << 16);
    put(fd, VIEW("GET /kept HTTP/1.1\r\n" HOST "\r\n"));
    struct http_reply *r = wait_reply(k);
    http_reply_begin(r, 200, "text/plain");
    CHECK(http_reply_add(r, VIEW("half")));
    http_reply_cut(r);
    get(fd, &got);
    CHECK(view_starts(buf_view(&got), VIEW("HTTP/1.1 200 ")) && strstr(got.data, "half"));
    CHECK(!view_ends(buf_view(&got), VIEW("\r\n0\r\n\r\n")));
}

/* Who reads slowly makes the filler wait; when he reads on, the filler hears of it. Every byte arrives. */
static void check_pressure(const struct http_server *s, struct kept *k)
{
    enum { PIECES = 4000, PIECE = 1000 };
    own(close) int fd = dial(s);
    own(buf) struct buf got;
    buf_init(&got, 16 << 20);
    char piece[PIECE], part[1 << 16];
    memset(piece, 'x', sizeof piece);
    put(fd, VIEW("GET /kept HTTP/1.0\r\n\r\n")); /* no chunks: the bytes are easy to count */
    struct http_reply *r = wait_reply(k);
    http_reply_begin(r, 200, "text/plain");
    unsigned was_full = 0;
    for (int i = 0; i < PIECES;) {
        unsigned before = changes(k);
        if (http_reply_add(r, (struct view){piece, sizeof piece})) {
            i++;
            continue;
        }
        was_full++;
        while (changes(k) == before) {
            ssize_t n = recv(fd, part, sizeof part, MSG_DONTWAIT);
            if (n > 0)
                buf_add(&got, part, (size_t)n);
        }
    }
    http_reply_end(r);
    get(fd, &got);
    const char *body = strstr(got.data, "\r\n\r\n");
    CHECK(body && strlen(body + 4) == (size_t)PIECES * PIECE);
    CHECK(was_full > 0);
}

/* Who goes away is noticed, whether anything was written to him or not. */
static void check_gone(const struct http_server *s, struct kept *k)
{
    for (int has_begun = 0; has_begun < 2; has_begun++) {
        unsigned before = changes(k);
        int fd = dial(s);
        put(fd, VIEW("GET /kept HTTP/1.1\r\n" HOST "\r\n"));
        struct http_reply *r = wait_reply(k);
        if (has_begun)
            http_reply_begin(r, 200, "text/plain");
        CHECK(!http_reply_is_gone(r));
        close(fd);
        wait_change(k, before);
        CHECK(http_reply_is_gone(r));
        CHECK(!http_reply_add(r, VIEW("nobody reads this")));
        http_reply_end(r);
    }
}

/* Who is slow with his request is told so, and does not keep others out. */
static void check_slow(struct kept *k)
{
    own(http_server) struct http_server *s = NULL;
    struct err e = {0};
    struct http_plan plan = {.routes = routes, .self = k, .limits = {.connections = 8, .head_ns = SECOND / 2, .body_ns = SECOND / 2}};
    CHECK(http_server_open(&s, &plan, &e));
    own(buf) struct buf got;
    buf_init(&got, 1 << 16);
    int slow[32];
    for (int i = 0; i < 32; i++) {
        slow[i] = dial(s);
        put(slow[i], i % 2 ? VIEW("GET /say HTT") : VIEW("POST /say HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nfour"));
        ask(s, VIEW("GET /say HTTP/1.1\r\n" HOST "\r\n"), &got);
        CHECK(view_ends(buf_view(&got), VIEW("GET /say - ")));
    }
    buf_clear(&got);
    get(slow[31], &got); /* the last of them were not pushed out, and wait for their deadline */
    CHECK(view_starts(buf_view(&got), VIEW("HTTP/1.1 408 ")));
    buf_clear(&got);
    get(slow[30], &got);
    CHECK_EQ(got.len, 0);
    for (int i = 0; i < 32; i++)
        close(slow[i]);
}

/* In one round somebody comes, and who is pushed out by him has just said something. */
static void check_pushed_out(struct kept *k)
{
    own(http_server) struct http_server *s = NULL;
    struct err e = {0};
    CHECK(http_server_open(&s, &(struct http_plan){.routes = routes, .self = k, .limits = {.connections = 2}}, &e));
    own(buf) struct buf got;
    buf_init(&got, 1 << 16);
    own(close) int half = dial(s), held = dial(s);
    put(half, VIEW("GET /say HT"));
    put(held, VIEW("GET /held HTTP/1.1\r\n" HOST "\r\n"));
    struct http_reply *r = wait_reply(k);
    own(close) int late = dial(s);
    put(half, VIEW("TP/1.1\r\n"));
    put(late, VIEW("GET /say HTTP/1.1\r\n" HOST "\r\n"));
    pthread_mutex_lock(&k->lock);
    k->may_go_on = true;
    pthread_cond_broadcast(&k->news);
    pthread_mutex_unlock(&k->lock);
    get(late, &got);
    CHECK(view_ends(buf_view(&got), VIEW("GET /say - ")));
    buf_clear(&got);
    get(half, &got);
    CHECK_EQ(got.len, 0);
    http_reply_end(r);
}

/* Who takes nothing of his reply for a while is cut off, and whoever fills it hears of it. */
static void check_stalled(struct kept *k)
{
    own(http_server) struct http_server *s = NULL;
    struct err e = {0};
    struct http_plan plan = {.routes = routes, .self = k, .changed = changed, .limits = {.idle_ns = SECOND}};
    CHECK(http_server_open(&s, &plan, &e));
    own(close) int fd = dial(s);
    put(fd, VIEW("GET /kept HTTP/1.1\r\n" HOST "\r\n"));
    struct http_reply *r = wait_reply(k);
    http_reply_begin(r, 200, "text/plain");
    static const char piece[1 << 16];
    while (!http_reply_is_gone(r)) {
        unsigned before = changes(k);
        if (!http_reply_add(r, (struct view){piece, sizeof piece}) && !http_reply_is_gone(r))
            wait_change(k, before);
    }
    http_reply_end(r);
}

/* A server that was asked to be quiet finishes what it has, and takes nothing new. */
static void check_ending(struct kept *k)
{
    struct http_server *s = NULL;
    struct err e = {0};
    CHECK(http_server_open(&s, &(struct http_plan){.routes = routes, .self = k, .changed = changed}, &e));
    own(close) int fd = dial(s), idle = dial(s), left = dial(s);
    own(buf) struct buf got;
    buf_init(&got, 1 << 16);
    put(fd, VIEW("GET /kept HTTP/1.1\r\n" HOST "\r\n"));
    struct http_reply *r = wait_reply(k);
    put(left, VIEW("GET /kept HTTP/1.1\r\n" HOST "\r\n"));
    struct http_reply *never = wait_reply(k);
    http_server_quiet(s);
    get(idle, &got);
    CHECK_EQ(got.len, 0);
    CHECK(!http_server_drain(s, SECOND / 100));
    http_reply_whole(r, 200, "text/plain", VIEW("the end"));
    get(fd, &got);
    CHECK(view_ends(buf_view(&got), VIEW("the end")));
    http_server_free(s);
    CHECK(http_reply_is_gone(never)); /* and it may still be ended, long after */
    CHECK(!http_reply_add(never, VIEW("x")));
    http_reply_end(never);
    buf_clear(&got);
    get(left, &got);
    CHECK_EQ(got.len, 0);
}

static void check_opening(void)
{
    struct err e = {0};
    own(http_server) struct http_server *s = NULL, *again = NULL;
    CHECK(http_server_open(&s, &(struct http_plan){.routes = routes}, &e));
    CHECK(!http_server_open(&again, &(struct http_plan){.routes = routes, .port = http_server_port(s)}, &e));
    CHECK(strstr(e.text, "listening on 127.0.0.1, port "));
    CHECK(!http_server_open(&again, &(struct http_plan){.routes = routes, .address = "localhost"}, &e));
    CHECK_EQ(e.kind, ERR_USAGE);
}

int main(void)
{
    struct kept k = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};
    struct http_plan plan = {.routes = routes, .self = &k, .changed = changed, .limits = {.body_bytes = 1000000, .reply_bytes = 20000}};
    struct err e = {0};
    {
        own(http_server) struct http_server *s = NULL;
        if (!http_server_open(&s, &plan, &e)) {
            printf("skipped: %s\n", e.text);
            return e.kind == ERR_UNSUPPORTED ? 77 : 1;
        }
        check_answers(s);
        check_byte_by_byte(s);
        check_endless_body(s);
        check_stream(s, &k);
        check_cut_stream(s, &k);
        check_pressure(s, &k);
        check_gone(s, &k);
    }
    check_slow(&k);
    check_pushed_out(&k);
    check_stalled(&k);
    check_ending(&k);
    check_opening();
    return CHECK_DONE();
}
