#include "render/contents.h"
#include "base/json.h"
#include "base/text.h"
#include "render/names.h"
#include "render/scopes_text.h"

#include <time.h>

static struct view text_of(const struct contents *c, str_id id) { return profile_string(c->p, id); }

/* One table per kind of thing. */

static struct table *chunks(const struct contents *c)
{
    static const struct column columns[] = {
        {"Chunks",   "type",           COLUMN_TEXT},
        {"Count",    "chunks",         COLUMN_COUNT},
        {"Rows",     "rows",           COLUMN_COUNT},
        {"Stored",   "stored_bytes",   COLUMN_BYTES},
        {"Unpacked", "unpacked_bytes", COLUMN_BYTES},
    };
    struct table *t = table_new(columns, 5);
    for (size_t i = 0; c->file && i < CHUNK_TYPE_COUNT; i++) {
        if (!c->file->types[i].chunks)
            continue;
        table_text(t, view_of(chunk_type_names[i]));
        table_number(t, (double)c->file->types[i].chunks);
        table_number(t, (double)c->file->types[i].rows);
        table_number(t, (double)c->file->types[i].stored_bytes);
        table_number(t, (double)c->file->types[i].unpacked_bytes);
    }
    return t;
}

static struct table *facts(const struct contents *c)
{
    static const struct column columns[] = {{"Fact", "key", COLUMN_TEXT}, {"", "value", COLUMN_TEXT}};
    struct table *t = table_new(columns, 2);
    for (size_t i = 0; i < profile_facts(c->p); i++) {
        table_text(t, text_of(c, profile_fact(c->p, i)->key));
        table_text(t, text_of(c, profile_fact(c->p, i)->value));
    }
    return t;
}

static struct table *processes(const struct contents *c)
{
    static const struct column columns[] = {{"Process", "pid", COLUMN_ID}, {"Name", "name", COLUMN_TEXT}};
    struct table *t = table_new(columns, 2);
    for (uint32_t i = 1; i < profile_processes(c->p); i++) {
        const struct process *s = profile_process(c->p, (process_id){i});
        table_number(t, s->pid);
        table_text(t, text_of(c, s->name));
    }
    return t;
}

static struct table *threads(const struct contents *c)
{
    static const struct column columns[] = {
        {"Thread", "tid", COLUMN_ID}, {"Process", "pid", COLUMN_ID}, {"Name", "name", COLUMN_TEXT},
    };
    struct table *t = table_new(columns, 3);
    for (uint32_t i = 1; i < profile_threads(c->p); i++) {
        const struct thread *s = profile_thread(c->p, (thread_id){i});
        table_number(t, s->tid);
        table_number(t, profile_process(c->p, s->process)->pid);
        table_text(t, text_of(c, s->name));
    }
    return t;
}

/* When the samples of a set were taken; those without a time stand at the end. */
struct stretch {
    uint64_t first_ns, last_ns; /* TIME_NONE: nobody knows */
    size_t timed;
};

static struct stretch stretch_of(const struct sample_set *s)
{
    struct stretch r = {TIME_NONE, TIME_NONE, s->time_ns ? s->n : 0};
    while (r.timed && s->time_ns[r.timed - 1] == TIME_NONE)
        r.timed--;
    if (r.timed) {
        r.first_ns = s->time_ns[0];
        r.last_ns = s->time_ns[r.timed - 1];
    }
    return r;
}

static double rate_of(const struct stretch *r)
{
    if (r->timed < 2 || r->last_ns == r->first_ns)
        return UNKNOWN;
    return (double)(r->timed - 1) * 1e9 / (double)(r->last_ns - r->first_ns);
}

static struct table *sets_for_eyes(const struct contents *c)
{
    static const struct column columns[] = {
        {"Samples of", "set",     COLUMN_TEXT}, {"Count",      "samples", COLUMN_COUNT},
        {"Measure",    "measure", COLUMN_TEXT}, {"Total",      "total",   COLUMN_TEXT},
        {"Length",     "length",  COLUMN_NS},   {"Per second", "rate",    COLUMN_REAL},
    };
    struct table *t = table_new(columns, 6);
    for (uint32_t i = 0; i < profile_sets(c->p); i++) {
        const struct sample_set *s = profile_set(c->p, (set_id){i});
        struct stretch when = stretch_of(s);
        for (size_t m = 0; m < s->n_measures; m++) {
            char total[32];
            value_text(total, &s->measures[m], s->measures[m].total);
            table_text(t, text_of(c, s->name));
            table_number(t, (double)s->n);
            table_text(t, text_of(c, s->measures[m].name));
            table_text(t, view_of(total));
            table_number(t, when.timed ? (double)(when.last_ns - when.first_ns) : UNKNOWN);
            table_number(t, rate_of(&when));
        }
    }
    return t;
}

static struct table *spans(const struct contents *c)
{
    static const struct column columns[] = {
        {"Spans", "kind", COLUMN_TEXT}, {"Count", "count", COLUMN_COUNT},
        {"Open", "open", COLUMN_COUNT}, {"Longest", "longest_ns", COLUMN_NS},
    };
    struct table *t = table_new(columns, 4);
    struct {
        size_t n, open;
        uint64_t longest_ns;
    } kinds[SPAN_KIND_COUNT] = {0};
    for (uint32_t i = 1; i <= profile_spans(c->p); i++) {
        const struct span *s = profile_span(c->p, (span_id){i});
        kinds[s->kind].n++;
        if (s->length_ns == TIME_NONE)
            kinds[s->kind].open++;
        else if (s->length_ns > kinds[s->kind].longest_ns)
            kinds[s->kind].longest_ns = s->length_ns;
    }
    for (size_t k = 0; k < SPAN_KIND_COUNT; k++) {
        if (!kinds[k].n)
            continue;
        table_text(t, view_of(span_kind_names[k]));
        table_number(t, (double)kinds[k].n);
        table_number(t, (double)kinds[k].open);
        table_number(t, kinds[k].open < kinds[k].n ? (double)kinds[k].longest_ns : UNKNOWN);
    }
    return t;
}

static struct table *series(const struct contents *c) { return series_table(c->p); }

static struct table *losses(const struct contents *c)
{
    static const struct column columns[] = {
        {"Lost of", "set", COLUMN_TEXT}, {"Count", "count", COLUMN_COUNT}, {"Because", "reason", COLUMN_TEXT},
    };
    struct table *t = table_new(columns, 3);
    for (size_t i = 0; i < profile_losses(c->p); i++) {
        const struct loss *l = profile_loss(c->p, i);
        table_text(t, text_of(c, profile_set(c->p, l->set)->name));
        table_number(t, (double)l->count);
        table_text(t, text_of(c, l->reason));
    }
    return t;
}

/* For eyes. */

static void print_table(const struct contents *c, struct sink *out, struct table *filled)
{
    own(table) struct table *t = filled;
    if (!table_rows(t))
        return;
    sink_char(out, '\n');
    table_print(t, &c->style, out);
}

static const char *state_of(const struct capture_report *f)
{
    return f->is_closed ? "closed well" : f->is_being_written ? "still being written" : "not closed properly";
}

static void print_file(const struct contents *c, struct sink *out)
{
    text_safe(out, view_of(c->source), 0);
    sink_printf(out, ": %s", c->format);
    if (c->file && c->file->major)
        sink_printf(out, " version %u.%u", c->file->major, c->file->minor);
    if (c->file)
        sink_printf(out, ", %s", state_of(c->file));
    sink_char(out, '\n');
}

static void print_when(const struct contents *c, struct sink *out)
{
    uint64_t start_ns = profile_start_ns(c->p), end_ns = profile_end_ns(c->p);
    if (start_ns == TIME_NONE || end_ns == TIME_NONE)
        return;
    char length[32], from[40] = "";
    text_ns(length, (double)(end_ns - start_ns));
    struct tm tm;
    time_t s = (time_t)(((int64_t)start_ns + profile_wall_offset_ns(c->p)) / 1000000000);
    if (profile_has_wall_offset(c->p) && gmtime_r(&s, &tm))
        strftime(from, sizeof from, ", from %Y-%m-%dT%H:%M:%SZ", &tm);
    sink_printf(out, "%s long%s\n", length, from);
}

void contents_print(const struct contents *c, struct sink *out)
{
    print_file(c, out);
    print_when(c, out);
    for (size_t i = 0; i < profile_damages(c->p); i++) {
        sink_puts(out, "damaged: ");
        text_safe(out, profile_damage(c->p, i), 0);
        sink_char(out, '\n');
    }
    static struct table *(*const sections[])(const struct contents *) = {
        chunks, facts, processes, threads, sets_for_eyes, spans, series, losses,
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        print_table(c, out, sections[i](c));
}

/* For machines. */

static void json_table(const struct contents *c, struct json_writer *w, const char *key,
                       struct table *(*fill)(const struct contents *))
{
    own(table) struct table *t = fill(c);
    json_key(w, key);
    table_json(t, w);
}

static void json_time(struct json_writer *w, const char *key, uint64_t ns)
{
    json_key(w, key);
    if (ns == TIME_NONE)
        json_null(w);
    else
        json_uint(w, ns);
}

static void json_count(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

static void json_yes(struct json_writer *w, const char *key, bool yes)
{
    json_key(w, key);
    json_bool(w, yes);
}

static void json_file(const struct contents *c, struct json_writer *w)
{
    const struct capture_report *f = c->file;
    json_key(w, "capture");
    json_open(w, '{');
    json_count(w, "major", f->major);
    json_count(w, "minor", f->minor);
    json_yes(w, "is_closed", f->is_closed);
    json_yes(w, "is_being_written", f->is_being_written);
    json_count(w, "lost_chunks", f->lost_chunks);
    json_count(w, "damaged_places", f->damaged_places);
    json_count(w, "damaged_bytes", f->damaged_bytes);
    json_count(w, "lost_samples", f->lost_samples);
    json_table(c, w, "chunks", chunks);
    json_close(w, '}');
}

static void json_measure(const struct contents *c, struct json_writer *w, const struct measure *m)
{
    json_open(w, '{');
    json_key(w, "name");
    json_text(w, text_of(c, m->name));
    json_key(w, "unit");
    json_text(w, m->unit_name.i ? text_of(c, m->unit_name) : view_of(unit_names[m->unit]));
    json_key(w, "total");
    json_decimal(w, m->total, m->decimals);
    json_close(w, '}');
}

static void json_set(const struct contents *c, struct json_writer *w, const struct sample_set *s)
{
    struct stretch when = stretch_of(s);
    json_open(w, '{');
    json_key(w, "name");
    json_text(w, text_of(c, s->name));
    json_count(w, "samples", s->n);
    json_time(w, "first_ns", when.first_ns);
    json_time(w, "last_ns", when.last_ns);
    json_key(w, "rate_hz");
    json_double(w, rate_of(&when));
    json_key(w, "measures");
    json_open(w, '[');
    for (size_t m = 0; m < s->n_measures; m++)
        json_measure(c, w, &s->measures[m]);
    json_close(w, ']');
    json_close(w, '}');
}

static void json_clock(const struct contents *c, struct json_writer *w)
{
    json_time(w, "start_ns", profile_start_ns(c->p));
    json_time(w, "end_ns", profile_end_ns(c->p));
    json_key(w, "wall_offset_ns");
    if (profile_has_wall_offset(c->p))
        json_int(w, profile_wall_offset_ns(c->p));
    else
        json_null(w);
}

void contents_json(const struct contents *c, struct sink *out)
{
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_key(&w, "file");
    json_text(&w, view_of(c->source));
    json_key(&w, "format");
    json_text(&w, view_of(c->format));
    if (c->file)
        json_file(c, &w);
    json_key(&w, "damage");
    json_open(&w, '[');
    for (size_t i = 0; i < profile_damages(c->p); i++)
        json_text(&w, profile_damage(c->p, i));
    json_close(&w, ']');
    json_clock(c, &w);
    json_table(c, &w, "facts", facts);
    json_table(c, &w, "processes", processes);
    json_table(c, &w, "threads", threads);
    json_key(&w, "sets");
    json_open(&w, '[');
    for (uint32_t i = 0; i < profile_sets(c->p); i++)
        json_set(c, &w, profile_set(c->p, (set_id){i}));
    json_close(&w, ']');
    json_table(c, &w, "spans", spans);
    json_table(c, &w, "series", series);
    json_table(c, &w, "losses", losses);
    json_close(&w, '}');
}
