/* Our own capture files, beside everybody else's. */
#include "formats/format.h"
#include "model/capture_reader.h"
#include "model/capture_writer.h"

static bool read_capture(struct builder *into, struct reader *in, struct err *e)
{
    return capture_read(into, in, NULL, e);
}

static bool write_capture(const struct profile *p, struct sink *out, struct err *e)
{
    return capture_write_profile(p, CHUNK_PACKED, out, e);
}

const struct format format_inferom = {
    .name = "inferom",
    .suffix = ".inferom",
    .what = "Inferometer's capture file: everything a profile holds, compressed",
    .sniff = chunk_sniff,
    .read = read_capture,
    .write = write_capture,
};
