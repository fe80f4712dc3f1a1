/*
 * cfa_expression.h - the few DWARF expressions that unwind tables really contain
 *
 *     breg R n                                     R + n
 *     breg R n; deref                              *(R + n)           realigned stacks (gcc, icc)
 *     breg R n; deref; plus_uconst k               *(R + n) + k       OpenSSL's assembly
 *     breg sp 8; breg pc 0; ... ge litN ...        the PLT: one push later in the second part of a slot
 *
 * All else is CFA_NONE: an expression is a program, and we run none of other people's.
 */
#pragma once
#include "unwind/rule.h"

struct cfa_place {
    enum cfa_how how;
    uint8_t reg;
    int32_t offset, add;
};

struct cfa_place cfa_expression(struct unwind_arch_registers regs, struct view expression);
