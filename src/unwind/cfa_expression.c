#include "unwind/cfa_expression.h"

#include "unwind/eh_cursor.h"

enum {
    OP_DEREF = 0x06, OP_AND = 0x1a, OP_PLUS = 0x22, OP_PLUS_UCONST = 0x23, OP_SHL = 0x24, OP_GE = 0x2a,
    OP_LIT0 = 0x30, OP_LIT3 = 0x33, OP_LIT15 = 0x3f, OP_BREG0 = 0x70, OP_BREG31 = 0x8f, OP_BREGX = 0x92,
};

static bool fits(int64_t v) { return v == (int32_t)v; }

static bool read_breg(struct eh_cursor *c, uint64_t *out_reg, int64_t *out_offset)
{
    uint8_t op = eh_byte(c);
    if (op >= OP_BREG0 && op <= OP_BREG31)
        *out_reg = op - (unsigned)OP_BREG0;
    else if (op == OP_BREGX)
        *out_reg = eh_uleb(c);
    else
        return false;
    *out_offset = eh_sleb(c);
    return !c->is_short;
}

/* pc & 15 >= N, times 8: N is 11 for the plain table, 9 or so where slots begin with endbr64. */
static bool read_plt_tail(struct eh_cursor c, uint8_t pc, int32_t *out_slot_byte)
{
    uint64_t reg;
    int64_t offset;
    if (!read_breg(&c, &reg, &offset) || reg != pc || offset != 0 || eh_left(&c) != 7)
        return false;
    const uint8_t *o = c.at;
    *out_slot_byte = o[2] - OP_LIT0;
    return o[0] == OP_LIT15 && o[1] == OP_AND && o[2] >= OP_LIT0 && o[2] <= OP_LIT15 && o[3] == OP_GE &&
           o[4] == OP_LIT3 && o[5] == OP_SHL && o[6] == OP_PLUS;
}

struct cfa_place cfa_expression(struct unwind_arch_registers regs, struct view expression)
{
    const struct cfa_place none = {.how = CFA_NONE, .reg = UINT8_MAX};
    struct eh_cursor c = eh_cursor_over(expression);
    uint64_t reg;
    int64_t offset, add = 0;
    if (!read_breg(&c, &reg, &offset) || reg >= regs.count || !fits(offset))
        return none;
    struct cfa_place place = {.how = CFA_REGISTER, .reg = (uint8_t)reg, .offset = (int32_t)offset};
    int32_t slot_byte;
    if (reg == regs.sp && read_plt_tail(c, regs.pc, &slot_byte))
        return (struct cfa_place){.how = CFA_PLT, .reg = place.reg, .offset = place.offset, .add = slot_byte};
    if (eh_left(&c) && *c.at == OP_DEREF) {
        eh_byte(&c);
        place.how = CFA_MEMORY;
    }
    if (eh_left(&c) && *c.at == OP_PLUS_UCONST) {
        eh_byte(&c);
        add = (int64_t)eh_uleb(&c);
    }
    if (c.is_short || eh_left(&c) || add < 0 || !fits(add) || !fits(offset + add))
        return none;
    if (place.how == CFA_MEMORY)
        place.add = (int32_t)add;
    else
        place.offset = (int32_t)(offset + add);
    return place;
}
