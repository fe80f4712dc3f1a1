/*
 * Reads a capture file. Checksums would keep a fuzzer out of everything behind
 * them, so an input that does not begin like a file is taken as a list of
 * payloads, and true chunks are made around them:
 *
 *     type (1 byte) | length (2 bytes) | payload | type | ...
 *
 * What could be read is written and read again: nothing may be different then.
 */
#include "model/capture_reader.h"
#include "model/capture_writer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct profile *read_profile(struct view bytes)
{
    own(reader) struct reader in;
    reader_over(&in, "fuzz", bytes);
    own(builder) struct builder *b = builder_new();
    struct profile *p = NULL;
    if (capture_read(b, &in, NULL, NULL) && builder_finish(take(b), &p, NULL))
        return p;
    return NULL;
}

static void forge(const uint8_t *data, size_t size, struct buf *out)
{
    struct sink sink;
    sink_to_buf(&sink, out);
    own(chunk_writer) struct chunk_writer w;
    chunk_writer_init(&w, &sink, 1, CHUNK_PLAIN);
    while (size >= 3) {
        size_t n = (size_t)data[1] | (size_t)data[2] << 8;
        n = n < size - 3 ? n : size - 3;
        chunk_put(&w, (enum chunk_type)(data[0] % CHUNK_TYPE_COUNT), 0, (struct view){(const char *)data + 3, n});
        data += 3 + n;
        size -= 3 + n;
    }
    chunk_put_end(&w);
    if (!sink_flush(&sink, NULL))
        abort();
}

static size_t samples(const struct profile *p)
{
    size_t n = 0;
    for (uint32_t i = 0; i < profile_sets(p); i++)
        n += profile_set(p, (set_id){i})->n;
    return n;
}

static void check_written(const struct profile *p)
{
    own(buf) struct buf bytes;
    buf_init(&bytes, (size_t)1 << 30);
    struct sink sink;
    sink_to_buf(&sink, &bytes);
    if (!capture_write_profile(p, CHUNK_PLAIN, &sink, NULL))
        abort();
    own(profile) struct profile *again = read_profile(buf_view(&bytes));
    if (!again || samples(again) != samples(p) || profile_spans(again) != profile_spans(p) ||
        profile_strings(again) != profile_strings(p) || profile_stacks(again) != profile_stacks(p) ||
        profile_facts(again) != profile_facts(p) || profile_damages(again) != profile_damages(p))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    own(buf) struct buf forged;
    buf_init(&forged, 64 * size + 4096);
    struct view bytes = {(const char *)data, size};
    if (size && data[0] < CHUNK_TYPE_COUNT) {
        forge(data, size, &forged);
        bytes = buf_view(&forged);
    }
    own(profile) struct profile *p = read_profile(bytes);
    if (p)
        check_written(p);
    return 0;
}
