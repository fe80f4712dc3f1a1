/*
 * The message is unpacked into one buffer and gone over four times, because its
 * writers put the samples first and the texts last:
 *
 *   1. texts
 *   2. types, mappings and functions
 *   3. locations, each becoming its run of frames, the outermost first
 *   4. samples
 *
 * Ids in a file are any 64-bit numbers but 0. Most writers count from 1, so an
 * id is first looked for in the row before its number and only then in a map.
 */
#include "base/idmap.h"
#include "base/mem.h"
#include "formats/gzip_stream.h"
#include "formats/pprof.h"
#include "formats/pprof_units.h"

#include <inttypes.h>

#define LARGEST_PROFILE ((size_t)1 << 30)

struct id_table {
    uint64_t *ids;
    size_t n, cap;
    struct idmap map; /* of those that are not in their place */
};

struct value_type {
    uint64_t type, unit;
};

struct location {
    uint32_t first, n; /* in `frames`, the outermost first */
};

struct pprof {
    struct builder *b;
    struct view message;

    struct view *texts;
    size_t n_texts, cap_texts;
    struct value_type *types;
    size_t n_types, cap_types;

    struct id_table mapping_ids, function_ids, location_ids;
    mapping_id *mappings;
    struct function *functions; /* without a mapping: that is known by the location */
    struct location *locations;
    size_t cap_mappings, cap_functions, cap_locations;
    frame_id *frames;
    size_t n_frames, cap_frames;

    struct value_type period_type;
    uint64_t time_ns, duration_ns, default_type;
    int64_t period;
    size_t n_comments;

    /* One sample. */
    size_t n_samples;
    frame_id *stack; /* leaf first */
    uint32_t *sample_locations;
    struct label *labels;
    int64_t *values;
    size_t cap_stack, cap_sample_locations, cap_labels, cap_values;
    size_t n_sample_locations, n_labels, n_values;

    set_id *sets; /* a set holds MEASURES_MOST types; few files have more */
    struct pprof_unit *units;
};

static void id_table_init(struct id_table *t) { idmap_init(&t->map); }

static void id_table_done(struct id_table *t)
{
    free(t->ids);
    idmap_done(&t->map);
}

static bool same_id(const void *ids, uint32_t row, const void *key)
{
    return ((const uint64_t *)ids)[row] == *(const uint64_t *)key;
}

static uint32_t id_table_find(const struct id_table *t, uint64_t id)
{
    if (id - 1 < t->n && t->ids[id - 1] == id)
        return (uint32_t)(id - 1);
    return idmap_find(&t->map, idmap_hash(&t->map, &id, sizeof id), same_id, t->ids, &id);
}

static bool id_table_add(struct id_table *t, uint64_t id, const char *what, struct err *e)
{
    if (!id)
        return err_set(e, ERR_MALFORMED, "%s number %zu has no id", what, t->n + 1);
    if (id_table_find(t, id) != IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "%s %" PRIu64 " is there twice", what, id);
    if (t->n == IDMAP_NONE)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 295 of %s", what);
    GROW(t->ids, t->cap, t->n + 1);
    t->ids[t->n] = id;
    if (id - 1 != t->n)
        idmap_add(&t->map, idmap_hash(&t->map, &id, sizeof id), (uint32_t)t->n);
    t->n++;
    return true;
}

static void pprof_init(struct pprof *f, struct builder *b, struct view message)
{
    *f = (struct pprof){.b = b, .message = message};
    id_table_init(&f->mapping_ids);
    id_table_init(&f->function_ids);
    id_table_init(&f->location_ids);
}

static void pprof_done(struct pprof *f)
{
    void *const all[] = {f->texts, f->types, f->mappings, f->functions, f->locations, f->frames, f->stack,
                         f->sample_locations, f->labels, f->values, f->sets, f->units};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    id_table_done(&f->mapping_ids);
    id_table_done(&f->function_ids);
    id_table_done(&f->location_ids);
}
DEFINE_OWN_IN_PLACE(pprof, struct pprof)

static bool is_whole(const struct pprof *f, const struct proto_cursor *c, const char *what, struct err *e)
{
    if (!c->is_broken)
        return true;
    size_t offset = (size_t)((const char *)c->at - f->message.at);
    return err_set(e, ERR_MALFORMED, "broken %s before byte %zu of the message", what, offset);
}

static bool text_at(const struct pprof *f, uint64_t i, struct view *out, struct err *e)
{
    if (i < f->n_texts) {
        *out = f->texts[i];
        return true;
    }
    return err_set(e, ERR_MALFORMED, "string %" PRIu64 " does not exist: there are %zu", i, f->n_texts);
}

static bool string_at(struct pprof *f, uint64_t i, str_id *out, struct err *e)
{
    struct view text;
    if (!text_at(f, i, &text, e))
        return false;
    *out = builder_string(f->b, text);
    return true;
}

static uint32_t line_no(uint64_t n) { return n <= UINT32_MAX ? (uint32_t)n : 0; }

/* First time over: texts. */

static bool read_texts(struct pprof *f, struct err *e)
{
    struct proto_cursor c = proto_over(f->message);
    struct proto_field x;
    while (proto_next(&c, &x)) {
        if (!pprof_fits(&x))
            return err_set(e, ERR_MALFORMED, "field %u is not spelled as in a profile", x.number);
        if (x.number != PROFILE_STRING)
            continue;
        GROW(f->texts, f->cap_texts, f->n_texts + 1);
        f->texts[f->n_texts++] = x.bytes;
    }
    if (!is_whole(f, &c, "field", e))
        return false;
    if (!f->n_texts)
        return err_set(e, ERR_MALFORMED, "no strings in it: not a profile");
    return !f->texts[0].n || err_set(e, ERR_MALFORMED, "string 0 is not empty");
}

/* Second time: what samples are made of. */

static bool read_value_type(struct pprof *f, struct view bytes, struct value_type *out, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    struct view text;
    *out = (struct value_type){0};
    while (proto_next(&c, &x)) {
        if (x.number == 1)
            out->type = x.value;
        if (x.number == 2)
            out->unit = x.value;
    }
    return is_whole(f, &c, "value type", e) && text_at(f, out->type, &text, e) && text_at(f, out->unit, &text, e);
}

static bool read_sample_type(struct pprof *f, const struct proto_field *x, struct err *e)
{
    GROW(f->types, f->cap_types, f->n_types + 1);
    if (!read_value_type(f, x->bytes, &f->types[f->n_types], e))
        return err_in(e, "sample type %zu", f->n_types + 1);
    f->n_types++;
    return true;
}

static bool read_mapping(struct pprof *f, const struct proto_field *field, struct err *e)
{
    struct proto_cursor c = proto_over(field->bytes);
    struct proto_field x;
    uint64_t at[7] = {0};
    while (proto_next(&c, &x))
        if (x.number < 7)
            at[x.number] = x.value;
    struct mapping m = {.start = at[2], .limit = at[3], .offset = at[4]};
    if (!is_whole(f, &c, "mapping", e) || !id_table_add(&f->mapping_ids, at[1], "mapping", e))
        return false;
    if (!string_at(f, at[5], &m.path, e) || !string_at(f, at[6], &m.build_id, e))
        return err_in(e, "mapping %" PRIu64, at[1]);
    GROW(f->mappings, f->cap_mappings, f->mapping_ids.n);
    f->mappings[f->mapping_ids.n - 1] = builder_mapping(f->b, m);
    return true;
}

static bool read_function(struct pprof *f, const struct proto_field *field, struct err *e)
{
    struct proto_cursor c = proto_over(field->bytes);
    struct proto_field x;
    uint64_t at[6] = {0};
    while (proto_next(&c, &x))
        if (x.number < 6)
            at[x.number] = x.value;
    struct function row = {.line = line_no(at[5])};
    if (!is_whole(f, &c, "function", e) || !id_table_add(&f->function_ids, at[1], "function", e))
        return false;
    uint64_t name = at[2] ? at[2] : at[3]; /* the system's name is better than none */
    if (!string_at(f, name, &row.name, e) || !string_at(f, at[4], &row.file, e))
        return err_in(e, "function %" PRIu64, at[1]);
    GROW(f->functions, f->cap_functions, f->function_ids.n);
    f->functions[f->function_ids.n - 1] = row;
    return true;
}

static bool read_text_fact(struct pprof *f, uint64_t text, const char *key, struct err *e)
{
    struct view value;
    if (!text_at(f, text, &value, e))
        return err_in(e, "%s", key);
    if (value.n)
        builder_fact(f->b, view_of(key), value);
    return true;
}

static bool read_comments(struct pprof *f, const struct proto_field *x, struct err *e)
{
    struct proto_cursor c = proto_over(x->bytes);
    while (proto_more(&c)) {
        char key[32] = "comment";
        if (++f->n_comments > 1)
            snprintf(key, sizeof key, "comment %zu", f->n_comments);
        if (!read_text_fact(f, proto_varint(&c), key, e))
            return false;
    }
    return is_whole(f, &c, "comments", e);
}

static bool read_table_field(struct pprof *f, const struct proto_field *x, struct err *e)
{
    switch (x->number) {
    case PROFILE_SAMPLE_TYPE: return read_sample_type(f, x, e);
    case PROFILE_MAPPING:     return read_mapping(f, x, e);
    case PROFILE_FUNCTION:    return read_function(f, x, e);
    case PROFILE_DROP_FRAMES: return read_text_fact(f, x->value, "drop_frames", e);
    case PROFILE_KEEP_FRAMES: return read_text_fact(f, x->value, "keep_frames", e);
    case PROFILE_DOC_URL:     return read_text_fact(f, x->value, "doc_url", e);
    case PROFILE_COMMENT:     return read_comments(f, x, e);
    case PROFILE_PERIOD_TYPE: return read_value_type(f, x->bytes, &f->period_type, e) || err_in(e, "period type");
    case PROFILE_TIME:         f->time_ns = x->value; return true;
    case PROFILE_DURATION:     f->duration_ns = x->value; return true;
    case PROFILE_PERIOD:       f->period = (int64_t)x->value; return true;
    case PROFILE_DEFAULT_TYPE: f->default_type = x->value; return true;
    default: return true;
    }
}

static bool read_tables(struct pprof *f, struct err *e)
{
    struct proto_cursor c = proto_over(f->message);
    struct proto_field x;
    while (proto_next(&c, &x))
        if (!read_table_field(f, &x, e))
            return false;
    return f->n_types || err_set(e, ERR_MALFORMED, "no sample types in it");
}

/* Third time: locations. Their lines come innermost first; frames are kept outermost first. */

struct code_place {
    uint64_t id, address;
    mapping_id mapping;
    bool is_kernel;
};

static bool find_mapping(struct pprof *f, uint64_t id, struct code_place *to, struct err *e)
{
    if (!id)
        return true;
    uint32_t row = id_table_find(&f->mapping_ids, id);
    if (row == IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "mapping %" PRIu64 " does not exist", id);
    to->mapping = f->mappings[row];
    const struct profile *p = builder_view(f->b);
    to->is_kernel = view_starts(profile_string(p, profile_mapping(p, to->mapping)->path), VIEW("[kernel"));
    return true;
}

static void add_frame(struct pprof *f, frame_id id)
{
    GROW(f->frames, f->cap_frames, f->n_frames + 1);
    f->frames[f->n_frames++] = id;
}

static bool read_line(struct pprof *f, struct view bytes, const struct code_place *at, bool is_first, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    uint64_t function = 0, line = 0;
    while (proto_next(&c, &x)) {
        if (x.number == 1)
            function = x.value;
        if (x.number == 2)
            line = x.value;
    }
    if (!is_whole(f, &c, "line", e))
        return false;
    struct function row = {0};
    uint32_t found = id_table_find(&f->function_ids, function);
    if (function && found == IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "function %" PRIu64 " does not exist", function);
    if (function)
        row = f->functions[found];
    row.mapping = at->mapping;
    add_frame(f, builder_frame(f->b, (struct frame){
        .function = builder_function(f->b, row), .line = line_no(line), .address = at->address,
        .kind = at->is_kernel ? FRAME_KERNEL : is_first ? FRAME_NATIVE : FRAME_INLINED}));
    return true;
}

/* Nothing but an address; or not even that. */
static void add_bare_frame(struct pprof *f, const struct code_place *at)
{
    if (!at->address && !at->mapping.i) {
        add_frame(f, builder_frame_named(f->b, VIEW("[unknown]")));
        return;
    }
    func_id nameless = builder_function(f->b, (struct function){.mapping = at->mapping});
    add_frame(f, builder_frame(f->b, (struct frame){.function = nameless, .address = at->address,
                                                    .kind = at->is_kernel ? FRAME_KERNEL : FRAME_NATIVE}));
}

static void reverse_frames(frame_id *rows, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        frame_id other = rows[n - 1 - i];
        rows[n - 1 - i] = rows[i];
        rows[i] = other;
    }
}

static bool is_line(const struct proto_field *x) { return x->number == 4 && x->type == PROTO_BYTES; }

/* The last line is the function whose code it is; those before were inlined into it. */
static bool read_lines(struct pprof *f, struct view bytes, const struct code_place *at, size_t n_lines, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    size_t seen = 0;
    while (proto_next(&c, &x))
        if (is_line(&x) && !read_line(f, x.bytes, at, ++seen == n_lines, e))
            return false;
    return true;
}

static bool read_location(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    struct code_place at = {0};
    uint64_t mapping = 0;
    size_t n_lines = 0;
    while (proto_next(&c, &x)) {
        at.id = x.number == 1 ? x.value : at.id;
        mapping = x.number == 2 ? x.value : mapping;
        at.address = x.number == 3 ? x.value : at.address;
        n_lines += is_line(&x);
    }
    if (!is_whole(f, &c, "location", e) || !id_table_add(&f->location_ids, at.id, "location", e))
        return false;
    size_t first = f->n_frames;
    if (!find_mapping(f, mapping, &at, e) || !read_lines(f, bytes, &at, n_lines, e))
        return err_in(e, "location %" PRIu64, at.id);
    if (!n_lines)
        add_bare_frame(f, &at);
    if (f->n_frames > UINT32_MAX)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 295 lines");
    reverse_frames(f->frames + first, f->n_frames - first);
    GROW(f->locations, f->cap_locations, f->location_ids.n);
    f->locations[f->location_ids.n - 1] = (struct location){(uint32_t)first, (uint32_t)(f->n_frames - first)};
    return true;
}

static bool read_locations(struct pprof *f, struct err *e)
{
    struct proto_cursor c = proto_over(f->message);
    struct proto_field x;
    while (proto_next(&c, &x))
        if (x.number == PROFILE_LOCATION && !read_location(f, x.bytes, e))
            return false;
    return true;
}

/* The sets the samples go to. */

static struct view type_name(const struct pprof *f, size_t i) { return f->texts[f->types[i].type]; }

static bool find_shown(const struct pprof *f, size_t *out, struct err *e)
{
    struct view wanted;
    *out = f->n_types - 1; /* the last, when nobody says */
    if (!text_at(f, f->default_type, &wanted, e))
        return err_in(e, "default sample type");
    for (size_t i = f->n_types; wanted.n && i-- > 0;)
        if (view_same(type_name(f, i), wanted))
            *out = i;
    return true;
}

/* A period is of use only in the unit of the measure it is about. */
static int64_t shown_period(const struct pprof *f, size_t shown)
{
    struct pprof_unit u = pprof_unit_of(f->texts[f->period_type.unit]);
    int64_t period;
    bool matches = u.unit == f->units[shown].unit && view_same(u.name, f->units[shown].name) &&
                   u.decimals == f->units[shown].decimals;
    return matches && !__builtin_mul_overflow(f->period, u.factor, &period) ? period : 0;
}

static bool make_sets(struct pprof *f, struct err *e)
{
    size_t shown, n_sets = (f->n_types + MEASURES_MOST - 1) / MEASURES_MOST;
    if (!find_shown(f, &shown, e))
        return false;
    f->sets = mem_new(n_sets * sizeof *f->sets);
    f->units = mem_new(f->n_types * sizeof *f->units);
    struct view period_name = f->texts[f->period_type.type];
    own(buf) struct buf name;
    buf_init(&name, SIZE_MAX / 2);
    for (size_t s = 0; s < n_sets; s++) {
        struct measure_spec specs[MEASURES_MOST];
        size_t first = s * MEASURES_MOST, n = f->n_types - first < MEASURES_MOST ? f->n_types - first : MEASURES_MOST;
        for (size_t i = 0; i < n; i++) {
            struct pprof_unit u = f->units[first + i] = pprof_unit_of(f->texts[f->types[first + i].unit]);
            specs[i] = (struct measure_spec){type_name(f, first + i), u.unit, u.name, u.decimals};
        }
        struct view called = period_name.n ? period_name : type_name(f, shown);
        buf_clear(&name);
        buf_add(&name, called.at, called.n);
        if (s)
            buf_printf(&name, " %zu", s + 1);
        f->sets[s] = builder_set(f->b, buf_view(&name), specs, n);
    }
    builder_show(f->b, f->sets[shown / MEASURES_MOST], shown % MEASURES_MOST, shown_period(f, shown));
    return true;
}

/* Fourth time: samples. */

static bool add_location(struct pprof *f, uint64_t id, struct err *e)
{
    uint32_t row = id_table_find(&f->location_ids, id);
    if (row == IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "location %" PRIu64 " does not exist", id);
    GROW(f->sample_locations, f->cap_sample_locations, f->n_sample_locations + 1);
    f->sample_locations[f->n_sample_locations++] = row;
    return true;
}

static bool read_sample_locations(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    while (proto_more(&c)) {
        uint64_t id = proto_varint(&c);
        if (!c.is_broken && !add_location(f, id, e))
            return false;
    }
    return is_whole(f, &c, "location ids", e);
}

static bool add_value(struct pprof *f, int64_t n, struct err *e)
{
    size_t i = f->n_values;
    GROW(f->values, f->cap_values, i + 1);
    f->values[f->n_values++] = n;
    if (i < f->n_types && __builtin_mul_overflow(n, f->units[i].factor, &f->values[i]))
        return err_set(e, ERR_LIMIT, "value %zu does not fit: %" PRId64 " times %" PRId64, i + 1, n, f->units[i].factor);
    return true;
}

static bool read_values(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    while (proto_more(&c)) {
        int64_t n = (int64_t)proto_varint(&c);
        if (!c.is_broken && !add_value(f, n, e))
            return false;
    }
    return is_whole(f, &c, "values", e);
}

static bool read_label(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    uint64_t at[5] = {0};
    while (proto_next(&c, &x))
        if (x.number < 5)
            at[x.number] = x.value;
    struct label l = {.number = at[2] ? 0 : (int64_t)at[3]};
    if (!is_whole(f, &c, "label", e) || !string_at(f, at[1], &l.key, e) || !string_at(f, at[2], &l.text, e) ||
        !string_at(f, at[2] ? 0 : at[4], &l.unit, e))
        return false;
    GROW(f->labels, f->cap_labels, f->n_labels + 1);
    f->labels[f->n_labels++] = l;
    return true;
}

/* Who was running: some labels have a place of their own in the model. */
struct who {
    int32_t pid, tid;
    str_id process, thread;
    bool has_tid;
};

/* Yes: the label is told, and need not be kept as one. */
static bool is_who(const struct pprof *f, const struct label *l, struct who *to)
{
    struct view key = profile_string(builder_view(f->b), l->key);
    bool is_id = !l->text.i && l->number > 0 && l->number <= INT32_MAX;
    if (l->text.i && (view_same(key, VIEW("thread")) || view_same(key, VIEW("thread_name"))))
        to->thread = l->text;
    else if (l->text.i && view_same(key, VIEW("process")))
        to->process = l->text;
    else if (is_id && (view_same(key, VIEW("tid")) || view_same(key, VIEW("thread_id")))) {
        to->tid = (int32_t)l->number;
        to->has_tid = true;
    } else if (is_id && (view_same(key, VIEW("pid")) || view_same(key, VIEW("process_id"))))
        to->pid = (int32_t)l->number;
    else
        return false;
    return true;
}

/* A thread whose number nobody said gets one that no thread has; another for each name. */
static int32_t made_up_tid(str_id name) { return -(int32_t)(name.i & INT32_MAX); }

static context_id sample_context(struct pprof *f)
{
    struct who who = {0};
    size_t kept = 0;
    for (size_t i = 0; i < f->n_labels; i++)
        if (!is_who(f, &f->labels[i], &who))
            f->labels[kept++] = f->labels[i];
    const struct profile *p = builder_view(f->b);
    process_id process = who.pid ? builder_process(f->b, who.pid, 0) : PROCESS_NONE;
    if (who.process.i)
        builder_name_process(f->b, process, profile_string(p, who.process));
    thread_id thread = THREAD_NONE;
    if (who.has_tid || who.thread.i || who.pid)
        thread = builder_thread(f->b, process, who.has_tid ? who.tid : made_up_tid(who.thread));
    if (who.thread.i)
        builder_name_thread(f->b, thread, profile_string(p, who.thread));
    return builder_context(f->b, thread, builder_labels(f->b, f->labels, kept));
}

static stack_id sample_stack(struct pprof *f)
{
    size_t n = 0;
    for (size_t i = f->n_sample_locations; i-- > 0;) {
        struct location l = f->locations[f->sample_locations[i]];
        GROW(f->stack, f->cap_stack, n + l.n);
        memcpy(f->stack + n, f->frames + l.first, l.n * sizeof *f->stack);
        n += l.n;
    }
    return builder_stack(f->b, f->stack, n);
}

static bool read_sample(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    f->n_sample_locations = f->n_labels = f->n_values = 0;
    while (proto_next(&c, &x)) {
        bool is_bytes = x.type == PROTO_BYTES, is_list = is_bytes || x.type == PROTO_VARINT;
        if ((x.number == 1 && is_list && !read_sample_locations(f, x.bytes, e)) ||
            (x.number == 2 && is_list && !read_values(f, x.bytes, e)) ||
            (x.number == 3 && is_bytes && !read_label(f, x.bytes, e)))
            return false;
    }
    if (!is_whole(f, &c, "sample", e))
        return false;
    if (f->n_values != f->n_types)
        return err_set(e, ERR_MALFORMED, "%zu values for %zu sample types", f->n_values, f->n_types);
    context_id context = sample_context(f);
    stack_id stack = sample_stack(f);
    for (size_t s = 0; s * MEASURES_MOST < f->n_types; s++)
        builder_sample(f->b, f->sets[s], TIME_NONE, context, stack, f->values + s * MEASURES_MOST);
    return true;
}

static bool read_samples(struct pprof *f, struct err *e)
{
    struct proto_cursor c = proto_over(f->message);
    struct proto_field x;
    while (proto_next(&c, &x)) {
        if (x.number != PROFILE_SAMPLE)
            continue;
        f->n_samples++;
        if (!read_sample(f, x.bytes, e))
            return err_in(e, "sample %zu", f->n_samples);
    }
    return true;
}

/* When. There is no monotonic clock in the file: the recording begins at 0 of ours. */
static void tell_times(struct pprof *f)
{
    char text[24];
    if (f->time_ns && f->time_ns <= INT64_MAX)
        builder_clock(f->b, 0, f->duration_ns ? f->duration_ns : TIME_NONE, (int64_t)f->time_ns);
    snprintf(text, sizeof text, "%" PRIu64, f->duration_ns);
    if (f->duration_ns)
        builder_fact(f->b, VIEW("duration_ns"), view_of(text));
}

bool pprof_read(struct builder *b, struct reader *in, struct err *e)
{
    own(buf) struct buf message;
    buf_init(&message, LARGEST_PROFILE);
    if (!gzip_read(in, &message, e))
        return false;
    own(pprof) struct pprof f;
    pprof_init(&f, b, buf_view(&message));
    if (!read_texts(&f, e) || !read_tables(&f, e) || !read_locations(&f, e) || !make_sets(&f, e) || !read_samples(&f, e))
        return false;
    tell_times(&f);
    return true;
}
