#include "base/sink.h"

#include <errno.h>
#include <stdarg.h>

static void sink_init(struct sink *s)
{
    s->name = "a buffer";
    s->fd = -1;
    s->into = NULL;
    s->filter = NULL;
    s->self = NULL;
    s->n = 0;
    s->written = 0;
    s->failed = (struct err){0};
}

void sink_to_fd(struct sink *s, int fd, const char *name)
{
    sink_init(s);
    s->fd = fd;
    s->name = name;
}

void sink_to_buf(struct sink *s, struct buf *into)
{
    sink_init(s);
    s->into = into;
}

void sink_to_function(struct sink *s, bool (*filter)(void *, struct view, struct err *), void *self)
{
    sink_init(s);
    s->filter = filter;
    s->self = self;
}

static bool write_all(int fd, struct view v, struct err *e)
{
    while (v.n) {
        ssize_t n = write(fd, v.at, v.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_os(e, "writing");
        v.at += n;
        v.n -= (size_t)n;
    }
    return true;
}

static void send(struct sink *s, struct view v)
{
    if (s->failed.kind || !v.n)
        return;
    bool sent = true;
    if (s->filter)
        sent = s->filter(s->self, v, &s->failed);
    else if (s->fd >= 0)
        sent = write_all(s->fd, v, &s->failed) || err_in(&s->failed, "%s", s->name);
    else
        buf_add(s->into, v.at, v.n);
    if (s->into && s->into->full)
        err_set(&s->failed, ERR_LIMIT, "more than %zu bytes of output", s->into->most);
    else if (sent)
        s->written += v.n;
}

static void send_pending(struct sink *s)
{
    send(s, (struct view){s->pending, s->n});
    s->n = 0;
}

void sink_add(struct sink *s, struct view v)
{
    if (v.n > sizeof s->pending - s->n)
        send_pending(s);
    if (v.n > sizeof s->pending) {
        send(s, v);
        return;
    }
    if (v.n)
        memcpy(s->pending + s->n, v.at, v.n);
    s->n += v.n;
}

void sink_puts(struct sink *s, const char *text) { sink_add(s, view_of(text)); }
void sink_char(struct sink *s, char c) { sink_add(s, (struct view){&c, 1}); }

void sink_pad(struct sink *s, size_t n)
{
    while (n--)
        sink_char(s, ' ');
}

void sink_printf(struct sink *s, const char *fmt, ...)
{
    char small[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    if ((size_t)n < sizeof small) {
        sink_add(s, (struct view){small, (size_t)n});
        return;
    }
    own(free) char *large = NULL;
    va_start(ap, fmt);
    n = vasprintf(&large, fmt, ap);
    va_end(ap);
    if (n >= 0)
        sink_add(s, (struct view){large, (size_t)n});
    else
        large = NULL;
}

bool sink_flush(struct sink *s, struct err *e)
{
    send_pending(s);
    if (!s->failed.kind)
        return true;
    if (e)
        *e = s->failed;
    return false;
}
