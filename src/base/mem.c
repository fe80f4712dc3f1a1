#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_stop(void *p, size_t bytes)
{
    if (!p && bytes) {
        fprintf(stderr, "inferom: out of memory (%zu bytes more were needed)\n", bytes);
        exit(8);
    }
    return p;
}

void *mem_new(size_t bytes) { return or_stop(calloc(1, bytes ? bytes : 1), bytes); }
void *mem_resize(void *p, size_t bytes) { return or_stop(realloc(p, bytes), bytes); }

char *mem_text(const char *s, size_t n)
{
    char *copy = or_stop(malloc(n + 1), n + 1);
    if (n)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

void *mem_grow(void *table, size_t *cap, size_t need, size_t row_bytes)
{
    if (need <= *cap)
        return table;
    size_t bigger = *cap ? *cap : 16;
    while (bigger < need)
        bigger = bigger > SIZE_MAX / 2 ? need : bigger * 2;
    size_t bytes;
    if (__builtin_mul_overflow(bigger, row_bytes, &bytes))
        or_stop(NULL, SIZE_MAX);
    table = mem_resize(table, bytes);
    *cap = bigger;
    return table;
}
