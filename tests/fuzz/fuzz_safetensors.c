/* The header of a safetensors file, as if the file were just as long as the last tensor needs, and as short as it is. */
#include "lab/safetensors.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view header = {(const char *)data, size};
    const uint64_t sizes[] = {size, size + 64, UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct err e = {0};
        own(safetensors) struct safetensors s = {0};
        if (!safetensors_over(header, sizes[i], &s, &e))
            continue;
        safetensors_usual_type(&s);
        for (size_t k = 0; k < s.n; k++)
            if (s.at[k].end > s.data_bytes || (k && s.at[k].begin < s.at[k - 1].end))
                abort();
    }
    return 0;
}
