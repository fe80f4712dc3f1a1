/*
 * ring_writer.h - the writing end of a thread's ring (include/inferom/wire.h)
 *
 *     void *room = ring_room(slot, ring, ring_bytes, most);   // NULL: full, and counted
 *     ...write a record of at most `most` bytes there...
 *     ring_commit(slot, bytes);
 *
 * When the reader has taken everything, writing starts again at the front, if there is
 * room for many such records between there and the pad that is left behind: a ring
 * with shallow stacks in it uses its first pages only, however large it is.
 *
 * Threads: the thread that holds the slot, one record at a time. No call, no lock.
 */
#pragma once
#include "inferom/wire.h"

#include <stdbool.h>

enum { RING_MANY = 64 }; /* more than are written between two visits of the reader */

static inline void ring_pad(struct wire_slot *slot, uint8_t *ring, uint64_t ring_bytes, uint64_t head)
{
    uint64_t at = head & (ring_bytes - 1);
    struct wire_record *pad = (struct wire_record *)(void *)(ring + at);
    *pad = (struct wire_record){.bytes = (uint32_t)(ring_bytes - at), .kind = WIRE_PAD};
    atomic_store_explicit(&slot->head, head + ring_bytes - at, memory_order_release);
}

static inline void *ring_room(struct wire_slot *slot, uint8_t *ring, uint64_t ring_bytes, uint64_t most)
{
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
    uint64_t used = head - atomic_load_explicit(&slot->tail, memory_order_acquire);
    uint64_t at = head & (ring_bytes - 1);
    uint64_t to_end = ring_bytes - at;
    bool is_pad = to_end < most || (used == 0 && at >= RING_MANY * most);
    uint64_t room = used > ring_bytes ? 0 : ring_bytes - used;
    if (room < most + (is_pad ? to_end : 0)) {
        atomic_fetch_add_explicit(&slot->lost, 1, memory_order_relaxed);
        return NULL;
    }
    if (!is_pad)
        return ring + at;
    ring_pad(slot, ring, ring_bytes, head);
    return ring;
}

static inline void ring_commit(struct wire_slot *slot, uint64_t bytes)
{
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_relaxed);
    atomic_store_explicit(&slot->head, head + bytes, memory_order_release);
}
