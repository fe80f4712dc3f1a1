#include "symbols/debug_unit.h"
#include "base/mem.h"
#include "symbols/source_path.h"

#include <dwarf.h>

/* Files made to hurt claim more than compilers write. The largest unit we met has 3 million entries. */
#define ENTRIES_MOST ((size_t)64 << 20)
#define ROWS_MOST ((size_t)16 << 20)
#define RANGES_MOST 65536 /* of one function */
#define NESTING_MOST 200
#define LINE_BYTES 48 /* what libdw holds for each row of a line table, about */

struct walk {
    struct debug_unit *unit;
    size_t cap_rows, cap_functions, entries;
};

static bool has_code(Dwarf_Die *die) { return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges); }

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute a;
    Dwarf_Word v = 0;
    if (!dwarf_attr(die, name, &a) || dwarf_formudata(&a, &v) != 0 || v > UINT32_MAX)
        return 0;
    return (uint32_t)v;
}

static void add_function(struct walk *w, Dwarf_Die *die, uint32_t depth)
{
    struct debug_unit *u = w->unit;
    Dwarf_Addr base, start, end;
    size_t before = u->n;
    ptrdiff_t at = 0;
    for (size_t k = 0; k < RANGES_MOST && u->n < ROWS_MOST && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0; k++) {
        if (start >= end)
            continue;
        GROW(u->rows, w->cap_rows, u->n + 1);
        u->rows[u->n++] = (struct unit_row){start, end, (uint32_t)u->n_functions, depth};
    }
    if (u->n == before)
        return;
    GROW(u->functions, w->cap_functions, u->n_functions + 1);
    u->functions[u->n_functions++] = (struct unit_function){
        .die = dwarf_dieoffset(die),
        .call_file = depth ? number_of(die, DW_AT_call_file) : 0,
        .call_line = depth ? number_of(die, DW_AT_call_line) : 0,
    };
}

/* What may have functions below it. Types can: Rust and Ada put bodies there. */
static bool may_hold_code(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_entry_point: return true;
    default: return false;
    }
}

static void visit_children(struct walk *w, Dwarf_Die *of, uint32_t depth, unsigned nesting);

static void visit(struct walk *w, Dwarf_Die *die, uint32_t depth, unsigned nesting)
{
    int tag = dwarf_tag(die);
    if (!may_hold_code(tag))
        return;
    if (tag == DW_TAG_subprogram)
        depth = 0; /* one inside another is a function of its own */
    if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) && has_code(die)) {
        if (depth < PLACES_MOST)
            add_function(w, die, depth);
        depth++;
    }
    visit_children(w, die, depth, nesting + 1);
}

static void visit_children(struct walk *w, Dwarf_Die *of, uint32_t depth, unsigned nesting)
{
    Dwarf_Die die;
    if (nesting > NESTING_MOST || dwarf_child(of, &die) != 0)
        return;
    do {
        if (w->entries++ > ENTRIES_MOST)
            return;
        visit(w, &die, depth, nesting);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Two functions that the linker folded into one begin together; the first in the file is meant. */
static int by_depth(const void *pa, const void *pb)
{
    const struct unit_row *a = pa, *b = pb;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->function < b->function) - (a->function > b->function);
}

void debug_unit_load(struct debug_unit *u, Dwarf_Die *die)
{
    struct walk w = {.unit = u};
    u->is_loaded = true;
    visit_children(&w, die, 0, 0);
    if (u->n)
        qsort(u->rows, u->n, sizeof *u->rows, by_depth);
    for (size_t d = 0, i = 0; d <= PLACES_MOST; d++) {
        while (i < u->n && u->rows[i].depth < d)
            i++;
        u->depth_at[d] = i;
    }
    Dwarf_Lines *lines;
    u->die = *die;
    if (dwarf_getsrclines(die, &lines, &u->n_lines) != 0)
        u->n_lines = 0;
    if (dwarf_getsrcfiles(die, &u->files, &u->n_files) != 0)
        u->n_files = 0;
    u->file_names = mem_new(u->n_files * sizeof *u->file_names);
    Dwarf_Attribute folder;
    u->folder = dwarf_attr(die, DW_AT_comp_dir, &folder) ? dwarf_formstring(&folder) : NULL;
}

void debug_unit_done(struct debug_unit *u)
{
    free(u->rows);
    free(u->functions);
    free(u->file_names);
    *u = (struct debug_unit){0};
}

size_t debug_unit_bytes(const struct debug_unit *u)
{
    return u->n * sizeof *u->rows + u->n_functions * sizeof *u->functions + u->n_lines * LINE_BYTES +
           u->n_files * sizeof *u->file_names;
}

static const struct unit_row *row_at(const struct debug_unit *u, size_t depth, uint64_t address)
{
    size_t from = u->depth_at[depth], low = from, high = u->depth_at[depth + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->rows[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > from && address < u->rows[low - 1].end ? &u->rows[low - 1] : NULL;
}

size_t debug_unit_chain(const struct debug_unit *u, uint64_t address, uint32_t out_functions[PLACES_MOST])
{
    size_t n = 0;
    for (const struct unit_row *r; n < PLACES_MOST && (r = row_at(u, n, address)); n++)
        out_functions[n] = r->function;
    return n;
}

struct view debug_unit_file(struct debug_unit *u, size_t number, struct name_table *names)
{
    if (number >= u->n_files)
        return VIEW("");
    struct view *known = &u->file_names[number];
    if (!known->at)
        *known = source_path_kept(names, u->folder, dwarf_filesrc(u->files, number, NULL, NULL));
    return *known;
}

bool debug_unit_line(struct debug_unit *u, uint64_t address, struct name_table *names, struct view *out_file, uint32_t *out_line)
{
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, address); /* a bisection: the rows are cached */
    if (!line)
        return false;
    int number = 0;
    size_t file = 0;
    Dwarf_Files *files;
    *out_line = dwarf_lineno(line, &number) == 0 && number > 0 ? (uint32_t)number : 0;
    *out_file = dwarf_line_file(line, &files, &file) == 0 ? debug_unit_file(u, file, names) : VIEW("");
    return true;
}

/* As the linker knows it where there is such a name, so that a method is more than its last word. */
static struct view name_of(Dwarf_Die *die, struct name_table *names)
{
    Dwarf_Attribute a;
    const char *text = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) || dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
        text = dwarf_formstring(&a);
    return name_table_demangled(names, view_of(text ? text : dwarf_diename(die)));
}

const struct unit_function *debug_unit_function(struct debug_unit *u, uint32_t function, Dwarf *dwarf, struct name_table *names)
{
    struct unit_function *f = &u->functions[function];
    Dwarf_Die die;
    if (f->is_named)
        return f;
    f->is_named = true;
    if (!dwarf_offdie(dwarf, f->die, &die))
        return f;
    int line = 0;
    f->name = name_of(&die, names);
    f->file = source_path_kept(names, u->folder, dwarf_decl_file(&die));
    if (dwarf_decl_line(&die, &line) == 0 && line > 0)
        f->line = (uint32_t)line;
    return f;
}
