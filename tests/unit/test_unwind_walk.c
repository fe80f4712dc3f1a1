/*
 * Walks over stacks written by hand: how each of them ends, and arm64, which this machine is not.
 *
 * Code is at 0x1000 in the file and at BIAS + 0x1000 in the process; the stack begins at STACK.
 */
#include "check.h"
#include "eh_writer.h"
#include "unwind/frame_guess.h"

#include <inttypes.h>

enum { FP = 6, SP = 7, RBX = 3, RA = 16, ARM_FP = 29, ARM_LR = 30, ARM_SP = 31, ARM_PC = 32 };

#define BIAS UINT64_C(0x550000000000)
#define STACK UINT64_C(0x7ff000000000)
#define CODE(offset) (BIAS + 0x1000 + (offset))
#define AT(word) (STACK + 8 * (word))

/* Functions, 0x100 apart:
     0  leaf: sp+8                                  100  pushes rbp: sp+16, rbp at CFA-16
     200  outermost                                 300  frame pointer: rbp+16, rbp at CFA-16
     400  CFA behind r10                            500  no rules at all
     600  *(rbp-8), rbp at *(rbp)                   700  CFA in rbx                             */
static struct unwind_table *x86_table(void)
{
    static const char text[] = "\xe8\x00\x00\x00\x00\xff\xd0\x41\xff\x54\x24\x08\xff\x15\x00\x00\x00\x00\x90\x90\x90"
                               "\xe8\x00\x00\x00\x00\x90"; /* 515: a call in code with rules */
    struct eh_writer w = {.n = 0};
    size_t cie = eh_cie(&w, "zR", 0x1b, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1)));
    eh_fde(&w, cie, 0x1000, 0x100, OPS(NOP));
    eh_fde(&w, cie, 0x1100, 0x100, OPS(CFA_OFFSET(16), OFFSET(FP, 2), ADVANCE1(0x80), CFA_OFFSET(8)));
    eh_fde(&w, cie, 0x1200, 0x100, OPS(UNDEFINED(RA)));
    eh_fde(&w, cie, 0x1300, 0x100, OPS(DEF_CFA(FP, 16), OFFSET(FP, 2)));
    eh_fde(&w, cie, 0x1400, 0x100, OPS(DEF_CFA(10, 0)));
    eh_fde(&w, cie, 0x1515, 0x10, OPS(NOP));
    eh_fde(&w, cie, 0x1600, 0x100, OPS(CFA_EXPRESSION(3, BREG(FP, -8), DEREF), AT_EXPRESSION(FP, 2, BREG(FP, 0))));
    eh_fde(&w, cie, 0x1700, 0x100, OPS(DEF_CFA(RBX, 16), OFFSET(RBX, 2)));
    struct unwind_sections s = {.arch = UNWIND_X86_64, .eh_frame = {w.bytes, w.n}, .eh_frame_address = EH_ADDRESS,
                                .text = {text, sizeof text - 1}, .text_address = 0x1500, .text_stays = true};
    struct unwind_table *t = NULL;
    CHECK(unwind_table_new(&t, &s, NULL));
    return t;
}

struct walk_case {
    const char *what;
    uint64_t pc, fp, base; /* sp is always STACK */
    uint64_t words[12];
    size_t n_words;
    uint64_t want[8]; /* 0: no more */
    enum unwind_end why;
};

static const struct walk_case x86_cases[] = {
    {"leaf and outermost", CODE(5), 0, 0, {CODE(0x205)}, 1, {CODE(5), CODE(0x205)}, UNWIND_COMPLETE},
    {"a zero return address", CODE(5), 0, 0, {0}, 1, {CODE(5)}, UNWIND_COMPLETE},
    {"a call that is the last instruction", CODE(5), 0, 0, {CODE(0x300)}, 1, {CODE(5), CODE(0x300)}, UNWIND_COMPLETE},
    {"rbp saved, then used", CODE(0x105), 1, 0, {AT(3), CODE(0x305), 0, 0, CODE(0x205)}, 5,
     {CODE(0x105), CODE(0x305), CODE(0x205)}, UNWIND_COMPLETE},
    {"rbp already popped", CODE(0x185), AT(3), 0, {CODE(0x305), 0, 0, 0, CODE(0x205)}, 5,
     {CODE(0x185), CODE(0x305), CODE(0x205)}, UNWIND_COMPLETE},
    {"a realigned stack", CODE(5), AT(4), 0, {CODE(0x605), 0, 0, AT(8), AT(8), 0, 0, CODE(0x305), AT(11), CODE(0x205)}, 10,
     {CODE(5), CODE(0x605), CODE(0x305), CODE(0x205)}, UNWIND_COMPLETE},
    {"through rbx", CODE(5), 0, AT(2), {CODE(0x705), 0, 7, CODE(0x205)}, 4, {CODE(5), CODE(0x705), CODE(0x205)}, UNWIND_COMPLETE},
    {"bytes end before the return address", CODE(0x105), 0, 0, {1}, 1, {CODE(0x105)}, UNWIND_CUT},
    {"no bytes", CODE(5), 0, 0, {0}, 0, {CODE(5)}, UNWIND_CUT},
    {"a frame below its callee", CODE(0x305), STACK - 72, 0, {CODE(5)}, 1, {CODE(0x305)}, UNWIND_BROKEN},
    {"a frame nowhere near", CODE(0x305), 1, 0, {CODE(5)}, 1, {CODE(0x305)}, UNWIND_BROKEN},
    {"r10 of a caller is gone", CODE(5), 0, 0, {CODE(0x405), CODE(0x205)}, 2, {CODE(5), CODE(0x405)}, UNWIND_NO_RULE},
    {"code that nobody mapped", CODE(5), 0, 0, {0x1234}, 1, {CODE(5), 0x1234}, UNWIND_NO_RULE},
    {"deeper than there are places", CODE(5), 0, 0, {CODE(5), CODE(5), CODE(5), CODE(5), CODE(5), CODE(5), CODE(5), CODE(5)}, 8,
     {CODE(5), CODE(5), CODE(5), CODE(5), CODE(5), CODE(5), CODE(5), CODE(5)}, UNWIND_TOO_DEEP},

    /* Code without rules, with the text to look at: 505, 507, 50c and 512 are behind calls. */
    {"a frame pointer that is right", CODE(0x50f), AT(1), 0, {9, 0, CODE(0x507), CODE(0x205)}, 4,
     {CODE(0x50f), CODE(0x507)}, UNWIND_GUESSED},
    {"back into code with rules", CODE(0x50f), AT(1), 0, {9, AT(3), CODE(5), CODE(0x205)}, 4,
     {CODE(0x50f), CODE(5), CODE(0x205)}, UNWIND_GUESSED},
    {"just entered, the call in sight", CODE(0x50f), 77, 0, {CODE(0x507), CODE(0x507), 0}, 3, {CODE(0x50f), CODE(0x507)}, UNWIND_NO_RULE},
    {"the call out of sight", CODE(0x50f), 77, 0, {CODE(0x207), 0}, 2, {CODE(0x50f)}, UNWIND_NO_RULE},
    {"into code with rules, which has its own use for rbp", CODE(0x50f), AT(1), 0, {9, 5, CODE(0x51a), CODE(0x205)}, 4,
     {CODE(0x50f), CODE(0x51a), CODE(0x205)}, UNWIND_GUESSED},
    {"not behind a call", CODE(0x50f), AT(1), 0, {9, 0, CODE(0x506), CODE(0x205)}, 4, {CODE(0x50f)}, UNWIND_NO_RULE},
    {"downwards", CODE(0x50f), AT(1), 0, {9, AT(0), CODE(0x507), CODE(0x205)}, 4, {CODE(0x50f)}, UNWIND_NO_RULE},
    {"not on the stack", CODE(0x50f), 77, 0, {9, 0, CODE(0x507), CODE(0x205)}, 4, {CODE(0x50f)}, UNWIND_NO_RULE},
    {"not aligned", CODE(0x50f), AT(1) + 1, 0, {9, 0, CODE(0x507), CODE(0x205)}, 4, {CODE(0x50f)}, UNWIND_NO_RULE},
    {"into nowhere", CODE(0x50f), AT(1), 0, {9, 0, 0x4444, 0}, 4, {CODE(0x50f)}, UNWIND_NO_RULE},
    {"the outermost frame, by convention", CODE(0x50f), 0, 0, {9}, 1, {CODE(0x50f)}, UNWIND_GUESSED},
};

static void check_walk(const struct unwind_space *space, const struct walk_case *c, const struct unwind_registers *r)
{
    uint64_t got[8] = {0};
    enum unwind_end why = UNWIND_END_COUNT;
    own(free) uint64_t *exact = malloc(c->n_words * 8 + 1);
    memcpy(exact, c->words, c->n_words * 8);
    struct unwind_stack stack = {STACK, (const uint8_t *)exact, c->n_words * 8};
    size_t n = unwind_walk(space, r, &stack, got, 8, &why);
    size_t want = 0;
    while (want < 8 && c->want[want])
        want++;
    if (n != want || why != c->why || memcmp(got, c->want, sizeof got) != 0)
        printf("%s: %zu frames, %s\n", c->what, n, unwind_end_names[why]);
    CHECK_EQ(n, want);
    CHECK_STR(unwind_end_names[why], unwind_end_names[c->why]);
    CHECK(memcmp(got, c->want, sizeof got) == 0);
}

static void check_x86(void)
{
    own(unwind_table) struct unwind_table *t = x86_table();
    struct unwind_map maps[] = {{BIAS, BIAS + 0x800, 0, NULL}, {BIAS + 0x1000, BIAS + 0x2000, BIAS, t}};
    struct unwind_space space = {UNWIND_X86_64, maps, 2};
    for (size_t i = 0; i < sizeof x86_cases / sizeof *x86_cases; i++) {
        const struct walk_case *c = &x86_cases[i];
        struct unwind_registers r = {.at = {[RBX] = c->base, [FP] = c->fp, [SP] = STACK, [RA] = c->pc}};
        check_walk(&space, c, &r);
    }
}

/* Code of which there is not even a table, such as what a JIT compiler made. */
static void check_code_without_table(void)
{
    struct unwind_map map = {BIAS, BIAS + 0x2000, 0, NULL};
    struct unwind_space space = {UNWIND_X86_64, &map, 1};
    struct walk_case c = {"frame pointers all the way", CODE(5), AT(1), 0, {0, AT(3), CODE(6), AT(5), CODE(7), 0, CODE(8)}, 7,
                          {CODE(5), CODE(6), CODE(7), CODE(8)}, UNWIND_GUESSED};
    struct unwind_registers r = {.at = {[FP] = c.fp, [SP] = STACK, [RA] = c.pc}};
    check_walk(&space, &c, &r);
}

/* A handler on a stack of its own: what it interrupted is known, what called that is elsewhere. */
static void check_signal_stack(void)
{
    struct eh_writer w = {.n = 0};
    size_t signal = eh_cie(&w, "zRS", 0x1b, OPS(CFA_EXPRESSION(4, BYTE(0x77), BYTE(0xa0), 1, DEREF),
                                                AT_EXPRESSION(RA, 3, BYTE(0x77), BYTE(0xa8), 1)));
    eh_fde(&w, signal, 0x10ff, 0x10, OPS(NOP));
    eh_fde(&w, eh_cie(&w, "zR", 0x1b, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1))), 0x1000, 0x80, OPS(NOP));
    struct unwind_sections s = {.arch = UNWIND_X86_64, .eh_frame = {w.bytes, w.n}, .eh_frame_address = EH_ADDRESS};
    own(unwind_table) struct unwind_table *t = NULL;
    CHECK(unwind_table_new(&t, &s, NULL));
    struct unwind_map map = {BIAS + 0x1000, BIAS + 0x2000, BIAS, t};
    struct unwind_space space = {UNWIND_X86_64, &map, 1};
    uint64_t words[64] = {CODE(0x100)};
    words[1 + 160 / 8] = 0x7000;
    words[1 + 168 / 8] = CODE(0x20);
    struct unwind_registers r = {.at = {[SP] = STACK, [RA] = CODE(5)}};
    struct unwind_stack stack = {STACK, (const uint8_t *)words, sizeof words};
    uint64_t got[8];
    enum unwind_end why;
    CHECK_EQ(unwind_walk(&space, &r, &stack, got, 8, &why), 3);
    CHECK_EQ(got[2], CODE(0x21)); /* exact, plus one */
    CHECK_STR(unwind_end_names[why], "cut");
    stack.n = 100; /* the kernel's frame itself is cut off */
    CHECK_EQ(unwind_walk(&space, &r, &stack, got, 8, &why), 2);
    CHECK_STR(unwind_end_names[why], "cut");
}

/* arm64:  0 leaf: sp, lr   100 stp x29, x30, [sp, -32]!   200 the same, CFA from x29   300 outermost   400 signal return */
static struct unwind_table *arm_table(void)
{
    struct eh_writer w = {.n = 0};
    size_t cie = eh_cie_for(&w, "zR", 0x1b, ARM_LR, OPS(DEF_CFA(ARM_SP, 0)));
    eh_fde(&w, cie, 0x1000, 0x100, OPS(NOP));
    eh_fde(&w, cie, 0x1100, 0x100, OPS(ADVANCE(4), 0x2d, CFA_OFFSET(32), OFFSET(ARM_FP, 4), OFFSET(ARM_LR, 3)));
    eh_fde(&w, cie, 0x1200, 0x100, OPS(DEF_CFA(ARM_FP, 32), OFFSET(ARM_FP, 4), OFFSET(ARM_LR, 3)));
    eh_fde(&w, cie, 0x1300, 0x100, OPS(UNDEFINED(ARM_LR)));
    static const char text[] = "\x1f\x20\x03\xd5\x68\x11\x80\xd2\x01\x00\x00\xd4";
    struct unwind_sections s = {.arch = UNWIND_ARM64, .eh_frame = {w.bytes, w.n}, .eh_frame_address = EH_ADDRESS,
                                .plt = {{0x1500, 0x1540}}, .text = {text, sizeof text - 1}, .text_address = 0x1400};
    struct unwind_table *t = NULL;
    CHECK(unwind_table_new(&t, &s, NULL));
    return t;
}

#define SIGNED_BY_KEY (UINT64_C(0x5a) << 48)

static const struct {
    struct walk_case c;
    uint64_t lr;
} arm_cases[] = {
    {{"leaf", CODE(8), 0, 0, {0}, 1, {CODE(8), CODE(0x304)}, UNWIND_COMPLETE}, CODE(0x304)},
    {{"before the push", CODE(0x100), 0, 0, {0}, 1, {CODE(0x100), CODE(0x304)}, UNWIND_COMPLETE}, CODE(0x304)},
    {{"after the push", CODE(0x108), 0, 0, {AT(8), CODE(0x208), 0, 0, 0, 0, 0, 0, 0, CODE(0x304)}, 12,
      {CODE(0x108), CODE(0x208), CODE(0x304)}, UNWIND_COMPLETE}, 1},
    {{"signed return addresses", CODE(8), AT(2), 0, {0, 0, 0, CODE(0x304) | SIGNED_BY_KEY}, 6,
      {CODE(8), CODE(0x208), CODE(0x304)}, UNWIND_COMPLETE}, CODE(0x208) | SIGNED_BY_KEY},
    {{"linkage table", CODE(0x510), 0, 0, {0}, 1, {CODE(0x510), CODE(0x304)}, UNWIND_COMPLETE}, CODE(0x304)},
    {{"a caller that did not save lr", CODE(8), 0, 0, {0}, 1, {CODE(8), CODE(8)}, UNWIND_BROKEN}, CODE(8)},
    {{"frame record without rules", CODE(0x600), AT(0), 0, {AT(4), CODE(0x604), 0, 0, 0, CODE(0x608) | SIGNED_BY_KEY}, 6,
      {CODE(0x600), CODE(0x604), CODE(0x608)}, UNWIND_GUESSED}, 1},
};

static void check_arm64(void)
{
    own(unwind_table) struct unwind_table *t = arm_table();
    struct unwind_map map = {BIAS + 0x1000, BIAS + 0x2000, BIAS, t};
    struct unwind_space space = {UNWIND_ARM64, &map, 1};
    for (size_t i = 0; i < sizeof arm_cases / sizeof *arm_cases; i++) {
        const struct walk_case *c = &arm_cases[i].c;
        struct unwind_registers r = {.at = {[ARM_FP] = c->fp, [ARM_LR] = arm_cases[i].lr, [ARM_SP] = STACK, [ARM_PC] = c->pc}};
        check_walk(&space, c, &r);
    }

    /* The kernel's frame: 128 bytes of siginfo, then the context; x0 at 312. */
    uint64_t words[96] = {0};
    words[(312 + 30 * 8) / 8] = CODE(0x304);
    words[(312 + 31 * 8) / 8] = AT(90);
    words[(312 + 32 * 8) / 8] = CODE(0x20);
    struct unwind_registers r = {.at = {[ARM_LR] = CODE(0x404), [ARM_SP] = STACK, [ARM_PC] = CODE(8)}};
    struct unwind_stack stack = {STACK, (const uint8_t *)words, sizeof words};
    uint64_t got[8];
    enum unwind_end why;
    CHECK_EQ(unwind_walk(&space, &r, &stack, got, 8, &why), 4);
    CHECK_STR(unwind_end_names[why], "complete");
    CHECK_EQ(got[1], CODE(0x404));
    CHECK_EQ(got[2], CODE(0x21));
    CHECK_EQ(got[3], CODE(0x304));
}

/* Ways to call, as bytes before a return address. */
static void check_calls(void)
{
    static const struct {
        enum unwind_arch arch;
        struct view code;
        bool is_call;
    } cases[] = {
        {UNWIND_X86_64, VIEW("\xe8\x01\x02\x03\x04"), true},          /* call x */
        {UNWIND_X86_64, VIEW("\xff\xd3"), true},                      /* call *%rbx */
        {UNWIND_X86_64, VIEW("\x41\xff\xd7"), true},                  /* call *%r15 */
        {UNWIND_X86_64, VIEW("\xff\x13"), true},                      /* call *(%rbx) */
        {UNWIND_X86_64, VIEW("\xff\x14\x24"), true},                  /* call *(%rsp) */
        {UNWIND_X86_64, VIEW("\xff\x14\xc5\x01\x02\x03\x04"), true},  /* call *x(,%rax,8) */
        {UNWIND_X86_64, VIEW("\xff\x53\x10"), true},                  /* call *16(%rbx) */
        {UNWIND_X86_64, VIEW("\xff\x54\x24\x08"), true},              /* call *8(%rsp) */
        {UNWIND_X86_64, VIEW("\xff\x15\x01\x02\x03\x04"), true},      /* call *x(%rip) */
        {UNWIND_X86_64, VIEW("\xff\x93\x01\x02\x03\x04"), true},      /* call *x(%rbx) */
        {UNWIND_X86_64, VIEW("\xff\x94\x24\x01\x02\x03\x04"), true},  /* call *x(%rsp) */
        {UNWIND_X86_64, VIEW("\xff\xe0"), false},                     /* jmp *%rax */
        {UNWIND_X86_64, VIEW("\x90\x90\x90\x90\x90\x90\x90"), false},
        {UNWIND_X86_64, VIEW("\xd0"), false},
        {UNWIND_ARM64, VIEW("\x01\x00\x00\x94"), true},               /* bl x */
        {UNWIND_ARM64, VIEW("\x60\x02\x3f\xd6"), true},               /* blr x19 */
        {UNWIND_ARM64, VIEW("\x1f\x08\x3f\xd6"), true},               /* blraaz x0 */
        {UNWIND_ARM64, VIEW("\x61\x0a\x3f\xd7"), true},               /* blraa x19, x1 */
        {UNWIND_ARM64, VIEW("\x60\x02\x1f\xd6"), false},              /* br x19 */
        {UNWIND_ARM64, VIEW("\x00\x94"), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct unwind_table t = {.arch = cases[i].arch, .text = cases[i].code, .text_address = 0x1000};
        if (frame_follows_call(&t, 0x1000 + cases[i].code.n) != cases[i].is_call)
            printf("call %zu\n", i);
        CHECK_EQ(frame_follows_call(&t, 0x1000 + cases[i].code.n), cases[i].is_call);
        CHECK(frame_follows_call(&t, 0x3000));
    }
}

int main(void)
{
    check_x86();
    check_code_without_table();
    check_signal_stack();
    check_arm64();
    check_calls();
    CHECK(unwind_end_names[UNWIND_END_COUNT] == NULL);
    return CHECK_DONE();
}
