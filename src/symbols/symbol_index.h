/*
 * symbol_index.h - function symbols, from wherever they come, made into ranges
 *
 *     own(symbol_index) struct symbol_index x = {0};
 *     symbol_index_add_file(&x, file);             // its .symtab and .dynsym; any number of files
 *     struct name_ranges r = symbol_index_ranges(&x);
 *
 * Of two symbols that cover an address the one that begins last is meant; of two that
 * begin together the better name, as symbol_order() has it. One without size (assembly,
 * /proc/kallsyms) reaches to the next symbol, but never into one that has a size.
 *
 * An address that no symbol covers belongs to none: the last one before it may be
 * megabytes away in a stripped library, and its name would be a lie.
 *
 * Owns:     the symbols; their names are borrowed.
 */
#pragma once
#include "symbols/elf_file.h"
#include "symbols/name_ranges.h"

/*
 * How good a name is, among those of one address. Weak is as good as global: in libc the
 * names that people write (feof) are the weak ones, those beside them (_IO_feof) are not.
 */
enum symbol_rank { SYMBOL_HIDDEN, SYMBOL_LABEL, SYMBOL_LOCAL, SYMBOL_SHARED };

struct symbol {
    uint64_t start, end; /* end == start: it has no size */
    uint64_t bound;      /* how far one without size may reach */
    struct view name;
    enum symbol_rank rank;
};

struct symbol_index {
    struct symbol *rows;
    size_t n, cap;
};

void symbol_index_add(struct symbol_index *x, struct symbol s);
void symbol_index_add_file(struct symbol_index *x, struct elf_file *f);
struct name_ranges symbol_index_ranges(struct symbol_index *x); /* sorts the symbols */
void symbol_index_done(struct symbol_index *x);
DEFINE_OWN_IN_PLACE(symbol_index, struct symbol_index)

/* Above zero when `a` is the better name. Zero only for equal names: the same on every machine. */
int symbol_order(const struct symbol *a, const struct symbol *b);
