/*
 * there_and_back.h - what a format was read from, it can be written to, and the totals stay
 *
 * For the fuzz targets of formats that go both ways. A profile that was read is
 * written in the same format and read again; every measure must add up to the
 * same number. Writing may refuse (values of one stack past 2^63), but what was
 * written must be readable.
 */
#pragma once
#include "base/text.h"
#include "formats/format.h"

static bool fuzz_read(const struct format *f, struct view bytes, struct profile **out)
{
    own(builder) struct builder *b = builder_new();
    own(reader) struct reader r;
    reader_over(&r, "fuzz", bytes);
    struct err e = {0};
    return f->read(b, &r, &e) && builder_finish(take(b), out, &e);
}

/* "cpu 1.5;samples 3;": every measure that is not zero, in the order of the sets. */
static void fuzz_totals(const struct profile *p, struct buf *out)
{
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        for (size_t m = 0; m < set->n_measures; m++) {
            char total[32];
            text_decimal(total, set->measures[m].total, set->measures[m].decimals);
            if (set->measures[m].total)
                buf_printf(out, "%s;", total);
        }
    }
}

static void there_and_back(const struct format *f, struct view bytes)
{
    own(profile) struct profile *p = NULL;
    own(profile) struct profile *back = NULL;
    if (!fuzz_read(f, bytes, &p))
        return;
    own(buf) struct buf file, was, is;
    buf_init(&file, (size_t)64 << 20);
    buf_init(&was, 1 << 24);
    buf_init(&is, 1 << 24);
    struct sink s;
    struct err e = {0};
    sink_to_buf(&s, &file);
    if (!f->write(p, &s, &e) || !sink_flush(&s, &e))
        return;
    if (!fuzz_read(f, buf_view(&file), &back))
        abort();
    fuzz_totals(p, &was);
    fuzz_totals(back, &is);
    if (!view_same(buf_view(&was), buf_view(&is)))
        abort();
}
