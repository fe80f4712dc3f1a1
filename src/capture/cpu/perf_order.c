#include "capture/cpu/perf_order.h"
#include "base/mem.h"

/* Two rings for each CPU, that of stacks first: of two records of the same moment the first ring's is the earlier. */
static bool is_of_waits(size_t ring) { return ring % 2 == 0; }

static struct perf_ring *ring_at(const struct perf_order *o, size_t ring)
{
    struct perf_cpu *c = &o->cpus[ring / 2];
    return is_of_waits(ring) ? &c->wait_ring : &c->ring;
}

void perf_order_init(struct perf_order *o, struct perf_cpu *cpus, size_t n_cpus, const struct perf_layout *layout)
{
    static const struct perf_layout of_waits = {.has_callchain = true};
    *o = (struct perf_order){.cpus = cpus, .n_rings = 2 * n_cpus};
    o->next_ns = mem_new(o->n_rings * sizeof *o->next_ns);
    own(free) struct perf_backlog_ring *rings = mem_new(o->n_rings * sizeof *rings);
    for (size_t i = 0; i < o->n_rings; i++)
        rings[i] = (struct perf_backlog_ring){ring_at(o, i), is_of_waits(i) ? &of_waits : layout};
    o->backlog = perf_backlog_new(rings, o->n_rings);
}

void perf_order_start(struct perf_order *o)
{
    own(free) int *fds = mem_new(o->n_rings * sizeof *fds);
    for (size_t i = 0; i < o->n_rings; i++)
        fds[i] = is_of_waits(i) ? o->cpus[i / 2].wait_fd : o->cpus[i / 2].news_fd;
    perf_backlog_start(o->backlog, fds, o->n_rings);
}

void perf_order_stop(struct perf_order *o) { perf_backlog_stop(o->backlog); }

void perf_order_done(struct perf_order *o)
{
    perf_backlog_free(o->backlog);
    free(o->next_ns);
    *o = (struct perf_order){0};
}

static void look_at(struct perf_order *o, size_t ring)
{
    struct view bytes;
    o->next_ns[ring] = UINT64_MAX;
    while (perf_backlog_peek(o->backlog, ring, &bytes)) {
        if (perf_record_time(bytes, &o->next_ns[ring]))
            return;
        o->timeless++;
        perf_backlog_pass(o->backlog, ring);
    }
}

uint64_t perf_order_look(struct perf_order *o)
{
    uint64_t until_ns = perf_backlog_look(o->backlog);
    for (size_t i = 0; i < o->n_rings; i++)
        look_at(o, i);
    return until_ns;
}

bool perf_order_next(struct perf_order *o, uint64_t horizon_ns, struct view *out, bool *out_is_wait_stack)
{
    o->at = 0;
    for (size_t i = 1; i < o->n_rings; i++)
        if (o->next_ns[i] < o->next_ns[o->at])
            o->at = i;
    if (o->next_ns[o->at] >= horizon_ns || !perf_backlog_peek(o->backlog, o->at, out))
        return false;
    *out_is_wait_stack = is_of_waits(o->at);
    return true;
}

void perf_order_pass(struct perf_order *o)
{
    perf_backlog_pass(o->backlog, o->at);
    look_at(o, o->at);
}

uint64_t perf_order_unreadable(const struct perf_order *o)
{
    uint64_t n = o->timeless;
    for (size_t i = 0; i < o->n_rings; i++)
        n += ring_at(o, i)->damaged;
    return n;
}
