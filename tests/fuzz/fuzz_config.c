/*
 * Reads a settings file. One that is accepted was checked whole: then every
 * owner must be able to take its settings from it.
 */
#include "verbs/settings.h"
#include "verbs/settings_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    own(reader) struct reader in;
    reader_over(&in, "fuzz", (struct view){(const char *)data, size});
    own(settings_file) struct settings_file *file = NULL;
    if (!settings_file_read(&in, &file, NULL))
        return 0;
    struct owner owner;
    for (size_t i = 0; owner_at(i, &owner); i++) {
        own(settings) struct settings *s = settings_new(owner);
        if (!settings_from_file(s, file, NULL))
            abort();
    }
    return 0;
}
