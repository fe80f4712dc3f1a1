/*
 * http_reply.h - the inside of a reply: a bounded pipe from whoever fills it to the server's thread
 *
 *     handler or worker ──begin, add, end──> [ bytes ] ──take──> server's thread ──> client
 *                       <──room, is_gone────            <──gone──
 *
 * Each side holds the reply once; the last to let go frees it. The server is poked through `poke`
 * when it may be asleep; it pokes back through `changed`.
 *
 * Threads: everything behind `lock`, but for what is marked as the server's.
 */
#pragma once
#include "net/http_server.h"

#include <pthread.h>

enum { HTTP_REPLY_FIELDS = 4, HTTP_FIELD_BYTES = 128 };

struct http_reply_field {
    const char *name;
    char value[HTTP_FIELD_BYTES];
};

/* How the two sides reach each other. */
struct http_reply_ends {
    void (*poke)(void *server, struct http_reply *r); /* called with the lock held; only queues and wakes */
    void *server;
    void (*changed)(void *self);
    void *self;
    size_t most_bytes;
};

struct http_reply {
    pthread_mutex_t lock;
    struct http_reply_ends ends;
    unsigned holders;
    int status; /* 0: not begun */
    char type[64];
    struct http_reply_field fields[HTTP_REPLY_FIELDS];
    unsigned n_fields;
    struct buf bytes;
    size_t taken; /* of bytes */
    bool is_ended, is_cut, is_gone;
    bool is_asleep;   /* the server wants to be poked */
    bool is_wanting;  /* somebody was told that there is no room */
    bool is_queued;   /* the server's: in its list of replies to look at */
    struct http_reply *next;
    void *exchange;   /* the server's */
};

struct http_reply *http_reply_new(const struct http_reply_ends *ends); /* held twice: by its filler and by the server */
void http_reply_release(struct http_reply *r);

/* The server's side. */
enum http_reply_state { HTTP_REPLY_EMPTY, HTTP_REPLY_BYTES, HTTP_REPLY_ENDED, HTTP_REPLY_CUT };

/* Whether there is a status to send; if not, the server will be poked. */
bool http_reply_has_begun(struct http_reply *r);
bool http_reply_is_whole(struct http_reply *r);

/* Moves bytes out; EMPTY: it will be poked when that changes. */
enum http_reply_state http_reply_take(struct http_reply *r, char *into, size_t most, size_t *out_n);

void http_reply_gone(struct http_reply *r);   /* the client is not there any more */
void http_reply_detach(struct http_reply *r); /* nor is the server: it is never poked again */
