#include "model/capture_tables.h"
#include "model/packing.h"

#define PAYLOAD_MOST (CHUNK_BYTES_MOST * 2) /* so that the chunk writer sees, and says, what is too much */

void tables_init(struct tables *t, struct chunk_writer *to)
{
    *t = (struct tables){.to = to};
    buf_init(&t->payload, PAYLOAD_MOST);
    for (size_t i = 0; i < NAME_TABLES; i++)
        t->written[i] = 1; /* row 0 means "none" in each and is never written */
}

void tables_done(struct tables *t) { buf_done(&t->payload); }

bool tables_begin_again(struct tables *t)
{
    for (size_t i = 0; i < NAME_TABLES; i++)
        if (t->before[i] + t->written[i] > UINT32_MAX / 2)
            return false;
    for (size_t i = 0; i < NAME_TABLES; i++) {
        t->before[i] += (uint32_t)t->written[i] - 1;
        t->written[i] = 1;
    }
    return true;
}

/* None is none in the file, too. */
static uint32_t file_id(const struct tables *t, enum name_table_number table, uint32_t id)
{
    return id ? id + t->before[table] : 0;
}

void put_file_id(const struct tables *t, struct buf *out, enum name_table_number table, uint32_t id)
{
    put_varint(out, file_id(t, table, id));
}

static void put_id(struct tables *t, enum name_table_number table, uint32_t id) { put_file_id(t, &t->payload, table, id); }

void put_label_list(const struct tables *t, struct buf *out, const struct label *l, size_t n)
{
    put_varint(out, n);
    for (; n; n--, l++) {
        put_file_id(t, out, NAMES_STRINGS, l->key.i);
        put_file_id(t, out, NAMES_STRINGS, l->text.i);
        put_signed(out, l->number);
        put_file_id(t, out, NAMES_STRINGS, l->unit.i);
    }
}

static void put_cut_text(struct tables *t, struct buf *out, struct view text)
{
    if (text.n > TEXT_MOST) {
        text.n = TEXT_MOST;
        t->cut_texts++;
    }
    put_text(out, text);
}

/* Names: one function per table puts one row. */

static void put_string(struct tables *t, const struct profile *p, uint32_t row)
{
    put_cut_text(t, &t->payload, profile_string(p, (str_id){row}));
}

static void put_mapping(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct mapping *m = profile_mapping(p, (mapping_id){row});
    put_id(t, NAMES_STRINGS, m->path.i);
    put_id(t, NAMES_STRINGS, m->build_id.i);
    put_varint(&t->payload, m->start);
    put_varint(&t->payload, m->limit);
    put_varint(&t->payload, m->offset);
}

static void put_function(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct function *f = profile_function(p, (func_id){row});
    put_id(t, NAMES_STRINGS, f->name.i);
    put_id(t, NAMES_STRINGS, f->file.i);
    put_varint(&t->payload, f->line);
    put_id(t, NAMES_MAPPINGS, f->mapping.i);
}

static void put_frame(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct frame *f = profile_frame(p, (frame_id){row});
    put_id(t, NAMES_FUNCTIONS, f->function.i);
    put_varint(&t->payload, f->line);
    put_varint(&t->payload, f->address);
    put_varint(&t->payload, f->kind);
}

/* Callers come shortly before their callees, so the distance is the smaller number. */
static void put_stack(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct stack *s = profile_stack(p, (stack_id){row});
    put_varint(&t->payload, file_id(t, NAMES_STACKS, row) - file_id(t, NAMES_STACKS, s->caller.i));
    put_id(t, NAMES_FRAMES, s->frame.i);
}

static void put_process(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct process *s = profile_process(p, (process_id){row});
    put_signed(&t->payload, s->pid);
    put_varint(&t->payload, s->start_ns);
    put_id(t, NAMES_STRINGS, s->name.i);
}

static void put_thread(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct thread *s = profile_thread(p, (thread_id){row});
    put_id(t, NAMES_PROCESSES, s->process.i);
    put_signed(&t->payload, s->tid);
    put_id(t, NAMES_STRINGS, s->name.i);
}

static void put_labels(struct tables *t, const struct profile *p, uint32_t row)
{
    size_t n;
    const struct label *l = profile_labels(p, (labels_id){row}, &n);
    put_label_list(t, &t->payload, l, n);
}

static void put_context(struct tables *t, const struct profile *p, uint32_t row)
{
    const struct context *c = profile_context(p, (context_id){row});
    put_id(t, NAMES_THREADS, c->thread.i);
    put_id(t, NAMES_LABELS, c->labels.i);
}

static const struct name_table {
    enum chunk_type type;
    size_t (*rows)(const struct profile *p);
    void (*put)(struct tables *t, const struct profile *p, uint32_t row);
} name_tables[NAME_TABLES] = {
    [NAMES_STRINGS]   = {CHUNK_STRINGS,   profile_strings,    put_string},
    [NAMES_MAPPINGS]  = {CHUNK_MAPPINGS,  profile_mappings,   put_mapping},
    [NAMES_FUNCTIONS] = {CHUNK_FUNCTIONS, profile_functions,  put_function},
    [NAMES_FRAMES]    = {CHUNK_FRAMES,    profile_frames,     put_frame},
    [NAMES_STACKS]    = {CHUNK_STACKS,    profile_stacks,     put_stack},
    [NAMES_PROCESSES] = {CHUNK_PROCESSES, profile_processes,  put_process},
    [NAMES_THREADS]   = {CHUNK_THREADS,   profile_threads,    put_thread},
    [NAMES_LABELS]    = {CHUNK_LABELS,    profile_label_sets, put_labels},
    [NAMES_CONTEXTS]  = {CHUNK_CONTEXTS,  profile_contexts,   put_context},
};

/*
 * The number of rows stands in front of them and is known only behind them, so
 * the place for the two numbers is left free and filled from its right end.
 */
static void begin_rows(struct tables *t)
{
    buf_clear(&t->payload);
    buf_room(&t->payload, 2 * VARINT_MOST);
}

static void end_rows(struct tables *t, enum chunk_type type, uint32_t first, size_t n)
{
    own(buf) struct buf front;
    buf_init(&front, 2 * VARINT_MOST);
    put_varint(&front, first);
    put_varint(&front, n);
    char *at = t->payload.data + 2 * VARINT_MOST - front.len;
    memcpy(at, front.data, front.len);
    chunk_put(t->to, type, n, view_between(at, t->payload.data + t->payload.len));
}

static void put_rows(struct tables *t, const struct profile *p, enum name_table_number number, size_t from, size_t to)
{
    const struct name_table *table = &name_tables[number];
    while (from < to) {
        size_t first = from;
        begin_rows(t);
        while (from < to && from - first < CHUNK_ROWS_MOST && t->payload.len < PAYLOAD_ENOUGH)
            table->put(t, p, (uint32_t)from++);
        end_rows(t, table->type, file_id(t, number, (uint32_t)first), from - first);
    }
}

void put_names(struct tables *t, const struct profile *p)
{
    for (size_t i = 0; i < NAME_TABLES; i++) {
        size_t now = name_tables[i].rows(p);
        put_rows(t, p, (enum name_table_number)i, t->written[i], now);
        t->written[i] = now;
    }
}

void put_process_again(struct tables *t, const struct profile *p, process_id id)
{
    put_rows(t, p, NAMES_PROCESSES, id.i, (size_t)id.i + 1);
}

void put_thread_again(struct tables *t, const struct profile *p, thread_id id)
{
    put_rows(t, p, NAMES_THREADS, id.i, (size_t)id.i + 1);
}

/* Events. */

/* Times rise slowly: each is written as the step from the one before, modulo 2^64. */
static void put_step(struct buf *out, uint64_t *last, uint64_t now)
{
    put_signed(out, (int64_t)(now - *last));
    *last = now;
}

static void put_set(struct tables *t, const struct profile *p, set_id id)
{
    const struct sample_set *s = profile_set(p, id);
    put_varint(&t->payload, id.i);
    put_cut_text(t, &t->payload, profile_string(p, s->name));
    put_varint(&t->payload, s->n_measures);
    for (size_t m = 0; m < s->n_measures; m++) {
        put_cut_text(t, &t->payload, profile_string(p, s->measures[m].name));
        put_varint(&t->payload, s->measures[m].unit);
        put_cut_text(t, &t->payload, profile_string(p, s->measures[m].unit_name));
        put_varint(&t->payload, s->measures[m].decimals);
    }
    put_varint(&t->payload, s->shown);
    put_signed(&t->payload, s->period);
}

static void put_sample_chunk(struct tables *t, const struct profile *p, set_id id, const struct sample_set *c,
                             size_t from, size_t to)
{
    buf_clear(&t->payload);
    put_set(t, p, id);
    put_varint(&t->payload, to - from);
    put_varint(&t->payload, (c->time_ns ? 1u : 0u) | (c->contexts ? 2u : 0u));
    uint64_t last_ns = 0;
    for (size_t i = from; c->time_ns && i < to; i++)
        put_step(&t->payload, &last_ns, c->time_ns[i]);
    for (size_t i = from; c->contexts && i < to; i++)
        put_id(t, NAMES_CONTEXTS, c->contexts[i].i);
    for (size_t i = from; i < to; i++)
        put_id(t, NAMES_STACKS, c->stacks[i].i);
    for (size_t m = 0; m < c->n_measures; m++)
        for (size_t i = from; i < to; i++)
            put_signed(&t->payload, c->values[m][i]);
    chunk_put(t->to, CHUNK_SAMPLES, to - from, buf_view(&t->payload));
}

void put_samples(struct tables *t, const struct profile *p, set_id id, const struct sample_set *columns,
                 size_t from, size_t to)
{
    do {
        size_t n = to - from < CHUNK_ROWS_MOST ? to - from : CHUNK_ROWS_MOST;
        put_sample_chunk(t, p, id, columns, from, from + n);
        from += n;
    } while (from < to);
}

/* Relatives are close by, before or behind; 0 is nobody, since no span is its own parent. */
static int64_t distance(uint32_t from, span_id to) { return to.i ? (int64_t)from - to.i : 0; }

void put_spans(struct tables *t, uint32_t first, const struct span *spans, size_t n)
{
    for (size_t from = 0, rows; from < n; from += rows) {
        rows = n - from < CHUNK_ROWS_MOST ? n - from : CHUNK_ROWS_MOST;
        begin_rows(t);
        uint64_t last_ns = 0;
        for (size_t i = from; i < from + rows; i++) {
            const struct span *s = &spans[i];
            uint32_t id = first + (uint32_t)i;
            put_step(&t->payload, &last_ns, s->start_ns);
            put_varint(&t->payload, s->length_ns + 1); /* TIME_NONE becomes 0 */
            put_id(t, NAMES_THREADS, s->thread.i);
            put_id(t, NAMES_STRINGS, s->name.i);
            put_id(t, NAMES_LABELS, s->labels.i);
            put_signed(&t->payload, distance(id, s->parent));
            put_signed(&t->payload, distance(id, s->link));
            put_varint(&t->payload, s->kind);
        }
        end_rows(t, CHUNK_SPANS, first + (uint32_t)from, rows);
    }
}

static void put_span_change(struct tables *t, const struct span_change *c)
{
    put_varint(&t->payload, c->span.i);
    put_varint(&t->payload, c->what);
    if (c->what == CHANGED_LENGTH) {
        put_varint(&t->payload, c->length_ns + 1);
    } else {
        put_varint(&t->payload, c->parent.i);
        put_varint(&t->payload, c->link.i);
    }
}

void put_span_changes(struct tables *t, const struct span_change *changes, size_t n)
{
    for (size_t rows; n; n -= rows, changes += rows) {
        rows = n < CHUNK_ROWS_MOST ? n : CHUNK_ROWS_MOST;
        buf_clear(&t->payload);
        put_varint(&t->payload, rows);
        for (size_t i = 0; i < rows; i++)
            put_span_change(t, &changes[i]);
        chunk_put(t->to, CHUNK_SPAN_CHANGES, rows, buf_view(&t->payload));
    }
}

static void put_double(struct buf *out, double v)
{
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &v, sizeof bits);
    store_uint(bytes, bits, sizeof bytes);
    buf_add(out, bytes, sizeof bytes);
}

static void put_reading_chunk(struct tables *t, const struct profile *p, const struct series *s,
                              const struct reading *readings, size_t n)
{
    buf_clear(&t->payload);
    put_cut_text(t, &t->payload, profile_string(p, s->name));
    put_varint(&t->payload, s->unit);
    put_cut_text(t, &t->payload, profile_string(p, s->unit_name));
    put_id(t, NAMES_LABELS, s->labels.i);
    put_varint(&t->payload, n);
    uint64_t last_ns = 0;
    for (size_t i = 0; i < n; i++)
        put_step(&t->payload, &last_ns, readings[i].time_ns);
    for (size_t i = 0; i < n; i++)
        put_double(&t->payload, readings[i].value);
    chunk_put(t->to, CHUNK_READINGS, n, buf_view(&t->payload));
}

void put_readings(struct tables *t, const struct profile *p, const struct series *s,
                  const struct reading *readings, size_t n)
{
    size_t from = 0;
    do {
        size_t rows = n - from < CHUNK_ROWS_MOST ? n - from : CHUNK_ROWS_MOST;
        put_reading_chunk(t, p, s, n ? readings + from : NULL, rows);
        from += rows;
    } while (from < n);
}

void put_clock(struct tables *t, uint64_t start_ns, uint64_t end_ns, const int64_t *wall_offset_ns)
{
    buf_clear(&t->payload);
    put_varint(&t->payload, start_ns + 1);
    put_varint(&t->payload, end_ns + 1);
    put_varint(&t->payload, wall_offset_ns != NULL);
    put_signed(&t->payload, wall_offset_ns ? *wall_offset_ns : 0);
    chunk_put(t->to, CHUNK_CLOCK, 1, buf_view(&t->payload));
}

/* Texts. */

void text_rows_init(struct text_rows *r, enum chunk_type type)
{
    *r = (struct text_rows){.type = type};
    buf_init(&r->rows, PAYLOAD_MOST);
}

void text_rows_done(struct text_rows *r) { buf_done(&r->rows); }

static void end_row(struct tables *t, struct text_rows *r)
{
    r->n++;
    if (r->n == CHUNK_ROWS_MOST || r->rows.len >= PAYLOAD_ENOUGH)
        put_text_rows(t, r);
}

void add_fact(struct tables *t, struct text_rows *r, struct view key, struct view value)
{
    put_cut_text(t, &r->rows, key);
    put_cut_text(t, &r->rows, value);
    end_row(t, r);
}

void add_loss(struct tables *t, struct text_rows *r, set_id set, struct view reason, uint64_t count)
{
    put_varint(&r->rows, set.i);
    put_cut_text(t, &r->rows, reason);
    put_varint(&r->rows, count);
    end_row(t, r);
}

void add_note(struct tables *t, struct text_rows *r, struct view sentence)
{
    put_cut_text(t, &r->rows, sentence);
    end_row(t, r);
}

void put_text_rows(struct tables *t, struct text_rows *r)
{
    if (!r->n)
        return;
    buf_clear(&t->payload);
    put_varint(&t->payload, r->n);
    buf_add(&t->payload, r->rows.data, r->rows.len);
    chunk_put(t->to, r->type, r->n, buf_view(&t->payload));
    buf_clear(&r->rows);
    r->n = 0;
}

void put_cut_note(struct tables *t)
{
    if (!t->cut_texts)
        return;
    char text[96];
    int n = snprintf(text, sizeof text, "%llu texts were longer than %zu MiB and were cut there",
                     (unsigned long long)t->cut_texts, TEXT_MOST >> 20);
    own(text_rows) struct text_rows notes;
    text_rows_init(&notes, CHUNK_NOTES);
    add_note(t, &notes, (struct view){text, (size_t)n});
    put_text_rows(t, &notes);
}
