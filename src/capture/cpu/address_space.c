#include "capture/cpu/address_space.h"
#include "base/mem.h"
#include "base/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/sysmacros.h>

void space_done(struct address_space *s)
{
    free(s->maps);
    free(s->walk);
    *s = (struct address_space){0};
}

void space_clear(struct address_space *s) { s->n = 0; }

static void make_room(struct address_space *s, size_t n)
{
    GROW(s->maps, s->maps_cap, n);
    GROW(s->walk, s->walk_cap, n);
}

void space_copy(struct address_space *to, const struct address_space *from)
{
    make_room(to, from->n + 1);
    to->n = from->n;
    if (!from->n)
        return;
    memcpy(to->maps, from->maps, from->n * sizeof *from->maps);
    memcpy(to->walk, from->walk, from->n * sizeof *from->walk);
}

static void put(struct address_space *s, size_t at, const struct code_map *m, const struct unwind_map *w)
{
    make_room(s, s->n + 1);
    memmove(s->maps + at + 1, s->maps + at, (s->n - at) * sizeof *s->maps);
    memmove(s->walk + at + 1, s->walk + at, (s->n - at) * sizeof *s->walk);
    s->maps[at] = *m;
    s->walk[at] = *w;
    s->n++;
}

static void drop(struct address_space *s, size_t from, size_t to)
{
    if (from == to)
        return;
    memmove(s->maps + from, s->maps + to, (s->n - to) * sizeof *s->maps);
    memmove(s->walk + from, s->walk + to, (s->n - to) * sizeof *s->walk);
    s->n -= to - from;
}

/* The first map that ends behind the address. */
static size_t first_behind(const struct address_space *s, uint64_t address)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->maps[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Makes a border at this address: a map that lies across it becomes two. */
static void split(struct address_space *s, uint64_t at)
{
    size_t i = first_behind(s, at);
    if (i == s->n || s->maps[i].start >= at)
        return;
    struct code_map rest = s->maps[i];
    struct unwind_map rest_walk = s->walk[i];
    rest.file_offset += at - rest.start;
    rest.start = rest_walk.start = at;
    s->maps[i].end = s->walk[i].end = at;
    put(s, i + 1, &rest, &rest_walk);
}

void space_add(struct address_space *s, const struct code_map *m)
{
    if (m->start >= m->end)
        return;
    split(s, m->start);
    split(s, m->end);
    size_t from = first_behind(s, m->start), to = from;
    while (to < s->n && s->maps[to].start < m->end)
        to++;
    drop(s, from, to);
    put(s, from, m, &(struct unwind_map){.start = m->start, .end = m->end});
}

const struct code_map *space_at(const struct address_space *s, uint64_t address)
{
    size_t i = first_behind(s, address);
    return i < s->n && s->maps[i].start <= address ? &s->maps[i] : NULL;
}

/* Opening what is behind a map. */

static void make_ready(struct address_space *s, size_t i, struct code_files *files, int32_t pid)
{
    struct code_map *m = &s->maps[i];
    m->is_ready = true;
    if (!m->file.i)
        return;
    code_files_open(files, m->file, &(struct code_file_place){pid, m->start, m->end});
    s->walk[i].table = code_files_table(files, m->file);
    s->walk[i].bias = m->start - code_files_address(files, m->file, m->file_offset);
}

bool space_ready(struct address_space *s, struct code_files *files, int32_t pid, uint64_t address)
{
    const struct code_map *m = space_at(s, address);
    if (!m || m->is_ready)
        return false;
    make_ready(s, (size_t)(m - s->maps), files, pid);
    return true;
}

void space_ready_all(struct address_space *s, struct code_files *files, int32_t pid)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->maps[i].is_ready)
            make_ready(s, i, files, pid);
}

struct unwind_space space_walk(const struct address_space *s)
{
#ifdef __aarch64__
    enum unwind_arch arch = UNWIND_ARM64;
#else
    enum unwind_arch arch = UNWIND_X86_64;
#endif
    return (struct unwind_space){.arch = arch, .maps = s->walk, .n = s->n};
}

/* What it is of: only what has a path, or is the kernel's own page of code, is a file. "//anon" and its like are not. */
static code_file_id file_of(struct code_files *files, const struct map_news *m)
{
    bool is_file = m->path.n && (m->path.at[0] == '/' || view_same(m->path, VIEW("[vdso]"))) && !view_starts(m->path, VIEW("//"));
    struct code_file_key key = {.path = m->path, .build_id = m->build_id, .device = makedev(m->device_major, m->device_minor),
                                .inode = m->inode};
    return is_file ? code_files_find(files, &key) : CODE_FILE_NONE;
}

void space_news(struct address_space *s, struct code_files *files, const struct map_news *m)
{
    if (m->is_code)
        space_add(s, &(struct code_map){.start = m->start, .end = m->start + m->length, .file_offset = m->file_offset,
                                        .file = file_of(files, m)});
}

bool space_read(struct address_space *s, struct code_files *files, const char *proc, int32_t pid, struct err *e)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%" PRId32 "/maps", proc, pid);
    own(reader) struct reader r;
    if (!reader_open(&r, path, e))
        return false;
    struct err failed = {0};
    struct view line;
    struct address_space fresh = {0};
    while (reader_line(&r, &line, &failed)) {
        struct map_news m;
        if (maps_line_parse(line, &m))
            space_news(&fresh, files, &m);
    }
    if (failed.kind || !fresh.n) { /* a process that has ended shows an empty list: the old one knows more */
        space_done(&fresh);
        if (failed.kind && e)
            *e = failed;
        return !failed.kind;
    }
    space_done(s);
    *s = fresh;
    return true;
}
