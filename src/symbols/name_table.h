/*
 * name_table.h - names an image has handed out, each kept and demangled once
 *
 * Views stay good until name_table_done(), whatever happens to the file they came from.
 */
#pragma once
#include "base/buf.h"
#include "base/intern.h"

struct name_table {
    struct interner texts;
    uint32_t *shown; /* by text: the number of its demangled form; 0: nobody asked yet */
    size_t cap_shown;
    struct buf scratch;
};

void name_table_init(struct name_table *t);
void name_table_done(struct name_table *t);
struct view name_table_keep(struct name_table *t, struct view text);
struct view name_table_demangled(struct name_table *t, struct view mangled);
size_t name_table_bytes(const struct name_table *t);
