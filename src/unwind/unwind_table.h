/*
 * unwind_table.h - the rules of one file, by address
 *
 *     pages:  [ 0 | 31 | 31 | 97 | ... ]        first row at or after the start of each 4 KiB of code
 *                  └──┐
 *     rows:   ... [ 0x010 rule 7 ][ 0x011 rule 9 ][ 0x01f rule 7 ] ...      4 bytes each
 *                                      └──┐
 *     rules:  [ none ][ ... ][ rsp + 16, rbp at CFA - 16 ] ...              a few hundred
 *
 * A row holds from its address to the next row's. Code between two functions, or of
 * which nothing is said, has rows of its own that name rule 0: a gap never inherits the
 * rules of the function before it. A look-up is one index and a bisection among the
 * rows of a page, 30 on average in libLLVM.
 */
#pragma once
#include "unwind/rule.h"

enum { UNWIND_LEAST_PAGE_BITS = 12, UNWIND_MOST_PAGE_BITS = 16, UNWIND_NO_RULE_ROW = 0 };

struct unwind_row {
    uint16_t low; /* the address's place in its page */
    uint16_t rule;
};

struct unwind_table {
    enum unwind_arch arch;
    uint64_t start, end; /* start is that of a page */
    unsigned page_bits;  /* 12 in all real files; more where a few functions lie far apart */
    const uint32_t *pages; /* one more than there are */
    const struct unwind_row *rows;
    const struct unwind_rule *rules;
    size_t n_pages, n_rows, n_rules;
    size_t left_out; /* entries that made no sense */
    struct view text; /* empty unless it stays */
    uint64_t text_address;
};

/* The rule for an address as the file was linked. */
static inline const struct unwind_rule *unwind_table_at(const struct unwind_table *t, uint64_t address)
{
    if (address < t->start || address >= t->end)
        return &t->rules[UNWIND_NO_RULE_ROW];
    uint64_t page = (address - t->start) >> t->page_bits;
    uint16_t low = (uint16_t)(address & ((1u << t->page_bits) - 1));
    uint32_t lo = t->pages[page], hi = t->pages[page + 1];
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (t->rows[middle].low <= low)
            lo = middle + 1;
        else
            hi = middle;
    }
    /* The first row of all is at t->start, so there is always one before. */
    return &t->rules[t->rows[lo - 1].rule];
}
