/*
 * Tables of which only the latest counts, out of the file. Rows are kept as they stand there, in few bytes, and become samples when
 * the file has ended: until then another table may take their place. A table counts when its last piece is there; one
 * that was cut off leaves the one before in force.
 */
#include "base/mem.h"
#include "model/capture_decode.h"

#define SUBJECT_BYTES_MOST ((size_t)1 << 31)

static bool is_of(const void *table, uint32_t row, const void *subject)
{
    return ((const struct latest *)table)[row].subject == *(const uint64_t *)subject;
}

static struct latest *latest_of(struct decoder *d, uint64_t subject)
{
    uint64_t hash = idmap_hash(&d->latest_rows, &subject, sizeof subject);
    uint32_t row = idmap_find(&d->latest_rows, hash, is_of, d->latest, &subject);
    if (row == IDMAP_NONE) {
        GROW(d->latest, d->cap_latest, d->n_latest + 1);
        struct latest *fresh = &d->latest[row = (uint32_t)d->n_latest++];
        *fresh = (struct latest){.subject = subject};
        buf_init(&fresh->rows, SUBJECT_BYTES_MOST);
        buf_init(&fresh->coming, SUBJECT_BYTES_MOST);
        idmap_add(&d->latest_rows, hash, row);
    }
    return &d->latest[row];
}

struct latest_row {
    uint32_t set, thread, stack;
    size_t n_values;
    int64_t values[MEASURES_MOST];
};

/* All but the labels. */
static bool read_row(struct cursor *c, struct latest_row *out)
{
    out->set = cursor_u32(c);
    out->thread = cursor_u32(c);
    out->stack = cursor_u32(c);
    out->n_values = cursor_count(c, 1);
    if (c->bad || out->n_values > MEASURES_MOST)
        return false;
    for (size_t m = 0; m < out->n_values; m++)
        out->values[m] = cursor_signed(c);
    return !c->bad;
}

/* Does it read to its end? Its labels count among the rows of the file. */
static bool makes_sense(struct decoder *d, struct cursor c, size_t n)
{
    for (struct latest_row row; n; n--) {
        if (!read_row(&c, &row))
            return false;
        size_t labels = cursor_count(&c, 4);
        d->labels_taken += labels;
        for (; labels && !c.bad; labels--) {
            cursor_u32(&c);
            cursor_u32(&c);
            cursor_signed(&c);
            cursor_u32(&c);
        }
        if (c.bad)
            return false;
    }
    return cursor_left(&c) == 0;
}

bool decode_latest(struct decoder *d, struct cursor *c, size_t *out_rows)
{
    uint64_t subject = cursor_varint(c), number = cursor_varint(c), is_last = cursor_varint(c);
    size_t n = cursor_count(c, 5);
    if (c->bad || n > CHUNK_ROWS_MOST || !makes_sense(d, *c, n))
        return false;
    *out_rows = n;
    struct latest *l = latest_of(d, subject);
    if (l->number != number)
        buf_clear(&l->coming); /* what had come of another one will never be whole */
    l->number = number;
    buf_add(&l->coming, c->at, cursor_left(c));
    if (is_last) {
        struct buf old = l->rows;
        l->rows = l->coming;
        l->coming = old;
        buf_clear(&l->coming);
    }
    return true;
}

static bool is_scaled(const struct known_set *set, struct latest_row *row)
{
    if (row->n_values != set->n_measures)
        return false;
    for (size_t m = 0; m < row->n_values; m++)
        if (__builtin_mul_overflow(row->values[m], set->factors[m], &row->values[m]))
            return false;
    return true;
}

static void take_row(struct decoder *d, struct cursor *c)
{
    struct latest_row row;
    own(free) struct label *labels = NULL;
    read_row(c, &row);
    size_t n = decode_label_list(d, c, &labels);
    uint32_t stack = ids_look(&d->stacks, row.stack);
    if (row.set >= d->n_sets || !d->sets[row.set].is_known || stack == IDS_LOST) {
        d->lost_samples++;
        return;
    }
    const struct known_set *set = &d->sets[row.set];
    if (!is_scaled(set, &row)) {
        builder_lost(d->into, set->id, VIEW("their values make no sense"), 1);
        d->lost_samples++;
        return;
    }
    context_id who = builder_context(d->into, thread_of(d, row.thread), n ? builder_labels(d->into, labels, n) : LABELS_NONE);
    builder_sample(d->into, set->id, TIME_NONE, who, (stack_id){stack}, row.values);
}

void decode_latest_end(struct decoder *d)
{
    for (size_t i = 0; i < d->n_latest; i++)
        for (struct cursor c = cursor_over(buf_view(&d->latest[i].rows)); cursor_left(&c);)
            take_row(d, &c);
}

void decode_latest_done(struct decoder *d)
{
    for (size_t i = 0; i < d->n_latest; i++) {
        buf_done(&d->latest[i].rows);
        buf_done(&d->latest[i].coming);
    }
    free(d->latest);
    idmap_done(&d->latest_rows);
}
