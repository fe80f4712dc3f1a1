/* A server, the model it has and a crowd of clients in one program: for the sanitizers, who see all threads. */
#include "check.h"
#include "lab/model_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

enum { CLIENTS = 12, REQUESTS = 6 };

static volatile sig_atomic_t stop;
static void raise_stop(int signal_number) { stop = signal_number; }

struct crowd {
    pthread_t main; /* that has the model */
    uint16_t port;
    _Atomic unsigned complete, refused, left;
};

static int dial(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 ? fd : -1;
}

/* Asks for a stream or a whole answer, or leaves when the first bytes are there. */
static void ask(struct crowd *c, unsigned how)
{
    static const char *const bodies[] = {
        "{\"prompt\":\"Once upon\",\"max_tokens\":12,\"stream\":true}",
        "{\"prompt\":\"Once upon\",\"max_tokens\":12}",
        "{\"prompt\":\"Once upon\",\"max_tokens\":50,\"stream\":true,\"ignore_eos\":true}",
    };
    const char *body = bodies[how];
    own(close) int fd = dial(c->port);
    char request[512], got[65536];
    size_t n = 0;
    snprintf(request, sizeof request, "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n%s", strlen(body), body);
    CHECK(send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request));
    for (ssize_t part; n < sizeof got - 1 && (part = recv(fd, got + n, sizeof got - 1 - n, 0)) > 0;) {
        n += (size_t)part;
        if (how == 2) {
            c->left++;
            return;
        }
    }
    got[n] = 0;
    bool is_complete = strstr(got, how ? "\"usage\":{" : "data: [DONE]\n\n");
    c->complete += is_complete;
    c->refused += strstr(got, "HTTP/1.1 429 ") != NULL;
    if (!is_complete && !strstr(got, "HTTP/1.1 429 "))
        printf("%s\n", got);
}

static void *client(void *self)
{
    for (unsigned i = 0; i < REQUESTS; i++)
        ask(self, i % 3);
    return NULL;
}

static void *crowd(void *self)
{
    struct crowd *c = self;
    pthread_t clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, c);
    for (size_t i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_kill(c->main, SIGUSR1); /* as a terminal would: on the thread that looks at `stop` */
    return NULL;
}

static bool open_server(struct model **m, struct model_server **s, size_t most_waiting)
{
    struct err e = {0};
    struct model_server_plan plan = {.most_running = 4, .most_waiting = most_waiting, .usual = {.seed = 1, .temperature = 1}};
    bool ok = model_open("small", &(struct model_plan){.seed = 1, .threads = 2}, m, &e);
    plan.model = *m;
    ok = ok && model_server_open(s, &plan, &e);
    if (!ok)
        printf("%s\n", e.text);
    return ok || e.kind == ERR_UNSUPPORTED;
}

/* Everybody is answered, or told that the queue is full; and nobody is left behind. */
static void check_crowd(size_t most_waiting, bool may_be_full)
{
    own(model) struct model *m = NULL;
    own(model_server) struct model_server *s = NULL;
    CHECK(open_server(&m, &s, most_waiting));
    if (!s)
        exit(77); /* this build has none */
    struct crowd c = {.main = pthread_self(), .port = model_server_port(s)};
    pthread_t all;
    stop = 0;
    pthread_create(&all, NULL, crowd, &c);
    model_server_run(s, &stop, UINT64_MAX);
    pthread_join(all, NULL);
    printf("%u complete, %u refused, %u left\n", c.complete, c.refused, c.left);
    CHECK_EQ(c.complete + c.refused + c.left, CLIENTS * REQUESTS);
    CHECK(may_be_full || c.refused == 0);
    CHECK(c.complete > 0 && c.left > 0);
}

int main(void)
{
    signal(SIGUSR1, raise_stop);
    check_crowd(256, false);
    check_crowd(1, true);
    return CHECK_DONE();
}
