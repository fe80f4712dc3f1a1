/*
 * symbol_index.h - which function symbol an address belongs to, in one bisection
 *
 *     struct symbol_index x = {0};
 *     symbol_index_add(&x, file);             // its .symtab and .dynsym; any number of files
 *     symbol_index_finish(&x);
 *     struct view name = symbol_index_at(&x, address);
 *
 * Symbols overlap: aliases share an address, assembly puts labels inside functions,
 * functions lie inside others. Finishing decides that once, into rows that do not
 * overlap:
 *
 *     memmove   [------------)
 *     __memmove [------------)             one of the aliases, by symbol_better()
 *     erms_tail        [--)                the one that begins last
 *     becomes   [ memmove|erms|memmove)
 *
 * An address that no symbol covers belongs to none: the next one before it may be
 * megabytes away in a stripped library, and its name would be a lie.
 *
 * Owns:     its rows; names are borrowed from the files that were added.
 * Threads:  read-only once finished.
 */
#pragma once
#include "symbols/elf_file.h"

struct symbol {
    uint64_t start, end; /* end == start: the symbol has no size */
    uint64_t bound;      /* of its section: how far one without size may reach */
    struct view name;    /* as in the file, without its version */
    uint8_t rank;        /* the higher the better, among symbols of one address */
};

struct symbol_row {
    uint64_t start, end;
    const char *name;
    uint32_t name_bytes;
};

struct symbol_index {
    struct symbol *found; /* until finished */
    size_t n_found, cap_found;
    struct symbol_row *rows;
    size_t n;
};

void symbol_index_add(struct symbol_index *x, struct elf_file *f);
void symbol_index_finish(struct symbol_index *x);
void symbol_index_done(struct symbol_index *x);
DEFINE_OWN_IN_PLACE(symbol_index, struct symbol_index)

struct view symbol_index_at(const struct symbol_index *x, uint64_t address); /* empty: no symbol covers it */
size_t symbol_index_bytes(const struct symbol_index *x);

/* Below zero when `b` is the better name for an address that both begin at. Total: the same on every machine. */
int symbol_better(const struct symbol *a, const struct symbol *b);
