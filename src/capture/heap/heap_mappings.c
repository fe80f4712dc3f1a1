#include "capture/heap/heap_mappings.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void heap_mappings_done(struct heap_mappings *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->pieces[i].path);
    free(m->pieces);
    *m = (struct heap_mappings){0};
}

static bool ends_with(struct view text, struct view end)
{
    return text.n >= end.n && !memcmp(text.at + text.n - end.n, end.at, end.n);
}

bool heap_path_is_weights(struct view path)
{
    return ends_with(path, VIEW(".gguf")) || ends_with(path, VIEW(".safetensors")) || ends_with(path, VIEW(".bin"));
}

static const char *kind_of(uint32_t flags, struct view path)
{
    if (path.n && !view_starts(path, VIEW("/memfd:")) && !view_starts(path, VIEW("/dev/shm/")))
        return "file";
    if (flags & MAP_HUGETLB)
        return "huge";
    if (path.n || (flags & MAP_TYPE) == MAP_SHARED)
        return "shared";
    return flags & (MAP_STACK | MAP_GROWSDOWN) ? "stack" : "anon";
}

/* What the program shares with whoever records it is no memory of its own. */
static bool is_ours(struct view path) { return view_starts(path, VIEW("/memfd:inferom-")); }

/* The first piece that ends behind the address. */
static size_t first_behind(const struct heap_mappings *m, uint64_t address)
{
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->pieces[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool has_room(struct heap_mappings *m)
{
    size_t more = m->cap ? m->cap : 64;
    if (m->n < m->cap)
        return true;
    if (m->n >= MAPPINGS_MOST || !heap_purse_take(m->purse, more * sizeof *m->pieces))
        return false;
    m->pieces = mem_resize(m->pieces, (m->cap + more) * sizeof *m->pieces);
    m->cap += more;
    return true;
}

/* NULL: it has none, or there is no room for it. */
static char *kept_path(struct heap_mappings *m, struct view path)
{
    if (!path.n)
        return NULL;
    if (m->path_bytes + path.n > MAPPINGS_PATHS_MOST || !heap_purse_take(m->purse, path.n + 1)) {
        m->lost++;
        return NULL;
    }
    char *text = mem_text(path.at, path.n);
    m->path_bytes += strlen(text) + 1;
    return text;
}

static void drop_path(struct heap_mappings *m, char *path)
{
    if (!path)
        return;
    m->path_bytes -= strlen(path) + 1;
    heap_purse_give(m->purse, strlen(path) + 1);
    free(path);
}

static void put(struct heap_mappings *m, size_t at, struct heap_piece p)
{
    memmove(m->pieces + at + 1, m->pieces + at, (m->n - at) * sizeof p);
    m->pieces[at] = p;
    m->n++;
}

/* Cuts [start, end) out of piece i. True: it is gone, and the next one has its place. */
static bool cut(struct heap_mappings *m, size_t i, uint64_t start, uint64_t end, uint64_t when_ns, heap_mapping_taker tell, void *self)
{
    struct heap_piece *p = &m->pieces[i];
    uint64_t from = start > p->start ? start : p->start, to = end < p->end ? end : p->end;
    bool has_front = from > p->start, has_back = to < p->end;
    if (has_front && has_back && !has_room(m)) { /* nobody can remember what is behind the hole */
        to = p->end;
        has_back = false;
        m->lost++;
    }
    p = &m->pieces[i];
    tell(self, p, has_front + has_back - 1, -(int64_t)(to - from), when_ns);
    if (has_front && has_back) {
        struct heap_piece back = *p;
        back.start = to;
        back.path = p->path ? kept_path(m, view_of(p->path)) : NULL;
        p->end = from;
        put(m, i + 1, back);
        return false;
    }
    if (has_front)
        p->end = from;
    else if (has_back)
        p->start = to;
    else {
        drop_path(m, p->path);
        memmove(p, p + 1, (m->n - i - 1) * sizeof *p);
        m->n--;
        return true;
    }
    return false;
}

static void unmap(struct heap_mappings *m, uint64_t start, uint64_t end, uint64_t when_ns, heap_mapping_taker tell, void *self)
{
    size_t i = first_behind(m, start);
    while (i < m->n && m->pieces[i].start < end)
        if (!cut(m, i, start, end, when_ns, tell, self))
            i++;
}

/* Lengths are whole pages, and nothing is at or beyond 2^56. */
void heap_mappings_take(struct heap_mappings *m, const struct heap_mapping *news, struct view path, heap_mapping_taker tell, void *self)
{
    uint64_t most = UINT64_C(1) << 56, length = (news->length + 4095) & ~UINT64_C(4095);
    struct heap_piece p = {.start = news->address, .stack = news->stack, .thread = news->thread};
    if (news->what == HEAP_BREAK) {
        int64_t by = (int64_t)news->length;
        p.kind = "brk";
        if (by < (int64_t)most && by > -(int64_t)most)
            tell(self, &p, by > 0 ? 1 : -1, by, news->head.when_ns);
        return;
    }
    if (news->address >= most || news->length >= most || length == 0)
        return;
    p.end = p.start + length;
    unmap(m, p.start, p.end, news->head.when_ns, tell, self);
    if (news->what != HEAP_MAPPED || is_ours(path))
        return;
    if (!has_room(m)) {
        m->lost++;
        return;
    }
    p.kind = kind_of(news->flags, path);
    p.path = kept_path(m, path);
    put(m, first_behind(m, p.start), p);
    tell(self, &p, 1, (int64_t)length, news->head.when_ns);
}
