#include "render/flame_data.h"
#include "analyse/heap.h"
#include "analyse/sampling.h"
#include "base/mem.h"
#include "base/text.h"
#include "render/flame_columns.h"
#include "render/flame_samples.h"
#include "render/flame_who.h"
#include "render/measured.h"
#include "render/names.h"

#include <math.h>

enum { VERSION = 1 };
static const size_t header_most = (size_t)64 << 20;
static const size_t texts_most = (size_t)1 << 30;

struct flame {
    const struct flame_input *input;
    struct flame_side sides[FLAME_SIDES_MOST];
    size_t n_sides;
    struct flame_tree tree;
    struct flame_who who;
    struct flame_samples samples[FLAME_SIDES_MOST];
    struct flame_columns columns;
    uint64_t scale;
};

/* Texts. */

/* One per line; a name holds no line break once it is safe. */
struct lines {
    struct buf text;
    struct sink to;
    size_t n;
};

static void lines_init(struct lines *l)
{
    buf_init(&l->text, texts_most);
    sink_to_buf(&l->to, &l->text);
    l->n = 0;
}

static void lines_add(struct lines *l, struct view text)
{
    if (l->n++)
        sink_char(&l->to, '\n');
    text_safe(&l->to, text, 0);
}

static bool lines_column(struct lines *l, struct flame *f, const char *name, struct err *e)
{
    bool fits = sink_flush(&l->to, e);
    if (fits && l->text.full)
        fits = err_set(e, ERR_LIMIT, "names take more than %zu MiB", texts_most >> 20);
    if (fits)
        flame_column_text(&f->columns, name, buf_view(&l->text));
    buf_done(&l->text);
    return fits;
}

static void json_name(struct json_writer *w, const char *key, struct view text)
{
    json_key(w, key);
    flame_header_text(w, text);
}

/* Columns of the tree. */

static bool name_column(struct flame *f, struct err *e)
{
    struct lines l;
    lines_init(&l);
    lines_add(&l, VIEW("all"));
    for (size_t i = 1; i < f->tree.n_functions; i++) {
        char room[NAME_ROOM];
        lines_add(&l, name_of_function(f->tree.names, f->tree.functions[i], room));
    }
    return lines_column(&l, f, "function_name", e);
}

/* Modules and files: each text once, and by function which. Text 0 is empty. */
static bool shared_text_columns(struct flame *f, const char *texts, const char *which, bool is_module, struct err *e)
{
    struct interner seen;
    intern_init(&seen);
    struct lines l;
    lines_init(&l);
    lines_add(&l, VIEW(""));
    own(free) uint32_t *row = mem_new(f->tree.n_functions * sizeof *row);
    for (size_t i = 1; i < f->tree.n_functions; i++) {
        func_id id = f->tree.functions[i];
        size_t before = seen.n;
        struct view text = is_module ? name_of_module(f->tree.names, id)
                                     : profile_string(f->tree.names, profile_function(f->tree.names, id)->file);
        row[i] = intern(&seen, text);
        if (seen.n > before)
            lines_add(&l, text);
    }
    intern_done(&seen);
    flame_column_numbers(&f->columns, which, row, f->tree.n_functions);
    return lines_column(&l, f, texts, e);
}

static bool function_columns(struct flame *f, struct err *e)
{
    size_t n = f->tree.n_functions;
    own(free) uint32_t *numbers = mem_new(n * sizeof *numbers);
    for (size_t i = 1; i < n; i++)
        numbers[i] = profile_function(f->tree.names, f->tree.functions[i])->line;
    flame_column_numbers(&f->columns, "function_line", numbers, n);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)f->tree.kinds[i];
    flame_column_numbers(&f->columns, "function_kind", numbers, n);
    for (size_t i = 0; i < n; i++)
        numbers[i] = f->tree.is_system[i];
    flame_column_numbers(&f->columns, "function_system", numbers, n);
    return name_column(f, e) && shared_text_columns(f, "modules", "function_module", true, e) &&
           shared_text_columns(f, "files", "function_file", false, e);
}

static void node_columns(struct flame *f)
{
    flame_column_numbers(&f->columns, "node_rise", f->tree.rise, f->tree.n - 1);
    flame_column_numbers(&f->columns, "node_function", f->tree.function, f->tree.n - 1);
}

static void conshared_text_columns(struct flame *f)
{
    size_t n = f->who.n_contexts;
    static const char *const names[4] = {"context_thread", "context_process", "context_phase", "context_request"};
    own(free) uint32_t *numbers = mem_new(n * sizeof *numbers);
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t parts[4] = {f->who.contexts[i].thread, f->who.contexts[i].process, f->who.contexts[i].phase,
                                       f->who.contexts[i].request};
            numbers[i] = parts[k];
        }
        flame_column_numbers(&f->columns, names[k], numbers, n);
    }
}

static void sample_columns(struct flame *f)
{
    for (size_t s = 0; s < f->n_sides; s++)
        f->scale = flame_samples_divisor(&f->samples[s], f->scale);
    f->scale = f->scale ? f->scale : 1;
    for (size_t s = 0; s < f->n_sides; s++)
        flame_samples_columns(&f->samples[s], s, f->scale, &f->columns);
}

/* The header. */

static void json_fact(struct json_writer *w, const char *key, const struct profile *p, const char *fact)
{
    const struct fact *is = profile_fact_named(p, view_of(fact));
    if (is) {
        json_name(w, key, profile_string(p, is->value));
        return;
    }
    json_key(w, key);
    json_null(w);
}

static double lost_of(const struct flame_side *s)
{
    uint64_t lost;
    return samples_lost(s->p, s->set, &lost) ? (double)lost : NAN;
}

static double duration_of(const struct profile *p)
{
    uint64_t from = profile_start_ns(p), to = profile_end_ns(p);
    return from == TIME_NONE || to == TIME_NONE || to <= from ? NAN : (double)(to - from);
}

static void json_number(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

static void json_real(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void json_side(const struct flame *f, size_t i, struct json_writer *w)
{
    const struct flame_side *side = &f->sides[i];
    const struct flame_samples *s = &f->samples[i];
    json_open(w, '{');
    json_name(w, "label", view_of(side->label));
    json_number(w, "samples", s->count_sum);
    json_number(w, "total", s->value_sum);
    json_real(w, "duration_ns", duration_of(side->p));
    json_real(w, "rate_hz", measured_rate_hz(side->set, side->measure));
    json_fact(w, "engine", side->p, "engine");
    json_real(w, "lost", lost_of(side));
    json_number(w, "unresolved", s->unresolved_sum);
    json_number(w, "period", (uint64_t)(s->period > 0 ? s->period : 0));
    json_key(w, "value");
    if (s->common_value)
        json_uint(w, s->common_value);
    else
        json_null(w);
    json_key(w, "count");
    json_text(w, s->count_is_periods ? VIEW("period") : s->count_is_value ? VIEW("value") : VIEW("column"));
    json_number(w, "time_unit_ns", s->time_unit_ns);
    json_close(w, '}');
}

/* Nothing was sampled, on any side: what differs has changed. */
static bool is_exact(const struct flame *f)
{
    bool exact = true;
    for (size_t i = 0; i < f->n_sides; i++)
        exact &= heap_is_exact(f->sides[i].p, f->sides[i].set);
    return exact;
}

static void json_measure(const struct flame *f, struct json_writer *w)
{
    const struct profile *p = f->input->before.p;
    const struct measure *m = &f->input->before.set->measures[f->input->before.measure];
    json_key(w, "measure");
    json_open(w, '{');
    json_name(w, "name", profile_string(p, m->name));
    json_key(w, "unit");
    json_text(w, view_of(unit_names[m->unit]));
    json_name(w, "unit_name", profile_string(p, m->unit_name));
    json_number(w, "decimals", m->decimals);
    json_key(w, "exact");
    json_bool(w, is_exact(f));
    json_close(w, '}');
}

static void json_facts(const struct flame *f, struct json_writer *w)
{
    const struct profile *p = f->sides[f->n_sides - 1].p;
    json_key(w, "facts");
    json_open(w, '[');
    for (size_t i = 0; i < profile_facts(p); i++) {
        json_open(w, '[');
        flame_header_text(w, profile_string(p, profile_fact(p, i)->key));
        flame_header_text(w, profile_string(p, profile_fact(p, i)->value));
        json_close(w, ']');
    }
    json_close(w, ']');
}

static void write_header(const struct flame *f, struct sink *to)
{
    struct json_writer w;
    json_to(&w, to);
    json_open(&w, '{');
    json_name(&w, "title", view_of(f->input->title));
    json_name(&w, "source", view_of(f->input->before.label));
    json_measure(f, &w);
    json_number(&w, "scale", f->scale);
    json_key(&w, "sides");
    json_open(&w, '[');
    for (size_t i = 0; i < f->n_sides; i++)
        json_side(f, i, &w);
    json_close(&w, ']');
    flame_who_json(&f->who, &w);
    json_facts(f, &w);
    json_name(&w, "view", view_of(f->input->view));
    flame_columns_describe(&f->columns, &w);
    json_close(&w, '}');
}

/* All of it. */

static bool write_all(const struct flame *f, struct sink *out, struct err *e)
{
    own(buf) struct buf header;
    buf_init(&header, header_most);
    struct sink to;
    sink_to_buf(&to, &header);
    write_header(f, &to);
    if (!sink_flush(&to, e))
        return false;
    if (header.full)
        return err_set(e, ERR_LIMIT, "names of threads and requests take more than %zu MiB", header_most >> 20);
    while (header.len % 8)
        buf_puts(&header, " ");
    uint32_t head[4] = {0x464d4e49, VERSION, (uint32_t)header.len, 0};
    sink_add(out, (struct view){(const char *)head, sizeof head});
    sink_add(out, buf_view(&header));
    flame_columns_write(&f->columns, out);
    return true;
}

static bool gather(struct flame *f, struct err *e)
{
    if (!flame_tree_of(f->sides, f->n_sides, &f->tree, e))
        return false;
    flame_who_of(f->sides, f->n_sides, &f->who);
    for (size_t s = 0; s < f->n_sides; s++)
        f->samples[s] = flame_samples_of(&f->sides[s], &f->tree, s, &f->who);
    node_columns(f);
    conshared_text_columns(f);
    sample_columns(f);
    return function_columns(f, e);
}

bool flame_data_write(const struct flame_input *input, struct sink *out, struct err *e)
{
    own(free) struct flame *f = mem_new(sizeof *f);
    f->input = input;
    f->sides[f->n_sides++] = input->before;
    if (input->after.p)
        f->sides[f->n_sides++] = input->after;
    bool done = gather(f, e) && write_all(f, out, e);
    flame_tree_done(&f->tree);
    flame_who_done(&f->who);
    for (size_t s = 0; s < f->n_sides; s++)
        flame_samples_done(&f->samples[s]);
    flame_columns_done(&f->columns);
    return done;
}
