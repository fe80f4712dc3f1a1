#include "capture/cpu/stream_clocks.h"
#include "base/mem.h"

void stream_clocks_done(struct stream_clocks *c) { free(c->slots); }

static struct stream_clock *slot_of(const struct stream_clocks *c, uint64_t stream)
{
    size_t i = (size_t)(stream * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    while (c->slots[i &= c->n - 1].stream && c->slots[i].stream != stream)
        i++;
    return &c->slots[i];
}

/* Half full is full: then twice the size, or, at the end of that, a new beginning. */
static void make_room(struct stream_clocks *c)
{
    struct stream_clocks old = *c;
    if (c->used < c->n / 2)
        return;
    bool is_at_most = c->n >= STREAM_CLOCKS_MOST;
    c->n = is_at_most ? c->n : c->n ? 2 * c->n : 256;
    c->slots = mem_new(c->n * sizeof *c->slots);
    c->used = is_at_most ? 0 : old.used;
    c->has_forgotten |= is_at_most;
    for (size_t i = 0; i < old.n && !is_at_most; i++)
        if (old.slots[i].stream)
            *slot_of(c, old.slots[i].stream) = old.slots[i];
    free(old.slots);
}

int64_t stream_clocks_step(struct stream_clocks *c, uint64_t stream, uint64_t value_ns, uint64_t period_ns)
{
    make_room(c);
    struct stream_clock *s = slot_of(c, stream);
    uint64_t step = value_ns - s->value;
    if (!s->stream) {
        c->used++;
        step = c->has_forgotten ? period_ns : value_ns;
    }
    if (value_ns < s->value) /* clocks do not run backwards; whatever this is, it is no time */
        step = 0;
    *s = (struct stream_clock){stream, value_ns};
    return (int64_t)step;
}
