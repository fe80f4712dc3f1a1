/*
 * An image asks its sources in this order:
 *
 *     name of the function that is there    .symtab, .dynsym of the file, its debug file and
 *                                           .gnu_debugdata, all in one index; then DWARF
 *     inlined functions, files and lines    DWARF of the file, or else of its debug file
 *
 * The symbol comes first because it is the same whether or not somebody installed debug
 * files, and because it tells foo from foo.cold, which DWARF does not.
 */
#include "base/mem.h"
#include "symbols/debug_file.h"
#include "symbols/debug_info.h"
#include "symbols/name_table.h"
#include "symbols/symbol_index.h"
#include "symbols/symbols.h"

#define PAGE_BYTES UINT64_C(4096)

struct image {
    struct elf_file *file, *debug, *inside; /* the last two may be NULL */
    struct name_ranges symbols;
    struct name_table names;
    bool has_looked; /* for DWARF: most images are asked for names only */
    struct debug_info *info;
};

static void hex(char *out, size_t size, struct view bytes)
{
    out[0] = '\0';
    for (size_t i = 0; i < bytes.n && 2 * i + 2 < size; i++)
        snprintf(out + 2 * i, 3, "%02x", (unsigned char)bytes.at[i]);
}

static bool is_expected(const struct elf_file *f, struct view build_id, struct err *e)
{
    if (!build_id.n || view_same(build_id, f->build_id))
        return true;
    char found[48], wanted[48];
    hex(found, sizeof found, f->build_id);
    hex(wanted, sizeof wanted, build_id);
    return err_set(e, ERR_MALFORMED, "this is another file than the process runs: its build id is %s, not %s",
                   found[0] ? found : "missing", wanted);
}

static bool open_file(struct image *i, const struct image_file *f, struct err *e)
{
    if (!f->path || f->bytes.n)
        return elf_file_over(&i->file, f->bytes, e) && is_expected(i->file, f->build_id, e);
    if (!elf_file_open(&i->file, f->root, f->path, e))
        return false;
    return is_expected(i->file, f->build_id, e) || err_in(e, "%s%s", f->root ? f->root : "", f->path);
}

bool image_open(struct image **out, const struct image_file *f, struct err *e)
{
    own(image) struct image *i = mem_new(sizeof *i);
    name_table_init(&i->names);
    if (!open_file(i, f, e))
        return false;
    i->debug = debug_file_find(i->file, f->root, f->bytes.n ? NULL : f->path);
    i->inside = debug_file_inside(i->file);
    own(symbol_index) struct symbol_index found = {0};
    struct elf_file *const files[] = {i->file, i->debug, i->inside};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k])
            symbol_index_add_file(&found, files[k]);
    i->symbols = symbol_index_ranges(&found);
    *out = take(i);
    return true;
}

void image_free(struct image *i)
{
    if (!i)
        return;
    debug_info_free(i->info);
    name_ranges_done(&i->symbols);
    name_table_done(&i->names);
    elf_file_free(i->inside);
    elf_file_free(i->debug);
    elf_file_free(i->file);
    free(i);
}

struct view image_build_id(const struct image *i) { return i->file->build_id; }
int image_machine(const struct image *i) { return i->file->head.e_machine; }

/* Whole pages are mapped: the first offset of a mapping may lie before its segment begins. */
bool image_virtual_address(const struct image *i, uint64_t file_offset, uint64_t *out)
{
    const uint64_t slacks[] = {0, PAGE_BYTES - 1};
    for (size_t k = 0; k < 2; k++) {
        for (size_t s = 0; s < i->file->n_segments; s++) {
            const Elf64_Phdr *p = &i->file->segments[s];
            uint64_t from = p->p_offset & ~slacks[k];
            if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || file_offset < from)
                continue;
            if (file_offset - from >= p->p_filesz + (p->p_offset - from))
                continue;
            *out = p->p_vaddr + (file_offset - p->p_offset);
            return true;
        }
    }
    return false;
}

/* The debug file has headers for what stayed in the file, but not their bytes. */
struct view image_section(const struct image *i, const char *name, uint64_t *out_address)
{
    const struct elf_file *const files[] = {i->file, i->debug};
    for (size_t k = 0; k < 2; k++) {
        const struct elf_section *s = files[k] ? elf_file_section(files[k], name) : NULL;
        if (!s || !s->bytes.n)
            continue;
        if (out_address)
            *out_address = s->address;
        return s->bytes;
    }
    if (out_address)
        *out_address = 0;
    return VIEW("");
}

static struct debug_info *debug_info_of(struct image *i)
{
    if (!i->has_looked) {
        i->has_looked = true;
        i->info = debug_info_open(i->file, &i->names, DEBUG_INFO_MOST);
        if (!i->info && i->debug)
            i->info = debug_info_open(i->debug, &i->names, DEBUG_INFO_MOST);
    }
    return i->info;
}

/* Most names are as they were written, and live in the mapped file. */
static struct view shown(struct image *i, struct view symbol)
{
    bool may_be_mangled = symbol.n > 2 && symbol.at[0] == '_' && (symbol.at[1] == 'Z' || symbol.at[1] == 'R');
    return may_be_mangled ? name_table_demangled(&i->names, symbol) : symbol;
}

size_t image_places(struct image *i, uint64_t virtual_address, struct place out[PLACES_MOST])
{
    struct view symbol = name_ranges_at(&i->symbols, virtual_address);
    size_t n = debug_info_of(i) ? debug_info_places(i->info, virtual_address, out) : 0;
    if (!n)
        out[n++] = (struct place){0};
    if (symbol.n)
        out[n - 1].name = shown(i, symbol);
    return n;
}

size_t image_held_bytes(const struct image *i)
{
    const struct elf_file *const files[] = {i->file, i->debug, i->inside};
    size_t held = sizeof *i + name_ranges_bytes(&i->symbols) + name_table_bytes(&i->names) +
                  (i->info ? debug_info_bytes(i->info) : 0);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k])
            held += sizeof *files[k] + files[k]->n_sections * (sizeof *files[k]->sections + sizeof(char *)) +
                    files[k]->unpacked_bytes + (files[k]->heap ? files[k]->bytes.n : 0);
    return held;
}
