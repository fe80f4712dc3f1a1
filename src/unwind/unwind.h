/*
 * unwind.h - from registers and a piece of stack to the addresses of the callers
 *
 * A table says, for every instruction of one file, where the caller's frame is:
 * it is made once per file from .eh_frame and then only read. A space is what one
 * process has mapped: which table serves which addresses.
 *
 *     file A ── table ─┐
 *     file B ── table ─┼── space (sorted maps) ── walk(registers, stack bytes) ── addresses, leaf first
 *     [vdso] ── table ─┘
 *
 * The walk allocates nothing, takes no lock, calls nothing and is bounded, so that
 * every engine can use it wherever it is: in the recorder, in a signal handler, one
 * day in the kernel.
 *
 * Owns:     a table owns its rows; a space borrows tables and maps.
 * Threads:  tables and spaces are read-only once made.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include <stdint.h>

enum unwind_arch { UNWIND_X86_64, UNWIND_ARM64, UNWIND_ARCH_COUNT };

/* What the builder needs of a file; addresses as the file was linked (virtual addresses). */
struct unwind_sections {
    enum unwind_arch arch;
    struct view eh_frame;
    uint64_t eh_frame_address;
    struct unwind_range {
        uint64_t start, end;
    } plt[4]; /* .plt, .plt.sec, ...; end 0: none */
    struct view text;      /* .text, for code that has no rules of its own; may be empty */
    uint64_t text_address;
    bool text_stays;       /* the text outlives the table: the walk may look at it too */
};

struct unwind_table;

bool unwind_table_new(struct unwind_table **out, const struct unwind_sections *s, struct err *e) MUST_CHECK;
void unwind_table_free(struct unwind_table *t); /* NULL is fine */
DEFINE_OWN(unwind_table, struct unwind_table *)
size_t unwind_table_rows(const struct unwind_table *t);
size_t unwind_table_bytes(const struct unwind_table *t);

/* One executable mapping. bias + virtual address = address in the process. */
struct unwind_map {
    uint64_t start, end, bias;
    const struct unwind_table *table; /* NULL: nothing is known about this code */
};

struct unwind_space {
    enum unwind_arch arch;
    const struct unwind_map *maps; /* sorted by start, not overlapping */
    size_t n;
};

/* Registers by DWARF number: x86-64 0..16 (7 rsp, 6 rbp, 16 rip), arm64 0..32 (29 fp, 30 lr, 31 sp, 32 pc). */
struct unwind_registers {
    uint64_t at[33];
};

struct unwind_stack {
    uint64_t start; /* address of bytes[0], the stack pointer at the time */
    const uint8_t *bytes;
    size_t n;
};

enum unwind_end {
    UNWIND_COMPLETE,   /* reached a frame that says it has no caller */
    UNWIND_CUT,        /* the next caller lies beyond the bytes we have */
    UNWIND_TOO_DEEP,   /* more callers than places for them */
    UNWIND_NO_RULE,    /* an address nothing is known about */
    UNWIND_BROKEN,     /* the rules led somewhere impossible */
    UNWIND_GUESSED,    /* as complete, but some frames have no rules and were guessed (frame pointers) */
    UNWIND_END_COUNT
};
extern const char *const unwind_end_names[UNWIND_END_COUNT + 1];

/*
 * Addresses of the frames, leaf first: the leaf's is the instruction about to run, the
 * others are return addresses (look them up one byte earlier; a frame interrupted by a
 * signal is exact too and is given plus one, so that the same rule serves). Returns how many.
 */
size_t unwind_walk(const struct unwind_space *space, const struct unwind_registers *r, const struct unwind_stack *stack,
                   uint64_t *out_addresses, size_t most, enum unwind_end *out_why);
