/* The chunks with a shape of their own: samples, spans, readings, and what is said about the run. */
#include "base/mem.h"
#include "model/capture_decode.h"

#define SETS_MOST 65536
#define LOST_LOSSES_NAMED 16 /* that get a note of their own */
#define DECIMALS_MOST 18

/* Lists of texts and changes are as bounded as tables. */
static size_t list_count(struct cursor *c, size_t least)
{
    size_t n = cursor_count(c, least);
    return n <= CHUNK_ROWS_MOST ? n : (size_t)cursor_fail(c);
}

/* Samples. */

static enum unit unit_from(uint64_t n) { return n < UNIT_KIND_COUNT ? (enum unit)n : UNIT_OTHER; }

static void remember_set(struct decoder *d, uint32_t number, const struct known_set *set)
{
    for (; d->n_sets <= number; d->n_sets++) {
        GROW(d->sets, d->cap_sets, d->n_sets + 1);
        d->sets[d->n_sets] = (struct known_set){0};
    }
    d->sets[number] = *set;
}

static int64_t power_of_ten(unsigned n)
{
    int64_t v = 1;
    for (; n; n--)
        v *= 10;
    return v;
}

static bool read_set(struct decoder *d, struct cursor *c, struct known_set *out)
{
    struct measure_spec specs[MEASURES_MOST];
    uint32_t number = cursor_u32(c);
    struct view name = cursor_text(c);
    size_t n = cursor_count(c, 4);
    if (!n || n > MEASURES_MOST || number >= SETS_MOST)
        return false;
    for (size_t m = 0; m < n; m++) {
        specs[m].name = cursor_text(c);
        specs[m].unit = unit_from(cursor_varint(c));
        specs[m].unit_name = cursor_text(c);
        specs[m].decimals = cursor_u32(c);
        if (specs[m].decimals > DECIMALS_MOST)
            return false;
    }
    uint32_t shown = cursor_u32(c);
    int64_t period = cursor_signed(c);
    if (c->bad || shown >= n)
        return false;
    *out = (struct known_set){.is_known = true, .id = builder_set(d->into, name, specs, n), .n_measures = n};
    builder_show(d->into, out->id, shown, period);
    const struct sample_set *set = profile_set(builder_view(d->into), out->id);
    for (size_t m = 0; m < n; m++)
        out->factors[m] = power_of_ten(set->measures[m].decimals - specs[m].decimals);
    remember_set(d, number, out);
    return true;
}

struct sample_columns {
    size_t n;
    uint64_t *time_ns, *contexts, *stacks, *values[MEASURES_MOST]; /* all in the decoder's words */
    bool has_times, has_contexts;
};

static void read_steps(struct cursor *c, uint64_t *into, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        into[i] = last += (uint64_t)cursor_signed(c);
}

static bool read_columns(struct decoder *d, struct cursor *c, size_t n_measures, struct sample_columns *out)
{
    size_t n = out->n = cursor_count(c, 1);
    uint64_t flags = cursor_varint(c);
    if (n > CHUNK_ROWS_MOST || flags > 3)
        return false;
    out->has_times = flags & 1;
    out->has_contexts = flags & 2;
    GROW(d->words, d->cap_words, n * (3 + n_measures) + 1);
    out->time_ns = d->words;
    out->contexts = out->time_ns + n;
    out->stacks = out->contexts + n;
    if (out->has_times)
        read_steps(c, out->time_ns, n);
    for (size_t i = 0; out->has_contexts && i < n; i++)
        out->contexts[i] = cursor_u32(c);
    for (size_t i = 0; i < n; i++)
        out->stacks[i] = cursor_u32(c);
    for (size_t m = 0; m < n_measures; m++) {
        out->values[m] = out->stacks + n * (m + 1);
        for (size_t i = 0; i < n; i++)
            out->values[m][i] = (uint64_t)cursor_signed(c);
    }
    return !c->bad;
}

static bool scaled(const struct known_set *set, const struct sample_columns *s, size_t i, int64_t out[MEASURES_MOST])
{
    for (size_t m = 0; m < set->n_measures; m++)
        if (__builtin_mul_overflow((int64_t)s->values[m][i], set->factors[m], &out[m]))
            return false;
    return true;
}

bool decode_samples(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    struct known_set set;
    struct sample_columns s;
    if (!read_set(d, c, &set) || !read_columns(d, c, set.n_measures, &s))
        return false;
    uint64_t no_stack = 0, no_context = 0, too_large = 0;
    for (size_t i = 0; i < s.n; i++) {
        int64_t values[MEASURES_MOST];
        uint32_t stack = ids_look(&d->stacks, (uint32_t)s.stacks[i]);
        uint32_t context = s.has_contexts ? ids_look(&d->contexts, (uint32_t)s.contexts[i]) : 0;
        if (stack == IDS_LOST)
            no_stack++;
        else if (context == IDS_LOST)
            no_context++;
        else if (!scaled(&set, &s, i, values))
            too_large++;
        else
            builder_sample(d->into, set.id, s.has_times ? s.time_ns[i] : TIME_NONE, (context_id){context},
                           (stack_id){stack}, values);
    }
    builder_lost(d->into, set.id, VIEW("their stacks were in a damaged part of the file"), no_stack);
    builder_lost(d->into, set.id, VIEW("their threads were in a damaged part of the file"), no_context);
    builder_lost(d->into, set.id, VIEW("their values are too large"), too_large);
    d->lost_samples += no_stack + no_context + too_large;
    *out_rows = s.n;
    return true;
}

/* Spans and series. */

static span_id span_of(const struct decoder *d, uint32_t file_id)
{
    uint32_t id = ids_look(&d->spans, file_id);
    return (span_id){id == IDS_LOST ? 0 : id};
}

/* Relatives may come later in the file, so kinship is settled at the end. */
static void remember_kin(struct decoder *d, span_id span, uint32_t parent, uint32_t link)
{
    GROW(d->kin, d->cap_kin, d->n_kin + 1);
    d->kin[d->n_kin++] = (struct kinship){span, parent, link};
}

void decode_end(struct decoder *d)
{
    for (size_t i = 0; i < d->n_kin; i++) {
        const struct kinship *k = &d->kin[i];
        span_id parent = span_of(d, k->parent), link = span_of(d, k->link);
        d->lost_links += (k->parent && !parent.i ? 1u : 0u) + (k->link && !link.i ? 1u : 0u);
        builder_span_relate(d->into, k->span, parent, link);
    }
    decode_latest_end(d);
}

static uint32_t relative(struct cursor *c, uint32_t file_id)
{
    int64_t back = cursor_signed(c);
    if (back >= (int64_t)file_id || back < (int64_t)file_id - UINT32_MAX)
        return (uint32_t)cursor_fail(c);
    return back ? (uint32_t)((int64_t)file_id - back) : 0;
}

static uint32_t span_row(struct decoder *d, struct cursor *c, uint32_t file_id, uint64_t *start_ns)
{
    struct span s = {.start_ns = *start_ns += (uint64_t)cursor_signed(c)};
    s.length_ns = cursor_varint(c) - 1;
    uint32_t thread = cursor_u32(c), name = cursor_u32(c), labels = cursor_u32(c);
    uint32_t parent = relative(c, file_id), link = relative(c, file_id);
    uint64_t kind = cursor_varint(c);
    if (c->bad)
        return 0;
    s.kind = kind < SPAN_KIND_COUNT ? (enum span_kind)kind : SPAN_OTHER;
    s.thread = thread_of(d, thread);
    s.name = string_of(d, name);
    s.labels = labels_of(d, labels);
    span_id id = builder_span(d->into, s);
    if (parent || link)
        remember_kin(d, id, parent, link);
    return id.i;
}

bool decode_spans(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    uint32_t first = cursor_u32(c);
    size_t n = cursor_count(c, 8);
    if (c->bad || n > CHUNK_ROWS_MOST || first < ids_end(&d->spans) || first > UINT32_MAX - 1 - n)
        return false;
    uint64_t start_ns = 0;
    for (uint32_t i = first; i < first + n; i++) {
        uint32_t id = span_row(d, c, i, &start_ns);
        if (c->bad)
            return false;
        ids_add(&d->spans, i, id);
    }
    *out_rows = n;
    return true;
}

bool decode_span_changes(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    size_t n = *out_rows = list_count(c, 3);
    for (size_t i = 0; i < n; i++) {
        span_id span = span_of(d, cursor_u32(c)); /* 0 when it was lost itself */
        bool is_length = cursor_varint(c) == 1;
        uint64_t length_ns = is_length ? cursor_varint(c) - 1 : 0;
        uint32_t parent = is_length ? 0 : cursor_u32(c), link = is_length ? 0 : cursor_u32(c);
        if (c->bad)
            return false;
        if (is_length)
            builder_span_length(d->into, span, length_ns);
        else if (span.i)
            remember_kin(d, span, parent, link);
    }
    return !c->bad;
}

static double double_from(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

bool decode_readings(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    struct view name = cursor_text(c);
    enum unit unit = unit_from(cursor_varint(c));
    struct view unit_name = cursor_text(c);
    uint32_t labels = cursor_u32(c);
    size_t n = cursor_count(c, 9);
    if (c->bad || n > CHUNK_ROWS_MOST)
        return false;
    GROW(d->words, d->cap_words, n + 1);
    read_steps(c, d->words, n);
    if (c->bad || cursor_left(c) < 8 * n)
        return false;
    series_id id = builder_series(d->into, name, unit, unit_name, labels_of(d, labels));
    for (size_t i = 0; i < n; i++)
        builder_reading(d->into, id, d->words[i], double_from(cursor_fixed(c, 8)));
    *out_rows = n;
    return true;
}

/* About the run. */

bool decode_facts(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    size_t n = *out_rows = list_count(c, 2);
    for (size_t i = 0; i < n; i++) {
        struct view key = cursor_text(c), value = cursor_text(c);
        if (c->bad)
            return false;
        builder_fact(d->into, key, value);
    }
    return !c->bad;
}

static void lost_elsewhere(struct decoder *d, struct view reason, uint64_t count)
{
    if (d->lost_losses++ >= LOST_LOSSES_NAMED)
        return;
    own(buf) struct buf text;
    buf_init(&text, 400);
    buf_printf(&text, "%llu samples of a set that is lost itself were not recorded: %.*s", (unsigned long long)count,
               (int)(reason.n < 200 ? reason.n : 200), reason.at);
    builder_damage(d->into, buf_view(&text));
}

bool decode_losses(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    size_t n = *out_rows = list_count(c, 3);
    for (size_t i = 0; i < n; i++) {
        uint32_t number = cursor_u32(c);
        struct view reason = cursor_text(c);
        uint64_t count = cursor_varint(c);
        if (c->bad)
            return false;
        if (number < d->n_sets && d->sets[number].is_known)
            builder_lost(d->into, d->sets[number].id, reason, count);
        else
            lost_elsewhere(d, reason, count);
    }
    return !c->bad;
}

bool decode_notes(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    size_t n = *out_rows = list_count(c, 1);
    for (size_t i = 0; i < n; i++) {
        struct view sentence = cursor_text(c);
        if (c->bad)
            return false;
        builder_damage(d->into, sentence);
    }
    return !c->bad;
}

bool decode_clock(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    uint64_t start_ns = cursor_varint(c) - 1, end_ns = cursor_varint(c) - 1;
    uint64_t has_offset = cursor_varint(c);
    int64_t offset_ns = cursor_signed(c);
    if (c->bad)
        return false;
    if (has_offset)
        builder_clock(d->into, start_ns, end_ns, offset_ns);
    *out_rows = 1;
    return true;
}
