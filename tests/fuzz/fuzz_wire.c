/*
 * The reader of the memory that targets write to. An input is what a hostile target
 * does between visits of the recorder: writes of bytes at places.
 *
 *     where (1 byte) | how far (2 bytes) | length (1 byte) | bytes | where | ...
 *
 * `where` picks a slot, the ring of a slot near its tail, or its end; 0xff is a visit.
 * Whatever it does, we are told only of bytes that are inside a record of ours.
 */
#include "capture/cpu/maps_line.h"
#include "capture/cpu/sampler_region.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 3, VISIT = 0xff };
static const struct sampler_region_plan plan = {.slots = SLOTS, .ring_bytes = WIRE_RING_LEAST, .period_ns = 1, .phase = WIRE_GO};

static volatile uint64_t sum; /* everything is looked at */

static void look_at(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = sum + ((const uint8_t *)bytes)[i];
}

static void on_thread(void *self, const struct sampler_thread *t)
{
    (void)self;
    if (t->pid <= 0 || t->tid <= 0 || t->slot >= SLOTS || t->name[WIRE_NAME_BYTES])
        abort();
}

static void on_map(void *self, const struct sampler_thread *t, struct view line)
{
    struct map_news m;
    on_thread(self, t);
    look_at(line.at, line.n);
    if (maps_line_parse(line, &m))
        look_at(m.path.at, m.path.n);
}

static void on_sample(void *self, const struct sampler_thread *t, const struct sampler_sample *s)
{
    on_thread(self, t);
    look_at(s->registers, WIRE_REGISTERS * sizeof *s->registers);
    look_at(s->stack, s->stack_bytes);
}

/* The place a write goes to, as an offset into the region. */
static uint64_t place(const struct wire_slot *slots, uint8_t where, uint16_t how_far)
{
    uint32_t i = where % SLOTS;
    uint64_t ring = wire_rings_at(SLOTS) + i * plan.ring_bytes;
    switch (where / SLOTS % 3) {
    case 0: return WIRE_HEADER_BYTES + i * sizeof *slots + how_far % sizeof *slots;
    case 1: return ring + (atomic_load(&slots[i].tail) + how_far) % plan.ring_bytes;
    default: return ring + plan.ring_bytes - 1 - how_far;
    }
}

static size_t write_one(uint8_t *bytes, uint64_t all, const uint8_t *data, size_t size)
{
    size_t n = data[3] < size - 4 ? data[3] : size - 4;
    uint64_t at = place((struct wire_slot *)(void *)(bytes + WIRE_HEADER_BYTES), data[0], (uint16_t)(data[1] | data[2] << 8));
    memcpy(bytes + at, data + 4, n < all - at ? n : (size_t)(all - at));
    return 4 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t all = wire_region_bytes(SLOTS, WIRE_RING_LEAST);
    uint8_t *bytes = aligned_alloc(64, all);
    memset(bytes, 0, all);
    struct sampler_region *r = sampler_region_over(bytes, &plan);
    struct sampler_listener to = {NULL, on_thread, on_map, on_sample, on_thread};
    uint64_t now_ns = 0;
    while (size >= 4) {
        size_t n = 1;
        if (data[0] == VISIT)
            sampler_region_visit(r, now_ns += UINT64_C(2000000000), &to);
        else
            n = write_one(bytes, all, data, size);
        data += n;
        size -= n;
    }
    sampler_region_visit(r, now_ns, &to);
    sampler_region_free(r);
    free(bytes);
    return 0;
}
