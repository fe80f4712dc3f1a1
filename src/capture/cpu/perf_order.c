#include "capture/cpu/perf_order.h"
#include "base/mem.h"

/* Two rings for each CPU, that of stacks first: of two records of the same moment the first ring's is the earlier. */
static bool is_of_waits(size_t ring) { return ring % 2 == 0; }

static struct perf_ring *ring_at(const struct perf_order *o, size_t ring)
{
    struct perf_cpu *c = &o->cpus[ring / 2];
    return is_of_waits(ring) ? &c->wait_ring : &c->ring;
}

void perf_order_init(struct perf_order *o, struct perf_cpu *cpus, size_t n_cpus)
{
    *o = (struct perf_order){.cpus = cpus, .n_rings = 2 * n_cpus};
    o->next_ns = mem_new(o->n_rings * sizeof *o->next_ns);
}

void perf_order_done(struct perf_order *o)
{
    free(o->next_ns);
    *o = (struct perf_order){0};
}

static void look_at(struct perf_order *o, size_t ring)
{
    struct view bytes;
    o->next_ns[ring] = UINT64_MAX;
    while (perf_ring_peek(ring_at(o, ring), &bytes)) {
        if (perf_record_time(bytes, &o->next_ns[ring]))
            return;
        o->timeless++;
        perf_ring_pass(ring_at(o, ring));
    }
}

void perf_order_look(struct perf_order *o)
{
    for (size_t i = 0; i < o->n_rings; i++) {
        perf_ring_look(ring_at(o, i));
        look_at(o, i);
    }
}

bool perf_order_next(struct perf_order *o, uint64_t horizon_ns, struct view *out, bool *out_is_wait_stack)
{
    o->at = 0;
    for (size_t i = 1; i < o->n_rings; i++)
        if (o->next_ns[i] < o->next_ns[o->at])
            o->at = i;
    if (o->next_ns[o->at] >= horizon_ns || !perf_ring_peek(ring_at(o, o->at), out))
        return false;
    *out_is_wait_stack = is_of_waits(o->at);
    return true;
}

void perf_order_pass(struct perf_order *o)
{
    perf_ring_pass(ring_at(o, o->at));
    look_at(o, o->at);
}

uint64_t perf_order_unreadable(const struct perf_order *o)
{
    uint64_t n = o->timeless;
    for (size_t i = 0; i < o->n_rings; i++)
        n += ring_at(o, i)->damaged;
    return n;
}
