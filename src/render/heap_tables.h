/*
 * heap_tables.h - the tables of a memory report
 *
 * Each function makes one table from what was found; how it is written is the caller's business. For eyes a path is one
 * column ("leaky < work < main") and what is not known has no column; machines get every column, names apart.
 *
 * Owns: a heap_table owns its columns and cells.
 */
#pragma once
#include "render/heap_view.h"

enum { HEAP_COLUMNS_MOST = 24 };

struct heap_table {
    struct column columns[HEAP_COLUMNS_MOST];
    struct table *table;
    size_t left_out; /* rows that did not fit */
};

void heap_table_free(struct heap_table *t);
DEFINE_OWN(heap_table, struct heap_table *)

/* NULL: there is nothing to show. */
struct heap_table *heap_table_leaks(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_peak(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_hotspots(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_temporaries(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_changes(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_growth_paths(const struct heap_view *v, bool for_eyes);

/* heap_spread_tables.c */
struct heap_table *heap_table_moments(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_sizes(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_lifetimes(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_threads(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_mappings(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_scopes(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_scope_threads(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_phases(const struct heap_view *v, bool for_eyes);
struct heap_table *heap_table_requests(const struct heap_view *v, bool for_eyes);

/* "leaky < work < main"; names cut to a readable length for eyes. */
void heap_path_text(const struct profile *p, const struct call_tree *t, uint32_t node, bool for_eyes, struct buf *out);

/* For who makes one: columns are copied. */
struct heap_table *heap_table_new(const struct column *columns, size_t n);
double heap_shown(int64_t value);             /* UNKNOWN for HEAP_UNKNOWN */
double heap_part(int64_t part, int64_t whole); /* a share; UNKNOWN of nothing */
size_t heap_rows_shown(const struct heap_view *v, size_t n, bool for_eyes);
