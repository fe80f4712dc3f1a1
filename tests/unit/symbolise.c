/*
 * symbolise - addr2line -afi, with our eyes; for the tests
 *
 *     symbolise FILE [ROOT] < addresses in hex
 *
 * An unknown name is printed as ??, an unknown place as ??:0.
 */
#include "symbols/symbols.h"

#include <inttypes.h>

static void print_place(const struct place *p)
{
    printf("%.*s\n", p->name.n ? (int)p->name.n : 2, p->name.n ? p->name.at : "??");
    printf("%.*s:%u\n", p->file.n ? (int)p->file.n : 2, p->file.n ? p->file.at : "??", p->line);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    own(image) struct image *i = NULL;
    if (argc < 2 || !image_open(&i, &(struct image_file){.path = argv[1], .root = argc > 2 ? argv[2] : NULL}, &e)) {
        fprintf(stderr, "symbolise: %s\n", argc < 2 ? "which file?" : e.text);
        return 1;
    }
    for (char line[64]; fgets(line, sizeof line, stdin);) {
        struct place places[PLACES_MOST];
        uint64_t address = strtoull(line, NULL, 16);
        size_t n = image_places(i, address, places);
        printf("0x%" PRIx64 "\n", address);
        for (size_t k = 0; k < n; k++)
            print_place(&places[k]);
    }
    return 0;
}
