#include "capture/cpu/preload.h"
#include "base/own.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* Built and installed places of our guests, seen from the program's folder. */
static const struct guest {
    const char *what, *library, *variable;
    const char *places[2];
} guests[] = {
    [PRELOAD_SAMPLER] = {"sampler", "libinferom_sampler.so", "INFEROM_SAMPLER_LIB", {"../../guest/sampler", INFEROM_SAMPLER_DIR}},
    [PRELOAD_HEAP] = {"heap agent", "libinferom_heap.so", "INFEROM_HEAP_LIB", {"../../guest/heap", INFEROM_SAMPLER_DIR}},
    [PRELOAD_HEAP_NEW] = {"heap agent's operators", "libinferom_heap_new.so", "INFEROM_HEAP_NEW_LIB", {"../../guest/heap", INFEROM_SAMPLER_DIR}},
};

#if defined(__x86_64__)
enum { OUR_MACHINE = EM_X86_64 };
#else
enum { OUR_MACHINE = EM_AARCH64 };
#endif

/* The program. */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_program(const char *name, char *out, size_t size)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return (size_t)snprintf(out, size, "%s", name) < size;
    while (*path) {
        size_t n = strcspn(path, ":");
        int wrote = snprintf(out, size, "%.*s%s%s", (int)n, path, n ? "/" : "", name);
        if (wrote > 0 && (size_t)wrote < size && is_program(out))
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

struct program {
    const char *path;
    int fd;
    union {
        Elf64_Ehdr elf;
        char text[256];
    } head;
    size_t n; /* of head */
};

static bool refuse(struct err *e, const char *path, const char *why)
{
    err_set(e, ERR_UNSUPPORTED, "%s %s", path, why);
    return err_hint(e, "such programs can be sampled where perf_event_open is allowed; 'inferom doctor' says how");
}

/* The loader a program asks for; "" when it asks for none. False: the file makes no sense. */
static bool read_loader(const struct program *p, char *out, size_t size)
{
    const Elf64_Ehdr *h = &p->head.elf;
    *out = '\0';
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr part;
        uint64_t at = h->e_phoff + (uint64_t)i * h->e_phentsize;
        if (at > INT64_MAX || pread(p->fd, &part, sizeof part, (off_t)at) != (ssize_t)sizeof part)
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        size_t n = part.p_filesz < size ? part.p_filesz : size - 1;
        if (part.p_offset > INT64_MAX || pread(p->fd, out, n, (off_t)part.p_offset) != (ssize_t)n)
            return false;
        out[n] = '\0';
        return true;
    }
    return true;
}

static bool check_elf(const struct program *p, struct err *e)
{
    const Elf64_Ehdr *h = &p->head.elf;
    char loader[256];
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != OUR_MACHINE)
        return refuse(e, p->path, "is made for another architecture, and our sampler is not");
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !read_loader(p, loader, sizeof loader))
        return err_set(e, ERR_MALFORMED, "%s is not a program this machine can run", p->path);
    if (!*loader)
        return refuse(e, p->path, "is statically linked, so nothing can be preloaded into it");
    if (strstr(loader, "musl"))
        return refuse(e, p->path, "uses another libc (musl) than our sampler");
    return true;
}

static bool check_privilege(const struct program *p, struct err *e)
{
    struct stat st;
    if (geteuid() == 0 || fstat(p->fd, &st) < 0)
        return true; /* nothing to gain */
    if (st.st_mode & (S_ISUID | S_ISGID))
        return refuse(e, p->path, "runs as another user (setuid), so its loader takes nothing from us");
    if (fgetxattr(p->fd, "security.capability", NULL, 0) > 0)
        return refuse(e, p->path, "gains capabilities, so its loader takes nothing from us");
    return true;
}

/* "#! /usr/bin/env python3": what is run is the interpreter; after env, what env finds. */
static bool script_runs(const struct program *p, char *out, size_t size)
{
    char line[sizeof p->head.text + 1];
    memcpy(line, p->head.text, p->n);
    line[p->n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *rest = NULL, *first = strtok_r(line + 2, " \t", &rest), *second = strtok_r(NULL, " \t", &rest);
    const char *name = first ? strrchr(first, '/') : NULL;
    bool is_env = name && !strcmp(name, "/env") && second && *second != '-';
    const char *runs = is_env ? second : first;
    return runs && (size_t)snprintf(out, size, "%s", runs) < size;
}

/* What exec() will say about it is better than anything we could: then there is no objection from here. */
static bool check_program(const char *name, char *script, size_t size, struct err *e)
{
    char path[PATH_MAX];
    *script = '\0';
    if (!find_program(name, path, sizeof path))
        return true;
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct program p = {.path = path, .fd = fd};
    ssize_t n = fd < 0 ? -1 : pread(fd, &p.head, sizeof p.head, 0);
    if (n < 4)
        return true;
    p.n = (size_t)n;
    if (!memcmp(p.head.text, "#!", 2)) {
        if (!script_runs(&p, script, size))
            *script = '\0';
        return true;
    }
    if (p.n < sizeof p.head.elf || memcmp(p.head.text, ELFMAG, SELFMAG) != 0)
        return true;
    return check_privilege(&p, e) && check_elf(&p, e);
}

/* Follows scripts to what they are run by; as many as the kernel follows. */
static bool follow(const char *name, char now[PATH_MAX], bool wants_check, struct err *e)
{
    char next[PATH_MAX];
    if ((size_t)snprintf(now, PATH_MAX, "%s", name) >= PATH_MAX)
        return !wants_check;
    for (int scripts = 0; scripts < 4; scripts++) {
        struct err ignored = {0};
        if (!check_program(now, next, sizeof next, wants_check ? e : &ignored) && wants_check)
            return false;
        if (!*next)
            return true;
        memcpy(now, next, sizeof next);
    }
    return true;
}

bool preload_check(const char *name, struct err *e)
{
    char now[PATH_MAX];
    return strlen(name) >= sizeof now || follow(name, now, true, e);
}

bool preload_program(const char *name, char *out_path, size_t size)
{
    char now[PATH_MAX];
    return follow(name, now, false, NULL) && find_program(now, out_path, size);
}

/* The library. */

static bool own_folder(char *out, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n <= 0)
        return false;
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

static bool given_library(const struct guest *g, const char *given, char *out_path, size_t size, struct err *e)
{
    char whole[PATH_MAX];
    if (!realpath(given, whole))
        return err_os(e, "the %s %s=%s", g->what, g->variable, given);
    return (size_t)snprintf(out_path, size, "%s", whole) < size || err_set(e, ERR_LIMIT, "the path of the %s is too long", g->what);
}

bool preload_library(enum preload_guest which, char *out_path, size_t size, struct err *e)
{
    const struct guest *g = &guests[which];
    const char *given = getenv(g->variable);
    if (given && *given)
        return given_library(g, given, out_path, size, e);
    char folder[PATH_MAX], tried[3 * PATH_MAX], whole[PATH_MAX];
    if (!own_folder(folder, sizeof folder))
        return err_os(e, "looking for this program's folder");
    for (size_t i = 0; i < sizeof g->places / sizeof *g->places; i++) {
        snprintf(tried, sizeof tried, "%s/%s/%s", folder, g->places[i], g->library);
        if (realpath(tried, whole) && (size_t)snprintf(out_path, size, "%s", whole) < size)
            return true;
    }
    err_set(e, ERR_NOT_FOUND, "%s is not installed beside this program", g->library);
    return err_hint(e, "%s says where it is", g->variable);
}

bool preload_add(struct environment *env, const char *library, struct err *e)
{
    char text[2 * PATH_MAX];
    const char *others = environment_get(env, "LD_PRELOAD");
    if (strpbrk(library, ": "))
        return err_set(e, ERR_UNSUPPORTED, "%s: a path with a space or a colon in it cannot be preloaded", library);
    int n = snprintf(text, sizeof text, "%s%s%s", library, others && *others ? ":" : "", others ? others : "");
    if (n < 0 || (size_t)n >= sizeof text)
        return err_set(e, ERR_LIMIT, "LD_PRELOAD is too long to add %s to it", library);
    environment_set(env, "LD_PRELOAD", text);
    return true;
}
