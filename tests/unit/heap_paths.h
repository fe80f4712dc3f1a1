/* heap_paths.h - rows of a heap by the words of their path */
#pragma once
#include "analyse/heap.h"
#include "check.h"

/* "leaky < work < main" */
static inline const char *path_text(const struct heap *h, uint32_t node, char out[256])
{
    func_id f[16];
    size_t n = heap_path(&h->tree, node, f, 16);
    out[0] = '\0';
    for (size_t i = 0; i < n && i < 16; i++) {
        size_t at = strlen(out);
        snprintf(out + at, 256 - at, "%s%s", i ? " < " : "", profile_string(h->p, profile_function(h->p, f[i])->name).at);
    }
    return out;
}

static inline const struct heap_sums *sums_at(const struct heap *h, const char *path)
{
    char text[256];
    for (size_t i = 0; i < h->n; i++)
        if (!strcmp(path_text(h, h->rows[i].node, text), path))
            return &h->rows[i].sums;
    printf("no path %s\n", path);
    check_failures++;
    return &h->whole;
}
