/*
 * function_ranges.h - where functions begin and end, in files that do not say what they are called
 *
 * A stripped file has no names for its own functions, but .eh_frame has an entry for each: its
 * addresses. With them the samples of one function are counted as one function, under the address
 * it begins at, and not instruction by instruction.
 *
 *     .eh_frame ── entries by start ── 12 bytes each, made when the first nameless address of a file is met
 *
 * Owns: its list. Threads: read-only once made. Fails: a section of which nothing can be understood.
 */
#pragma once
#include "unwind/unwind.h"

struct function_ranges;

bool function_ranges_new(struct function_ranges **out, const struct unwind_sections *s, struct err *e) MUST_CHECK;
void function_ranges_free(struct function_ranges *f); /* NULL is fine */
DEFINE_OWN(function_ranges, struct function_ranges *)

/* The function that this virtual address is in. False: in none. */
bool function_ranges_at(const struct function_ranges *f, uint64_t address, struct unwind_range *out);

size_t function_ranges_bytes(const struct function_ranges *f);
