#include "formats/pprof_reader.h"
#include "base/mem.h"
#include "formats/gzip_stream.h"

#include <inttypes.h>

#define LARGEST_PROFILE ((size_t)1 << 30)

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

bool pprof_is_whole(const struct pprof *f, const struct proto_cursor *c, const char *what, struct err *e)
{
    if (!c->is_broken)
        return true;
    size_t offset = (size_t)((const char *)c->at - f->message.at);
    return err_set(e, ERR_MALFORMED, "broken %s before byte %zu of the message", what, offset);
}

bool pprof_text(const struct pprof *f, uint64_t i, struct view *out, struct err *e)
{
    if (i < f->n_texts) {
        *out = f->texts[i];
        return true;
    }
    return err_set(e, ERR_MALFORMED, "string %" PRIu64 " does not exist: there are %zu", i, f->n_texts);
}

bool pprof_string(struct pprof *f, uint64_t i, str_id *out, struct err *e)
{
    struct view text;
    if (!pprof_text(f, i, &text, e))
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
    if (!pprof_is_whole(f, &c, "field", e))
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
    return pprof_is_whole(f, &c, "value type", e) && pprof_text(f, out->type, &text, e) && pprof_text(f, out->unit, &text, e);
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
    if (!pprof_is_whole(f, &c, "mapping", e) || !id_table_add(&f->mapping_ids, at[1], "mapping", e))
        return false;
    if (!pprof_string(f, at[5], &m.path, e) || !pprof_string(f, at[6], &m.build_id, e))
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
    if (!pprof_is_whole(f, &c, "function", e) || !id_table_add(&f->function_ids, at[1], "function", e))
        return false;
    uint64_t name = at[2] ? at[2] : at[3]; /* the system's name is better than none */
    if (!pprof_string(f, name, &row.name, e) || !pprof_string(f, at[4], &row.file, e))
        return err_in(e, "function %" PRIu64, at[1]);
    GROW(f->functions, f->cap_functions, f->function_ids.n);
    f->functions[f->function_ids.n - 1] = row;
    return true;
}

static bool read_text_fact(struct pprof *f, uint64_t text, const char *key, struct err *e)
{
    struct view value = {0};
    if (!pprof_text(f, text, &value, e))
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
    return pprof_is_whole(f, &c, "comments", e);
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
    if (!pprof_is_whole(f, &c, "line", e))
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
    if (!pprof_is_whole(f, &c, "location", e) || !id_table_add(&f->location_ids, at.id, "location", e))
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
    if (!pprof_text(f, f->default_type, &wanted, e))
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
    if (!read_texts(&f, e) || !read_tables(&f, e) || !read_locations(&f, e) || !make_sets(&f, e) || !pprof_read_samples(&f, e))
        return false;
    tell_times(&f);
    return true;
}
