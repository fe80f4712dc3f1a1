#include "base/arena.h"
#include "base/mem.h"

#include <stdalign.h>
#include <stdint.h>

#define FIRST_BLOCK ((size_t)4 << 10)
#define LARGEST_BLOCK ((size_t)1 << 20)

struct arena_block {
    struct arena_block *older;
    size_t used, size;
    alignas(max_align_t) char bytes[];
};

/* Blocks double up to a megabyte, so that small arenas stay small and large ones rarely ask. */
static struct arena_block *block_for(struct arena *a, size_t bytes)
{
    size_t size = a->newest ? a->newest->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < bytes)
        size = bytes;
    struct arena_block *b = mem_resize(NULL, sizeof *b + size);
    b->older = a->newest;
    b->used = 0;
    b->size = size;
    a->newest = b;
    a->held_bytes += sizeof *b + size;
    return b;
}

static void *cut(struct arena *a, size_t bytes, size_t align)
{
    struct arena_block *b = a->newest;
    size_t from = b ? (b->used + align - 1) & ~(align - 1) : 0;
    if (!b || from > b->size || bytes > b->size - from) {
        b = block_for(a, bytes);
        from = 0;
    }
    b->used = from + bytes;
    return b->bytes + from;
}

void *arena_new(struct arena *a, size_t bytes) { return cut(a, bytes, alignof(max_align_t)); }

char *arena_text(struct arena *a, struct view text)
{
    char *copy = cut(a, text.n + 1, 1);
    if (text.n)
        memcpy(copy, text.at, text.n);
    copy[text.n] = '\0';
    return copy;
}

void arena_done(struct arena *a)
{
    for (struct arena_block *b = a->newest, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    *a = (struct arena){0};
}
