/*
 * debug_info.h - what DWARF knows about an address: inlined functions, files, lines
 *
 *     own(debug_info) struct debug_info *d = debug_info_open(file, &names, DEBUG_INFO_MOST); // NULL: no DWARF
 *     size_t n = debug_info_places(d, address, places);
 *
 * Opening reads only where each compilation unit has its code. The functions of a unit and
 * its line table are read when an address of that unit is first asked for, and kept:
 *
 *     units:  [ a.c )[ b.c )   [ c.c )           sorted ranges, one bisection
 *                      │
 *     b.c:    depth 0  [ main        )           functions
 *             depth 1    [ step ) [ step)        inlined into them
 *             depth 2     [add]                  inlined into those: one bisection for each depth
 *
 * libdw decodes the bytes; everything that is asked per address is ours. When what it and we
 * hold passes the bound, all of it is dropped and read again as needed.
 *
 * Owns:     its tables; texts are kept in the name table that was given.
 * Threads:  one at a time.
 * Fails:    never; what cannot be read is not known.
 */
#pragma once
#include "symbols/elf_file.h"
#include "symbols/name_table.h"
#include "symbols/symbols.h"

#define DEBUG_INFO_MOST ((size_t)512 << 20)

struct debug_info;

struct debug_info *debug_info_open(struct elf_file *f, struct name_table *names, size_t most_bytes);
void debug_info_free(struct debug_info *d);
DEFINE_OWN(debug_info, struct debug_info *)

/* Innermost first. 0: no unit has the address. A place without a name: the line is known, the function is not. */
size_t debug_info_places(struct debug_info *d, uint64_t address, struct place out[PLACES_MOST]);
size_t debug_info_bytes(const struct debug_info *d); /* an estimate where libdw holds it */
