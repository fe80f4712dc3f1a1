/* Tables from sections written by hand, good and bad, told as text: "0:sp+8 1:sp+16,fp@-16 20:none". */
#include "base/buf.h"
#include "check.h"
#include "eh_writer.h"
#include "unwind/function_ranges.h"
#include "unwind/unwind_table.h"

#include <inttypes.h>

enum { FP = 6, SP = 7, RBX = 3, R9 = 9, R10 = 10, RA = 16, START = 0x1000, LENGTH = 0x20 };

static const char *const register_names[17] = {[3] = "base", [6] = "fp", [7] = "sp", [9] = "r9", [10] = "r10", [16] = "pc"};

static void tell_saved(struct buf *out, const char *what, const struct saved *s)
{
    switch (s->how) {
    case SAVED_AT_CFA: buf_printf(out, ",%s@%d", what, s->offset); break;
    case SAVED_AT_REGISTER: buf_printf(out, ",%s@%s%+d", what, register_names[s->reg], s->offset); break;
    case SAVED_IN_REGISTER: buf_printf(out, ",%s=%s", what, register_names[s->reg]); break;
    case SAVED_UNDEFINED: buf_printf(out, ",%s gone", what); break;
    case SAVED_UNKNOWN: buf_printf(out, ",%s lost", what); break;
    default: break;
    }
}

static void tell_rule(struct buf *out, const struct unwind_rule *r)
{
    const char *reg = r->reg < 17 && register_names[r->reg] ? register_names[r->reg] : "?";
    switch (r->how) {
    case CFA_NONE: buf_puts(out, "none"); return;
    case CFA_END: buf_puts(out, "end"); return;
    case CFA_SIGNAL: buf_printf(out, "signal%+d", r->offset); return;
    case CFA_REGISTER: buf_printf(out, "%s%+d", reg, r->offset); break;
    case CFA_MEMORY: buf_printf(out, "*(%s%+d)%+d", reg, r->offset, r->add); break;
    case CFA_PLT: buf_printf(out, "plt(%s%+d,%d)", reg, r->offset, r->add); break;
    default: buf_puts(out, "?"); break;
    }
    if (r->ra.how != SAVED_AT_CFA || r->ra.offset != -8)
        tell_saved(out, "ra", &r->ra);
    tell_saved(out, "fp", &r->fp);
    tell_saved(out, "base", &r->base);
}

/* Asks for every byte, so that look-ups are tested with the rows; offsets from START in hex. */
static void tell_table(struct buf *out, const struct unwind_table *t, uint64_t from, uint64_t to)
{
    const struct unwind_rule *last = NULL;
    for (uint64_t at = from; at < to; at++) {
        const struct unwind_rule *r = unwind_table_at(t, at);
        if (r == last)
            continue;
        buf_printf(out, "%s%" PRIx64 ":", out->len ? " " : "", at - START);
        tell_rule(out, r);
        last = r;
    }
}

static struct unwind_sections sections_of(const struct eh_writer *w)
{
    return (struct unwind_sections){.arch = UNWIND_X86_64, .eh_frame = {w->bytes, w->n}, .eh_frame_address = EH_ADDRESS};
}

static void check_sections(const char *what, const struct unwind_sections *s, const char *want)
{
    own(unwind_table) struct unwind_table *t = NULL;
    own(buf) struct buf out;
    buf_init(&out, 1 << 16);
    struct err e = {0};
    /* In memory of exactly its size, so that a sanitizer sees a read past the end. */
    own(free) char *exact = malloc(s->eh_frame.n ? s->eh_frame.n : 1);
    memcpy(exact, s->eh_frame.at, s->eh_frame.n);
    struct unwind_sections copy = *s;
    copy.eh_frame.at = exact;
    if (unwind_table_new(&t, &copy, &e))
        tell_table(&out, t, START, START + 0x60);
    else
        buf_puts(&out, e.text);
    if (strcmp(out.data, want) != 0)
        printf("%s\n", what);
    CHECK_STR(out.data, want);
}

#define PUSHED_FP ADVANCE(1), CFA_OFFSET(16), OFFSET(FP, 2)

/* One function of 0x20 bytes, started with sp+8 and the return address at CFA-8. */
static const struct {
    const char *what;
    struct view ops;
    const char *want;
} programs[] = {
    {"no program", {"", 0}, "0:sp+8 20:none"},
    {"frame pointer", OPS(PUSHED_FP, ADVANCE(3), CFA_IN(FP), ADVANCE(10), DEF_CFA(SP, 8)),
     "0:sp+8 1:sp+16,fp@-16 4:fp+16,fp@-16 e:sp+8,fp@-16 20:none"},
    {"advances of all sizes", OPS(ADVANCE1(2), CFA_OFFSET(16), ADVANCE2(3), CFA_OFFSET(24), ADVANCE4(4), CFA_OFFSET(32)),
     "0:sp+8 2:sp+16 5:sp+24 9:sp+32 20:none"},
    {"remember and recall", OPS(PUSHED_FP, REMEMBER, ADVANCE(4), RESTORE(FP), CFA_OFFSET(8), ADVANCE(1), RECALL),
     "0:sp+8 1:sp+16,fp@-16 5:sp+8 6:sp+16,fp@-16 20:none"},
    {"realigned stack", OPS(ADVANCE(5), DEF_CFA(R10, 0), ADVANCE(9), AT_EXPRESSION(FP, 2, BREG(FP, 0)), ADVANCE(2),
                            CFA_EXPRESSION(3, BREG(FP, -8), DEREF)),
     "0:sp+8 5:r10+0 e:r10+0,fp@fp+0 10:*(fp-8)+0,fp@fp+0 20:none"},
    {"read and added", OPS(CFA_EXPRESSION(5, BREG(SP, 40), DEREF, 0x23, 8)), "0:*(sp+40)+8 20:none"},
    {"a register and a number as expression", OPS(CFA_EXPRESSION(4, BREG(FP, 8), 0x23, 8)), "0:fp+16 20:none"},
    {"procedure linkage table", OPS(CFA_OFFSET(16), ADVANCE(6), CFA_OFFSET(24), ADVANCE(10), PLT_SLOTS(11)),
     "0:sp+16 6:sp+24 10:plt(sp+8,11) 20:none"},
    {"the same with endbr64", OPS(PLT_SLOTS(9)), "0:plt(sp+8,9) 20:none"},
    {"outermost function", OPS(UNDEFINED(RA)), "0:end 20:none"},
    {"frame over 64 KB", OPS(ADVANCE(7), CFA_OFFSET4(200024)), "0:sp+8 7:sp+200024 20:none"},
    {"signed and scaled", OPS(DEF_CFA_SIGNED(SP, -2), OFFSET_SIGNED(FP, 2), ADVANCE(1), CFA_OFFSET_SIGNED(-3)),
     "0:sp+16,fp@-16 1:sp+24,fp@-16 20:none"},
    {"GNU's negative offset", OPS(OFFSET_NEGATIVE(FP, 2)), "0:sp+8,fp@16 20:none"},
    {"rbx, for the lazy binder", OPS(ADVANCE(1), CFA_OFFSET(16), OFFSET_EXTENDED(RBX, 2), ADVANCE(3), CFA_IN(RBX)),
     "0:sp+8 1:sp+16,base@-16 4:base+16,base@-16 20:none"},
    {"registers nobody starts from", OPS(OFFSET(12, 2), OFFSET(13, 3), SAME(14), UNDEFINED(15)), "0:sp+8 20:none"},
    {"same again", OPS(OFFSET(FP, 2), ADVANCE(1), SAME(FP), ADVANCE(1), OFFSET(FP, 2), ADVANCE(1), RESTORE_EXTENDED(FP)),
     "0:sp+8,fp@-16 1:sp+8 2:sp+8,fp@-16 3:sp+8 20:none"},
    {"kept in a register", OPS(IN_REGISTER(RA, R9), IN_REGISTER(FP, R10)), "0:sp+8,ra=r9,fp=r10 20:none"},
    {"values instead of places", OPS(VALUE_EXPRESSION(FP, 2, BREG(SP, 0))), "0:sp+8,fp lost 20:none"},
    {"a return address out of reach", OPS(VALUE_EXPRESSION(RA, 2, BREG(SP, 0))), "0:none"},
    {"argument sizes, padding", OPS(ARGS_SIZE(32), ADVANCE(1), NOP, ARGS_SIZE(0), NOP), "0:sp+8 20:none"},
    {"half of an expression changed", OPS(CFA_EXPRESSION(3, BREG(FP, -8), DEREF), ADVANCE(1), CFA_OFFSET(8)),
     "0:*(fp-8)+0 1:none"},

    /* Nonsense: good up to there, nothing known from there on. */
    {"unknown operation", OPS(PUSHED_FP, ADVANCE(2), 0x3f), "0:sp+8 1:sp+16,fp@-16 3:none"},
    {"operand cut off", OPS(PUSHED_FP, ADVANCE(2), 0x0c, SP), "0:sp+8 1:sp+16,fp@-16 3:none"},
    {"block longer than the entry", OPS(ADVANCE(2), CFA_EXPRESSION(100, DEREF)), "0:sp+8 2:none"},
    {"recall of nothing", OPS(ADVANCE(2), RECALL), "0:sp+8 2:none"},
    {"over the end of the function", OPS(ADVANCE(2), CFA_OFFSET(16), ADVANCE(63), CFA_OFFSET(24)),
     "0:sp+8 2:sp+16 20:none"},
    {"an expression we do not run", OPS(CFA_EXPRESSION(4, BREG(SP, 8), BREG(R9, 0))), "0:none"},
    {"an empty expression", OPS(0x0f, 0), "0:none"},
    {"a register that is not there", OPS(DEF_CFA(77, 8)), "0:none"},
};

static void check_programs(void)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct eh_writer w = {.n = 0};
        size_t cie = eh_cie(&w, "zR", 0x1b, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1), NOP, NOP));
        eh_fde(&w, cie, START, LENGTH, programs[i].ops);
        struct unwind_sections s = sections_of(&w);
        check_sections(programs[i].what, &s, programs[i].want);
    }
}

static size_t usual_cie(struct eh_writer *w) { return eh_cie(w, "zR", 0x1b, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1))); }

/* A stack of remembered rules has an end. */
static void check_remembering_too_much(void)
{
    char many[64];
    memset(many, REMEMBER, sizeof many);
    struct eh_writer w = {.n = 0};
    size_t cie = usual_cie(&w);
    eh_fde(&w, cie, START, LENGTH, (struct view){many, sizeof many});
    struct unwind_sections s = sections_of(&w);
    check_sections("remembering too much", &s, "0:none");
}

static void check_encodings(void)
{
    static const uint8_t encodings[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0a, 0x0b, 0x0c, 0x10, 0x19, 0x1b, 0x1c};
    for (size_t i = 0; i < sizeof encodings; i++) {
        char what[32];
        snprintf(what, sizeof what, "encoding %#x", encodings[i]);
        struct eh_writer w = {.n = 0};
        size_t cie = eh_cie(&w, "zR", encodings[i], OPS(DEF_CFA(SP, 8), OFFSET(RA, 1)));
        eh_fde_as(&w, cie, encodings[i], true, START, LENGTH, OPS(ADVANCE(1), CFA_OFFSET(16)));
        struct unwind_sections s = sections_of(&w);
        check_sections(what, &s, "0:sp+8 1:sp+16 20:none");
    }
    for (unsigned encoding = 0x20; encoding < 0x100; encoding += 0x10) {
        struct eh_writer w = {.n = 0};
        size_t cie = eh_cie(&w, "zR", (uint8_t)(encoding | 3), OPS(DEF_CFA(SP, 8), OFFSET(RA, 1)));
        eh_fde_as(&w, cie, 3, true, START, LENGTH, OPS(NOP));
        struct unwind_sections s = sections_of(&w);
        check_sections("relative to what we do not have", &s,
                       "none of the entries of .eh_frame at 0x100000 can be understood");
    }
}

static void check_whole_sections(void)
{
    struct eh_writer w = {.n = 0};
    struct unwind_sections s = sections_of(&w);
    check_sections("no section", &s, "0:none");

    /* Out of order, with a gap, an overlap, several CIEs, a terminator in the middle, dropped functions. */
    size_t first = usual_cie(&w);
    eh_fde(&w, first, START + 0x40, 0x10, OPS(CFA_OFFSET(64)));
    eh_fde(&w, first, 0, 0x10, OPS(NOP));
    eh_fde(&w, first, START + 0x58, 0, OPS(NOP));
    eh_put_uint(&w, 0, 4);
    size_t second = eh_cie(&w, "", 0, OPS(DEF_CFA(FP, 16), OFFSET(RA, 1), OFFSET(FP, 2)));
    eh_fde_as(&w, second, 0, false, START + 0x10, 0x10, OPS(NOP));
    eh_fde(&w, first, START + 0x18, 0x10, OPS(CFA_OFFSET(24)));
    eh_fde(&w, first, START + 0x10, 0x10, OPS(CFA_OFFSET(48)));
    size_t signal = eh_cie(&w, "zRS", 0x1b, OPS(CFA_EXPRESSION(4, BYTE(0x77), BYTE(0xa0), 1, DEREF),
                                                AT_EXPRESSION(RA, 3, BYTE(0x77), BYTE(0xa8), 1)));
    eh_fde(&w, signal, START + 0x50, 8, OPS(NOP));
    s = sections_of(&w);
    check_sections("several", &s,
                   "0:none 10:fp+16,fp@-16 20:sp+24 28:none 40:sp+64 50:signal+0 58:none");

    /* A length that leads out of the section ends it; what was before stays. */
    eh_put_uint(&w, 0x7fffff00, 4);
    eh_put_uint(&w, 1, 4);
    s = sections_of(&w);
    check_sections("a length out of the section", &s,
                   "0:none 10:fp+16,fp@-16 20:sp+24 28:none 40:sp+64 50:signal+0 58:none");
}

/* Where functions begin and end: also those whose rules are alike, and of two that claim the same code the one that begins there. */
static void check_function_ranges(void)
{
    struct eh_writer w = {.n = 0};
    size_t cie = usual_cie(&w);
    eh_fde(&w, cie, START + 0x40, 0x10, OPS(NOP));
    eh_fde(&w, cie, START + 0x10, 0x10, OPS(NOP));
    eh_fde(&w, cie, START + 0x20, 0x08, OPS(NOP)); /* side by side with the one before, and with the same rules */
    eh_fde(&w, cie, START + 0x20, 0x04, OPS(NOP));
    struct unwind_sections s = sections_of(&w);
    own(function_ranges) struct function_ranges *f = NULL;
    CHECK(function_ranges_new(&f, &s, NULL));
    static const struct {
        uint64_t at, start, end; /* from START; end 0: in no function */
    } rows[] = {
        {0x00, 0, 0},       {0x0f, 0, 0},       {0x10, 0x10, 0x20}, {0x1f, 0x10, 0x20}, {0x20, 0x20, 0x28},
        {0x27, 0x20, 0x28}, {0x28, 0, 0},       {0x3f, 0, 0},       {0x40, 0x40, 0x50}, {0x4f, 0x40, 0x50},
        {0x50, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct unwind_range got = {0};
        CHECK_EQ(function_ranges_at(f, START + rows[i].at, &got), rows[i].end != 0);
        CHECK_EQ(got.start, rows[i].end ? START + rows[i].start : 0);
        CHECK_EQ(got.end, rows[i].end ? START + rows[i].end : 0);
    }
    CHECK_EQ(function_ranges_at(f, 0, &(struct unwind_range){0}), false);
    CHECK_EQ(function_ranges_at(f, UINT64_MAX, &(struct unwind_range){0}), false);
    CHECK(function_ranges_bytes(f) < 128);
}

static void check_bad_entries(void)
{
    static const char *const none = "none of the entries of .eh_frame at 0x100000 can be understood";
    struct eh_writer w = {.n = 0};
    size_t cie = usual_cie(&w);
    eh_fde(&w, cie + 1, START, LENGTH, OPS(NOP));
    struct unwind_sections s = sections_of(&w);
    check_sections("no such CIE", &s, none);

    static const char *const letters[] = {"zXR", "eh", "R"};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        w.n = 0;
        cie = eh_cie(&w, letters[i], 0x1b, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1)));
        eh_fde(&w, cie, START, LENGTH, OPS(NOP));
        s = sections_of(&w);
        check_sections(letters[i], &s, none);
    }

    /* Every place to cut a section off: no crash, and no rule that was not written. */
    w.n = 0;
    cie = usual_cie(&w);
    eh_fde(&w, cie, START, LENGTH, OPS(PUSHED_FP));
    for (size_t n = 0; n < w.n; n++) {
        own(unwind_table) struct unwind_table *t = NULL;
        own(free) char *exact = malloc(n ? n : 1);
        memcpy(exact, w.bytes, n);
        s = sections_of(&w);
        s.eh_frame = (struct view){exact, n};
        if (unwind_table_new(&t, &s, NULL))
            CHECK_EQ(unwind_table_at(t, START)->how, CFA_NONE);
    }
}

/* 64-bit lengths, and the version that gcc writes with -gdwarf-4 -fno-dwarf2-cfi-asm. */
static void check_other_spellings(void)
{
    struct eh_writer w = {.n = 0};
    eh_put_uint(&w, UINT32_MAX, 4);
    eh_put_uint(&w, 4 + 1 + 1 + 2 + 3 + 3 + 2, 8);
    eh_put_uint(&w, 0, 4);
    eh_put_uint(&w, 4, 1);
    eh_put(&w, "", 1);
    eh_put_uint(&w, 8, 2); /* address bytes, no segments */
    eh_put(&w, "\x01\x78\x10", 3);
    eh_put(&w, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1)).at, 5);
    eh_fde_as(&w, 0, 0, false, START, LENGTH, OPS(NOP));
    struct unwind_sections s = sections_of(&w);
    check_sections("64-bit length, version 4", &s, "0:sp+8 20:none");
}

static void check_code_without_rules(void)
{
    struct eh_writer w = {.n = 0};
    size_t cie = usual_cie(&w);
    eh_fde(&w, cie, START + 0x10, 0x10, OPS(NOP));
    struct unwind_sections s = sections_of(&w);
    s.plt[0] = (struct unwind_range){START + 0x30, START + 0x40};
    s.plt[2] = (struct unwind_range){START + 0x08, START + 0x18};
    static const char text[] = "\x90\x90\x90\x90\x90\x90\x90\x90\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05\x90";
    s.text = (struct view){text, sizeof text - 1};
    s.text_address = START + 0x42;
    check_sections("PLT and signal return", &s,
                   "0:none 8:plt(sp+8,11) 10:sp+8 20:none 30:plt(sp+8,11) 40:none 49:signal+0 53:none");
}

/* Rows in many pages, pages without rows, and the ends. */
static void check_far_apart(void)
{
    struct eh_writer w = {.n = 0};
    size_t cie = usual_cie(&w);
    eh_fde(&w, cie, 0x5ff0, 0x20, OPS(ADVANCE(15), CFA_OFFSET(16), ADVANCE(1), CFA_OFFSET(24)));
    eh_fde(&w, cie, 0x20000, 0x30000, OPS(CFA_OFFSET(32)));
    struct unwind_sections s = sections_of(&w);
    own(unwind_table) struct unwind_table *t = NULL;
    CHECK(unwind_table_new(&t, &s, NULL));
    static const struct {
        uint64_t at;
        int32_t offset;
    } want[] = {{0, 0}, {0x5fef, 0}, {0x5ff0, 8}, {0x5fff, 16}, {0x6000, 24}, {0x600f, 24}, {0x6010, 0}, {0x1ffff, 0},
                {0x20000, 32}, {0x4abcd, 32}, {0x4ffff, 32}, {0x50000, 0}, {UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_EQ(unwind_table_at(t, want[i].at)->offset, want[i].offset);
    CHECK_EQ(unwind_table_rows(t), 6);
    CHECK_EQ(t->page_bits, UNWIND_LEAST_PAGE_BITS);

    /* An address far beyond all others costs a bounded index, and is left without rules. */
    eh_fde_as(&w, eh_cie(&w, "", 0, OPS(DEF_CFA(SP, 8), OFFSET(RA, 1))), 0, false, UINT64_C(1) << 62, 16, OPS(NOP));
    s = sections_of(&w);
    own(unwind_table) struct unwind_table *far = NULL;
    CHECK(unwind_table_new(&far, &s, NULL));
    CHECK_EQ(unwind_table_at(far, UINT64_C(1) << 62)->how, CFA_NONE);
    CHECK_EQ(unwind_table_at(far, 0x20000)->offset, 32);
    CHECK(unwind_table_bytes(far) < 1 << 19);
}

int main(void)
{
    check_programs();
    check_remembering_too_much();
    check_encodings();
    check_whole_sections();
    check_function_ranges();
    check_bad_entries();
    check_other_spellings();
    check_code_without_rules();
    check_far_apart();
    return CHECK_DONE();
}
