/*
 * rule.h - where the caller's frame is, seen from one instruction
 *
 * Everything hangs on the CFA, the value the stack pointer will have once the
 * function has returned. A rule says how to find it and where the return address
 * and the two registers that other rules start from were put:
 *
 *              ┌───────────────┐
 *     CFA ──>  │ caller's      │
 *              ├───────────────┤
 *              │ return address│  ra:   CFA - 8
 *              │ saved rbp     │  fp:   CFA - 16
 *              │ saved rbx     │  base: CFA - 24
 *     rsp ──>  │ ...           │  cfa:  rsp + n
 *
 * Two registers are enough: assembly counts from others too (rax, r9, r11, r15 in libcrypto), but
 * of the callers in 8000 samples compared with elfutils none needed a third. rbx is the lazy binder's.
 *
 * A file has a few hundred different rules and a million rows, so rules are kept
 * once and rows name them by a 16-bit number. No pointers and no padding: rules are
 * compared as bytes, and can be copied into a kernel map as they are.
 */
#pragma once
#include "unwind/unwind.h"
#include <assert.h>

enum cfa_how {
    CFA_NONE,     /* nothing is known about this code */
    CFA_END,      /* no caller: the return address is undefined */
    CFA_REGISTER, /* reg + offset */
    CFA_MEMORY,   /* *(reg + offset) + add: a realigned stack */
    CFA_PLT,      /* reg + offset, 8 more from byte `add` of each 16-byte slot on */
    CFA_SIGNAL,   /* the kernel put all registers at sp + offset */
};

enum saved_how {
    SAVED_SAME,        /* still in its register */
    SAVED_AT_CFA,      /* at CFA + offset */
    SAVED_AT_REGISTER, /* at reg + offset */
    SAVED_IN_REGISTER, /* in reg */
    SAVED_UNDEFINED,   /* the program says that it is gone */
    SAVED_UNKNOWN,     /* somewhere we cannot follow */
};

struct saved {
    uint8_t how, reg;
    uint8_t zero[2];
    int32_t offset;
};

struct unwind_rule {
    uint8_t how, reg;
    uint8_t is_exact; /* the caller was interrupted, it did not call: its address is not a return address */
    uint8_t zero;
    int32_t offset, add;
    struct saved ra, fp, base;
};
static_assert(sizeof(struct unwind_rule) == 36, "rules are compared as bytes: no padding");

/* DWARF numbers of the registers with a part to play. */
struct unwind_arch_registers {
    uint8_t sp, fp, base, ra, pc, count;
};

static inline struct unwind_arch_registers unwind_registers_of(enum unwind_arch arch)
{
    if (arch == UNWIND_ARM64)
        return (struct unwind_arch_registers){.sp = 31, .fp = 29, .base = 19, .ra = 30, .pc = 32, .count = 33};
    return (struct unwind_arch_registers){.sp = 7, .fp = 6, .base = 3, .ra = 16, .pc = 16, .count = 17};
}
