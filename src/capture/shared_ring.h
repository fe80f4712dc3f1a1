/*
 * shared_ring.h - records in a ring that a guest fills and the recorder empties
 *
 * Every record begins with a head that says how long it is, a multiple of 16 bytes, and what it is; none goes on across the
 * end of the ring: the rest there is a pad. Head and tail count bytes since the beginning and only grow.
 *
 *     while (is_sound && tail != head)
 *         switch (shared_ring_next(&ring, &tail, head - tail, record, sizeof record)) ...
 *
 * What is in the ring may change while we look. So a record is copied, and the head in the copy is the one that was checked.
 *
 * Threads: one at a time. Fails: SHARED_RING_BAD, when this cannot be a record; then nothing behind it can be found either.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* How the records of include/inferom/wire.h and heap_wire.h begin. */
struct shared_head {
    uint32_t bytes; /* of the whole record, this included */
    uint16_t kind;
    uint16_t flags;
    uint64_t when_ns;
};

enum { SHARED_RING_PAD_KIND = 1 };

struct shared_ring {
    const uint8_t *bytes;
    uint64_t size; /* a power of two */
};

enum shared_ring_got { SHARED_RING_BAD, SHARED_RING_PAD, SHARED_RING_RECORD };

/* The record at *tail, of at most `ready` bytes, into `record`, which has room for `most`; *tail is behind it then. */
enum shared_ring_got shared_ring_next(const struct shared_ring *ring, uint64_t *tail, uint64_t ready, void *record, size_t most);
