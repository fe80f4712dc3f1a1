#include "symbols/debug_file.h"
#include "base/buf.h"

#include <zlib.h>

#define DEBUG_FOLDER "/usr/lib/debug"
#define BUILD_ID_MOST 64
#define PATH_MOST 4096

static bool has_debug_part(const struct elf_file *f)
{
    return elf_file_section(f, ".symtab") || elf_file_section(f, ".debug_info") || elf_file_section(f, ".debug_line");
}

struct link {
    struct view name;
    uint32_t checksum;
};

/* The name, padding to four bytes, the checksum. */
static bool read_link(const struct elf_file *f, struct link *out)
{
    const struct elf_section *s = elf_file_section(f, ".gnu_debuglink");
    struct link l = {.name = s ? elf_text_at(s->bytes, 0) : VIEW("")};
    size_t at = (l.name.n + 4) & ~(size_t)3;
    if (!l.name.n || memchr(l.name.at, '/', l.name.n) || at + sizeof l.checksum > s->bytes.n)
        return false;
    memcpy(&l.checksum, s->bytes.at + at, sizeof l.checksum);
    *out = l;
    return true;
}

static uint32_t checksum_of(struct view bytes)
{
    return (uint32_t)crc32_z(0, (const Bytef *)bytes.at, bytes.n);
}

/* `l` is NULL when the name was made from the build id. */
static bool belongs(const struct elf_file *debug, const struct elf_file *of, const struct link *l)
{
    if (of->build_id.n && debug->build_id.n)
        return view_same(of->build_id, debug->build_id);
    return l && checksum_of(debug->bytes) == l->checksum;
}

/* Where it stands for the process, then for us: a container rarely brings its debug files. */
static struct elf_file *try_path(const char *path, const char *root, const struct elf_file *of, const struct link *l)
{
    const char *const roots[] = {root, ""};
    for (size_t i = root && *root ? 0 : 1; i < 2; i++) {
        own(elf_file) struct elf_file *f = NULL;
        if (elf_file_open(&f, roots[i], path, NULL) && belongs(f, of, l) && has_debug_part(f))
            return take(f);
    }
    return NULL;
}

static struct elf_file *by_build_id(const struct elf_file *of, const char *root)
{
    struct view id = of->build_id;
    if (id.n < 2 || id.n > BUILD_ID_MOST)
        return NULL;
    char hex[2 * BUILD_ID_MOST + 1], path[PATH_MOST];
    for (size_t i = 0; i < id.n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)id.at[i]);
    snprintf(path, sizeof path, DEBUG_FOLDER "/.build-id/%.2s/%s.debug", hex, hex + 2);
    return try_path(path, root, of, NULL);
}

static struct elf_file *by_link(const struct elf_file *of, const char *root, const char *path)
{
    static const struct {
        const char *before, *after;
    } places[] = {{"", ""}, {"", "/.debug"}, {DEBUG_FOLDER, ""}};
    struct link l;
    const char *slash = strrchr(path, '/');
    if (!slash || !read_link(of, &l))
        return NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char name[PATH_MOST];
        int n = snprintf(name, sizeof name, "%s%.*s%s/%.*s", places[i].before, (int)(slash - path), path, places[i].after,
                         (int)l.name.n, l.name.at);
        struct elf_file *found = n < PATH_MOST ? try_path(name, root, of, &l) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

struct elf_file *debug_file_find(struct elf_file *of, const char *root, const char *path)
{
    if (elf_file_section(of, ".symtab") && elf_file_section(of, ".debug_info"))
        return NULL; /* nothing was stripped */
    struct elf_file *found = by_build_id(of, root);
    return found || !path ? found : by_link(of, root, path);
}

#ifdef HAVE_LZMA
#include <lzma.h>

#define MINI_MOST ((size_t)256 << 20) /* unpacked; Fedora's largest are a few MiB */
#define MINI_MEMORY_MOST ((uint64_t)128 << 20)

static bool unpack(struct view packed, struct buf *out)
{
    lzma_stream s = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&s, MINI_MEMORY_MOST, 0) != LZMA_OK)
        return false;
    s.next_in = (const uint8_t *)packed.at;
    s.avail_in = packed.n;
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK) {
        uint8_t piece[16384];
        s.next_out = piece;
        s.avail_out = sizeof piece;
        status = lzma_code(&s, LZMA_FINISH);
        buf_add(out, piece, sizeof piece - s.avail_out);
        if (out->full)
            break;
    }
    lzma_end(&s);
    return status == LZMA_STREAM_END;
}

struct elf_file *debug_file_inside(struct elf_file *of)
{
    const struct elf_section *s = elf_file_section(of, ".gnu_debugdata");
    if (!s)
        return NULL;
    own(buf) struct buf plain;
    buf_init(&plain, MINI_MOST);
    struct elf_file *f = NULL;
    if (!unpack(s->bytes, &plain) || !elf_file_over(&f, buf_view(&plain), NULL))
        return NULL;
    return f;
}
#else
struct elf_file *debug_file_inside(struct elf_file *of)
{
    (void)of;
    return NULL;
}
#endif
