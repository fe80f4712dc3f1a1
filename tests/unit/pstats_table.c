/* pstats_table FILE ORDER [ROWS]: the table of a .stats file, in any order; test_pstats.py compares it with Python's. */
#include "base/text.h"
#include "formats/format.h"
#include "render/pstats_text.h"

static enum pstats_order order_named(const char *name)
{
    for (int i = 0; i < PSTATS_ORDER_COUNT; i++)
        if (!strcmp(pstats_order_names[i], name))
            return (enum pstats_order)i;
    return PSTATS_ORDER_COUNT;
}

int main(int argc, char **argv)
{
    own(profile) struct profile *p = NULL;
    struct err e = {0};
    struct sink out;
    uint64_t rows = 0;
    if (argc < 3 || order_named(argv[2]) == PSTATS_ORDER_COUNT || (argc > 3 && !text_to_uint(view_of(argv[3]), &rows)))
        return 2;
    struct pstats_look look = {.source = argv[1], .order = order_named(argv[2]), .most_rows = rows};
    sink_to_fd(&out, STDOUT_FILENO, "standard output");
    if (profile_open(argv[1], &p, &e) && pstats_print(p, &look, &out, &e) && sink_flush(&out, &e))
        return 0;
    fprintf(stderr, "%s\n", e.text);
    return 1;
}
