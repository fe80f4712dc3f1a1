/*
 * http_server.h - requests come in, replies go out, and nobody else knows HTTP
 *
 * A server has a table of routes. When a whole request has arrived, the handler of its route is
 * called with the request and a reply, on the server's one thread, and must not wait. The reply may
 * be given at once, or kept and filled later by any thread, in pieces: a stream. What is in a reply
 * and has not gone out is bounded; who fills it looks for room and for a client that went away.
 *
 *     request ──> route ──> handler ──┬─> http_reply_whole()                 at once
 *                                     └─> keep it ──> begin, add, add, end   later, any thread
 *
 * Use:
 *     static void health(void *self, const struct http_request *q, struct http_reply *r)
 *     {
 *         http_reply_whole(r, 200, "application/json", VIEW("{\"status\":\"ok\"}"));
 *     }
 *     static const struct http_route routes[] = {{"GET", "/health", health}, {NULL}};
 *
 *     own(http_server) struct http_server *s = NULL;
 *     if (!http_server_open(&s, &(struct http_plan){.routes = routes}, e))
 *         return false;
 *
 * What is refused before a handler sees it: heads that can be read in two ways (http_head.h), what
 * is larger or slower than the limits, unknown paths (404) and methods (405). Every connection
 * carries one request, and is closed after its reply: nothing that follows a request is ever taken for another.
 *
 * Owns:     the server its connections. A reply is the handler's until http_reply_end(), whole() or cut(),
 *           exactly one of which is called for each; views in a request are good during the handler.
 * Threads:  one of its own. Handlers and `changed` are called on it. Replies may be filled by any one thread at a time.
 * Fails:    opening: the address cannot be had (ERR_IO, ERR_DENIED), or this build has no libmicrohttpd (ERR_UNSUPPORTED).
 */
#pragma once
#include "base/buf.h"

struct http_server;
struct http_reply;

struct http_request {
    const char *method, *path; /* the path without its query, %-escapes decoded */
    struct view body;
    const void *inside; /* the server's */
};

/* Of a field of the head, whatever the case of its letters; NULL: not there. */
const char *http_request_field(const struct http_request *q, const char *name);

struct http_route {
    const char *method; /* "GET" answers HEAD, too */
    const char *path;   /* "/v1/models"; "/runs/" and a star behind it: all that begins so */
    void (*handle)(void *self, const struct http_request *q, struct http_reply *r);
};

/* Zero is the usual. */
struct http_limits {
    unsigned connections;     /* 512; more wait to be accepted */
    size_t head_bytes;        /* 32 KiB */
    uint64_t body_bytes;      /* 8 MiB */
    size_t reply_bytes;       /* 256 KiB of a stream that have not gone out */
    uint64_t head_ns;         /* 10 s for the whole head */
    uint64_t body_ns;         /* 60 s for the whole body */
    uint64_t idle_ns;         /* 30 s during which a client takes nothing of its reply; whole seconds */
};

struct http_plan {
    const char *address; /* a number, "127.0.0.1", "::1", "0.0.0.0"; NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any that is free; http_server_port() says which */
    const struct http_route *routes; /* ends with a NULL method */
    void *self;                      /* for the handlers */
    struct http_limits limits;

    /* The body of a refusal that no handler made, as JSON; NULL: {"error": "sentence"}. */
    void (*explain)(int status, const char *sentence, struct buf *out);

    /* Called when a kept reply has room again or its client went away: whoever fills replies may look again. */
    void (*changed)(void *self);
};

/* Life. */
bool http_server_open(struct http_server **out, const struct http_plan *p, struct err *e) MUST_CHECK;
uint16_t http_server_port(const struct http_server *s);
void http_server_quiet(struct http_server *s);                  /* takes no more requests; replies go on */
bool http_server_drain(struct http_server *s, uint64_t most_ns); /* waits for replies to go out; true: all have */
void http_server_free(struct http_server *s);                   /* cuts off what is left */
DEFINE_OWN(http_server, struct http_server *)

/* A reply that is there as a whole. */
void http_reply_whole(struct http_reply *r, int status, const char *type, struct view body);

/* A reply in pieces. A field of the head is set before begin(); names and values are ours, never a client's bytes. */
void http_reply_field(struct http_reply *r, const char *name, const char *value);
void http_reply_begin(struct http_reply *r, int status, const char *type);
bool http_reply_add(struct http_reply *r, struct view bytes); /* false: no room, or gone; all or nothing */
size_t http_reply_room(struct http_reply *r);
bool http_reply_is_gone(struct http_reply *r); /* nobody is there to read it; end() is still due */
void http_reply_end(struct http_reply *r);     /* the reply is complete, and not the caller's any more */
void http_reply_cut(struct http_reply *r);     /* it will never be complete; the client sees that */
