/*
 * tiny_elf.h - ELF files made to measure: one code section, one data section, the symbols of a table
 *
 *     struct tiny t = {.symbols = rows, .build_id = VIEW("\1\2")};
 *     own(buf) struct buf bytes;
 *     tiny_elf(&bytes, &t);
 *
 * Code is at TINY_CODE in memory and at TINY_OFFSET in the file.
 */
#pragma once
#include "base/buf.h"
#include <elf.h>

enum { TINY_CODE = 0x1100, TINY_CODE_BYTES = 0x100, TINY_OFFSET = 0x100, TINY_DATA = 0x3000, TINY_SYMBOLS_MOST = 16 };
enum { ROW_NULL, ROW_TEXT, ROW_DATA, ROW_SYMTAB, ROW_STRTAB, ROW_NOTE, ROW_EXTRA, ROW_NAMES, ROW_COUNT };

struct tiny_symbol {
    const char *name;
    unsigned char type, binding;
    uint16_t section;
    uint64_t at, size;
};

struct tiny {
    const struct tiny_symbol *symbols; /* up to one without a name */
    struct view build_id;
    const char *extra_name; /* of one more section; NULL: none */
    struct view extra;
    uint64_t extra_flags;
    bool is_dynamic;
};

static inline uint32_t tiny_text(struct buf *table, const char *text)
{
    uint32_t at = (uint32_t)table->len;
    buf_add(table, text, strlen(text) + 1);
    return at;
}

static inline void tiny_symbols(const struct tiny *t, struct buf *rows, struct buf *names)
{
    buf_add(names, "", 1);
    buf_add(rows, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (const struct tiny_symbol *s = t->symbols; s && s->name; s++) {
        Elf64_Sym row = {.st_name = tiny_text(names, s->name), .st_info = (unsigned char)ELF64_ST_INFO(s->binding, s->type),
                         .st_shndx = s->section, .st_value = s->at, .st_size = s->size};
        buf_add(rows, &row, sizeof row);
    }
}

static inline void tiny_note(struct buf *out, struct view id)
{
    Elf64_Nhdr h = {.n_namesz = 4, .n_descsz = (Elf64_Word)id.n, .n_type = 3};
    buf_add(out, &h, sizeof h);
    buf_add(out, "GNU", 4);
    buf_add(out, id.at, id.n);
    buf_add(out, "\0\0\0", -id.n & 3);
}

static inline Elf64_Shdr tiny_section(struct buf *file, struct buf *names, const char *name, uint32_t type, struct view bytes)
{
    Elf64_Shdr h = {.sh_name = tiny_text(names, name), .sh_type = type, .sh_offset = file->len, .sh_size = bytes.n};
    buf_add(file, bytes.at, bytes.n);
    return h;
}

static inline void tiny_elf(struct buf *file, const struct tiny *t)
{
    own(buf) struct buf rows;
    own(buf) struct buf texts;
    own(buf) struct buf note;
    own(buf) struct buf names;
    buf_init(file, 1 << 20);
    buf_init(&rows, 1 << 16);
    buf_init(&texts, 1 << 16);
    buf_init(&note, 1 << 10);
    buf_init(&names, 1 << 10);
    tiny_symbols(t, &rows, &texts);
    tiny_note(&note, t->build_id);
    buf_add(&names, "", 1);

    static const char code[TINY_CODE_BYTES];
    char *head = buf_room(file, TINY_OFFSET);
    memset(head, 0, TINY_OFFSET);
    Elf64_Shdr s[ROW_COUNT] = {{0}};
    s[ROW_TEXT] = tiny_section(file, &names, ".text", SHT_PROGBITS, (struct view){code, sizeof code});
    s[ROW_TEXT].sh_addr = TINY_CODE;
    s[ROW_TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    s[ROW_DATA] = tiny_section(file, &names, ".data", SHT_PROGBITS, VIEW("0123456789abcdef"));
    s[ROW_DATA].sh_addr = TINY_DATA;
    s[ROW_DATA].sh_flags = SHF_ALLOC | SHF_WRITE;
    s[ROW_SYMTAB] = tiny_section(file, &names, t->is_dynamic ? ".dynsym" : ".symtab", t->is_dynamic ? SHT_DYNSYM : SHT_SYMTAB, buf_view(&rows));
    s[ROW_SYMTAB].sh_link = ROW_STRTAB;
    s[ROW_STRTAB] = tiny_section(file, &names, ".strtab", SHT_STRTAB, buf_view(&texts));
    s[ROW_NOTE] = tiny_section(file, &names, ".note.gnu.build-id", t->build_id.n ? SHT_NOTE : SHT_NULL, buf_view(&note));
    s[ROW_EXTRA] = tiny_section(file, &names, t->extra_name ? t->extra_name : "", SHT_PROGBITS, t->extra);
    s[ROW_EXTRA].sh_flags = t->extra_flags;
    uint32_t own_name = tiny_text(&names, ".shstrtab");
    s[ROW_NAMES] = tiny_section(file, &names, "", SHT_STRTAB, buf_view(&names));
    s[ROW_NAMES].sh_name = own_name;

    Elf64_Ehdr h = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, .e_type = ET_DYN, .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT, .e_phoff = sizeof h, .e_shoff = file->len, .e_ehsize = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1, .e_shentsize = sizeof *s, .e_shnum = ROW_COUNT, .e_shstrndx = ROW_NAMES};
    Elf64_Phdr p = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TINY_OFFSET, .p_vaddr = TINY_CODE, .p_filesz = TINY_CODE_BYTES,
                    .p_memsz = TINY_CODE_BYTES, .p_align = 0x1000};
    buf_add(file, s, sizeof s);
    memcpy(file->data, &h, sizeof h);
    memcpy(file->data + sizeof h, &p, sizeof p);
}
