/*
 * elf_file.h - one ELF file, believed only as far as its own bytes reach
 *
 *     own(elf_file) struct elf_file *f = NULL;
 *     if (!elf_file_open(&f, "/proc/42/root", "/usr/lib/libx.so", e)) ...
 *     const struct elf_section *s = elf_file_section(f, ".symtab");
 *     struct view rows = elf_file_contents(f, s);
 *
 * The file is mapped, not read. The section table is checked once: what leaves the
 * file is cut off and shows as empty. Sections packed by the linker (SHF_COMPRESSED)
 * are unpacked when their contents are first asked for.
 *
 * Under a root, links are followed inside that root, as the process itself would.
 *
 * Owns:     its bytes; views live as long as the file.
 * Threads:  one at a time.
 * Fails:    opening only: not there, not a regular file, not ELF for 64 bits, little endian.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <elf.h>
#include <stdint.h>

struct elf_section {
    struct view name;
    struct view bytes; /* as they are in the file; empty for SHT_NOBITS */
    uint64_t address, size, flags;
    uint32_t type, link;
};

struct elf_file {
    struct view bytes;
    void *mapped; /* of bytes.n; NULL when they are on the heap */
    char *heap;
    Elf64_Ehdr head;
    const Elf64_Phdr *segments; /* copied, so that they are aligned */
    struct elf_section *sections;
    size_t n_segments, n_sections;
    char **unpacked; /* per section; NULL: not packed, or not asked for yet */
    size_t unpacked_bytes;
    struct view build_id;
};

bool elf_file_open(struct elf_file **out, const char *root, const char *path, struct err *e) MUST_CHECK;
bool elf_file_over(struct elf_file **out, struct view bytes, struct err *e) MUST_CHECK; /* copies them */
void elf_file_free(struct elf_file *f);
DEFINE_OWN(elf_file, struct elf_file *)

const struct elf_section *elf_file_section(const struct elf_file *f, const char *name); /* NULL: none */
struct view elf_file_contents(struct elf_file *f, const struct elf_section *s);          /* unpacked; empty for NULL */

/*
 * For libelf, which works on our bytes and writes into the section table that it has unpacked
 * a section. `saved` has what was there; give it back when libelf is done. The table alone
 * becomes writable, and only in our copy of those pages.
 */
bool elf_file_lend_headers(struct elf_file *f, char **out_saved);
void elf_file_restore_headers(struct elf_file *f, const char *saved);

/* The text at an offset of a string table, up to its NUL; empty when it does not end inside. */
struct view elf_text_at(struct view table, uint64_t at);

/* Where a file is, seen from us: root and path put together. For messages and for tests. */
void elf_path_under(char *out, size_t size, const char *root, const char *path);
