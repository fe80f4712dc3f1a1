/*
 * symbols.h - from an address in a file to function, source line and inlined callers
 *
 *     own(image) struct image *i = NULL;
 *     if (!image_open(&i, &(struct image_file){.path = "/usr/bin/x", .root = "/proc/42/root"}, e)) ...
 *     struct place places[PLACES_MOST];
 *     size_t n = image_places(i, virtual_address, places);
 *
 * An image is one ELF file together with what its separate debug file adds. Function
 * symbols are indexed when the image is opened; DWARF is read per compilation unit, when
 * an address of that unit is first asked for. Failures to find debug information are
 * remembered, not repeated, and are no errors.
 *
 * Owns:    everything it hands out lives as long as the image.
 * Threads: one at a time per image, with a stack of 4 MiB or more (demangling is deep).
 * Fails:   only in image_open(): no such file, no ELF, another build id than expected.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <stdint.h>

struct image_file {
    const char *path;       /* as the process sees it */
    const char *root;       /* in front of it: "/proc/42/root"; NULL: none */
    struct view build_id;   /* binary; when given, another file under that name is refused */
    struct view bytes;      /* instead of a path: the vDSO, a test */
};

struct image;

bool image_open(struct image **out, const struct image_file *f, struct err *e) MUST_CHECK;
void image_free(struct image *i); /* NULL is fine */
DEFINE_OWN(image, struct image *)

struct view image_build_id(const struct image *i); /* binary; may be empty */
int image_machine(const struct image *i);          /* ELF e_machine */

/* File offset (as in /proc/PID/maps) to virtual address; false when no executable segment holds it. */
bool image_virtual_address(const struct image *i, uint64_t file_offset, uint64_t *out);

/* A section's bytes as they are in the file, and its address; empty when there is none. */
struct view image_section(const struct image *i, const char *name, uint64_t *out_address);

/* One function at an address. The last of a list is the function that really is there, those before it are inlined. */
struct place {
    struct view name;     /* demangled; empty when no symbol covers the address */
    struct view file;     /* of the line; may be empty */
    uint32_t line;        /* 0: unknown */
    struct view function_file;
    uint32_t function_line; /* where the function begins; 0: unknown */
};

#define PLACES_MOST 32
size_t image_places(struct image *i, uint64_t virtual_address, struct place out[PLACES_MOST]); /* innermost first; at least 1 */

size_t image_held_bytes(const struct image *i);

/* Names for code that has no file. */
struct kernel_symbols;
bool kernel_symbols_open(struct kernel_symbols **out, const char *kallsyms_path, struct err *e) MUST_CHECK;
void kernel_symbols_free(struct kernel_symbols *k);
DEFINE_OWN(kernel_symbols, struct kernel_symbols *)
struct view kernel_symbols_at(const struct kernel_symbols *k, uint64_t address, struct view *out_module); /* "" when unknown */

struct jit_symbols; /* /tmp/perf-PID.map and jitdump files */
bool jit_symbols_open(struct jit_symbols **out, const char *path, struct err *e) MUST_CHECK;
bool jit_symbols_refresh(struct jit_symbols *j, struct err *e) MUST_CHECK; /* reads what was appended since */
void jit_symbols_free(struct jit_symbols *j);
DEFINE_OWN(jit_symbols, struct jit_symbols *)
struct view jit_symbols_at(const struct jit_symbols *j, uint64_t address); /* "" when unknown */
