/* A stream of prompts is read to its end; and any text that is written as a prompt comes back as it was. */
#include "formats/prompt_stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct view bytes)
{
    struct err e = {0};
    own(reader) struct reader r;
    own(buf) struct buf prompt;
    reader_over(&r, "fuzz", bytes);
    buf_init(&prompt, 1 << 16);
    while (prompt_read(&r, NULL, &prompt, &e))
        ;
}

static void there_and_back(struct view text)
{
    struct err e = {0};
    struct sink s;
    own(buf) struct buf stream;
    own(buf) struct buf back;
    buf_init(&stream, 4 * text.n + 64);
    buf_init(&back, text.n + 64);
    sink_to_buf(&s, &stream);
    prompt_write(&s, text);
    prompt_write(&s, VIEW("q"));
    prompt_write_end(&s);
    if (!sink_flush(&s, &e))
        abort();
    own(reader) struct reader r;
    reader_over(&r, "fuzz", buf_view(&stream));
    if (!prompt_read(&r, NULL, &back, &e) || !view_same(buf_view(&back), text))
        abort();
    if (!prompt_read(&r, NULL, &back, &e) || !view_same(buf_view(&back), VIEW("q")) || prompt_read(&r, NULL, &back, &e) || e.kind)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view bytes = {(const char *)data, size};
    read_all(bytes);
    there_and_back(bytes);
    return 0;
}
