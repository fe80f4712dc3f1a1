/*
 * Makes a table of the bytes and walks over a stack of the same bytes. Whatever they are:
 * rows ascend, every look-up answers, the walk ends and stays within its bound, and the
 * same input gives the same answer twice.
 *
 *     byte 0: bit 0 arm64, bit 1 the text stays     bytes 1-2: length of the section     then the section
 *     what is left serves as text, as stack and as registers
 */
#include "unwind/function_ranges.h"
#include "unwind/unwind_table.h"

enum { MOST_FRAMES = 64, HEADER = 3 };

#define SECTION_ADDRESS UINT64_C(0x200000)
#define TEXT_ADDRESS UINT64_C(0x1000)
#define STACK_ADDRESS UINT64_C(0x7ffd00000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct unwind_table *t)
{
    if (t->n_rows == 0 || t->n_rules == 0 || t->start > t->end)
        abort();
    for (size_t p = 1; p < t->n_pages; p++)
        if (t->pages[p] < t->pages[p - 1] || t->pages[p] > t->n_rows)
            abort();
    for (size_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].rule >= t->n_rules)
            abort();
}

/* A row's rule holds at its own address. */
static void check_lookups(const struct unwind_table *t)
{
    for (size_t p = 0; p + 1 < t->n_pages; p++)
        for (uint32_t i = t->pages[p]; i < t->pages[p + 1]; i++) {
            uint64_t address = t->start + ((uint64_t)p << t->page_bits) + t->rows[i].low;
            if (i > t->pages[p] && t->rows[i - 1].low >= t->rows[i].low)
                abort();
            if (address < t->end && unwind_table_at(t, address) != &t->rules[t->rows[i].rule])
                abort();
        }
}

/* Registers that point near the table, near the stack, or anywhere. */
static void fill_registers(struct unwind_registers *r, const struct unwind_table *t, const uint8_t *rest, size_t n)
{
    struct unwind_arch_registers regs = unwind_registers_of(t->arch);
    for (size_t i = 0; i < 33; i++) {
        uint8_t b = n ? rest[i % n] : 0;
        r->at[i] = b & 1 ? STACK_ADDRESS + b * 4u : b & 2 ? t->start + b : UINT64_C(0x0101010101010101) * b;
    }
    r->at[regs.sp] = STACK_ADDRESS;
    r->at[regs.pc] = t->start + (n > 1 ? rest[0] + 256u * (rest[1] & 15) : 0);
}

static void check_walk(const struct unwind_table *t, const uint8_t *rest, size_t n)
{
    struct unwind_map map = {t->start, t->end, 0, t};
    struct unwind_space space = {t->arch, &map, t->start < t->end};
    struct unwind_stack stack = {STACK_ADDRESS, rest, n};
    struct unwind_registers r;
    fill_registers(&r, t, rest, n);
    uint64_t once[MOST_FRAMES], twice[MOST_FRAMES];
    enum unwind_end why = UNWIND_END_COUNT, again = UNWIND_END_COUNT;
    size_t got = unwind_walk(&space, &r, &stack, once, MOST_FRAMES, &why);
    if (got == 0 || got > MOST_FRAMES || why >= UNWIND_END_COUNT)
        abort();
    if (unwind_walk(&space, &r, &stack, twice, MOST_FRAMES, &again) != got || again != why ||
        memcmp(once, twice, got * sizeof *once) != 0)
        abort();
}

/* A function that an address is said to be in has that address. */
static void check_ranges(const struct unwind_sections *s)
{
    own(function_ranges) struct function_ranges *f = NULL;
    struct unwind_range in;
    if (!function_ranges_new(&f, s, NULL))
        return;
    for (uint64_t at = 0; at < 8192; at += 17)
        if (function_ranges_at(f, SECTION_ADDRESS - 4096 + at, &in) &&
            (SECTION_ADDRESS - 4096 + at < in.start || SECTION_ADDRESS - 4096 + at >= in.end))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEADER)
        return 0;
    size_t section = data[1] | (size_t)data[2] << 8;
    const uint8_t *rest = data + HEADER;
    size_t n = size - HEADER;
    section = section < n ? section : n;
    struct unwind_sections s = {
        .arch = data[0] & 1 ? UNWIND_ARM64 : UNWIND_X86_64,
        .eh_frame = {(const char *)rest, section},
        .eh_frame_address = SECTION_ADDRESS,
        .plt = {{data[0] & 4 ? TEXT_ADDRESS : 0, TEXT_ADDRESS + 64}},
        .text = {(const char *)rest + section, n - section},
        .text_address = TEXT_ADDRESS,
        .text_stays = data[0] & 2,
    };
    check_ranges(&s);
    own(unwind_table) struct unwind_table *t = NULL;
    if (!unwind_table_new(&t, &s, NULL))
        return 0;
    check_rows(t);
    check_lookups(t);
    check_walk(t, rest + section, n - section);
    return 0;
}
