#include "unwind/eh_frame.h"

#include "base/mem.h"
#include "unwind/eh_pointer.h"

#include <inttypes.h>

/*
 *     entry:  length (4, or 0xffffffff and 8) | id (4) | body
 *             id 0: a CIE; else an FDE, and its CIE begins that many bytes before the id
 *
 * CIEs are read in a first pass and run once each: a section in which thousands of
 * functions share one long CIE, or point forward to it, costs no more than its bytes.
 */
struct entry {
    uint64_t offset, id_offset, id;
    struct view body;
};

struct section {
    const uint8_t *bytes;
    uint64_t n, address;
};

static uint64_t address_of(const struct section *s, const struct eh_cursor *c)
{
    return s->address + (uint64_t)(c->at - s->bytes);
}

/* False at the end, and where a length leads out of the section. Zero lengths are skipped: several
   terminators in one section are what linking leaves of crtend.o files that were not last. */
static bool next_entry(const struct section *s, struct eh_cursor *c, struct entry *out)
{
    uint64_t length = 0;
    while (length == 0 && eh_left(c) >= 4) {
        out->offset = (uint64_t)(c->at - s->bytes);
        length = eh_uint(c, 4);
    }
    if (length == UINT32_MAX)
        length = eh_uint(c, 8);
    struct view entry = eh_bytes(c, length);
    if (c->is_short || length == 0)
        return false;
    struct eh_cursor inside = eh_cursor_over(entry);
    out->id_offset = (uint64_t)(inside.at - s->bytes);
    out->id = eh_uint(&inside, 4);
    out->body = eh_bytes(&inside, eh_left(&inside));
    return true;
}

/* A letter we do not know may have data of any size: what follows it cannot be read. */
static bool read_augmentation(struct eh_cie *cie, struct view letters, struct view data)
{
    struct eh_cursor c = eh_cursor_over(data);
    uint64_t ignored;
    for (size_t i = 0; i < letters.n; i++) {
        switch (letters.at[i]) {
        case 'R': cie->encoding = eh_byte(&c); break;
        case 'S': cie->is_signal = true; break;
        case 'L': eh_byte(&c); break;
        case 'P':
            if (!eh_pointer(&c, eh_byte(&c) & 0x0f, 0, &ignored))
                return false;
            break;
        case 'B': case 'G': break; /* arm64: pointers signed with key B, tagged stacks */
        default: return !memchr(letters.at + i, 'R', letters.n - i) && !memchr(letters.at + i, 'S', letters.n - i);
        }
    }
    return !c.is_short;
}

static bool read_cie(enum unwind_arch arch, struct eh_cie *cie, struct view body)
{
    struct eh_cursor c = eh_cursor_over(body);
    uint8_t version = eh_byte(&c);
    if (version != 1 && version != 3 && version != 4)
        return false;
    const uint8_t *nul = eh_left(&c) ? memchr(c.at, 0, eh_left(&c)) : NULL;
    if (!nul)
        return false;
    struct view letters = eh_bytes(&c, (uint64_t)(nul - c.at));
    eh_byte(&c);
    if (version == 4)
        eh_uint(&c, 2); /* sizes of an address and of a segment selector */
    cie->code_align = eh_uleb(&c);
    cie->data_align = eh_sleb(&c);
    cie->ra = version == 1 ? eh_byte(&c) : eh_uleb(&c);
    if (letters.n && letters.at[0] == 'z') {
        cie->has_augmentation = true;
        struct view data = eh_bytes(&c, eh_uleb(&c));
        if (!read_augmentation(cie, (struct view){letters.at + 1, letters.n - 1}, data))
            return false;
    } else if (letters.n) {
        return false;
    }
    return !c.is_short && eh_cie_run(arch, cie, eh_bytes(&c, eh_left(&c)));
}

static bool cie_at(const struct eh_frame *f, uint64_t offset, uint32_t *out)
{
    size_t lo = 0, hi = f->n_cies;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (f->cies[middle].offset < offset)
            lo = middle + 1;
        else
            hi = middle;
    }
    *out = (uint32_t)lo;
    return lo < f->n_cies && f->cies[lo].offset == offset;
}

/* Linkers leave entries of functions they dropped: at address 0, or of no length. Not a fault. */
enum fde_is { FDE_GOOD, FDE_EMPTY, FDE_BAD };

static enum fde_is read_fde(const struct eh_frame *f, const struct section *s, const struct entry *entry,
                            struct eh_fde *out)
{
    if (entry->id > entry->id_offset || !cie_at(f, entry->id_offset - entry->id, &out->cie))
        return FDE_BAD;
    const struct eh_cie *cie = &f->cies[out->cie];
    struct eh_cursor c = eh_cursor_over(entry->body);
    uint64_t length;
    if (!eh_pointer(&c, cie->encoding, address_of(s, &c), &out->start) ||
        !eh_pointer(&c, cie->encoding & 0x0f, 0, &length))
        return FDE_BAD;
    if (cie->has_augmentation)
        eh_bytes(&c, eh_uleb(&c));
    if (c.is_short || __builtin_add_overflow(out->start, length, &out->end))
        return FDE_BAD;
    out->program = eh_bytes(&c, eh_left(&c));
    return out->start && length ? FDE_GOOD : FDE_EMPTY;
}

static void read_cies(struct eh_frame *f, const struct section *s, struct view bytes)
{
    struct eh_cursor c = eh_cursor_over(bytes);
    for (struct entry entry; next_entry(s, &c, &entry);) {
        if (entry.id != 0)
            continue;
        struct eh_cie cie = {.offset = entry.offset};
        if (!read_cie(f->arch, &cie, entry.body)) {
            f->left_out++;
            continue;
        }
        GROW(f->cies, f->cap_cies, f->n_cies + 1);
        f->cies[f->n_cies++] = cie;
    }
}

static void read_fdes(struct eh_frame *f, const struct section *s, struct view bytes)
{
    struct eh_cursor c = eh_cursor_over(bytes);
    for (struct entry entry; next_entry(s, &c, &entry);) {
        if (entry.id == 0)
            continue;
        struct eh_fde fde = {.order = (uint32_t)f->n_fdes};
        enum fde_is is = read_fde(f, s, &entry, &fde);
        f->left_out += is == FDE_BAD;
        if (is != FDE_GOOD)
            continue;
        GROW(f->fdes, f->cap_fdes, f->n_fdes + 1);
        f->fdes[f->n_fdes++] = fde;
    }
    f->left_out += c.is_short;
}

static int by_start(const void *pa, const void *pb)
{
    const struct eh_fde *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Most linkers write them in order; looking costs less than sorting what is sorted. */
static void sort_fdes(struct eh_frame *f)
{
    for (size_t i = 1; i < f->n_fdes; i++)
        if (f->fdes[i - 1].start > f->fdes[i].start) {
            qsort(f->fdes, f->n_fdes, sizeof *f->fdes, by_start);
            return;
        }
}

bool eh_frame_read(struct eh_frame *out, const struct unwind_sections *s, struct err *e)
{
    *out = (struct eh_frame){.arch = s->arch, .section = s->eh_frame, .address = s->eh_frame_address};
    if (s->eh_frame.n > UINT32_MAX)
        return err_set(e, ERR_LIMIT, ".eh_frame has %zu bytes, more than 4 GiB", s->eh_frame.n);
    struct section section = {(const uint8_t *)s->eh_frame.at, s->eh_frame.n, s->eh_frame_address};
    read_cies(out, &section, s->eh_frame);
    read_fdes(out, &section, s->eh_frame);
    if (out->left_out && !out->n_fdes) {
        eh_frame_done(out);
        return err_set(e, ERR_MALFORMED, "none of the entries of .eh_frame at 0x%" PRIx64 " can be understood",
                       s->eh_frame_address);
    }
    sort_fdes(out);
    return true;
}

void eh_frame_done(struct eh_frame *f)
{
    free(f->cies);
    free(f->fdes);
    *f = (struct eh_frame){0};
}
