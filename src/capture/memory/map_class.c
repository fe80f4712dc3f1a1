#include "capture/memory/map_class.h"

const char *const map_kind_names[MAP_KIND_COUNT + 1] = {
    [MAP_FILE_PAGES] = "file", [MAP_ANON] = "anon",   [MAP_HUGE] = "huge", [MAP_SHARED_MEMORY] = "shared",
    [MAP_STACK] = "stack",     [MAP_BRK] = "brk",
};

/* How a path begins, and what that means. The first that fits. */
static const struct {
    struct view start;
    enum map_kind kind;
} beginnings[] = {
    {VIEW("[heap]"), MAP_BRK},
    {VIEW("[stack"), MAP_STACK},
    {VIEW("[anon_shmem:"), MAP_SHARED_MEMORY}, /* named by prctl() */
    {VIEW("[anon:"), MAP_ANON},
    {VIEW("/memfd:"), MAP_SHARED_MEMORY},
    {VIEW("/dev/shm/"), MAP_SHARED_MEMORY},
    {VIEW("/dev/zero"), MAP_SHARED_MEMORY},
    {VIEW("/SYSV"), MAP_SHARED_MEMORY},
    {VIEW("/anon_hugepage"), MAP_HUGE},
    {VIEW("/dev/hugepages/"), MAP_HUGE},
    {VIEW("//anon"), MAP_ANON},
    {VIEW("/"), MAP_FILE_PAGES},
};

bool map_kind_of(const struct map_news *m, enum map_kind *out)
{
    *out = MAP_ANON;
    if (!m->has_access)
        return false;
    if (!m->path.n) {
        *out = m->is_shared ? MAP_SHARED_MEMORY : MAP_ANON;
        return true;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (view_starts(m->path, beginnings[i].start)) {
            *out = beginnings[i].kind;
            return true;
        }
    }
    return m->path.at[0] != '['; /* [vdso], [vvar], [vsyscall], [uprobes] */
}

struct view map_path(const struct map_news *m)
{
    struct view path = m->path, word = VIEW(" (deleted)");
    if (view_ends(path, word))
        path.n -= word.n;
    return path;
}

/* Endings that only weights have, and those that others have as well: then it has to be large. */
static const struct {
    struct view end;
    uint64_t least_bytes;
} endings[] = {
    {VIEW(".gguf"), 0},        {VIEW(".ggml"), 0},       {VIEW(".safetensors"), 0}, {VIEW(".onnx"), 0},
    {VIEW(".bin"), 1u << 20},  {VIEW(".pt"), 1u << 20},  {VIEW(".pth"), 1u << 20},  {VIEW(".npz"), 1u << 20},
    {VIEW(".npy"), 1u << 20},  {VIEW(".weights"), 1u << 20},
};

bool map_is_weights(struct view path, uint64_t mapped_bytes)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (view_ends(path, endings[i].end) && mapped_bytes > endings[i].least_bytes)
            return true;
    return false;
}
