/* The file of a machine's figures: somebody may have edited it. What is read can be asked and written again. */
#include "base/json.h"
#include "lab/roof.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    own(reader) struct reader in;
    struct roof r;
    struct err e = {0};
    reader_over(&in, "roof", (struct view){(const char *)data, size});
    if (!roof_read(&r, &in, &e)) {
        if (!e.kind)
            abort();
        return 0;
    }
    struct work w = {.flops = 1, .bytes = 1, .working_set = size, .level = "avx2", .beyond = "read", .threads = 2};
    roof_limit(&r, &w);
    own(buf) struct buf out;
    buf_init(&out, 1 << 20);
    struct sink sink;
    struct json_writer json;
    sink_to_buf(&sink, &out);
    json_to(&json, &sink);
    roof_json(&r, &json);
    if (!sink_flush(&sink, &e))
        abort();
    return 0;
}
