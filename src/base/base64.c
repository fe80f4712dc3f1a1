#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_three(char to[4], const unsigned char three[3])
{
    to[0] = letters[three[0] >> 2];
    to[1] = letters[(three[0] & 3) << 4 | three[1] >> 4];
    to[2] = letters[(three[1] & 15) << 2 | three[2] >> 6];
    to[3] = letters[three[2] & 63];
}

static bool add(void *self, struct view bytes, struct err *e)
{
    (void)e; /* a failure of the sink below is told by its own flush */
    struct base64 *b = self;
    char piece[4096];
    size_t filled = 0;
    for (size_t i = 0; i < bytes.n; i++) {
        b->rest[b->n++] = (unsigned char)bytes.at[i];
        if (b->n < 3)
            continue;
        b->n = 0;
        put_three(piece + filled, b->rest);
        filled += 4;
        if (filled == sizeof piece) {
            sink_add(b->out, (struct view){piece, filled});
            filled = 0;
        }
    }
    sink_add(b->out, (struct view){piece, filled});
    return true;
}

void base64_to(struct base64 *b, struct sink *bytes, struct sink *out)
{
    *b = (struct base64){.out = out};
    sink_to_function(bytes, add, b);
}

bool base64_end(struct base64 *b, struct sink *bytes, struct err *e)
{
    if (!sink_flush(bytes, e))
        return false;
    if (b->n) {
        char last[4];
        memset(b->rest + b->n, 0, 3 - b->n);
        put_three(last, b->rest);
        memset(last + 1 + b->n, '=', 3 - b->n);
        sink_add(b->out, (struct view){last, 4});
    }
    b->n = 0;
    return true;
}
