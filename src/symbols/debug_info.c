#include "symbols/debug_info.h"
#include "base/mem.h"
#include "symbols/debug_unit.h"

#define UNITS_MOST ((size_t)1 << 20)
#define RANGES_MOST ((size_t)16 << 20)
#define UNPACKED_MOST ((uint64_t)8 << 30)
#define PACKED_RATIO_MOST 1032 /* deflate cannot do better */
#define LOOK_BACK 64           /* units overlap only where the linker folded functions */

struct unit_range {
    uint64_t start, end;
    uint32_t unit;
};

struct debug_info {
    struct elf_file *file;
    char *headers; /* of its sections, before libelf wrote into them */
    struct name_table *names;
    Elf *elf;
    Dwarf *dwarf;
    struct unit_range *ranges;
    Dwarf_Off *unit_dies;
    struct debug_unit *units; /* loaded as they are asked for */
    size_t n_ranges, cap_ranges, n_units, cap_units;
    size_t loaded_bytes, most_bytes;
};

/* libdw would unpack whatever a section claims, be it the names of sections; ours to say what can be true. */
static bool is_believable(const struct elf_section *s)
{
    Elf64_Chdr h;
    if (view_starts(s->name, VIEW(".zdebug")))
        return false; /* the way of before 2015; nobody writes it any more */
    if (!(s->flags & SHF_COMPRESSED))
        return true;
    if (!view_starts(s->name, VIEW(".debug")) || s->bytes.n < sizeof h)
        return false;
    memcpy(&h, s->bytes.at, sizeof h);
    return h.ch_size <= UNPACKED_MOST && h.ch_size / PACKED_RATIO_MOST <= s->bytes.n;
}

static bool is_worth_opening(const struct elf_file *f)
{
    if (f->head.e_type == ET_REL)
        return false; /* addresses are not decided yet */
    for (size_t i = 0; i < f->n_sections; i++)
        if (!is_believable(&f->sections[i]))
            return false;
    const struct elf_section *s = elf_file_section(f, ".debug_info");
    return s && s->bytes.n;
}

static bool begin(struct debug_info *d)
{
    if (elf_version(EV_CURRENT) == EV_NONE || !elf_file_lend_headers(d->file, &d->headers))
        return false;
    d->elf = elf_memory((char *)(uintptr_t)d->file->bytes.at, d->file->bytes.n);
    d->dwarf = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
    return d->dwarf;
}

static void end(struct debug_info *d)
{
    for (size_t i = 0; i < d->n_units; i++)
        debug_unit_done(&d->units[i]);
    if (d->dwarf)
        dwarf_end(d->dwarf);
    if (d->elf)
        elf_end(d->elf);
    if (d->headers)
        elf_file_restore_headers(d->file, d->headers);
    free(d->headers);
    d->headers = NULL;
    d->dwarf = NULL;
    d->elf = NULL;
    d->loaded_bytes = 0;
}

static bool add_range(struct debug_info *d, uint64_t start, uint64_t end)
{
    if (d->n_ranges == RANGES_MOST)
        return false;
    GROW(d->ranges, d->cap_ranges, d->n_ranges + 1);
    d->ranges[d->n_ranges++] = (struct unit_range){start, end, (uint32_t)d->n_units};
    return true;
}

static void add_unit(struct debug_info *d, Dwarf_Die *die)
{
    Dwarf_Addr base, start, end;
    size_t before = d->n_ranges;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;)
        if (start < end && !add_range(d, start, end))
            break;
    if (d->n_ranges == before)
        return;
    GROW(d->unit_dies, d->cap_units, d->n_units + 1);
    d->unit_dies[d->n_units++] = dwarf_dieoffset(die);
}

static int by_start(const void *pa, const void *pb)
{
    const struct unit_range *a = pa, *b = pb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

/* Their own entries say it; .debug_aranges would be quicker, but clang does not write it. */
static void find_units(struct debug_info *d)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (d->n_units < UNITS_MOST && dwarf_get_units(d->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
        add_unit(d, &die);
    if (d->n_ranges)
        qsort(d->ranges, d->n_ranges, sizeof *d->ranges, by_start);
    d->units = mem_new(d->n_units * sizeof *d->units);
}

struct debug_info *debug_info_open(struct elf_file *f, struct name_table *names, size_t most_bytes)
{
    if (!is_worth_opening(f))
        return NULL;
    own(debug_info) struct debug_info *d = mem_new(sizeof *d);
    d->file = f;
    d->names = names;
    d->most_bytes = most_bytes;
    if (!begin(d))
        return NULL;
    find_units(d);
    return take(d);
}

void debug_info_free(struct debug_info *d)
{
    if (!d)
        return;
    end(d);
    free(d->ranges);
    free(d->unit_dies);
    free(d->units);
    free(d);
}

size_t debug_info_bytes(const struct debug_info *d)
{
    return sizeof *d + d->n_ranges * sizeof *d->ranges + d->n_units * (sizeof *d->units + sizeof *d->unit_dies) + d->loaded_bytes;
}

static const struct unit_range *range_at(const struct debug_info *d, uint64_t address)
{
    size_t low = 0, high = d->n_ranges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 0; low && back < LOOK_BACK; back++, low--)
        if (address < d->ranges[low - 1].end)
            return &d->ranges[low - 1];
    return NULL;
}

static struct debug_unit *unit_at(struct debug_info *d, uint64_t address)
{
    const struct unit_range *r = range_at(d, address);
    if (!r)
        return NULL;
    struct debug_unit *u = &d->units[r->unit];
    if (u->is_loaded)
        return u;
    if (d->loaded_bytes > d->most_bytes)
        end(d);
    Dwarf_Die die;
    if ((!d->dwarf && !begin(d)) || !dwarf_offdie(d->dwarf, d->unit_dies[r->unit], &die))
        return NULL;
    debug_unit_load(u, &die);
    d->loaded_bytes += debug_unit_bytes(u);
    return u;
}

size_t debug_info_places(struct debug_info *d, uint64_t address, struct place out[PLACES_MOST])
{
    struct debug_unit *u = unit_at(d, address);
    if (!u)
        return 0;
    uint32_t chain[PLACES_MOST];
    size_t n = debug_unit_chain(u, address, chain);
    out[0] = (struct place){0};
    debug_unit_line(u, address, d->names, &out[0].file, &out[0].line);
    for (size_t i = 0; i < n; i++) {
        const struct unit_function *f = debug_unit_function(u, chain[n - 1 - i], d->dwarf, d->names);
        out[i].name = f->name;
        out[i].function_file = f->file;
        out[i].function_line = f->line;
        if (i + 1 < n)
            out[i + 1] = (struct place){.file = debug_unit_file(u, f->call_file, d->names), .line = f->call_line};
    }
    return n ? n : 1;
}
