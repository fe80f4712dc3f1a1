/*
 * debug_file.h - what was stripped from a file, found again
 *
 * Distributions ship programs without their .symtab and DWARF and put those into a
 * second file. Two names lead to it:
 *
 *     build id 1234ab...       /usr/lib/debug/.build-id/12/34ab....debug
 *     .gnu_debuglink x.debug   beside the file, in .debug/ beside it, below /usr/lib/debug
 *
 * each under the process's root first and then under ours. A file found that way is
 * taken only when it is the right one: its build id is the same or, where the stripped
 * file has none, its bytes have the checksum that the link promises.
 *
 * A third way needs no second file: .gnu_debugdata holds a small ELF file, packed with
 * xz, with the symbols that are not in .dynsym (Fedora and its relatives).
 */
#pragma once
#include "symbols/elf_file.h"

struct elf_file *debug_file_find(struct elf_file *of, const char *root, const char *path); /* NULL: none */
struct elf_file *debug_file_inside(struct elf_file *of);                                   /* NULL: none, or no xz in this build */
