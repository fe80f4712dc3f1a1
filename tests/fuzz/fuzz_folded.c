#include "there_and_back.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)format_named("folded")->sniff((struct view){(const char *)data, size});
    there_and_back(format_named("folded"), (struct view){(const char *)data, size});
    return 0;
}
