#include "unwind/cfa_expression.h"
#include "unwind/eh_frame.h"
#include "unwind/eh_pointer.h"

/*
 * A program starts from the CIE's rules and says, between steps forward through the
 * code, what changes. Only what a rule can hold is followed: the CFA, the return
 * address and two registers. All else is read, so as to know where it ends, and
 * forgotten.
 */
enum { MOST_REMEMBERED = 32 };

struct program {
    enum unwind_arch arch;
    struct unwind_arch_registers regs;
    const struct eh_frame *frame; /* NULL: the program of a CIE, which has no addresses */
    const struct eh_cie *cie;
    struct unwind_rule rule;
    struct unwind_rule remembered[MOST_REMEMBERED];
    size_t n_remembered;
    uint64_t here, end;
    eh_stretch stretch;
    void *self;
};

/*
 * The kernel's frame, whose layout is known, rather than the rules: they would restore
 * what we keep, but the interrupted function may need any register. On x86-64 the rules
 * tell where the context is (rip at context + 168); on arm64 it is at sp.
 */
enum { X86_CONTEXT_RIP = 168 };

static void settle_signal(const struct program *p, struct unwind_rule *r)
{
    r->is_exact = true;
    bool at_sp = r->ra.how == SAVED_AT_REGISTER && r->ra.reg == p->regs.sp && r->ra.offset >= X86_CONTEXT_RIP;
    if (p->arch == UNWIND_ARM64)
        *r = (struct unwind_rule){.how = CFA_SIGNAL, .is_exact = true};
    else if (at_sp)
        *r = (struct unwind_rule){.how = CFA_SIGNAL, .is_exact = true, .offset = r->ra.offset - X86_CONTEXT_RIP};
}

/* A return address that is "the same" is in its register, if it has one of its own (arm64's lr). */
static bool settle_return(const struct program *p, struct saved *ra)
{
    if (ra->how == SAVED_SAME && p->cie->ra != p->regs.pc && p->cie->ra < p->regs.count)
        *ra = (struct saved){.how = SAVED_IN_REGISTER, .reg = (uint8_t)p->cie->ra};
    return ra->how != SAVED_SAME && ra->how != SAVED_UNKNOWN;
}

/* What the walk gets: a rule it can follow to the end, or one that says why not. */
static const struct unwind_rule *settled(const struct program *p, struct unwind_rule *scratch)
{
    const struct unwind_rule *r = &p->rule;
    if (r->ra.how == SAVED_AT_CFA && r->how != CFA_NONE && !p->cie->is_signal)
        return r; /* nearly always; copying it would wait for the fields just written */
    *scratch = *r;
    if (r->ra.how == SAVED_UNDEFINED)
        *scratch = (struct unwind_rule){.how = CFA_END};
    else if (p->cie->is_signal)
        settle_signal(p, scratch);
    bool has_return = scratch->how == CFA_END || scratch->how == CFA_SIGNAL || settle_return(p, &scratch->ra);
    if (!has_return || scratch->how == CFA_NONE)
        *scratch = (struct unwind_rule){.how = CFA_NONE};
    return scratch;
}

/* False: out of the function, or over the end of the address space. */
static bool advance(struct program *p, uint64_t to)
{
    if (to < p->here || !p->stretch)
        return false;
    uint64_t until = to < p->end ? to : p->end;
    if (until > p->here) {
        struct unwind_rule scratch;
        p->stretch(p->self, p->here, until, settled(p, &scratch));
    }
    p->here = until;
    return to <= p->end;
}

static bool advance_by(struct program *p, uint64_t delta)
{
    uint64_t bytes, to;
    return !__builtin_mul_overflow(delta, p->cie->code_align, &bytes) &&
           !__builtin_add_overflow(p->here, bytes, &to) && advance(p, to);
}

/* Where a register's fate is kept; NULL: one that no rule starts from. */
static struct saved *slot_of(struct program *p, struct unwind_rule *r, uint64_t reg)
{
    if (reg == p->cie->ra)
        return &r->ra;
    if (reg == p->regs.fp)
        return &r->fp;
    return reg == p->regs.base ? &r->base : NULL;
}

static void set_saved(struct program *p, uint64_t reg, enum saved_how how, uint64_t in_reg, int64_t offset)
{
    struct saved *slot = slot_of(p, &p->rule, reg);
    if (!slot)
        return;
    bool fits = in_reg < p->regs.count && offset == (int32_t)offset;
    *slot = fits ? (struct saved){.how = (uint8_t)how, .reg = (uint8_t)in_reg, .offset = (int32_t)offset}
                 : (struct saved){.how = SAVED_UNKNOWN};
}

static void set_cfa(struct program *p, uint64_t reg, int64_t offset)
{
    bool fits = reg < p->regs.count && offset == (int32_t)offset;
    p->rule.how = fits ? CFA_REGISTER : CFA_NONE;
    p->rule.reg = reg < p->regs.count ? (uint8_t)reg : UINT8_MAX;
    p->rule.offset = fits ? (int32_t)offset : 0;
    p->rule.add = 0;
}

/* Changing half of it makes sense only while it is a register and an offset. */
static void change_cfa(struct program *p, uint64_t reg, int64_t offset)
{
    set_cfa(p, p->rule.how == CFA_REGISTER ? reg : UINT64_MAX, offset);
}

static void set_cfa_expression(struct program *p, struct view expression)
{
    struct cfa_place place = cfa_expression(p->regs, expression);
    p->rule.how = (uint8_t)place.how;
    p->rule.reg = place.reg;
    p->rule.offset = place.offset;
    p->rule.add = place.add;
}

static void set_saved_expression(struct program *p, uint64_t reg, struct view expression)
{
    struct cfa_place place = cfa_expression(p->regs, expression);
    if (place.how == CFA_REGISTER)
        set_saved(p, reg, SAVED_AT_REGISTER, place.reg, place.offset);
    else
        set_saved(p, reg, SAVED_UNKNOWN, 0, 0);
}

static void restore(struct program *p, uint64_t reg)
{
    struct unwind_rule first = p->cie->first;
    const struct saved *was = slot_of(p, &first, reg);
    if (was)
        *slot_of(p, &p->rule, reg) = *was;
}

static bool remember(struct program *p)
{
    if (p->n_remembered == MOST_REMEMBERED)
        return false;
    p->remembered[p->n_remembered++] = p->rule;
    return true;
}

static bool recall(struct program *p)
{
    if (!p->n_remembered)
        return false;
    p->rule = p->remembered[--p->n_remembered];
    return true;
}

static bool set_location(struct program *p, struct eh_cursor *c)
{
    if (!p->frame)
        return false;
    uint64_t at = p->frame->address + (uint64_t)(c->at - (const uint8_t *)p->frame->section.at), to;
    return eh_pointer(c, p->cie->encoding, at, &to) && advance(p, to);
}

enum act {
    ACT_UNKNOWN, ACT_NOTHING, ACT_LOCATION, ACT_ADVANCE, ACT_AT_CFA, ACT_AT_CFA_NEGATIVE, ACT_RESTORE, ACT_UNDEFINED,
    ACT_SAME, ACT_IN_REGISTER, ACT_REMEMBER, ACT_RECALL, ACT_CFA, ACT_CFA_SCALED, ACT_CFA_REGISTER, ACT_CFA_OFFSET,
    ACT_CFA_OFFSET_SCALED, ACT_CFA_EXPRESSION, ACT_SAVED_EXPRESSION, ACT_LOST,
};

/* Operands: u and s are LEB128, b a counted block, digits so many bytes. */
static const struct op {
    enum act act;
    char operands[3];
} ops[] = {
    [0x00] = {ACT_NOTHING, ""},
    [0x01] = {ACT_LOCATION, ""},
    [0x02] = {ACT_ADVANCE, "1"},
    [0x03] = {ACT_ADVANCE, "2"},
    [0x04] = {ACT_ADVANCE, "4"},
    [0x05] = {ACT_AT_CFA, "uu"},
    [0x06] = {ACT_RESTORE, "u"},
    [0x07] = {ACT_UNDEFINED, "u"},
    [0x08] = {ACT_SAME, "u"},
    [0x09] = {ACT_IN_REGISTER, "uu"},
    [0x0a] = {ACT_REMEMBER, ""},
    [0x0b] = {ACT_RECALL, ""},
    [0x0c] = {ACT_CFA, "uu"},
    [0x0d] = {ACT_CFA_REGISTER, "u"},
    [0x0e] = {ACT_CFA_OFFSET, "u"},
    [0x0f] = {ACT_CFA_EXPRESSION, "b"},
    [0x10] = {ACT_SAVED_EXPRESSION, "ub"},
    [0x11] = {ACT_AT_CFA, "us"},
    [0x12] = {ACT_CFA_SCALED, "us"},
    [0x13] = {ACT_CFA_OFFSET_SCALED, "s"},
    [0x14] = {ACT_LOST, "uu"}, /* its value, not its place, is CFA + n */
    [0x15] = {ACT_LOST, "us"},
    [0x16] = {ACT_LOST, "ub"},
    [0x1d] = {ACT_ADVANCE, "8"},
    [0x2c] = {ACT_NOTHING, ""}, /* arm64: the return address is signed; the walk strips all of them */
    [0x2d] = {ACT_NOTHING, ""},
    [0x2e] = {ACT_NOTHING, "u"}, /* bytes of arguments, for exceptions */
    [0x2f] = {ACT_AT_CFA_NEGATIVE, "uu"},
};

struct operands {
    uint64_t a, b;
    struct view block;
};

static struct operands read_operands(struct eh_cursor *c, const char *shape)
{
    struct operands o = {0};
    for (size_t i = 0; i < 2 && shape[i]; i++) {
        uint64_t *value = i ? &o.b : &o.a;
        if (shape[i] == 'u' || shape[i] == 's')
            *value = eh_leb(c, shape[i] == 's');
        else if (shape[i] == 'b')
            o.block = eh_bytes(c, eh_uleb(c));
        else
            *value = eh_uint(c, (size_t)(shape[i] - '0'));
    }
    return o;
}

/* Wraps around instead of overflowing; what does not fit a rule is refused where it is set. */
static int64_t scaled(const struct program *p, uint64_t factor)
{
    return (int64_t)(factor * (uint64_t)p->cie->data_align);
}

static bool do_op(struct program *p, enum act act, const struct operands *o, struct eh_cursor *c)
{
    switch (act) {
    case ACT_UNKNOWN: return false;
    case ACT_NOTHING: return true;
    case ACT_LOCATION: return set_location(p, c);
    case ACT_ADVANCE: return advance_by(p, o->a);
    case ACT_REMEMBER: return remember(p);
    case ACT_RECALL: return recall(p);
    case ACT_RESTORE: restore(p, o->a); return true;
    case ACT_AT_CFA: set_saved(p, o->a, SAVED_AT_CFA, 0, scaled(p, o->b)); return true;
    case ACT_AT_CFA_NEGATIVE: set_saved(p, o->a, SAVED_AT_CFA, 0, scaled(p, -o->b)); return true;
    case ACT_UNDEFINED: set_saved(p, o->a, SAVED_UNDEFINED, 0, 0); return true;
    case ACT_SAME: set_saved(p, o->a, SAVED_SAME, 0, 0); return true;
    case ACT_IN_REGISTER: set_saved(p, o->a, SAVED_IN_REGISTER, o->b, 0); return true;
    case ACT_SAVED_EXPRESSION: set_saved_expression(p, o->a, o->block); return true;
    case ACT_LOST: set_saved(p, o->a, SAVED_UNKNOWN, 0, 0); return true;
    case ACT_CFA: set_cfa(p, o->a, (int64_t)o->b); return true;
    case ACT_CFA_SCALED: set_cfa(p, o->a, scaled(p, o->b)); return true;
    case ACT_CFA_REGISTER: change_cfa(p, o->a, p->rule.offset); return true;
    case ACT_CFA_OFFSET: change_cfa(p, p->rule.reg, (int64_t)o->a); return true;
    case ACT_CFA_OFFSET_SCALED: change_cfa(p, p->rule.reg, scaled(p, o->a)); return true;
    case ACT_CFA_EXPRESSION: set_cfa_expression(p, o->block); return true;
    }
    return false;
}

/* The three that carry an operand in their low six bits are nine of ten in real files. */
static bool do_next(struct program *p, struct eh_cursor *c)
{
    uint8_t op = eh_byte(c), low = op & 0x3f;
    switch (op >> 6) {
    case 1: return advance_by(p, low);
    case 2: set_saved(p, low, SAVED_AT_CFA, 0, scaled(p, eh_uleb(c))); return !c->is_short;
    case 3: restore(p, low); return true;
    default: break;
    }
    if (op >= sizeof ops / sizeof *ops)
        return false;
    struct operands o = read_operands(c, ops[op].operands);
    return !c->is_short && do_op(p, ops[op].act, &o, c);
}

static bool run(struct program *p, struct view bytes)
{
    struct eh_cursor c = eh_cursor_over(bytes);
    while (eh_left(&c))
        if (!do_next(p, &c))
            return false;
    return true;
}

void eh_fde_run(const struct eh_frame *f, const struct eh_fde *fde, eh_stretch stretch, void *self)
{
    const struct eh_cie *cie = &f->cies[fde->cie];
    struct program p; /* not cleared: the remembered rules are most of it and rarely used */
    p.arch = f->arch;
    p.regs = unwind_registers_of(f->arch);
    p.frame = f;
    p.cie = cie;
    p.rule = cie->first;
    p.n_remembered = 0;
    p.here = fde->start;
    p.end = fde->end;
    p.stretch = stretch;
    p.self = self;
    if (!run(&p, fde->program))
        p.rule = (struct unwind_rule){.how = CFA_NONE};
    advance(&p, p.end);
}

bool eh_cie_run(enum unwind_arch arch, struct eh_cie *cie, struct view program)
{
    struct program p = {.arch = arch, .regs = unwind_registers_of(arch), .cie = cie};
    if (!run(&p, program))
        return false;
    cie->first = p.rule;
    return true;
}
