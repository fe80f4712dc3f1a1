/*
 * self_space.h - what this process has mapped, as an unwind_space
 *
 * A small reader of the ELF files that are loaded right now and of the vDSO, for tests
 * and benchmarks only: it trusts them, they are running.
 */
#pragma once
#include "unwind/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MOST_MODULES = 64 };

struct elf_file {
    const char *bytes;
    size_t n;
};

static inline struct elf_file elf_map(const char *path)
{
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return (struct elf_file){0};
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    return p == MAP_FAILED ? (struct elf_file){0} : (struct elf_file){p, (size_t)st.st_size};
}

/* Headers are aligned in files that linkers wrote, and the file is mapped at a page. */
static inline const void *elf_at(struct elf_file f, uint64_t offset) { return f.bytes + offset; }

static inline const Elf64_Shdr *elf_section(struct elf_file f, const char *name)
{
    const Elf64_Ehdr *h = elf_at(f, 0);
    const Elf64_Shdr *all = elf_at(f, h->e_shoff);
    if (!h->e_shoff || !h->e_shnum)
        return NULL;
    const char *names = elf_at(f, all[h->e_shstrndx].sh_offset);
    for (size_t i = 0; i < h->e_shnum; i++)
        if (strcmp(names + all[i].sh_name, name) == 0)
            return &all[i];
    return NULL;
}

static inline struct unwind_sections elf_sections(struct elf_file f)
{
    static const char *const plts[] = {".plt", ".plt.got", ".plt.sec"};
    const Elf64_Ehdr *h = elf_at(f, 0);
    struct unwind_sections s = {.arch = h->e_machine == EM_AARCH64 ? UNWIND_ARM64 : UNWIND_X86_64, .text_stays = true};
    const Elf64_Shdr *eh = elf_section(f, ".eh_frame"), *text = elf_section(f, ".text");
    if (eh) {
        s.eh_frame = (struct view){elf_at(f, eh->sh_offset), eh->sh_size};
        s.eh_frame_address = eh->sh_addr;
    }
    if (text) {
        s.text = (struct view){elf_at(f, text->sh_offset), text->sh_size};
        s.text_address = text->sh_addr;
    }
    for (size_t i = 0, n = 0; i < sizeof plts / sizeof *plts; i++) {
        const Elf64_Shdr *plt = elf_section(f, plts[i]);
        if (plt)
            s.plt[n++] = (struct unwind_range){plt->sh_addr, plt->sh_addr + plt->sh_size};
    }
    return s;
}

struct self_space {
    struct unwind_space space;
    struct unwind_map maps[MOST_MODULES];
    struct unwind_table *tables[MOST_MODULES];
    struct elf_file files[MOST_MODULES];
    size_t n;
};

static inline int self_space_add(struct dl_phdr_info *info, size_t size, void *into)
{
    (void)size;
    struct self_space *s = into;
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    struct elf_file f = {0};
    if (vdso && info->dlpi_addr == vdso)
        f = (struct elf_file){(const char *)vdso, 4096};
    else
        f = elf_map(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
    struct err e = {0};
    for (size_t i = 0; f.bytes && i < info->dlpi_phnum && s->n < MOST_MODULES; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        struct unwind_sections sections = elf_sections(f);
        if (!unwind_table_new(&s->tables[s->n], &sections, &e)) {
            printf("%s: %s\n", info->dlpi_name, e.text);
            continue;
        }
        s->files[s->n] = f;
        uint64_t start = info->dlpi_addr + p->p_vaddr;
        s->maps[s->n] = (struct unwind_map){start, start + p->p_memsz, info->dlpi_addr, s->tables[s->n]};
        s->n++;
    }
    return 0;
}

static inline int by_map_start(const void *pa, const void *pb)
{
    const struct unwind_map *a = pa, *b = pb;
    return (a->start > b->start) - (a->start < b->start);
}

static inline void self_space_init(struct self_space *s)
{
    memset(s, 0, sizeof *s);
    dl_iterate_phdr(self_space_add, s);
    qsort(s->maps, s->n, sizeof *s->maps, by_map_start);
    s->space = (struct unwind_space){.arch = s->tables[0] ? elf_sections(s->files[0]).arch : UNWIND_X86_64,
                                     .maps = s->maps, .n = s->n};
}

static inline void self_space_done(struct self_space *s)
{
    for (size_t i = 0; i < s->n; i++)
        unwind_table_free(s->tables[i]);
}
