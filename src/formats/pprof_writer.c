/*
 * The model's tables become the file's: what samples use is numbered from 1 in
 * the order of first use, because some readers (speedscope) cut ids to 32 bits.
 *
 *   sample     all samples of one stack and one context, added up; one value
 *              for each measure of each set, zero for the sets it is not in
 *   location   a frame, together with the frames that were inlined into it: a
 *              path of frames in a tree, the innermost first
 *
 * Texts are numbered as they are met and written last.
 */
#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/gzip_stream.h"
#include "formats/path_tree.h"
#include "formats/pprof.h"
#include "formats/pprof_units.h"

#include <inttypes.h>

#define LARGEST_MESSAGE ((size_t)1 << 30)

struct row {
    stack_id stack;
    context_id context;
};

/* What the file calls the rows of a table: of[i] is the number of row i, 0 as long as it has none. */
struct numbering {
    uint32_t *of, *rows;
    size_t cap_of, n, cap;
};

struct pprof_writer {
    const struct profile *p;
    struct sink *to;
    struct interner texts;
    struct buf message, part, list;
    bool is_cut; /* a message was larger than we agreed to write */

    size_t n_types;
    struct row *rows;
    int64_t *values; /* n_types of them for each row */
    size_t n_rows, cap_rows, cap_values;
    struct idmap row_map;

    struct path_tree paths; /* of frames, innermost first: the locations */
    struct numbering locations, functions, mappings;
};

static void writer_init(struct pprof_writer *w, const struct profile *p, struct sink *to)
{
    *w = (struct pprof_writer){.p = p, .to = to};
    intern_init(&w->texts);
    idmap_init(&w->row_map);
    path_tree_init(&w->paths);
    buf_init(&w->message, LARGEST_MESSAGE);
    buf_init(&w->part, LARGEST_MESSAGE);
    buf_init(&w->list, LARGEST_MESSAGE);
}

static void numbering_done(struct numbering *n)
{
    free(n->of);
    free(n->rows);
}

static void pprof_writer_done(struct pprof_writer *w)
{
    intern_done(&w->texts);
    idmap_done(&w->row_map);
    path_tree_done(&w->paths);
    buf_done(&w->message);
    buf_done(&w->part);
    buf_done(&w->list);
    numbering_done(&w->locations);
    numbering_done(&w->functions);
    numbering_done(&w->mappings);
    free(w->rows);
    free(w->values);
}
DEFINE_OWN_IN_PLACE(pprof_writer, struct pprof_writer)

static uint32_t number_of(struct numbering *n, uint32_t row)
{
    size_t had = n->cap_of;
    GROW(n->of, n->cap_of, (size_t)row + 1);
    memset(n->of + had, 0, (n->cap_of - had) * sizeof *n->of);
    if (!n->of[row]) {
        GROW(n->rows, n->cap, n->n + 1);
        n->rows[n->n++] = row;
        n->of[row] = (uint32_t)n->n;
    }
    return n->of[row];
}

static uint64_t text(struct pprof_writer *w, struct view v) { return intern(&w->texts, v); }
static uint64_t string(struct pprof_writer *w, str_id id) { return text(w, profile_string(w->p, id)); }

/* One field of the profile: what stands in `message`. */
static void put_message(struct pprof_writer *w, enum profile_field field)
{
    own(buf) struct buf head;
    buf_init(&head, 32);
    proto_put_varint(&head, (uint64_t)field << 3 | PROTO_BYTES);
    proto_put_varint(&head, w->message.len);
    sink_add(w->to, buf_view(&head));
    sink_add(w->to, buf_view(&w->message));
    w->is_cut |= w->message.full || w->part.full || w->list.full;
    buf_clear(&w->message);
}

static void put_number(struct pprof_writer *w, enum profile_field field, uint64_t n)
{
    own(buf) struct buf head;
    buf_init(&head, 32);
    proto_put_number(&head, field, n);
    sink_add(w->to, buf_view(&head));
}

/* Measures. Two sets may have measures of the same name; in the file a name is all there is. */

static bool is_name_taken(const struct profile *p, uint32_t set, str_id name)
{
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *other = profile_set(p, (set_id){k});
        for (size_t m = 0; k != set && m < other->n_measures; m++)
            if (other->measures[m].name.i == name.i)
                return true;
    }
    return false;
}

static uint64_t measure_text(struct pprof_writer *w, uint32_t set, size_t measure)
{
    const struct sample_set *s = profile_set(w->p, (set_id){set});
    struct view name = profile_string(w->p, s->measures[measure].name), of_set = profile_string(w->p, s->name);
    if (!is_name_taken(w->p, set, s->measures[measure].name))
        return text(w, name);
    buf_clear(&w->part);
    buf_add(&w->part, of_set.at, of_set.n);
    buf_puts(&w->part, "_");
    buf_add(&w->part, name.at, name.n);
    return text(w, buf_view(&w->part));
}

static uint64_t unit_text(struct pprof_writer *w, const struct measure *m)
{
    buf_clear(&w->part);
    pprof_unit_word(&w->part, w->p, m);
    return text(w, buf_view(&w->part));
}

static void put_sample_types(struct pprof_writer *w)
{
    for (uint32_t k = 0; k < profile_sets(w->p); k++)
        for (size_t m = 0; m < profile_set(w->p, (set_id){k})->n_measures; m++) {
            proto_put_number(&w->message, 1, measure_text(w, k, m));
            proto_put_number(&w->message, 2, unit_text(w, &profile_set(w->p, (set_id){k})->measures[m]));
            put_message(w, PROFILE_SAMPLE_TYPE);
            w->n_types++;
        }
}

/* The measure to show is the one of the first set; a period is told in its unit, and under the set's name. */
static void put_default(struct pprof_writer *w)
{
    if (!profile_sets(w->p))
        return;
    const struct sample_set *set = profile_set(w->p, (set_id){0});
    put_number(w, PROFILE_DEFAULT_TYPE, measure_text(w, 0, set->shown));
    if (!set->period)
        return;
    proto_put_number(&w->message, 1, string(w, set->name));
    proto_put_number(&w->message, 2, unit_text(w, &set->measures[set->shown]));
    put_message(w, PROFILE_PERIOD_TYPE);
    put_number(w, PROFILE_PERIOD, (uint64_t)set->period);
}

/* Samples: added up first. */

static bool same_row(const void *rows, uint32_t i, const void *key)
{
    const struct row *a = (const struct row *)rows + i, *b = key;
    return a->stack.i == b->stack.i && a->context.i == b->context.i;
}

static uint32_t row_for(struct pprof_writer *w, struct row key)
{
    uint64_t h = idmap_hash_pair(&w->row_map, key.stack.i, key.context.i);
    uint32_t found = idmap_find(&w->row_map, h, same_row, w->rows, &key);
    if (found != IDMAP_NONE)
        return found;
    GROW(w->rows, w->cap_rows, w->n_rows + 1);
    GROW(w->values, w->cap_values, (w->n_rows + 1) * w->n_types);
    w->rows[w->n_rows] = key;
    memset(w->values + w->n_rows * w->n_types, 0, w->n_types * sizeof *w->values);
    idmap_add(&w->row_map, h, (uint32_t)w->n_rows);
    return (uint32_t)w->n_rows++;
}

static bool add_up(struct pprof_writer *w, struct err *e)
{
    size_t first = 0; /* type of the set */
    for (uint32_t k = 0; k < profile_sets(w->p); k++) {
        const struct sample_set *set = profile_set(w->p, (set_id){k});
        for (size_t i = 0; i < set->n; i++) {
            struct row key = {set->stacks[i], set->contexts ? set->contexts[i] : (context_id){0}};
            size_t row = row_for(w, key);
            int64_t *to = w->values + row * w->n_types + first;
            for (size_t m = 0; m < set->n_measures; m++)
                if (__builtin_add_overflow(to[m], set->values[m][i], &to[m]))
                    return err_set(e, ERR_LIMIT, "the values of one stack add up past 2^63");
        }
        first += set->n_measures;
    }
    return true;
}

/* Whether this frame was compiled into the code of its caller. */
static bool is_inside_caller(const struct profile *p, const struct stack *s)
{
    const struct frame *f = profile_frame(p, s->frame);
    if (f->kind != FRAME_INLINED || !s->caller.i)
        return false;
    return profile_frame(p, profile_stack(p, s->caller)->frame)->address == f->address;
}

static void put_locations_of(struct pprof_writer *w, stack_id id)
{
    buf_clear(&w->list);
    while (id.i) {
        const struct stack *s = profile_stack(w->p, id);
        uint32_t path = path_tree_push(&w->paths, 0, s->frame.i);
        while (is_inside_caller(w->p, s)) {
            s = profile_stack(w->p, s->caller);
            path = path_tree_push(&w->paths, path, s->frame.i);
        }
        proto_put_varint(&w->list, number_of(&w->locations, path));
        id = s->caller;
    }
    if (w->list.len)
        proto_put_bytes(&w->message, 1, buf_view(&w->list));
}

static void put_label(struct pprof_writer *w, uint64_t key, uint64_t word, int64_t number, uint64_t unit)
{
    buf_clear(&w->part);
    proto_put_number(&w->part, 1, key);
    proto_put_number(&w->part, 2, word);
    proto_put_number(&w->part, 3, (uint64_t)number);
    proto_put_number(&w->part, 4, unit);
    proto_put_bytes(&w->message, 3, buf_view(&w->part));
}

/* Numbers below 1 stand for those nobody said. */
static void put_who(struct pprof_writer *w, thread_id id)
{
    const struct thread *t = profile_thread(w->p, id);
    const struct process *process = profile_process(w->p, t->process);
    if (t->name.i)
        put_label(w, text(w, VIEW("thread")), string(w, t->name), 0, 0);
    if (t->tid > 0)
        put_label(w, text(w, VIEW("tid")), 0, t->tid, 0);
    if (process->name.i)
        put_label(w, text(w, VIEW("process")), string(w, process->name), 0, 0);
    if (process->pid > 0)
        put_label(w, text(w, VIEW("pid")), 0, process->pid, 0);
}

static void put_labels(struct pprof_writer *w, context_id id)
{
    const struct context *c = profile_context(w->p, id);
    size_t n;
    const struct label *labels = profile_labels(w->p, c->labels, &n);
    put_who(w, c->thread);
    for (size_t i = 0; i < n; i++)
        put_label(w, string(w, labels[i].key), string(w, labels[i].text), labels[i].number, string(w, labels[i].unit));
}

static bool has_value(const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i])
            return true;
    return false;
}

static void put_samples(struct pprof_writer *w)
{
    for (size_t i = 0; i < w->n_rows; i++) {
        const int64_t *values = w->values + i * w->n_types;
        if (!has_value(values, w->n_types))
            continue;
        put_locations_of(w, w->rows[i].stack);
        buf_clear(&w->list);
        for (size_t t = 0; t < w->n_types; t++)
            proto_put_varint(&w->list, (uint64_t)values[t]);
        proto_put_bytes(&w->message, 2, buf_view(&w->list));
        put_labels(w, w->rows[i].context);
        put_message(w, PROFILE_SAMPLE);
    }
}

/* Locations, and the functions and mappings they use. */

/* An address alone is a location without lines; nothing at all is a function of that name. */
static bool has_line(const struct frame *f, const struct function *function)
{
    return function->name.i || (!f->address && !function->mapping.i);
}

static void put_line(struct pprof_writer *w, const struct frame *f)
{
    const struct function *function = profile_function(w->p, f->function);
    if (!has_line(f, function))
        return;
    buf_clear(&w->part);
    proto_put_number(&w->part, 1, number_of(&w->functions, f->function.i));
    proto_put_number(&w->part, 2, f->line);
    proto_put_bytes(&w->message, 4, buf_view(&w->part));
}

/* The frames of a path, innermost first, into `list`; returns how many. */
static size_t unroll(struct pprof_writer *w, uint32_t path)
{
    size_t n = 0;
    for (uint32_t at = path; at; at = w->paths.rows[at].before)
        n++;
    buf_clear(&w->list);
    char *bytes = buf_room(&w->list, n * sizeof(frame_id));
    for (size_t i = bytes ? n : 0; i; path = w->paths.rows[path].before) {
        frame_id id = {w->paths.rows[path].step};
        memcpy(bytes + --i * sizeof id, &id, sizeof id);
    }
    return bytes ? n : 0;
}

static void put_location(struct pprof_writer *w, uint32_t path, uint32_t number)
{
    size_t n = unroll(w, path);
    const struct frame *outermost = profile_frame(w->p, (frame_id){w->paths.rows[path].step});
    mapping_id mapping = profile_function(w->p, outermost->function)->mapping;
    proto_put_number(&w->message, 1, number);
    proto_put_number(&w->message, 2, mapping.i ? number_of(&w->mappings, mapping.i) : 0);
    proto_put_number(&w->message, 3, outermost->address);
    for (size_t i = 0; i < n; i++) {
        frame_id id;
        memcpy(&id, w->list.data + i * sizeof id, sizeof id);
        put_line(w, profile_frame(w->p, id));
    }
    put_message(w, PROFILE_LOCATION);
}

static void put_function(struct pprof_writer *w, uint32_t row, uint32_t number)
{
    const struct function *f = profile_function(w->p, (func_id){row});
    uint64_t name = f->name.i ? string(w, f->name) : text(w, VIEW("[unknown]"));
    proto_put_number(&w->message, 1, number);
    proto_put_number(&w->message, 2, name);
    proto_put_number(&w->message, 3, name);
    proto_put_number(&w->message, 4, string(w, f->file));
    proto_put_number(&w->message, 5, f->line);
    put_message(w, PROFILE_FUNCTION);
}

/* What is already known about the code of a mapping; for the rest pprof may look into the file. */
struct known {
    bool functions, files, lines, inlines;
};

static struct known *what_is_known(const struct profile *p)
{
    struct known *known = mem_new(profile_mappings(p) * sizeof *known);
    for (uint32_t i = 1; i < profile_frames(p); i++) {
        const struct frame *f = profile_frame(p, (frame_id){i});
        const struct function *function = profile_function(p, f->function);
        struct known *k = &known[function->mapping.i];
        k->functions |= function->name.i != 0;
        k->files |= function->file.i != 0;
        k->lines |= f->line != 0;
        k->inlines |= f->kind == FRAME_INLINED;
    }
    return known;
}

static void put_mapping(struct pprof_writer *w, uint32_t row, uint32_t number, const struct known *known)
{
    const struct mapping *m = profile_mapping(w->p, (mapping_id){row});
    proto_put_number(&w->message, 1, number);
    proto_put_number(&w->message, 2, m->start);
    proto_put_number(&w->message, 3, m->limit);
    proto_put_number(&w->message, 4, m->offset);
    proto_put_number(&w->message, 5, string(w, m->path));
    proto_put_number(&w->message, 6, string(w, m->build_id));
    proto_put_number(&w->message, 7, known->functions);
    proto_put_number(&w->message, 8, known->files);
    proto_put_number(&w->message, 9, known->lines);
    proto_put_number(&w->message, 10, known->inlines);
    put_message(w, PROFILE_MAPPING);
}

static void put_tables(struct pprof_writer *w)
{
    for (size_t i = 0; i < w->locations.n; i++)
        put_location(w, w->locations.rows[i], (uint32_t)i + 1);
    for (size_t i = 0; i < w->functions.n; i++)
        put_function(w, w->functions.rows[i], (uint32_t)i + 1);
    own(free) struct known *known = what_is_known(w->p);
    for (size_t i = 0; i < w->mappings.n; i++)
        put_mapping(w, w->mappings.rows[i], (uint32_t)i + 1, &known[w->mappings.rows[i]]);
}

/* About the run. */

static void put_times(struct pprof_writer *w)
{
    uint64_t start_ns = profile_start_ns(w->p), end_ns = profile_end_ns(w->p), duration_ns = 0;
    const struct fact *told = profile_fact_named(w->p, VIEW("duration_ns"));
    if (profile_has_wall_offset(w->p) && start_ns != TIME_NONE)
        put_number(w, PROFILE_TIME, start_ns + (uint64_t)profile_wall_offset_ns(w->p));
    if (start_ns != TIME_NONE && end_ns != TIME_NONE && end_ns > start_ns)
        duration_ns = end_ns - start_ns;
    else if (!told || !text_to_uint(profile_string(w->p, told->value), &duration_ns))
        return;
    put_number(w, PROFILE_DURATION, duration_ns);
}

/* Some facts have a field of their own; the others go along as comments. */
static void put_fact(struct pprof_writer *w, const struct fact *f)
{
    static const struct {
        struct view key;
        enum profile_field field;
    } own_fields[] = {
        {VIEW("drop_frames"), PROFILE_DROP_FRAMES},
        {VIEW("keep_frames"), PROFILE_KEEP_FRAMES},
        {VIEW("doc_url"),     PROFILE_DOC_URL},
    };
    struct view key = profile_string(w->p, f->key), value = profile_string(w->p, f->value);
    for (size_t i = 0; i < sizeof own_fields / sizeof *own_fields; i++)
        if (view_same(key, own_fields[i].key)) {
            put_number(w, own_fields[i].field, text(w, value));
            return;
        }
    if (view_same(key, VIEW("duration_ns")))
        return;
    buf_clear(&w->part);
    if (!view_starts(key, VIEW("comment"))) {
        buf_add(&w->part, key.at, key.n);
        buf_puts(&w->part, ": ");
    }
    buf_add(&w->part, value.at, value.n);
    put_number(w, PROFILE_COMMENT, text(w, buf_view(&w->part)));
}

static void put_texts(struct pprof_writer *w)
{
    for (size_t i = 0; i < w->texts.n; i++) {
        buf_add(&w->message, w->texts.rows[i].at, w->texts.rows[i].n);
        put_message(w, PROFILE_STRING);
    }
}

static bool put_all(struct pprof_writer *w, struct err *e)
{
    put_sample_types(w);
    if (!add_up(w, e))
        return false;
    put_samples(w);
    put_tables(w);
    put_times(w);
    put_default(w);
    for (size_t i = 0; i < profile_facts(w->p); i++)
        put_fact(w, profile_fact(w->p, i));
    put_texts(w);
    if (w->is_cut || w->paths.full)
        return err_set(e, ERR_LIMIT, "a sample or a text of more than %zu MiB", LARGEST_MESSAGE >> 20);
    return true;
}

bool pprof_write(const struct profile *p, struct sink *out, struct err *e)
{
    struct sink plain;
    own(gzip) struct gzip z;
    if (!gzip_to(&z, &plain, out, e))
        return false;
    own(pprof_writer) struct pprof_writer w;
    writer_init(&w, p, &plain);
    return put_all(&w, e) && gzip_end(&z, &plain, e);
}
