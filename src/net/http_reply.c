#include "net/http_reply.h"
#include "base/mem.h"

struct http_reply *http_reply_new(const struct http_reply_ends *ends)
{
    struct http_reply *r = mem_new(sizeof *r);
    pthread_mutex_init(&r->lock, NULL);
    r->ends = *ends;
    r->holders = 2;
    buf_init(&r->bytes, SIZE_MAX / 2); /* a whole reply is as large as it is; streams are bounded by room() */
    return r;
}

void http_reply_release(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    bool is_last = --r->holders == 0;
    pthread_mutex_unlock(&r->lock);
    if (!is_last)
        return;
    buf_done(&r->bytes);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* Filling. */

static void wake_server(struct http_reply *r)
{
    if (!r->is_asleep || !r->ends.server)
        return;
    r->is_asleep = false;
    r->ends.poke(r->ends.server, r);
}

void http_reply_field(struct http_reply *r, const char *name, const char *value)
{
    pthread_mutex_lock(&r->lock);
    if (r->n_fields < HTTP_REPLY_FIELDS) {
        struct http_reply_field *f = &r->fields[r->n_fields++];
        f->name = name;
        snprintf(f->value, sizeof f->value, "%s", value);
    }
    pthread_mutex_unlock(&r->lock);
}

static void set_head(struct http_reply *r, int status, const char *type)
{
    r->status = status;
    snprintf(r->type, sizeof r->type, "%s", type);
}

void http_reply_begin(struct http_reply *r, int status, const char *type)
{
    pthread_mutex_lock(&r->lock);
    set_head(r, status, type);
    wake_server(r);
    pthread_mutex_unlock(&r->lock);
}

void http_reply_whole(struct http_reply *r, int status, const char *type, struct view body)
{
    pthread_mutex_lock(&r->lock);
    set_head(r, status, type);
    buf_add(&r->bytes, body.at, body.n);
    r->is_ended = true;
    wake_server(r);
    pthread_mutex_unlock(&r->lock);
    http_reply_release(r);
}

static size_t room(const struct http_reply *r)
{
    size_t waiting = r->bytes.len - r->taken;
    return waiting < r->ends.most_bytes ? r->ends.most_bytes - waiting : 0;
}

/* What has gone out makes place, once it is at least half of what is there. */
static void make_place(struct http_reply *r)
{
    if (r->taken * 2 < r->bytes.len)
        return;
    memmove(r->bytes.data, r->bytes.data + r->taken, r->bytes.len - r->taken);
    r->bytes.len -= r->taken;
    r->taken = 0;
}

bool http_reply_add(struct http_reply *r, struct view bytes)
{
    pthread_mutex_lock(&r->lock);
    bool fits = !r->is_gone && room(r) >= bytes.n;
    if (fits) {
        make_place(r);
        buf_add(&r->bytes, bytes.at, bytes.n);
        wake_server(r);
    }
    r->is_wanting |= !fits;
    pthread_mutex_unlock(&r->lock);
    return fits;
}

size_t http_reply_room(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    size_t n = room(r);
    r->is_wanting |= n < r->ends.most_bytes / 2;
    pthread_mutex_unlock(&r->lock);
    return n;
}

bool http_reply_is_gone(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    bool is_gone = r->is_gone;
    pthread_mutex_unlock(&r->lock);
    return is_gone;
}

static void finish(struct http_reply *r, bool is_cut)
{
    pthread_mutex_lock(&r->lock);
    r->is_ended = true;
    r->is_cut = is_cut;
    wake_server(r);
    pthread_mutex_unlock(&r->lock);
    http_reply_release(r);
}

void http_reply_end(struct http_reply *r) { finish(r, false); }

void http_reply_cut(struct http_reply *r) { finish(r, true); }

/* Emptying. */

bool http_reply_has_begun(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    bool has_begun = r->status || r->is_ended;
    r->is_asleep = !has_begun;
    pthread_mutex_unlock(&r->lock);
    return has_begun;
}

bool http_reply_is_whole(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    bool is_whole = r->is_ended && !r->is_cut;
    pthread_mutex_unlock(&r->lock);
    return is_whole;
}

static enum http_reply_state state_of_empty(struct http_reply *r)
{
    if (r->is_ended)
        return r->is_cut ? HTTP_REPLY_CUT : HTTP_REPLY_ENDED;
    r->is_asleep = true;
    return HTTP_REPLY_EMPTY;
}

enum http_reply_state http_reply_take(struct http_reply *r, char *into, size_t most, size_t *out_n)
{
    pthread_mutex_lock(&r->lock);
    size_t waiting = r->bytes.len - r->taken, n = waiting < most ? waiting : most;
    enum http_reply_state is = n ? HTTP_REPLY_BYTES : state_of_empty(r);
    memcpy(into, r->bytes.data + r->taken, n);
    r->taken += n;
    bool is_wanted = n && r->is_wanting && room(r) >= r->ends.most_bytes / 2;
    r->is_wanting &= !is_wanted;
    pthread_mutex_unlock(&r->lock);
    if (is_wanted && r->ends.changed)
        r->ends.changed(r->ends.self);
    *out_n = n;
    return is;
}

void http_reply_gone(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    bool is_news = !r->is_gone && !r->is_ended;
    r->is_gone = true;
    pthread_mutex_unlock(&r->lock);
    if (is_news && r->ends.changed)
        r->ends.changed(r->ends.self);
}

void http_reply_detach(struct http_reply *r)
{
    pthread_mutex_lock(&r->lock);
    r->ends.server = NULL;
    pthread_mutex_unlock(&r->lock);
    http_reply_gone(r);
}
