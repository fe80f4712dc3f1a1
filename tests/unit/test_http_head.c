/* Heads of requests, row by row: what is let in, and what everything else is told. */
#include "check.h"
#include "net/http_head.h"
#include "net/http_routes.h"

#define ONE "GET / HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"

/* The status of a bad one, 200 for a good one, 0 while more is needed. */
static int judged(struct view head)
{
    struct http_head_rules rules = {.most_bytes = 256, .most_body_bytes = 1000, .only_local_names = true};
    struct http_head h = http_head_judge(head, &rules);
    if (h.is == HTTP_HEAD_GOOD)
        CHECK(h.bytes <= head.n && h.bytes >= 4 && !memcmp(head.at + h.bytes - 4, "\r\n\r\n", 4));
    if (h.is == HTTP_HEAD_BAD)
        CHECK(h.sentence && *h.sentence);
    return h.is == HTTP_HEAD_GOOD ? 200 : h.is == HTTP_HEAD_MORE ? 0 : h.status;
}

#define ROW(status, what, head) {status, what, VIEW(head)}
static const struct {
    int status;
    const char *what;
    struct view head;
} rows[] = {
    ROW(200, "the least", ONE HOST "\r\n"),
    ROW(200, "a body behind it", "POST /v1/completions HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n{}\n"),
    ROW(200, "another request behind it", ONE HOST "\r\nGET /x HTTP/1.1\r\n"),
    ROW(200, "in pieces", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"),
    ROW(200, "HTTP/1.0 without a host", "GET / HTTP/1.0\r\n\r\n"),
    ROW(200, "no space behind the colon", ONE "Host:localhost\r\n\r\n"),
    ROW(200, "spaces around a value", ONE "Host: \t localhost \t\r\n\r\n"),
    ROW(200, "a query", "GET /a?b=c&d=%20 HTTP/1.1\r\n" HOST "\r\n"),
    ROW(200, "bytes above 127 in a value", ONE HOST "X-Name: \xc3\xa4\r\n\r\n"),
    ROW(200, "a loopback number and a port", ONE "Host: 127.0.0.1:8080\r\n\r\n"),
    ROW(200, "another loopback number", ONE "Host: 127.9.8.7\r\n\r\n"),
    ROW(200, "version 6", ONE "Host: [::1]:80\r\n\r\n"),
    ROW(200, "its own page", ONE "Host: localhost:1\r\nOrigin: http://localhost:1\r\n\r\n"),

    ROW(0, "nothing", ""),
    ROW(0, "half a line", "GE"),
    ROW(0, "a whole line", ONE),
    ROW(0, "no empty line yet", ONE HOST),
    ROW(0, "half of the empty line", ONE HOST "\r"),

    /* Where a request ends is said once, in one way. */
    ROW(400, "both lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ROW(400, "both lengths, the other way round", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
    ROW(400, "two lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\nContent-Length: 5\r\n\r\n"),
    ROW(400, "the same length twice", "POST / HTTP/1.1\r\n" HOST "Content-Length: 4\r\ncontent-length: 4\r\n\r\n"),
    ROW(400, "a list of lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 4, 4\r\n\r\n"),
    ROW(400, "a signed length", "POST / HTTP/1.1\r\n" HOST "Content-Length: +4\r\n\r\n"),
    ROW(400, "a negative length", "POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n"),
    ROW(400, "a length in hex", "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x4\r\n\r\n"),
    ROW(400, "no length", "POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n"),
    ROW(400, "two encodings", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ROW(501, "a list of encodings", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n"),
    ROW(501, "not the last", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, identity\r\n\r\n"),
    ROW(501, "something like it", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n"),
    ROW(400, "with a vertical tab", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \vchunked\r\n\r\n"),
    ROW(400, "in HTTP/1.0", "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"),
    ROW(413, "larger than agreed", "POST / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n"),
    ROW(413, "larger than a number", "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n\r\n"),

    /* Lines and fields. */
    ROW(400, "a line that ends with LF", "GET / HTTP/1.1\nHost: localhost\n\n"),
    ROW(400, "one field that ends with LF", ONE "Host: localhost\nX: y\r\n\r\n"),
    ROW(400, "an empty line that is LF", ONE HOST "\n"),
    ROW(400, "CR inside a line", ONE HOST "X: a\rb\r\n\r\n"),
    ROW(400, "CR CR LF", ONE HOST "X: a\r\r\n\r\n"),
    ROW(400, "a folded field", ONE HOST "X: a\r\n b\r\n\r\n"),
    ROW(400, "folded by a tab", ONE HOST "X: a\r\n\tb\r\n\r\n"),
    ROW(400, "a length made by folding", "POST / HTTP/1.1\r\n" HOST "Content-Len: 5\r\n gth\r\n\r\n"),
    ROW(400, "a blank before the first field", ONE " " HOST "\r\n"),
    ROW(400, "a blank before the colon", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n\r\n"),
    ROW(400, "a tab before the colon", "POST / HTTP/1.1\r\n" HOST "Content-Length\t: 4\r\n\r\n"),
    ROW(400, "no colon", ONE HOST "Content-Length 4\r\n\r\n"),
    ROW(400, "no name", ONE HOST ": x\r\n\r\n"),
    ROW(400, "NUL in a value", "POST / HTTP/1.1\r\n" HOST "Content-Length: 4\0 5\r\n\r\n"),
    ROW(400, "NUL in a name", "POST / HTTP/1.1\r\n" HOST "Content-Length\0X: 4\r\n\r\n"),
    ROW(400, "NUL in the target", "GET /a\0b HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "an escaped NUL in the target", "GET /a%00b HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "ESC in a value", ONE HOST "X: \x1b[31m\r\n\r\n"),
    ROW(400, "DEL in a value", ONE HOST "X: \x7f\r\n\r\n"),
    ROW(400, "bytes above 127 in a name", ONE HOST "X\xc3\xa4: y\r\n\r\n"),

    /* The request line. */
    ROW(400, "an empty line in front", "\r\n" ONE HOST "\r\n"),
    ROW(400, "no target", "GET HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "two blanks", "GET  / HTTP/1.1\r\n" HOST "\r\n"),
    ROW(505, "something behind the version", "GET / HTTP/1.1 x\r\n" HOST "\r\n"),
    ROW(400, "a tab", "GET\t/\tHTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "an absolute target", "GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "a tunnel", "CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "a star", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "a method that is none", "G(T / HTTP/1.1\r\n" HOST "\r\n"),
    ROW(400, "HTTP/0.9", "GET /\r\n"),
    ROW(505, "HTTP/2", "PRI / HTTP/2.0\r\n\r\n"),
    ROW(505, "a version of the future", "GET / HTTP/1.10\r\n" HOST "\r\n"),
    ROW(400, "not HTTP", "GET / SPDY/1\r\n" HOST "\r\n"),
    ROW(400, "a TLS greeting", "\x16\x03\x01\x02\x00\x01\n"),

    /* Whose request it is. */
    ROW(400, "no host", ONE "\r\n"),
    ROW(400, "two hosts", ONE HOST HOST "\r\n"),
    ROW(403, "a name from elsewhere", ONE "Host: evil.example\r\n\r\n"),
    ROW(403, "a name that looks local", ONE "Host: 127.0.0.1.evil.example\r\n\r\n"),
    ROW(403, "another that does", ONE "Host: localhost.evil.example:80\r\n\r\n"),
    ROW(403, "no name at all", ONE "Host:\r\n\r\n"),
    ROW(403, "a page from elsewhere", ONE HOST "Origin: http://evil.example\r\n\r\n"),
    ROW(403, "a page without a home", ONE HOST "Origin: null\r\n\r\n"),
    ROW(403, "a page on another port", ONE HOST "Origin: http://localhost:81\r\n\r\n"),
    ROW(400, "two origins", ONE HOST "Origin: http://localhost\r\nOrigin: http://localhost\r\n\r\n"),
};

static void check_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int got = judged(rows[i].head);
        if (got != rows[i].status)
            printf("%s: %d, want %d\n", rows[i].what, got, rows[i].status);
        CHECK(got == rows[i].status);
    }
}

/* However it arrives, it is judged alike: no prefix of a good head is bad, and once bad it stays so. */
static void check_prefixes(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int last = 0;
        for (size_t n = 0; n <= rows[i].head.n; n++) {
            int now = judged((struct view){rows[i].head.at, n});
            CHECK(last == 0 || now == last);
            last = now;
        }
    }
}

static void check_sizes(void)
{
    char head[600] = ONE HOST "X: ";
    size_t front = strlen(head);
    memset(head + front, 'a', 256 - front);
    CHECK_EQ(judged((struct view){head, 255}), 0);
    CHECK_EQ(judged((struct view){head, 256}), 431);
    memcpy(head + 252, "\r\n\r\n", 4);
    CHECK_EQ(judged((struct view){head, 256}), 200);
    memset(head + 252, 'a', sizeof head - 252);
    memcpy(head + 253, "\r\n\r\n", 4);
    CHECK_EQ(judged((struct view){head, 257}), 431);

    char many[2048] = ONE;
    for (int i = 0; i < 101; i++)
        strcat(many, "a:b\r\n");
    struct http_head_rules rules = {.most_bytes = sizeof many};
    CHECK_EQ(http_head_judge(view_of(many), &rules).status, 431);
}

/* A server that listens to everybody answers to every name, but a page from elsewhere is from elsewhere. */
static void check_open_server(void)
{
    struct http_head_rules rules = {.most_bytes = 256};
    CHECK_EQ(http_head_judge(VIEW(ONE "Host: box.example\r\n\r\n"), &rules).is, HTTP_HEAD_GOOD);
    CHECK_EQ(http_head_judge(VIEW(ONE "Host: box.example\r\nOrigin: http://box.example\r\n\r\n"), &rules).is, HTTP_HEAD_GOOD);
    CHECK_EQ(http_head_judge(VIEW(ONE "Host: box.example\r\nOrigin: http://evil.example\r\n\r\n"), &rules).status, 403);
}

static void check_routes(void)
{
    static const struct http_route routes[] = {
        {"GET", "/health", NULL}, {"GET", "/runs", NULL}, {"POST", "/runs", NULL}, {"GET", "/runs/*", NULL}, {NULL},
    };
    char allow[HTTP_ALLOW_BYTES];
    CHECK(http_route_for(routes, "GET", "/health", allow) == &routes[0]);
    CHECK(http_route_for(routes, "HEAD", "/health", allow) == &routes[0]);
    CHECK(http_route_for(routes, "POST", "/runs", allow) == &routes[2]);
    CHECK(http_route_for(routes, "GET", "/runs/7/flame", allow) == &routes[3]);
    CHECK(!http_route_for(routes, "DELETE", "/runs", allow));
    CHECK_STR(allow, "GET, POST");
    CHECK(!http_route_for(routes, "HEAD", "/healthy", allow));
    CHECK_STR(allow, "");
    CHECK(!http_route_for(routes, "get", "/health", allow));
    CHECK_STR(allow, "GET");
}

int main(void)
{
    check_rows();
    check_prefixes();
    check_sizes();
    check_open_server();
    check_routes();
    return CHECK_DONE();
}
