#include "base/buf.h"
#include "base/mem.h"

#include <stdarg.h>

static char nothing[1]; /* what an empty buffer points at; never written */

void buf_init(struct buf *b, size_t most_bytes) { *b = (struct buf){.data = nothing, .most = most_bytes}; }

void buf_done(struct buf *b)
{
    if (b->cap)
        free(b->data);
    *b = (struct buf){.data = nothing};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->full = false;
    if (b->cap)
        b->data[0] = '\0';
}

static bool room(struct buf *b, size_t n)
{
    if (b->full || n > b->most - b->len) {
        b->full = true;
        return false;
    }
    if (b->len + n + 1 > b->cap)
        b->data = mem_grow(b->cap ? b->data : NULL, &b->cap, b->len + n + 1, 1);
    return true;
}

char *buf_room(struct buf *b, size_t n)
{
    if (!room(b, n))
        return NULL;
    char *at = b->data + b->len;
    b->len += n;
    b->data[b->len] = '\0';
    return at;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *at = buf_room(b, n);
    if (at && n)
        memcpy(at, bytes, n);
}

void buf_puts(struct buf *b, const char *s) { buf_add(b, s, strlen(s)); }

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !room(b, (size_t)n))
        return;
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}
