#include "capture/heap/heap_fit.h"
#include "base/own.h"
#include "capture/cpu/preload.h"
#include "symbols/elf_file.h"

#include <limits.h>

static bool defines(struct elf_file *f, const char *wanted)
{
    struct view rows = elf_file_contents(f, elf_file_section(f, ".dynsym"));
    struct view names = elf_file_contents(f, elf_file_section(f, ".dynstr"));
    for (size_t at = 0; rows.n - at >= sizeof(Elf64_Sym) && at < rows.n; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, rows.at + at, sizeof s);
        if (s.st_shndx != SHN_UNDEF && view_same(elf_text_at(names, s.st_name), view_of(wanted)))
            return true;
    }
    return false;
}

/* An executable is asked for `malloc` before any preloaded library is. */
static bool has_own_allocator(const char *path)
{
    own(elf_file) struct elf_file *f = NULL;
    struct err e = {0};
    return elf_file_open(&f, "", path, &e) && defines(f, "malloc");
}

static bool is_such_allocator(const char *text) { return strstr(text, "jemalloc") || strstr(text, "mimalloc") || strstr(text, "tcmalloc"); }

/* The names of libraries are among the dynamic strings, and a program has few others with these words in them: then we look at no more. */
static bool links_such_allocator(const char *path)
{
    own(elf_file) struct elf_file *f = NULL;
    struct err e = {0};
    if (!elf_file_open(&f, "", path, &e))
        return false;
    struct view names = elf_file_contents(f, elf_file_section(f, ".dynstr"));
    for (size_t at = 0; at < names.n;) {
        struct view name = elf_text_at(names, at);
        char text[128];
        snprintf(text, sizeof text, "%.*s", (int)(name.n < sizeof text ? name.n : 0), name.at);
        if (!strncmp(text, "lib", 3) && strstr(text, ".so") && is_such_allocator(text))
            return true;
        at += name.n + 1;
    }
    return false;
}

bool heap_has_own_new(const char *command, const char *preloaded)
{
    char path[PATH_MAX];
    return (preloaded && is_such_allocator(preloaded)) || (preload_program(command, path, sizeof path) && links_such_allocator(path));
}

bool heap_fits(const char *command, struct err *why_not)
{
    char path[PATH_MAX];
    if (!preload_library(PRELOAD_HEAP, path, sizeof path, why_not) || !preload_check(command, why_not))
        return false;
    if (!preload_program(command, path, sizeof path) || !has_own_allocator(path))
        return true;
    err_set(why_not, ERR_UNSUPPORTED, "%s has an allocator of its own inside, which answers before ours is asked", path);
    return err_hint(why_not, "link the allocator as a shared library, or preload it (LD_PRELOAD), and its calls are seen");
}
