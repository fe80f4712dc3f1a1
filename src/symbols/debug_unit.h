/*
 * debug_unit.h - the functions of one compilation unit, and what was inlined into them
 *
 * Rows are sorted by depth and then by address. Within one depth they do not overlap, so
 * that the whole chain of an address takes one bisection per depth.
 */
#pragma once
#include "symbols/name_table.h"
#include "symbols/symbols.h"
#include <elfutils/libdw.h>

struct unit_row {
    uint64_t start, end;
    uint32_t function;
    uint32_t depth; /* 0: a function of its own; else inlined into one of the depth before */
};

struct unit_function {
    Dwarf_Off die;
    uint32_t call_file, call_line; /* where it was inlined; 0: unknown, or not inlined */
    bool is_named;                 /* what follows has been looked up */
    uint32_t line;
    struct view name, file;
};

struct debug_unit {
    bool is_loaded;
    struct unit_row *rows;
    struct unit_function *functions;
    size_t n, n_functions;
    size_t depth_at[PLACES_MOST + 1]; /* first row of each depth */
    Dwarf_Die die;                    /* its line table is kept by libdw */
    Dwarf_Files *files;
    struct view *file_names; /* by libdw's number; `at` is NULL until somebody asked */
    size_t n_lines, n_files;
    const char *folder; /* in which the compiler ran; may be NULL */
};

void debug_unit_load(struct debug_unit *u, Dwarf_Die *die);
void debug_unit_done(struct debug_unit *u);
size_t debug_unit_bytes(const struct debug_unit *u);

/* The chain at an address, outermost first; how long it is. */
size_t debug_unit_chain(const struct debug_unit *u, uint64_t address, uint32_t out_functions[PLACES_MOST]);

/* File and line of an address; false when the line table does not have it. */
bool debug_unit_line(struct debug_unit *u, uint64_t address, struct name_table *names, struct view *out_file, uint32_t *out_line);
struct view debug_unit_file(struct debug_unit *u, size_t number, struct name_table *names); /* may be empty */

/* Name and place of a function, looked up once. */
const struct unit_function *debug_unit_function(struct debug_unit *u, uint32_t function, Dwarf *dwarf, struct name_table *names);
