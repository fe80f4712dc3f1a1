/*
 * http_inside.h - how the parts of a server see each other
 *
 * A connection lives in two rooms. At the gate (http_gate.c) it is ours: accepted, looked at without
 * taking its bytes, refused or let in. Behind it (http_talk.c) the socket is libmicrohttpd's, which
 * reads the request again, and writes the reply. One thread (http_server.c) serves both.
 *
 *     accept ──> HEAD ──good──> TALKING ──> closed by the library
 *                  └───bad───> LEAVING ──> closed by us
 */
#pragma once
#include "net/http_head.h"
#include "net/http_reply.h"

enum http_connection_state { HTTP_HEAD, HTTP_TALKING, HTTP_LEAVING };

struct http_connection {
    struct http_server *server;
    struct http_connection *before, *after; /* oldest first */
    enum http_connection_state state;
    int fd;
    uint64_t deadline_ns;     /* of what the client has to do; UINT64_MAX: nothing */
    struct http_reply *reply; /* once the request is complete; else NULL */
    bool is_dropped;          /* the library was told to close it */
    bool is_over;             /* nothing is behind it any more; freed at the end of the round, which may have events of it */
    size_t drained;           /* while leaving: bytes that arrived and nobody wants */
};

struct http_server {
    struct http_plan plan;
    uint16_t port;
    int listener, poll, wake; /* descriptors; listener -1: closed */
    bool is_listening;        /* the listener is in the poll set */
    pthread_t thread;
    struct http_connection *oldest, *newest, *entering; /* entering: the one that the library is being given */
    struct http_connection *over;                       /* linked by `after` */
    unsigned n_connections;
    char *seen; /* the head that is being looked at */
    struct MHD_Daemon *daemon;
    int daemon_poll;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t is_empty;
    struct http_reply *poked;
    bool want_quiet, want_end; /* the thread is told through `wake` */
    bool has_connections;
};

/* http_server.c: what both rooms need. */
void http_wake(struct http_server *s);
void http_connection_forget(struct http_connection *c); /* it is over; the descriptor is somebody else's matter */
void http_connection_drop(struct http_connection *c);   /* ends it, in whatever room it is */

/* http_gate.c */
bool http_gate_open(struct http_server *s, struct err *e) MUST_CHECK;
void http_gate_close(struct http_server *s); /* no more connections */
void http_gate_accept(struct http_server *s);
void http_gate_event(struct http_connection *c, bool has_hung_up);
void http_gate_late(struct http_connection *c); /* its deadline has passed */
void http_gate_listen_again(struct http_server *s);

/* http_talk.c: the only file that knows the library */
bool http_talk_open(struct http_server *s, struct err *e) MUST_CHECK;
void http_talk_enter(struct http_connection *c);
void http_talk_resume(struct http_reply *r); /* a reply that was waited for has changed */
void http_talk_run(struct http_server *s);
bool http_talk_next_ms(struct http_server *s, uint64_t *out_ms); /* when it wants to be run again */
void http_talk_close(struct http_server *s);

/* The body of a refusal. */
void http_explain(const struct http_server *s, int status, const char *sentence, struct buf *out);
