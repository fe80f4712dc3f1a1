#include "symbols/elf_file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <zlib.h>
#include <zstd.h>

#define UNPACKED_MOST ((uint64_t)4 << 30) /* of one section; a small file can claim any size */
#define PACKED_RATIO_MOST 1032            /* deflate cannot do better; zstd could, on bytes no compiler writes */
#define NOTE_BUILD_ID 3                   /* of owner "GNU" */

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

void elf_path_under(char *out, size_t size, const char *root, const char *path)
{
    snprintf(out, size, "%s%s", root ? root : "", path);
}

/*
 * An absolute link below /proc/42/root would lead to our own files: the kernel
 * resolves it against our root. RESOLVE_IN_ROOT asks for the other process's view.
 * Kernels before 5.6, and some sandboxes, do not have the call.
 */
static int open_under(const char *root, const char *path)
{
    /* A pipe of that name must not make us wait for a writer. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    if (!root || !*root)
        return open(path, flags);
    own(close) int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return -1;
    struct open_how how = {.flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT};
    int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return fd;
    while (*path == '/')
        path++;
    return openat(dir, path, flags);
}

static bool map_file(struct elf_file *f, const char *root, const char *path, struct err *e)
{
    char name[4096];
    elf_path_under(name, sizeof name, root, path);
    own(close) int fd = open_under(root, path);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_os(e, "%s", name);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_MALFORMED, "%s: not a regular file", name);
    if (st.st_size < (off_t)sizeof(Elf64_Ehdr))
        return err_set(e, ERR_MALFORMED, "%s: too short for an ELF file", name);
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return err_os(e, "mapping %s", name);
    f->mapped = p; /* the map outlives the descriptor */
    f->bytes = (struct view){p, (size_t)st.st_size};
    return true;
}

/* The part of `whole` at [at, at + n), cut at its end. */
static struct view cut(struct view whole, uint64_t at, uint64_t n)
{
    if (at >= whole.n)
        return VIEW("");
    uint64_t left = whole.n - at;
    return (struct view){whole.at + at, (size_t)(n < left ? n : left)};
}

/* All of [at, at + n), or nothing. */
static struct view all_of(struct view whole, uint64_t at, uint64_t n)
{
    struct view v = cut(whole, at, n);
    return v.n == n ? v : VIEW("");
}

struct view elf_text_at(struct view table, uint64_t at)
{
    struct view rest = cut(table, at, UINT64_MAX);
    const char *end = rest.n ? memchr(rest.at, '\0', rest.n) : NULL;
    return end ? view_between(rest.at, end) : VIEW("");
}

static bool read_head(struct elf_file *f, struct err *e)
{
    if (f->bytes.n < sizeof f->head || memcmp(f->bytes.at, ELFMAG, SELFMAG) != 0)
        return err_set(e, ERR_MALFORMED, "not an ELF file");
    memcpy(&f->head, f->bytes.at, sizeof f->head);
    if (f->head.e_ident[EI_CLASS] != ELFCLASS64)
        return err_set(e, ERR_UNSUPPORTED, "an ELF file for 32 bits; only 64 are read");
    if (f->head.e_ident[EI_DATA] != ELFDATA2LSB)
        return err_set(e, ERR_UNSUPPORTED, "a big-endian ELF file; only little-endian ones are read");
    return true;
}

static void read_segments(struct elf_file *f)
{
    if (f->head.e_phentsize != sizeof(Elf64_Phdr))
        return;
    struct view rows = cut(f->bytes, f->head.e_phoff, f->head.e_phnum * sizeof(Elf64_Phdr));
    size_t n = rows.n / sizeof(Elf64_Phdr);
    Elf64_Phdr *segments = mem_new(n * sizeof *segments);
    if (n)
        memcpy(segments, rows.at, n * sizeof *segments);
    f->segments = segments;
    f->n_segments = n;
}

static struct elf_section section_from(const struct elf_file *f, const Elf64_Shdr *h)
{
    return (struct elf_section){
        .bytes = h->sh_type == SHT_NOBITS ? VIEW("") : all_of(f->bytes, h->sh_offset, h->sh_size),
        .address = h->sh_addr,
        .size = h->sh_size,
        .flags = h->sh_flags,
        .type = h->sh_type,
        .link = h->sh_link,
    };
}

/* The first row holds what does not fit into 16 bits of the file's head. */
static void read_sections(struct elf_file *f)
{
    Elf64_Shdr first, h;
    struct view row = all_of(f->bytes, f->head.e_shoff, sizeof first);
    if (!f->head.e_shoff || f->head.e_shentsize != sizeof h || !row.n)
        return;
    memcpy(&first, row.at, sizeof first);
    uint64_t count = f->head.e_shnum ? f->head.e_shnum : first.sh_size;
    uint64_t names_row = f->head.e_shstrndx == SHN_XINDEX ? first.sh_link : f->head.e_shstrndx;
    uint64_t room = (f->bytes.n - f->head.e_shoff) / sizeof h;
    size_t n = (size_t)(count < room ? count : room);

    f->sections = mem_new(n * sizeof *f->sections);
    f->unpacked = mem_new(n * sizeof *f->unpacked);
    f->n_sections = n;
    const char *rows = f->bytes.at + f->head.e_shoff;
    for (size_t i = 0; i < n; i++) {
        memcpy(&h, rows + i * sizeof h, sizeof h);
        f->sections[i] = section_from(f, &h);
    }
    for (size_t i = 0; names_row < n && i < n; i++) {
        memcpy(&h, rows + i * sizeof h, sizeof h);
        f->sections[i].name = elf_text_at(f->sections[names_row].bytes, h.sh_name);
    }
}

static struct view build_id_in(struct view notes)
{
    while (notes.n >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr h;
        memcpy(&h, notes.at, sizeof h);
        uint64_t owner_room = ((uint64_t)h.n_namesz + 3) & ~UINT64_C(3);
        uint64_t bytes_room = ((uint64_t)h.n_descsz + 3) & ~UINT64_C(3);
        struct view owner = all_of(notes, sizeof h, h.n_namesz);
        struct view bytes = all_of(notes, sizeof h + owner_room, h.n_descsz);
        if (h.n_type == NOTE_BUILD_ID && view_same(owner, VIEW("GNU\0")))
            return bytes;
        notes = cut(notes, sizeof h + owner_room + bytes_room, UINT64_MAX);
    }
    return VIEW("");
}

/* Sections first: in a separate debug file the segments point at bytes that were left out. */
static struct view find_build_id(const struct elf_file *f)
{
    struct view id = VIEW("");
    for (size_t i = 0; !id.n && i < f->n_sections; i++)
        if (f->sections[i].type == SHT_NOTE)
            id = build_id_in(f->sections[i].bytes);
    for (size_t i = 0; !id.n && i < f->n_segments; i++)
        if (f->segments[i].p_type == PT_NOTE)
            id = build_id_in(cut(f->bytes, f->segments[i].p_offset, f->segments[i].p_filesz));
    return id;
}

static bool read_tables(struct elf_file *f, struct err *e)
{
    if (!read_head(f, e))
        return false;
    read_segments(f);
    read_sections(f);
    f->build_id = find_build_id(f);
    return true;
}

bool elf_file_open(struct elf_file **out, const char *root, const char *path, struct err *e)
{
    own(elf_file) struct elf_file *f = mem_new(sizeof *f);
    if (!map_file(f, root, path, e))
        return false;
    if (!read_tables(f, e))
        return err_in(e, "%s%s", root ? root : "", path);
    *out = take(f);
    return true;
}

bool elf_file_over(struct elf_file **out, struct view bytes, struct err *e)
{
    own(elf_file) struct elf_file *f = mem_new(sizeof *f);
    f->heap = mem_new(bytes.n);
    if (bytes.n)
        memcpy(f->heap, bytes.at, bytes.n);
    f->bytes = (struct view){f->heap, bytes.n};
    if (!read_tables(f, e))
        return false;
    *out = take(f);
    return true;
}

void elf_file_free(struct elf_file *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n_sections; i++)
        free(f->unpacked[i]);
    free(f->unpacked);
    free(f->sections);
    free((void *)(uintptr_t)f->segments);
    free(f->heap);
    if (f->mapped)
        munmap(f->mapped, f->bytes.n);
    free(f);
}

const struct elf_section *elf_file_section(const struct elf_file *f, const char *name)
{
    for (size_t i = 0; i < f->n_sections; i++)
        if (view_same(f->sections[i].name, view_of(name)))
            return &f->sections[i];
    return NULL;
}

/* False: the bytes are not what the head says. */
static bool unpack(uint32_t how, struct view from, char *to, size_t n)
{
    if (how == ELFCOMPRESS_ZSTD)
        return ZSTD_decompress(to, n, from.at, from.n) == n;
    uLongf got = n;
    return how == ELFCOMPRESS_ZLIB && uncompress((Bytef *)to, &got, (const Bytef *)from.at, from.n) == Z_OK && got == n;
}

struct view elf_file_contents(struct elf_file *f, const struct elf_section *s)
{
    if (!s || !(s->flags & SHF_COMPRESSED))
        return s ? s->bytes : VIEW("");
    size_t i = (size_t)(s - f->sections);
    Elf64_Chdr h;
    if (s->bytes.n < sizeof h)
        return VIEW("");
    memcpy(&h, s->bytes.at, sizeof h);
    struct view packed = {s->bytes.at + sizeof h, s->bytes.n - sizeof h};
    if (!h.ch_size || h.ch_size > UNPACKED_MOST || h.ch_size / PACKED_RATIO_MOST > packed.n)
        return VIEW("");
    if (!f->unpacked[i]) {
        own(free) char *plain = mem_resize(NULL, (size_t)h.ch_size);
        if (!unpack(h.ch_type, packed, plain, (size_t)h.ch_size)) {
            f->sections[i].flags &= ~(uint64_t)SHF_COMPRESSED; /* remembered: there is nothing in it */
            f->sections[i].bytes = VIEW("");
            return VIEW("");
        }
        f->unpacked[i] = take(plain);
        f->unpacked_bytes += (size_t)h.ch_size;
    }
    return (struct view){f->unpacked[i], (size_t)h.ch_size};
}

static struct view headers_of(const struct elf_file *f)
{
    return cut(f->bytes, f->head.e_shoff, f->n_sections * sizeof(Elf64_Shdr));
}

bool elf_file_lend_headers(struct elf_file *f, char **out_saved)
{
    struct view headers = headers_of(f);
    if (!headers.n)
        return false;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)headers.at & ~(page - 1), to = (uintptr_t)headers.at + headers.n;
    if (f->mapped && mprotect((void *)from, to - from, PROT_READ | PROT_WRITE) < 0)
        return false;
    *out_saved = mem_text(headers.at, headers.n);
    return true;
}

void elf_file_restore_headers(struct elf_file *f, const char *saved)
{
    struct view headers = headers_of(f);
    memcpy((char *)(uintptr_t)headers.at, saved, headers.n);
}
