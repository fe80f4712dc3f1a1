/*
 * An ELF file of any bytes: opened, asked for its sections, and for the places of addresses
 * all over its code. What is handed out is read to its last byte.
 */
#include "symbols/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned char sum;

static void touch(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        sum = (unsigned char)(sum + (unsigned char)v.at[i]);
}

static void ask(struct image *i, uint64_t address)
{
    struct place places[PLACES_MOST];
    for (size_t n = image_places(i, address, places); n; n--) {
        touch(places[n - 1].name);
        touch(places[n - 1].file);
        touch(places[n - 1].function_file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sections[] = {".text", ".eh_frame", ".debug_frame", ""};
    own(image) struct image *i = NULL;
    if (!image_open(&i, &(struct image_file){.bytes = {(const char *)data, size}}, NULL))
        return 0;
    uint64_t at = 0;
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
        touch(image_section(i, sections[k], &at));
    touch(image_build_id(i));
    for (size_t offset = 0; offset < size; offset += size / 64 + 1)
        if (image_virtual_address(i, offset, &at))
            ask(i, at);
    for (at = 0; at < 0x2000; at += 61)
        ask(i, at);
    return 0;
}
