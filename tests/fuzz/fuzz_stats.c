#include "there_and_back.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    there_and_back(format_named("stats"), (struct view){(const char *)data, size});
    return 0;
}
