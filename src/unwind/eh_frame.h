/*
 * eh_frame.h - the entries of an .eh_frame section, and what their programs say
 *
 *     CIE   what many functions have in common: alignments, pointer encoding, first rules
 *     FDE   one function: its addresses, and a little program that changes the rules
 *           from instruction to instruction
 *
 * Every length is checked against the bytes that are there. An entry that makes no
 * sense is left out and counted; those before and after it are kept.
 *
 * Owns:     the lists; the programs stay in the caller's section.
 * Fails:    when the section has entries and none of them can be understood.
 */
#pragma once
#include "unwind/rule.h"

struct eh_cie {
    uint64_t offset; /* in the section; what FDEs call it by */
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra;      /* which register the return address is known as */
    uint8_t encoding; /* of the addresses in FDEs */
    bool is_signal, has_augmentation;
    struct unwind_rule first; /* before the first instruction of each function */
};

struct eh_fde {
    uint64_t start, end; /* virtual addresses */
    uint32_t cie;
    uint32_t order; /* in the section; of two that claim the same code the first is right */
    struct view program;
};

struct eh_frame {
    enum unwind_arch arch;
    struct view section;
    uint64_t address;
    struct eh_cie *cies; /* by offset */
    struct eh_fde *fdes; /* by start */
    size_t n_cies, n_fdes, cap_cies, cap_fdes;
    size_t left_out;
};

bool eh_frame_read(struct eh_frame *out, const struct unwind_sections *s, struct err *e) MUST_CHECK;
void eh_frame_done(struct eh_frame *f);
DEFINE_OWN_IN_PLACE(eh_frame, struct eh_frame)

/* One rule holds from `from` up to, not including, `to`; called in ascending order. */
typedef void (*eh_stretch)(void *self, uint64_t from, uint64_t to, const struct unwind_rule *rule);

/* cfa_program.c. What the program gets wrong is CFA_NONE from there to the end of the function. */
void eh_fde_run(const struct eh_frame *f, const struct eh_fde *fde, eh_stretch stretch, void *self);

/* The rules a CIE starts with. False: its program makes no sense. */
bool eh_cie_run(enum unwind_arch arch, struct eh_cie *cie, struct view program);
