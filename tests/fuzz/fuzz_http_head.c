/*
 * Judges a head as it arrives, a byte more each time. What is bad or good stays so whatever follows, and
 * a good one ends where its empty line does.
 */
#include "net/http_head.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_head_rules rules = {.most_bytes = 512, .most_body_bytes = 1 << 20, .only_local_names = true};
    const char *bytes = (const char *)data;
    struct http_head last = {.is = HTTP_HEAD_MORE};
    for (size_t n = 0; n <= size && n <= 600; n++) {
        struct http_head now = http_head_judge((struct view){bytes, n}, &rules);
        if (last.is != HTTP_HEAD_MORE && (now.is != last.is || now.status != last.status || now.bytes != last.bytes))
            abort();
        if (now.is == HTTP_HEAD_GOOD && (now.bytes > n || memcmp(bytes + now.bytes - 4, "\r\n\r\n", 4) != 0))
            abort();
        last = now;
    }
    return 0;
}
