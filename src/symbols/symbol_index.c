#include "symbols/symbol_index.h"
#include "base/mem.h"

#define NAME_MOST ((size_t)1 << 16) /* longer ones exist only in files made to hurt */

/* What kind of name a person would expect: a sized function that others may call. */
static uint8_t rank_of(const Elf64_Sym *s)
{
    static const uint8_t by_binding[16] = {[STB_LOCAL] = 0, [STB_WEAK] = 1, [STB_GLOBAL] = 2, [STB_GNU_UNIQUE] = 2};
    unsigned type = ELF64_ST_TYPE(s->st_info);
    return (uint8_t)((type != STT_NOTYPE) * 4 + by_binding[ELF64_ST_BIND(s->st_info)]);
}

/*
 * Names that are no functions though they stand in code: mapping symbols of arm64
 * ($x, $d.3) and the assembler's own labels.
 */
static bool is_label(struct view name)
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

static bool is_function(const Elf64_Sym *s)
{
    unsigned type = ELF64_ST_TYPE(s->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static void add_symbol(struct symbol_index *x, const struct elf_file *f, const Elf64_Sym *s, struct view names)
{
    const struct elf_section *in = is_function(s) ? code_section(f, s) : NULL;
    if (!in || s->st_value < in->address || s->st_value - in->address >= in->size)
        return;
    struct view name = elf_text_at(names, s->st_name);
    if (is_label(name) || name.n > NAME_MOST)
        return;
    uint64_t left = in->size - (s->st_value - in->address), bound;
    if (__builtin_add_overflow(s->st_value, left, &bound))
        return;
    GROW(x->found, x->cap_found, x->n_found + 1);
    x->found[x->n_found++] = (struct symbol){
        .start = s->st_value,
        .end = s->st_value + (s->st_size < left ? s->st_size : left),
        .bound = bound,
        .name = without_version(name),
        .rank = rank_of(s),
    };
}

void symbol_index_add(struct symbol_index *x, struct elf_file *f)
{
    for (size_t i = 0; i < f->n_sections; i++) {
        const struct elf_section *t = &f->sections[i];
        if ((t->type != SHT_SYMTAB && t->type != SHT_DYNSYM) || t->link >= f->n_sections)
            continue;
        struct view rows = elf_file_contents(f, t), names = elf_file_contents(f, &f->sections[t->link]);
        for (size_t k = 0; k < rows.n / sizeof(Elf64_Sym); k++) {
            Elf64_Sym s;
            memcpy(&s, rows.at + k * sizeof s, sizeof s);
            add_symbol(x, f, &s, names);
        }
    }
}

static size_t underscores(struct view name)
{
    size_t n = 0;
    while (n < name.n && name.at[n] == '_')
        n++;
    return n;
}

int symbol_better(const struct symbol *a, const struct symbol *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    size_t ua = underscores(a->name), ub = underscores(b->name);
    if (ua != ub)
        return ua > ub ? -1 : 1;
    return view_compare(b->name, a->name); /* the first in the alphabet, and so the shorter of two alike */
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
    int order = symbol_better(a, b);
    return order ? order : (a->end > b->end) - (a->end < b->end);
}

struct sweep {
    struct symbol_row *rows;
    size_t n, cap;
    const struct symbol **open; /* those that cover `at`, the one that began last on top */
    size_t n_open, cap_open;
    uint64_t at;
};

/* [at, to) belongs to `s`. Pieces that touch are one row again. */
static void emit(struct sweep *w, const struct symbol *s, uint64_t to)
{
    if (to <= w->at)
        return;
    struct symbol_row *last = w->n ? &w->rows[w->n - 1] : NULL;
    if (last && last->end == w->at && last->name == s->name.at) {
        last->end = to;
    } else {
        GROW(w->rows, w->cap, w->n + 1);
        w->rows[w->n++] = (struct symbol_row){w->at, to, s->name.at, (uint32_t)s->name.n};
    }
    w->at = to;
}

/* Gives everything up to `to` to whoever is on top there, and forgets what has ended. */
static void sweep_to(struct sweep *w, uint64_t to)
{
    while (w->n_open) {
        const struct symbol *top = w->open[w->n_open - 1];
        emit(w, top, top->end < to ? top->end : to);
        if (top->end > to)
            break;
        w->n_open--;
    }
    if (w->at < to)
        w->at = to;
}

/* Memory of the pile: one that ends before what is now put on top of it will never be seen again. */
static void put_on_top(struct sweep *w, const struct symbol *s)
{
    while (w->n_open && w->open[w->n_open - 1]->end <= s->end)
        w->n_open--;
    GROW(w->open, w->cap_open, w->n_open + 1);
    w->open[w->n_open++] = s;
}

/*
 * A symbol without size (hand-written assembly) reaches to the next symbol or the end of
 * its section, but only where no sized one knows better.
 */
static void give_rest(struct sweep *w, const struct symbol *s, uint64_t next)
{
    if (w->n_open || w->at > s->start)
        return;
    w->at = s->start;
    emit(w, s, next < s->bound ? next : s->bound);
}

void symbol_index_finish(struct symbol_index *x)
{
    struct sweep w = {0};
    if (x->n_found)
        qsort(x->found, x->n_found, sizeof *x->found, by_address);
    for (size_t i = 0; i < x->n_found; i++) {
        const struct symbol *s = &x->found[i];
        uint64_t next = i + 1 < x->n_found ? s[1].start : UINT64_MAX;
        sweep_to(&w, s->start);
        if (has_size(s))
            put_on_top(&w, s);
        else if (next > s->start)
            give_rest(&w, s, next);
    }
    sweep_to(&w, UINT64_MAX);
    free(w.open);
    free(x->found);
    *x = (struct symbol_index){.rows = w.rows, .n = w.n};
    if (w.n)
        x->rows = mem_resize(w.rows, w.n * sizeof *w.rows);
}

void symbol_index_done(struct symbol_index *x)
{
    free(x->found);
    free(x->rows);
    *x = (struct symbol_index){0};
}

struct view symbol_index_at(const struct symbol_index *x, uint64_t address)
{
    size_t low = 0, high = x->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x->rows[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == x->n || address < x->rows[low].start)
        return VIEW("");
    return (struct view){x->rows[low].name, x->rows[low].name_bytes};
}

size_t symbol_index_bytes(const struct symbol_index *x) { return x->n * sizeof *x->rows; }
