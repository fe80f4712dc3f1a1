/*
 * http_head.h - is this the beginning of a request that everybody reads the same way?
 *
 * Two programs that disagree about where a request ends can be made to disagree about whose request
 * it is. So a head is taken only when there is one way to read it: lines end with CR LF, names are
 * tokens right in front of their colon, nothing is folded, no control bytes, the target is a path,
 * and the length of the body is said once, in one way (RFC 9112, without its allowances for the old).
 *
 * Pages of other sites are kept out as well: a server on this machine answers to names of this
 * machine only (DNS rebinding), and to no page from somewhere else (Origin).
 *
 * Threads: any; nothing is kept.
 * Fails:   never; what is wrong with the head is the answer.
 */
#pragma once
#include "base/view.h"
#include <stdint.h>

enum http_head_answer { HTTP_HEAD_MORE, HTTP_HEAD_GOOD, HTTP_HEAD_BAD };

struct http_head_rules {
    size_t most_bytes;        /* of the head, its empty line included */
    uint64_t most_body_bytes; /* that may be announced */
    bool only_local_names;    /* Host is localhost or a loopback address, whatever the port */
};

struct http_head {
    enum http_head_answer is;
    int status;           /* of a bad one: 400, 403, 413, 431, 501, 505 */
    const char *sentence; /* of a bad one: what is wrong with it; a literal */
    size_t bytes;         /* of a good one */
};

/* What has arrived so far, from its first byte on. HTTP_HEAD_MORE: nothing wrong yet. */
struct http_head http_head_judge(struct view so_far, const struct http_head_rules *r);
