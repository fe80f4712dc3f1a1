/*
 * report_csv.c - the functions as rows of a CSV file, for spreadsheets and data frames
 *
 * Values are whole and in the unit that the last column names; shares and intervals are ratios, 0 to
 * 1; what nobody knows is empty. Where only memory is asked for, rows are paths that allocated.
 */
#include "render/heap_view.h"
#include "render/names.h"
#include "render/report_formats.h"

static double known(int64_t n) { return n == METHOD_UNKNOWN ? UNKNOWN : (double)n; }

static void names(struct table *t, const struct findings *f, func_id id)
{
    char room[NAME_ROOM];
    const struct function *is = profile_function(f->r->p, id);
    table_text(t, name_of_function(f->r->p, id, room));
    table_text(t, name_of_module(f->r->p, id));
    table_text(t, profile_string(f->r->p, is->file));
    table_number(t, is->line ? (double)is->line : UNKNOWN);
}

static void row(struct table *t, const struct findings *f, const struct method *m, size_t rank)
{
    struct interval i = finding_interval(f, m->self);
    struct view unit = profile_string(f->r->p, f->measure->unit_name);
    table_number(t, (double)rank);
    names(t, f, m->function);
    table_text(t, view_of(frame_kind_names[m->kind]));
    table_number(t, (double)m->self);
    table_number(t, finding_share(f, m->self));
    table_number(t, i.low);
    table_number(t, i.high);
    table_number(t, (double)m->total);
    table_number(t, finding_share(f, m->total));
    table_number(t, known(m->samples));
    table_number(t, known(m->calls));
    table_number(t, known(m->least_ns));
    table_number(t, known(m->most_ns));
    table_number(t, known(m->bytes));
    table_number(t, known(m->bytes_total));
    table_number(t, known(m->allocations));
    table_text(t, unit.n ? unit : view_of(unit_names[f->measure->unit]));
}

static void put_functions(const struct findings *f, struct sink *out)
{
    unsigned decimals = f->measure->decimals;
    const struct column columns[] = {
        {"", "rank", COLUMN_ID, 0},          {"", "function", COLUMN_CODE, 0},    {"", "module", COLUMN_TEXT, 0},
        {"", "file", COLUMN_TEXT, 0},        {"", "line", COLUMN_ID, 0},          {"", "kind", COLUMN_TEXT, 0},
        {"", "self", COLUMN_COUNT, decimals}, {"", "self_share", COLUMN_SHARE, 0}, {"", "self_share_low", COLUMN_SHARE, 0},
        {"", "self_share_high", COLUMN_SHARE, 0}, {"", "total", COLUMN_COUNT, decimals}, {"", "total_share", COLUMN_SHARE, 0},
        {"", "samples", COLUMN_COUNT, 0},    {"", "calls", COLUMN_COUNT, 0},      {"", "min_ns", COLUMN_COUNT, 0},
        {"", "max_ns", COLUMN_COUNT, 0},     {"", "alloc_bytes", COLUMN_COUNT, 0}, {"", "alloc_total_bytes", COLUMN_COUNT, 0},
        {"", "allocations", COLUMN_COUNT, 0}, {"", "unit", COLUMN_TEXT, 0},
    };
    own(table) struct table *t = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < f->hot.n; i++)
        row(t, f, &f->methods.rows[f->hot.rows[i]], i + 1);
    table_csv(t, out);
}

void report_csv(const struct findings *f, struct sink *out)
{
    if (f->r->heap_only)
        heap_csv(f->r->heap, out);
    else
        put_functions(f, out);
}
