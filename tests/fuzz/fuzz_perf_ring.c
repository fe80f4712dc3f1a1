/*
 * A ring as a hostile kernel might leave it. The first byte says what the events were asked
 * for, the second where in the ring the tail stands, in steps of 8, so that records lie
 * across the end; the rest is what there is to read.
 */
#include "capture/cpu/perf_record.h"
#include "capture/cpu/perf_ring.h"

#include <stdlib.h>
#include <string.h>

enum { RING_BYTES = 1 << 17 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* so that every byte a record promises is read */

static void touch(const void *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += ((const uint8_t *)at)[i];
}

static void take_apart(struct view bytes, const struct perf_layout *layout)
{
    struct perf_record r;
    uint64_t time_ns;
    bool has_time = perf_record_time(bytes, &time_ns);
    if (!perf_record_parse(&r, layout, bytes))
        return;
    if (has_time && r.time_ns != time_ns)
        abort();
    if (r.type == PERF_RECORD_SAMPLE) {
        touch(r.sample.kernel, r.sample.n_kernel * sizeof *r.sample.kernel);
        touch(r.sample.stack.bytes, r.sample.stack.n);
    } else if (r.type == PERF_RECORD_MMAP2) {
        touch(r.map.path.at, r.map.path.n);
        touch(r.map.build_id.at, r.map.build_id.n);
    } else if (r.type == PERF_RECORD_COMM) {
        touch(r.comm.name.at, r.comm.name.n);
    }
}

/* A copy says what the record says, and is no longer. */
static void copy(struct view bytes, const struct perf_layout *layout)
{
    struct perf_record r, again;
    char *room = aligned_alloc(8, bytes.n);
    size_t n = perf_record_copy(room, layout, bytes);
    bool is_good = perf_record_parse(&r, layout, bytes);
    if (n > bytes.n || n % 8 || perf_record_parse(&again, layout, (struct view){room, n}) != is_good)
        abort();
    if (is_good && (r.type != again.type || r.time_ns != again.time_ns))
        abort();
    if (is_good && r.type == PERF_RECORD_SAMPLE &&
        (r.sample.stack.n != again.sample.stack.n ||
         (r.sample.stack.n && memcmp(r.sample.stack.bytes, again.sample.stack.bytes, r.sample.stack.n) != 0)))
        abort();
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size - 2 > RING_BYTES)
        return 0;
    struct perf_layout layout = {.has_callchain = data[0] & 1};
    uint64_t tail = RING_BYTES - (uint64_t)data[1] * 8, n = size - 2;
    char *memory = aligned_alloc(8, RING_BYTES);
    for (size_t i = 0; i < n; i++)
        memory[(tail + i) & (RING_BYTES - 1)] = (char)data[2 + i];

    struct perf_ring ring;
    perf_ring_over(&ring, memory, RING_BYTES, tail, tail + n);
    struct view bytes;
    while (perf_ring_peek(&ring, &bytes)) {
        take_apart(bytes, &layout);
        copy(bytes, &layout);
        perf_ring_pass(&ring);
    }
    if (ring.tail != ring.head)
        abort();
    perf_ring_close(&ring);
    free(memory);
    return 0;
}
