#include "symbols/symbol_index.h"
#include "base/mem.h"

#define NAME_MOST ((size_t)1 << 16) /* longer ones exist only in files made to hurt */

static enum symbol_rank rank_of(const Elf64_Sym *s)
{
    if (ELF64_ST_TYPE(s->st_info) == STT_NOTYPE)
        return SYMBOL_LABEL;
    return ELF64_ST_BIND(s->st_info) == STB_LOCAL ? SYMBOL_LOCAL : SYMBOL_SHARED;
}

/* No functions, though they stand in code: mapping symbols of arm64 ($x, $d.3), the assembler's own labels. */
static bool is_mark(struct view name)
{
    return !name.n || name.at[0] == '$' || view_starts(name, VIEW(".L"));
}

/* "memcpy@@GLIBC_2.14" is memcpy. */
static struct view without_version(struct view name)
{
    const char *at = name.n > 1 ? memchr(name.at + 1, '@', name.n - 1) : NULL;
    return at ? view_between(name.at, at) : name;
}

static const struct elf_section *code_section(const struct elf_file *f, const Elf64_Sym *s)
{
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE || s->st_shndx >= f->n_sections)
        return NULL;
    const struct elf_section *in = &f->sections[s->st_shndx];
    return in->flags & SHF_EXECINSTR ? in : NULL;
}

static bool may_be_function(const Elf64_Sym *s)
{
    unsigned type = ELF64_ST_TYPE(s->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static void add_row(struct symbol_index *x, const struct elf_file *f, const Elf64_Sym *s, struct view names)
{
    const struct elf_section *in = may_be_function(s) ? code_section(f, s) : NULL;
    if (!in || s->st_value < in->address || s->st_value - in->address >= in->size)
        return;
    struct view name = elf_text_at(names, s->st_name);
    uint64_t left = in->size - (s->st_value - in->address), bound;
    if (is_mark(name) || name.n > NAME_MOST || __builtin_add_overflow(s->st_value, left, &bound))
        return;
    symbol_index_add(x, (struct symbol){
        .start = s->st_value,
        .end = s->st_size < left ? s->st_value + s->st_size : bound,
        .bound = bound,
        .name = without_version(name),
        .rank = rank_of(s),
    });
}

void symbol_index_add(struct symbol_index *x, struct symbol s)
{
    GROW(x->rows, x->cap, x->n + 1);
    x->rows[x->n++] = s;
}

void symbol_index_add_file(struct symbol_index *x, struct elf_file *f)
{
    for (size_t i = 0; i < f->n_sections; i++) {
        const struct elf_section *t = &f->sections[i];
        if ((t->type != SHT_SYMTAB && t->type != SHT_DYNSYM) || t->link >= f->n_sections)
            continue;
        struct view rows = elf_file_contents(f, t), names = elf_file_contents(f, &f->sections[t->link]);
        for (size_t k = 0; k < rows.n / sizeof(Elf64_Sym); k++) {
            Elf64_Sym s;
            memcpy(&s, rows.at + k * sizeof s, sizeof s);
            add_row(x, f, &s, names);
        }
    }
}

void symbol_index_done(struct symbol_index *x)
{
    free(x->rows);
    *x = (struct symbol_index){0};
}

static size_t underscores(struct view name)
{
    size_t n = 0;
    while (n < name.n && name.at[n] == '_')
        n++;
    return n;
}

int symbol_order(const struct symbol *a, const struct symbol *b)
{
    if (a->rank != b->rank)
        return a->rank > b->rank ? 1 : -1;
    size_t ua = underscores(a->name), ub = underscores(b->name);
    if (ua != ub)
        return ua < ub ? 1 : -1;
    return view_compare(b->name, a->name); /* first in the alphabet, and so the shorter of two that begin alike */
}

static bool has_size(const struct symbol *s) { return s->end > s->start; }

/* By address; among equals those without size first, then the better name last. */
static int by_address(const void *pa, const void *pb)
{
    const struct symbol *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (has_size(a) != has_size(b))
        return has_size(a) ? 1 : -1;
    int order = symbol_order(a, b);
    return order ? order : (a->end > b->end) - (a->end < b->end);
}

/* Where a symbol without size ends: at the next address that has one, within its bound. */
static uint64_t reach(const struct symbol_index *x, size_t i)
{
    const struct symbol *s = &x->rows[i];
    uint64_t next = i + 1 < x->n ? x->rows[i + 1].start : UINT64_MAX;
    return next < s->bound ? next : s->bound;
}

struct name_ranges symbol_index_ranges(struct symbol_index *x)
{
    if (x->n)
        qsort(x->rows, x->n, sizeof *x->rows, by_address);
    own(free) struct name_range *pieces = mem_new(x->n * sizeof *pieces);
    size_t n = 0;
    uint64_t covered = 0; /* some sized symbol reaches to here */
    for (size_t i = 0; i < x->n; i++) {
        const struct symbol *s = &x->rows[i];
        uint64_t end = has_size(s) ? s->end : reach(x, i);
        if (!has_size(s) && (s->start < covered || end <= s->start))
            continue; /* a label inside a function, or the worse of two names */
        pieces[n] = (struct name_range){s->start, end, s->name.at, (uint32_t)s->name.n, (uint32_t)i};
        n++;
        if (has_size(s) && s->end > covered)
            covered = s->end;
    }
    return name_ranges_make(pieces, n);
}
