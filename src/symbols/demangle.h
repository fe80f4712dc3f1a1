/*
 * demangle.h - the name a person wrote, from the name a compiler made of it
 *
 *     own(buf) struct buf out;
 *     buf_init(&out, DEMANGLED_MOST);
 *     if (!demangle("_ZN4llama6decodeEv", &out)) ...      // not mangled: use it as it is
 *
 * C++ (the Itanium scheme) and Rust (the old scheme and v0). A short name can stand
 * for an endless one (each part repeats the one before twice), so what would be longer
 * than DEMANGLED_MOST stays mangled. A build without libiberty leaves all names alone.
 *
 * Threads:  any; the library works on the stack and may take 2 MiB of it.
 */
#pragma once
#include "base/buf.h"

#define DEMANGLED_MOST ((size_t)64 << 10)

bool demangle(const char *mangled, struct buf *out);
