/*
 * Put into a process that runs already: nobody asked us when its libraries were bound, so the pointers through which they
 * call malloc() and its like are changed to lead to us (the global offset table of each).
 *
 *     library ── slot of malloc ──> libc          before
 *     library ── slot of malloc ──> us ──> libc   from now on, for good; when nobody records we pass through
 *
 * A slot is changed if it holds the real function, or has not been bound yet. One that holds something
 * else belongs to somebody else and is left alone. What a program has copied out of a slot, and calls inside an
 * executable that has its own allocator, is not seen; nor are libraries that are loaded later, until the
 * recorder calls us again.
 *
 * The recorder calls inferom_heap_inject() on a thread that is in no function of libc (src/capture/inject).
 */
#include "agent.h"
#include "inferom/heap_inject.h"
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const hook_names[] = {
    "malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc",
    "malloc_usable_size", "mmap", "mmap64", "munmap", "mremap", "brk", "sbrk", "dlclose",
};
enum { HOOKS = sizeof hook_names / sizeof *hook_names };

static struct hook {
    uintptr_t ours, real;
} hooks[HOOKS];

#if defined(__x86_64__)
enum { SLOT_OF_CALL = R_X86_64_JUMP_SLOT, SLOT_OF_DATA = R_X86_64_GLOB_DAT };
#else
enum { SLOT_OF_CALL = R_AARCH64_JUMP_SLOT, SLOT_OF_DATA = R_AARCH64_GLOB_DAT };
#endif

static bool find_hooks(void)
{
    Dl_info me_info;
    void *self = dladdr((void *)(uintptr_t)hook_names, &me_info) ? dlopen(me_info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    for (size_t i = 0; self && i < HOOKS; i++) {
        hooks[i].ours = (uintptr_t)dlsym(self, hook_names[i]);
        hooks[i].real = (uintptr_t)dlsym(RTLD_DEFAULT, hook_names[i]);
    }
    if (self)
        dlclose(self); /* counted, not unloaded: we never are */
    return self != NULL;
}

/* One module. */

struct module {
    uintptr_t base, text_start, text_end, fixed_start, fixed_end; /* fixed: read-only since it was bound */
    const ElfW(Sym) *symbols;
    const char *names;
    const ElfW(Rela) *tables[2];
    size_t n[2];
};

static void take_segment(struct module *m, const ElfW(Phdr) *p)
{
    uintptr_t start = m->base + p->p_vaddr, end = start + p->p_memsz;
    if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
        m->text_start = m->text_start ? m->text_start : start;
        m->text_end = end;
    }
    if (p->p_type == PT_GNU_RELRO) {
        m->fixed_start = start;
        m->fixed_end = end;
    }
}

/* The loader has made addresses of the offsets, except where it may not write. */
static uintptr_t address_of(const struct module *m, const ElfW(Dyn) *d)
{
    uintptr_t at = d->d_un.d_ptr;
    return at < m->base ? m->base + at : at;
}

static bool take_dynamic(struct module *m, const ElfW(Dyn) *d)
{
    bool is_rela = true;
    for (; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB: m->symbols = (const void *)address_of(m, d); break; /* NOLINT(performance-no-int-to-ptr) */
        case DT_STRTAB: m->names = (const void *)address_of(m, d); break;   /* NOLINT(performance-no-int-to-ptr) */
        case DT_JMPREL: m->tables[0] = (const void *)address_of(m, d); break; /* NOLINT(performance-no-int-to-ptr) */
        case DT_PLTRELSZ: m->n[0] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELA: m->tables[1] = (const void *)address_of(m, d); break; /* NOLINT(performance-no-int-to-ptr) */
        case DT_RELASZ: m->n[1] = d->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_PLTREL: is_rela = d->d_un.d_val == DT_RELA; break;
        default: break;
        }
    }
    return is_rela && m->symbols && m->names;
}

static bool is_changeable(const struct module *m, uintptr_t value, const struct hook *h, uint32_t type)
{
    return h->ours && h->real && value != h->ours &&
           (value == h->real || (type == SLOT_OF_CALL && value >= m->text_start && value < m->text_end));
}

static bool change(const struct module *m, uintptr_t at, uintptr_t value)
{
    uintptr_t page = at & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    size_t n = at + sizeof value - page;
    bool is_fixed = at >= m->fixed_start && at < m->fixed_end;
    void *where = (void *)page;                                                  /* NOLINT(performance-no-int-to-ptr) */
    if (is_fixed && mprotect(where, n, PROT_READ | PROT_WRITE) < 0)
        return false;
    __atomic_store_n((uintptr_t *)at, value, __ATOMIC_RELEASE); /* NOLINT(performance-no-int-to-ptr) */
    if (is_fixed)
        mprotect(where, n, PROT_READ);
    return true;
}

static const struct hook *hook_named(const char *name)
{
    for (size_t i = 0; i < HOOKS; i++)
        if (!strcmp(name, hook_names[i]))
            return &hooks[i];
    return NULL;
}

static uint32_t change_slots(const struct module *m)
{
    uint32_t changed = 0;
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; m->tables[t] && i < m->n[t]; i++) {
            const ElfW(Rela) *r = &m->tables[t][i];
            uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
            if (type != SLOT_OF_CALL && type != SLOT_OF_DATA)
                continue;
            const struct hook *h = hook_named(m->names + m->symbols[ELF64_R_SYM(r->r_info)].st_name);
            uintptr_t at = m->base + r->r_offset;
            if (h && is_changeable(m, *(const uintptr_t *)at, h, type)) /* NOLINT(performance-no-int-to-ptr) */
                changed += change(m, at, h->ours);
        }
    }
    return changed;
}

/* Not in us, not in the loader, and not in the kernel's page. */
static bool is_theirs(const struct dl_phdr_info *info)
{
    const char *name = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(name, '/');
    const char *file = slash ? slash + 1 : name;
    uintptr_t here = (uintptr_t)hook_names;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return false;
    }
    return strncmp(file, "ld-linux", 8) != 0 && strncmp(file, "ld-2", 4) != 0 && strncmp(file, "linux-vdso", 10) != 0;
}

static int each_module(struct dl_phdr_info *info, size_t size, void *self)
{
    struct inject_answer *out = self;
    struct module m = {.base = info->dlpi_addr};
    const ElfW(Dyn) *dynamic = NULL;
    (void)size;
    if (!is_theirs(info))
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        take_segment(&m, &info->dlpi_phdr[i]);
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(m.base + info->dlpi_phdr[i].p_vaddr); /* NOLINT(performance-no-int-to-ptr) */
    }
    if (!dynamic || !take_dynamic(&m, dynamic))
        return 0;
    out->modules++;
    out->slots += change_slots(&m);
    return 0;
}

/* Inside the executable nobody goes through a slot to call its own functions: we would see a part, and not know which. */
static bool is_in_executable(uintptr_t function)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1((void *)function, &info, (void **)&map, RTLD_DL_LINKMAP) && map && !map->l_prev; /* NOLINT(performance-no-int-to-ptr) */
}

static uint32_t wake(const char *path)
{
    if (atomic_load(&agent.state) == AGENT_ON)
        return agent.region && !strcmp(agent.path, path) && atomic_load(&agent.region->phase) == HEAP_GO ? INJECT_ON : INJECT_TAKEN;
    if (agent.region)
        return INJECT_TAKEN;
    if (!find_hooks() || is_in_executable(hooks[0].real))
        return INJECT_OTHER_MALLOC;
    real_adopt();
    return agent_wake_for(path) ? INJECT_ON : INJECT_NO_REGION;
}

EXPORT void inferom_heap_inject(const char *path, struct inject_answer *out);
EXPORT void inferom_heap_inject(const char *path, struct inject_answer *out)
{
    *out = (struct inject_answer){.code = wake(path)};
    if (out->code != INJECT_ON)
        return;
    me.guard = GUARD_OURS; /* what the loader does here is not the program's */
    dl_iterate_phdr(each_module, out);
    me.guard = 0;
}
