/*
 * A finished profile as a capture file: the same chunks as a recording leaves,
 * in one go.
 */
#include "model/capture_tables.h"
#include "model/capture_writer.h"

#include <xxhash.h>

struct export {
    const struct profile *p;
    struct tables *to;
};

/* The same profile gives the same file, so the id that ties its chunks together is made of its content. */
static uint64_t id_of(const struct profile *p)
{
    uint64_t id = 0;
    for (uint32_t i = 0; i < profile_strings(p); i++) {
        struct view s = profile_string(p, (str_id){i});
        id = XXH64(s.at, s.n, id);
    }
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *set = profile_set(p, (set_id){i});
        for (size_t m = 0; m < set->n_measures; m++)
            id = XXH64(set->values[m], set->n * sizeof *set->values[m], id);
    }
    return id;
}

static void write_samples(struct export *x)
{
    for (uint32_t i = 0; i < profile_sets(x->p); i++) {
        const struct sample_set *set = profile_set(x->p, (set_id){i});
        put_samples(x->to, x->p, (set_id){i}, set, 0, set->n);
    }
}

static void write_spans(struct export *x)
{
    size_t n = profile_spans(x->p);
    if (n)
        put_spans(x->to, 1, profile_span(x->p, (span_id){1}), n); /* rows of one table, side by side */
}

static void write_series(struct export *x)
{
    for (uint32_t i = 0; i < profile_series_count(x->p); i++) {
        const struct series *s = profile_series(x->p, (series_id){i});
        put_readings(x->to, x->p, s, s->readings, s->n);
    }
}

static void write_about(struct export *x)
{
    own(text_rows) struct text_rows facts, losses, notes;
    text_rows_init(&facts, CHUNK_FACTS);
    text_rows_init(&losses, CHUNK_LOSSES);
    text_rows_init(&notes, CHUNK_NOTES);
    for (size_t i = 0; i < profile_facts(x->p); i++) {
        const struct fact *f = profile_fact(x->p, i);
        add_fact(x->to, &facts, profile_string(x->p, f->key), profile_string(x->p, f->value));
    }
    for (size_t i = 0; i < profile_losses(x->p); i++) {
        const struct loss *l = profile_loss(x->p, i);
        add_loss(x->to, &losses, l->set, profile_string(x->p, l->reason), l->count);
    }
    for (size_t i = 0; i < profile_damages(x->p); i++)
        add_note(x->to, &notes, profile_damage(x->p, i));
    put_text_rows(x->to, &facts);
    put_text_rows(x->to, &losses);
    put_text_rows(x->to, &notes);
    if (profile_has_wall_offset(x->p)) {
        int64_t offset_ns = profile_wall_offset_ns(x->p);
        put_clock(x->to, profile_start_ns(x->p), profile_end_ns(x->p), &offset_ns);
    } else {
        put_clock(x->to, profile_start_ns(x->p), profile_end_ns(x->p), NULL);
    }
}

bool capture_write_profile(const struct profile *p, enum chunk_packing packing, struct sink *out, struct err *e)
{
    own(chunk_writer) struct chunk_writer chunks;
    chunk_writer_init(&chunks, out, id_of(p), packing);
    own(tables) struct tables tables;
    tables_init(&tables, &chunks);
    struct export x = {.p = p, .to = &tables};
    put_names(&tables, p);
    write_samples(&x);
    write_spans(&x);
    write_series(&x);
    write_about(&x);
    put_cut_note(&tables);
    chunk_put_end(&chunks);
    return sink_flush(out, e);
}
