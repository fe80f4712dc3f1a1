/*
 * A finished profile as a capture file: the same chunks as a recording leaves,
 * in one go.
 *
 * Spans need a thought. In a profile they are in order of time, and a link may
 * point at a span that began later; in the file, as in a builder, a span refers
 * only to spans before it. So spans are written in order of time, except that
 * those a span refers to go first.
 */
#include "base/mem.h"
#include "model/capture_tables.h"
#include "model/capture_writer.h"

#include <xxhash.h>

struct export {
    const struct profile *p;
    struct tables *to;
    uint32_t *file_ids; /* by span id; 0: not written yet */
    struct span *block; /* spans waiting to be written */
    size_t n_block;
    uint32_t next_span;
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

static void flush_block(struct export *x)
{
    put_spans(x->to, x->next_span - (uint32_t)x->n_block, x->block, x->n_block);
    x->n_block = 0;
}

static void write_span(struct export *x, span_id id)
{
    struct span s = *profile_span(x->p, id);
    s.parent.i = x->file_ids[s.parent.i];
    s.link.i = x->file_ids[s.link.i];
    x->file_ids[id.i] = x->next_span++;
    x->block[x->n_block++] = s;
    if (x->n_block == CHUNK_ROWS_MOST)
        flush_block(x);
}

static bool is_written(const struct export *x, span_id id) { return !id.i || x->file_ids[id.i]; }

/* With a list of what is still to do instead of recursion: chains of spans may be as long as they like. */
static void write_span_after_others(struct export *x, span_id first, span_id *todo)
{
    size_t n = 0;
    todo[n++] = first;
    while (n) {
        const struct span *s = profile_span(x->p, todo[n - 1]);
        if (!is_written(x, s->parent))
            todo[n++] = s->parent;
        else if (!is_written(x, s->link))
            todo[n++] = s->link;
        else
            write_span(x, todo[--n]);
    }
}

static void write_spans(struct export *x)
{
    size_t n = profile_spans(x->p);
    own(free) uint32_t *file_ids = mem_new((n + 1) * sizeof *file_ids);
    own(free) span_id *todo = mem_new((n + 1) * sizeof *todo);
    own(free) struct span *block = mem_new((n < CHUNK_ROWS_MOST ? n + 1 : CHUNK_ROWS_MOST) * sizeof *block);
    x->file_ids = file_ids;
    x->block = block;
    x->next_span = 1;
    for (uint32_t i = 1; i <= n; i++)
        if (!file_ids[i])
            write_span_after_others(x, (span_id){i}, todo);
    flush_block(x);
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
