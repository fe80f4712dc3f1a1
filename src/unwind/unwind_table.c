#include "unwind/unwind_table.h"

#include "base/idmap.h"
#include "base/mem.h"
#include "unwind/eh_frame.h"

#define MOST_SPAN (UINT64_C(1) << 32) /* bytes of code in one file */
#define FREE_PAGES 16384             /* an index this large is nothing to speak of: 64 KiB */

struct table_builder {
    const struct unwind_sections *sections;
    struct unwind_range plt[4]; /* by start */
    size_t n_plt;
    uint32_t *pages;
    struct unwind_row *rows;
    struct unwind_rule *rules;
    size_t n_pages, n_rows, n_rules, cap_pages, cap_rows, cap_rules;
    struct idmap ids; /* of rules */
    uint64_t start, at, end; /* all before `at` has its rows */
    unsigned page_bits;
};

static void table_builder_done(struct table_builder *b)
{
    free(b->pages);
    free(b->rows);
    free(b->rules);
    idmap_done(&b->ids);
}
DEFINE_OWN_IN_PLACE(table_builder, struct table_builder)

static bool same_rule(const void *table, uint32_t row, const void *key)
{
    return memcmp((const struct unwind_rule *)table + row, key, sizeof(struct unwind_rule)) == 0;
}

/* Five products that do not wait for each other: this is done for every row. */
static uint64_t hash_rule(const struct idmap *ids, const struct unwind_rule *r)
{
    uint64_t word[4];
    uint32_t rest;
    memcpy(word, r, sizeof word);
    memcpy(&rest, (const char *)r + sizeof word, sizeof rest);
    uint64_t h = (word[0] ^ ids->secret) * UINT64_C(0x9e3779b97f4a7c15) + word[1] * UINT64_C(0xbf58476d1ce4e5b9) +
                 word[2] * UINT64_C(0x94d049bb133111eb) + (word[3] ^ ids->secret >> 32) * UINT64_C(0xd6e8feb86659fd93) +
                 rest * UINT64_C(0xa0761d6478bd642f);
    return (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15); /* sums of multiples of 8 are alike in their low bits */
}
static_assert(sizeof(struct unwind_rule) == 4 * 8 + 4, "hash_rule() takes in all of it");

/* A file with more than 65 535 different rules is not one that a compiler wrote: the rest has none. */
static uint16_t rule_id(struct table_builder *b, const struct unwind_rule *r)
{
    uint64_t h = hash_rule(&b->ids, r);
    uint32_t id = idmap_find(&b->ids, h, same_rule, b->rules, r);
    if (id != IDMAP_NONE)
        return (uint16_t)id;
    if (b->n_rules > UINT16_MAX)
        return UNWIND_NO_RULE_ROW;
    GROW(b->rules, b->cap_rules, b->n_rules + 1);
    b->rules[b->n_rules] = *r;
    idmap_add(&b->ids, h, (uint32_t)b->n_rules);
    return (uint16_t)b->n_rules++;
}

static void open_pages(struct table_builder *b, uint64_t up_to)
{
    if (up_to <= b->n_pages)
        return;
    GROW(b->pages, b->cap_pages, up_to);
    while (b->n_pages < up_to)
        b->pages[b->n_pages++] = (uint32_t)b->n_rows;
}

static void add_row(struct table_builder *b, uint64_t from, uint16_t rule)
{
    if (b->n_rows && b->rows[b->n_rows - 1].rule == rule)
        return;
    uint64_t offset = from - b->start;
    open_pages(b, (offset >> b->page_bits) + 1);
    GROW(b->rows, b->cap_rows, b->n_rows + 1);
    b->rows[b->n_rows++] = (struct unwind_row){(uint16_t)(offset & ((1u << b->page_bits) - 1)), rule};
}

/* Where two functions claim the same code the one that begins earlier is believed. */
static void add_stretch(void *self, uint64_t from, uint64_t to, const struct unwind_rule *rule)
{
    struct table_builder *b = self;
    from = from > b->at ? from : b->at;
    to = to < b->end ? to : b->end;
    if (from >= to)
        return;
    if (from > b->at)
        add_row(b, b->at, UNWIND_NO_RULE_ROW);
    add_row(b, from, rule_id(b, rule));
    b->at = to;
}

/*
 * What is known of code that .eh_frame does not mention.
 *
 * The PLT of linkers that write no entry for it (lld). A slot is `jmp *x; push n; jmp first`:
 * on x86-64 the push is done from byte 11 on. Where there is no push those bytes are padding.
 * On arm64 a slot touches neither the stack nor lr.
 */
static struct unwind_rule plt_rule(enum unwind_arch arch)
{
    struct unwind_arch_registers regs = unwind_registers_of(arch);
    if (arch == UNWIND_ARM64)
        return (struct unwind_rule){.how = CFA_REGISTER, .reg = regs.sp,
                                    .ra = {.how = SAVED_IN_REGISTER, .reg = regs.ra}};
    return (struct unwind_rule){.how = CFA_PLT, .reg = regs.sp, .offset = 8, .add = 11,
                                .ra = {.how = SAVED_AT_CFA, .offset = -8}};
}

/* The two instructions that end a signal handler, where libc (musl) or the vDSO (arm64) says nothing
   about them. The handler "returns" to their first byte, so the row begins one earlier. */
static struct view signal_return(enum unwind_arch arch)
{
    if (arch == UNWIND_ARM64)
        return VIEW("\x68\x11\x80\xd2\x01\x00\x00\xd4");  /* mov x8, #139; svc #0 */
    return VIEW("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"); /* mov $15, %rax; syscall */
}

static void add_signal_returns(struct table_builder *b, uint64_t from, uint64_t to)
{
    const struct unwind_sections *s = b->sections;
    const struct unwind_rule rule = {.how = CFA_SIGNAL, .is_exact = true};
    struct view code = signal_return(s->arch);
    uint64_t text_end = s->text_address + s->text.n;
    from = from > s->text_address ? from : s->text_address;
    to = to < text_end ? to : text_end;
    while (from < to && to - from >= code.n) {
        const char *at = s->text.at + (from - s->text_address);
        const char *found = memmem(at, (size_t)(to - from), code.at, code.n);
        if (!found)
            return;
        uint64_t address = from + (uint64_t)(found - at);
        add_stretch(b, address - 1, address + code.n, &rule);
        from = address + code.n;
    }
}

static void add_gap(struct table_builder *b, uint64_t to)
{
    const struct unwind_rule rule = plt_rule(b->sections->arch);
    for (size_t i = 0; i < b->n_plt && b->at < to; i++) {
        uint64_t from = b->plt[i].start > b->at ? b->plt[i].start : b->at;
        uint64_t until = b->plt[i].end < to ? b->plt[i].end : to;
        if (from >= until)
            continue;
        add_signal_returns(b, b->at, from);
        add_stretch(b, from, until, &rule);
    }
    add_signal_returns(b, b->at, to);
}

static int by_range_start(const void *pa, const void *pb)
{
    const struct unwind_range *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static void take_in(struct table_builder *b, uint64_t from, uint64_t to)
{
    b->start = from < b->start ? from : b->start;
    b->end = to > b->end ? to : b->end;
}

/* From the first to the last address anything is said about. */
static void find_span(struct table_builder *b, const struct eh_frame *f)
{
    const struct unwind_sections *s = b->sections;
    b->start = UINT64_MAX;
    for (size_t i = 0; i < f->n_fdes; i++)
        take_in(b, f->fdes[i].start, f->fdes[i].end);
    for (size_t i = 0; i < sizeof s->plt / sizeof *s->plt; i++)
        if (s->plt[i].start && s->plt[i].start < s->plt[i].end) {
            b->plt[b->n_plt++] = s->plt[i];
            take_in(b, s->plt[i].start, s->plt[i].end);
        }
    qsort(b->plt, b->n_plt, sizeof *b->plt, by_range_start);
    if (s->text.n && s->text_address && s->text_address < UINT64_MAX - s->text.n)
        take_in(b, s->text_address, s->text_address + s->text.n);
    if (b->start > b->end)
        b->start = b->end;
    if (b->end - b->start > MOST_SPAN)
        b->end = b->start + MOST_SPAN;
}

/* An index is no larger than the section, however far apart its functions claim to be. */
static void choose_pages(struct table_builder *b)
{
    uint64_t most = b->sections->eh_frame.n / sizeof *b->pages;
    most = most > FREE_PAGES ? most : FREE_PAGES;
    b->page_bits = UNWIND_LEAST_PAGE_BITS;
    while (b->page_bits < UNWIND_MOST_PAGE_BITS && (b->end - b->start) >> b->page_bits > most)
        b->page_bits++;
    b->start &= ~UINT64_C(0) << b->page_bits;
    b->at = b->start;
}

static void add_all(struct table_builder *b, const struct eh_frame *f)
{
    const struct unwind_rule none = {.how = CFA_NONE};
    idmap_init(&b->ids);
    rule_id(b, &none);
    find_span(b, f);
    choose_pages(b);
    for (size_t i = 0; i < f->n_fdes; i++) {
        add_gap(b, f->fdes[i].start < b->end ? f->fdes[i].start : b->end);
        eh_fde_run(f, &f->fdes[i], add_stretch, b);
    }
    add_gap(b, b->end);
    if (b->at < b->end || !b->n_rows)
        add_row(b, b->at, UNWIND_NO_RULE_ROW);
    open_pages(b, ((b->end - b->start + (1u << b->page_bits) - 1) >> b->page_bits) + 1);
}

static void *fitted(void *table, size_t n, size_t row_bytes) { return mem_resize(table, n * row_bytes); }

static struct unwind_table *table_of(struct table_builder *b, const struct eh_frame *f)
{
    struct unwind_table *t = mem_new(sizeof *t);
    *t = (struct unwind_table){
        .arch = b->sections->arch, .start = b->start, .end = b->end, .page_bits = b->page_bits,
        .n_pages = b->n_pages, .n_rows = b->n_rows, .n_rules = b->n_rules, .left_out = f->left_out,
    };
    t->pages = fitted(take(b->pages), b->n_pages, sizeof *b->pages);
    t->rows = fitted(take(b->rows), b->n_rows, sizeof *b->rows);
    t->rules = fitted(take(b->rules), b->n_rules, sizeof *b->rules);
    if (b->sections->text_stays) {
        t->text = b->sections->text;
        t->text_address = b->sections->text_address;
    }
    return t;
}

bool unwind_table_new(struct unwind_table **out, const struct unwind_sections *s, struct err *e)
{
    own(eh_frame) struct eh_frame f = {0};
    if (!eh_frame_read(&f, s, e))
        return false;
    own(table_builder) struct table_builder b = {.sections = s};
    add_all(&b, &f);
    *out = table_of(&b, &f);
    return true;
}

void unwind_table_free(struct unwind_table *t)
{
    if (!t)
        return;
    free((void *)t->pages);
    free((void *)t->rows);
    free((void *)t->rules);
    free(t);
}

size_t unwind_table_rows(const struct unwind_table *t) { return t->n_rows; }

size_t unwind_table_bytes(const struct unwind_table *t)
{
    return sizeof *t + t->n_pages * sizeof *t->pages + t->n_rows * sizeof *t->rows + t->n_rules * sizeof *t->rules;
}
