/*
 * mem.h - memory for a program that would rather stop than limp
 *
 * The inferom program ends with a clear word when memory is gone: half a
 * profile helps nobody. So these never return NULL. (Guests do not use this
 * file; they drop what they cannot keep, and count it.)
 */
#pragma once
#include <stddef.h>

void *mem_new(size_t bytes);                  /* zeroed */
void *mem_resize(void *p, size_t bytes);
char *mem_text(const char *s, size_t n);      /* a NUL-terminated copy */

/* Room for at least `need` rows; doubles, so that appending stays linear. Use through GROW. */
void *mem_grow(void *table, size_t *cap, size_t need, size_t row_bytes);

#define GROW(table, cap, need) ((table) = mem_grow((table), &(cap), (need), sizeof *(table)))
