#include "capture/shared_ring.h"
#include "capture/shared_memory.h"
#include "inferom/heap_wire.h"
#include "inferom/wire.h"

static_assert(sizeof(struct shared_head) == sizeof(struct wire_record) && sizeof(struct shared_head) == sizeof(struct heap_record), "one head");
static_assert((int)WIRE_PAD == SHARED_RING_PAD_KIND && (int)HEAP_PAD == SHARED_RING_PAD_KIND, "one kind of pad");
static_assert(offsetof(struct wire_record, kind) == offsetof(struct shared_head, kind), "one head");
static_assert(offsetof(struct heap_record, kind) == offsetof(struct shared_head, kind), "one head; kinds are small, and the low end comes first");

enum shared_ring_got shared_ring_next(const struct shared_ring *ring, uint64_t *tail, uint64_t ready, void *record, size_t most)
{
    uint64_t at = *tail & (ring->size - 1), to_end = ring->size - at;
    struct shared_head head;
    if (ready < sizeof head || to_end < sizeof head)
        return SHARED_RING_BAD;
    shared_memory_copy(&head, ring->bytes + at, sizeof head);
    if (head.bytes < sizeof head || head.bytes % 16 || head.bytes > ready || head.bytes > to_end)
        return SHARED_RING_BAD;
    *tail += head.bytes;
    if (head.kind == SHARED_RING_PAD_KIND)
        return head.bytes == to_end ? SHARED_RING_PAD : SHARED_RING_BAD;
    if (head.bytes > most)
        return SHARED_RING_BAD;
    shared_memory_copy(record, ring->bytes + at, head.bytes);
    memcpy(record, &head, sizeof head);
    return SHARED_RING_RECORD;
}
