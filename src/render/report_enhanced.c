/*
 * report_enhanced.c - the report as SmallMind's `--compare` and `--model-compare` read it
 *
 * Their comparator looks for a line with the first emoji, takes the rows up to the second one, and
 * wants numbers in all of the columns 3 to 6, of which the sixth may be missing; a row with anything
 * else is dropped. It adds the times of all rows up for a verdict, so the times here are self times,
 * which may be added up. What nobody counted is not there: a sampled profile has its samples where calls
 * would stand, under that name; one that does not know those either, the records of the file that end in the
 * method; and one without memory has no column for it.
 */
#include "base/text.h"
#include "render/names.h"
#include "render/report_formats.h"

#include <time.h>

enum { HOT = 30, ALLOCATORS = 15 };

/* What stands in the place of calls. */
enum counted { BY_CALLS, BY_SAMPLES, BY_RECORDS };

static enum counted counted_by(const struct findings *f)
{
    return f->methods.has_calls ? BY_CALLS : f->quality.taken >= 0 ? BY_SAMPLES : BY_RECORDS;
}

static int64_t records_of(const struct findings *f, func_id function)
{
    const struct sample_set *set = f->r->set;
    int64_t n = 0;
    for (size_t i = 0; i < set->n; i++)
        n += profile_frame(f->r->p, profile_stack(f->r->p, set->stacks[i])->frame)->function.i == function.i;
    return n;
}

static int64_t counted(const struct findings *f, const struct method *m)
{
    enum counted by = counted_by(f);
    return by == BY_CALLS ? m->calls : by == BY_SAMPLES ? m->samples : records_of(f, m->function);
}

static void name_cell(struct table *t, const struct findings *f, const struct method *m)
{
    char room[NAME_ROOM];
    table_text(t, name_of_function(f->r->p, m->function, room));
}

static void put_hot(const struct findings *f, struct sink *out)
{
    static const char *const titles[] = {[BY_CALLS] = "Calls", [BY_SAMPLES] = "Samples", [BY_RECORDS] = "Records"};
    bool is_time = finding_is_time(f);
    const struct column columns[] = {
        {"Rank", "rank", COLUMN_ID, 0}, {"Method", "method", COLUMN_CODE, 0},
        {is_time ? "Time (ms)" : "Self", "self", COLUMN_FIXED, is_time ? 2 : f->measure->decimals},
        {titles[counted_by(f)], "calls", COLUMN_ID, 0}, {is_time ? "Avg (ms)" : "Avg", "average", COLUMN_FIXED, 3},
        {"Alloc (MB)", "alloc_mb", COLUMN_FIXED, 2},
    };
    own(table) struct table *t = table_new(columns, f->methods.has_bytes ? 6 : 5);
    size_t n;
    own(free) size_t *rows = methods_ranked(&f->methods, f->r->p, METHODS_BY_SELF, &n);
    for (size_t i = 0; i < n && i < HOT && f->methods.rows[rows[i]].self > 0; i++) {
        const struct method *m = &f->methods.rows[rows[i]];
        int64_t times = counted(f, m);
        table_number(t, (double)i + 1);
        name_cell(t, f, m);
        table_number(t, finding_number(f, m->self));
        table_number(t, times == METHOD_UNKNOWN ? UNKNOWN : (double)times);
        table_number(t, times > 0 ? finding_number(f, m->self) / (double)times : UNKNOWN);
        if (f->methods.has_bytes)
            table_number(t, m->bytes == METHOD_UNKNOWN ? 0 : (double)m->bytes / 1e6);
    }
    table_markdown(t, out);
}

static void put_allocators(const struct findings *f, struct sink *out)
{
    bool has_calls = f->methods.has_calls;
    const struct column columns[] = {
        {"Rank", "rank", COLUMN_ID, 0}, {"Method", "method", COLUMN_CODE, 0}, {"Total (MB)", "total_mb", COLUMN_FIXED, 2},
        {has_calls ? "Calls" : "Allocations", "calls", COLUMN_ID, 0}, {"Avg (KB)", "average_kb", COLUMN_FIXED, 2},
    };
    own(table) struct table *t = table_new(columns, 5);
    for (size_t i = 0; i < f->allocators.all && i < ALLOCATORS; i++) {
        const struct method *m = &f->methods.rows[f->allocators.rows[i]];
        int64_t times = has_calls ? m->calls : m->allocations;
        table_number(t, (double)i + 1);
        name_cell(t, f, m);
        table_number(t, (double)m->bytes_total / 1e6);
        table_number(t, times == METHOD_UNKNOWN ? UNKNOWN : (double)times);
        table_number(t, times > 0 ? (double)(has_calls ? m->bytes_total : m->bytes) / 1e3 / (double)times : UNKNOWN);
    }
    table_markdown(t, out);
}

static void put_summary(const struct findings *f, struct sink *out)
{
    time_t at = (time_t)f->r->generated_s;
    struct tm tm;
    char date[40] = "-";
    if (gmtime_r(&at, &tm))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    sink_printf(out, "# Enhanced Performance Profile Report\n\n**Generated:** %s\n\n## Summary\n\n", date);
    if (isnan(f->length_ns))
        sink_puts(out, "- **Total Runtime:** - (the profile does not say)\n");
    else
        sink_printf(out, "- **Total Runtime:** %.2f ms\n", f->length_ns / 1e6);
    if (f->methods.has_bytes)
        sink_printf(out, "- **Total Allocations:** %.2f MB\n", (double)f->methods.bytes_whole / 1e6);
    else
        sink_puts(out, "- **Total Allocations:** - (not recorded)\n");
    sink_printf(out, "- **Methods Profiled:** %zu\n", f->hot.all);
}

void report_enhanced(const struct findings *f, struct sink *out)
{
    put_summary(f, out);
    sink_puts(out, "\n## \U0001F525 Hot Paths (Top 30)\n\n");
    put_hot(f, out);
    sink_puts(out, "\n## \U0001F4BE Top Allocators\n\n");
    if (f->methods.has_bytes)
        put_allocators(f, out);
    else
        sink_puts(out, "The profile has no samples of memory.\n");
    sink_puts(out, "\n## Analysis\n\nTimes are self times: they add up to what was measured.");
    if (!f->methods.has_calls)
        sink_printf(out, " Nobody counted calls; in their place are the %s that end in the method.",
                    counted_by(f) == BY_SAMPLES ? "samples" : "records of the file");
    sink_char(out, '\n');
}
