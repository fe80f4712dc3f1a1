/*
 * The builder holds the profile it is making, and beside it what only the making
 * needs: for each interned table a map from row to id, and two short cuts.
 *
 *   named_frames   string -> frame known by that name alone. Folded files are
 *                  nothing else, so such a frame costs one look-up, not three.
 *   whole_stacks   a stack seen as one key. A profiler hands in the same stacks
 *                  again and again; finding them whole costs one look-up instead
 *                  of one per frame (stack_memo.h). A stack not seen before is pushed frame by
 *                  frame, beginning where it parts from the stack before it.
 */
#include "model/builder.h"
#include "base/mem.h"
#include "model/columns.h"
#include "model/stack_memo.h"
#include "model/tables.h"

#include <assert.h>

struct path_step {
    frame_id frame;
    stack_id stack;
};

struct builder {
    struct profile *p;
    TABLE(struct columns) columns;          /* one row per sample set */
    TABLE(struct reading_column) readings;  /* one row per series */
    struct idmap mappings, functions, frames, stacks, processes, threads, label_sets, contexts;
    struct idmap sets, series, facts, losses;
    struct stack_memo whole_stacks;
    TABLE(frame_id) named_frames; /* by string id; 0: not made yet */
    TABLE(struct path_step) last_path;
    const char *too_many;   /* the table that ran out of ids */
    const char *overflowed; /* the set whose values add up past 2^63 */
};

static struct idmap *const *every_map(struct builder *b, struct idmap *out[13])
{
    struct idmap *all[13] = {&b->mappings, &b->functions, &b->frames, &b->stacks, &b->processes,
                             &b->threads, &b->label_sets, &b->contexts, &b->sets, &b->series,
                             &b->facts, &b->losses, NULL};
    memcpy(out, all, sizeof all);
    return out;
}

/*
 * Appends a row to a table of the profile and yields its id. When 32 bits run
 * out the row is dropped and id 0 returned; builder_finish() refuses the whole.
 */
#define APPEND(b, table, row)                                        \
    __extension__({                                                  \
        __typeof__((b)->p->table) *t_ = &(b)->p->table;              \
        uint32_t id_ = 0;                                            \
        if (t_->n >= UINT32_MAX - 1) {                               \
            (b)->too_many = #table;                                  \
        } else {                                                     \
            GROW(t_->rows, t_->cap, t_->n + 1);                      \
            t_->rows[t_->n] = (row);                                 \
            id_ = (uint32_t)t_->n++;                                 \
        }                                                            \
        id_;                                                         \
    })

/* Finds the row in its table or appends it. `key` are the fields that make it what it is. */
#define INTERN(b, table, map, same, key, row)                                                     \
    __extension__({                                                                               \
        uint64_t h_ = idmap_hash(&(b)->map, &(key), sizeof(key));                                 \
        uint32_t found_ = idmap_find(&(b)->map, h_, same, (b)->p->table.rows, &(row));            \
        if (found_ == IDMAP_NONE) {                                                               \
            found_ = APPEND(b, table, row);                                                       \
            idmap_add(&(b)->map, h_, found_);                                                     \
        }                                                                                         \
        found_;                                                                                   \
    })

/* Life. */

static void first_rows(struct builder *b)
{
    builder_mapping(b, (struct mapping){0});
    builder_function(b, (struct function){0});
    builder_frame(b, (struct frame){0});
    APPEND(b, stacks, ((struct stack){0}));
    builder_process(b, 0, 0);
    builder_thread(b, PROCESS_NONE, 0);
    builder_labels(b, NULL, 0);
    builder_context(b, THREAD_NONE, LABELS_NONE);
    APPEND(b, spans, ((struct span){0}));
}

struct builder *builder_new(void)
{
    struct builder *b = mem_new(sizeof *b);
    b->p = mem_new(sizeof *b->p);
    b->p->start_ns = b->p->end_ns = TIME_NONE;
    intern_init(&b->p->strings);
    struct idmap *maps[13];
    for (struct idmap *const *m = every_map(b, maps); *m; m++)
        idmap_init(*m);
    stack_memo_init(&b->whole_stacks, b->stacks.secret);
    first_rows(b);
    return b;
}

void builder_free(struct builder *b)
{
    if (!b)
        return;
    struct idmap *maps[13];
    for (struct idmap *const *m = every_map(b, maps); *m; m++)
        idmap_done(*m);
    stack_memo_done(&b->whole_stacks);
    for (size_t i = 0; i < b->columns.n; i++)
        columns_done(&b->columns.rows[i]);
    for (size_t i = 0; i < b->readings.n; i++)
        free(b->readings.rows[i].rows);
    free(b->columns.rows);
    free(b->readings.rows);
    free(b->named_frames.rows);
    free(b->last_path.rows);
    profile_free(b->p);
    free(b);
}

/* Names. */

str_id builder_string(struct builder *b, struct view text)
{
    if (b->p->strings.n >= UINT32_MAX - 1) {
        b->too_many = "strings";
        return STR_EMPTY;
    }
    return (str_id){intern(&b->p->strings, text)};
}

static bool same_mapping(const void *rows, uint32_t i, const void *key)
{
    const struct mapping *a = (const struct mapping *)rows + i, *m = key;
    return a->path.i == m->path.i && a->build_id.i == m->build_id.i && a->start == m->start &&
           a->limit == m->limit && a->offset == m->offset;
}

mapping_id builder_mapping(struct builder *b, struct mapping m)
{
    uint64_t key[] = {(uint64_t)m.path.i << 32 | m.build_id.i, m.start, m.limit, m.offset};
    return (mapping_id){INTERN(b, mappings, mappings, same_mapping, key, m)};
}

static bool same_function(const void *rows, uint32_t i, const void *key)
{
    const struct function *a = (const struct function *)rows + i, *f = key;
    return a->name.i == f->name.i && a->file.i == f->file.i && a->line == f->line && a->mapping.i == f->mapping.i;
}

func_id builder_function(struct builder *b, struct function f)
{
    uint32_t key[] = {f.name.i, f.file.i, f.line, f.mapping.i};
    return (func_id){INTERN(b, functions, functions, same_function, key, f)};
}

static bool same_frame(const void *rows, uint32_t i, const void *key)
{
    const struct frame *a = (const struct frame *)rows + i, *f = key;
    return a->function.i == f->function.i && a->line == f->line && a->address == f->address && a->kind == f->kind;
}

frame_id builder_frame(struct builder *b, struct frame f)
{
    uint64_t key[] = {(uint64_t)f.function.i << 32 | f.line, f.address, (uint64_t)f.kind};
    return (frame_id){INTERN(b, frames, frames, same_frame, key, f)};
}

frame_id builder_frame_named(struct builder *b, struct view name)
{
    str_id s = builder_string(b, name);
    size_t had = b->named_frames.cap;
    if (s.i >= had) {
        GROW(b->named_frames.rows, b->named_frames.cap, (size_t)s.i + 1);
        memset(b->named_frames.rows + had, 0, (b->named_frames.cap - had) * sizeof *b->named_frames.rows);
    }
    frame_id *known = &b->named_frames.rows[s.i];
    if (!known->i)
        *known = builder_frame(b, (struct frame){.function = builder_function(b, (struct function){.name = s})});
    return *known;
}

/* Stacks. */

static bool same_stack(const void *rows, uint32_t i, const void *key)
{
    const struct stack *a = (const struct stack *)rows + i, *s = key;
    return a->caller.i == s->caller.i && a->frame.i == s->frame.i;
}

/*
 * A stack's first callee is most often the row behind it, because stacks come in
 * whole and their rows are made one after the other. That row is in the cache
 * already; the map is not. (Half the time to read a folded file was spent here.)
 */
static bool is_next_row(const struct builder *b, const struct stack *s)
{
    return s->caller.i + 1 < b->p->stacks.n && same_stack(b->p->stacks.rows, s->caller.i + 1, s);
}

stack_id builder_push(struct builder *b, stack_id caller, frame_id frame)
{
    assert(caller.i < b->p->stacks.n && frame.i < b->p->frames.n);
    struct stack row = {.caller = caller, .frame = frame};
    if (is_next_row(b, &row))
        return (stack_id){caller.i + 1};
    uint64_t h = idmap_hash_pair(&b->stacks, caller.i, frame.i);
    /* The newest row has no callees yet. Not asking lets the processor go on while the map is fetched. */
    bool is_new = caller.i + 1 == b->p->stacks.n;
    uint32_t found = is_new ? IDMAP_NONE : idmap_find(&b->stacks, h, same_stack, b->p->stacks.rows, &row);
    if (found == IDMAP_NONE) {
        found = APPEND(b, stacks, row);
        idmap_add(&b->stacks, h, found);
    }
    return (stack_id){found};
}

static size_t shared_with_last(const struct builder *b, const frame_id *frames, size_t n)
{
    size_t most = n < b->last_path.n ? n : b->last_path.n;
    size_t shared = 0;
    while (shared < most && b->last_path.rows[shared].frame.i == frames[shared].i)
        shared++;
    return shared;
}

static stack_id push_all(struct builder *b, const frame_id *frames, size_t n)
{
    size_t i = shared_with_last(b, frames, n);
    stack_id at = i ? b->last_path.rows[i - 1].stack : STACK_ROOT;
    GROW(b->last_path.rows, b->last_path.cap, n);
    for (; i < n; i++) {
        at = builder_push(b, at, frames[i]);
        b->last_path.rows[i] = (struct path_step){.frame = frames[i], .stack = at};
    }
    b->last_path.n = n;
    return at;
}

stack_id builder_stack(struct builder *b, const frame_id *root_first, size_t n)
{
    if (!n)
        return STACK_ROOT;
    struct stack_key key = stack_memo_key(&b->whole_stacks, root_first, n);
    stack_id found = stack_memo_find(&b->whole_stacks, key);
    if (found.i == STACK_ROOT.i) {
        found = push_all(b, root_first, n);
        stack_memo_add(&b->whole_stacks, key, found);
    }
    return found;
}

/* Who. */

static bool same_process(const void *rows, uint32_t i, const void *key)
{
    const struct process *a = (const struct process *)rows + i, *p = key;
    return a->pid == p->pid && a->start_ns == p->start_ns;
}

process_id builder_process(struct builder *b, int32_t pid, uint64_t start_ns)
{
    struct process row = {.pid = pid, .start_ns = start_ns};
    uint64_t key[] = {(uint64_t)(uint32_t)pid, start_ns};
    return (process_id){INTERN(b, processes, processes, same_process, key, row)};
}

static bool same_thread(const void *rows, uint32_t i, const void *key)
{
    const struct thread *a = (const struct thread *)rows + i, *t = key;
    return a->process.i == t->process.i && a->tid == t->tid;
}

thread_id builder_thread(struct builder *b, process_id process, int32_t tid)
{
    struct thread row = {.process = process, .tid = tid};
    uint32_t key[] = {process.i, (uint32_t)tid};
    return (thread_id){INTERN(b, threads, threads, same_thread, key, row)};
}

void builder_name_process(struct builder *b, process_id id, struct view name)
{
    if (id.i)
        b->p->processes.rows[id.i].name = builder_string(b, name);
}

void builder_name_thread(struct builder *b, thread_id id, struct view name)
{
    if (id.i)
        b->p->threads.rows[id.i].name = builder_string(b, name);
}

struct label_key {
    const struct builder *b;
    const struct label *labels;
    size_t n;
};

static bool same_label(const struct label *a, const struct label *b)
{
    return a->key.i == b->key.i && a->text.i == b->text.i && a->number == b->number && a->unit.i == b->unit.i;
}

static bool same_labels(const void *rows, uint32_t i, const void *key)
{
    const struct label_run *run = (const struct label_run *)rows + i;
    const struct label_key *k = key;
    if (run->n != k->n)
        return false;
    for (size_t l = 0; l < k->n; l++)
        if (!same_label(&k->b->p->labels.rows[run->first + l], &k->labels[l]))
            return false;
    return true;
}

static int by_key(const void *pa, const void *pb)
{
    const struct label *a = pa, *b = pb;
    if (a->key.i != b->key.i)
        return a->key.i < b->key.i ? -1 : 1;
    if (a->text.i != b->text.i)
        return a->text.i < b->text.i ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

labels_id builder_labels(struct builder *b, const struct label *labels, size_t n)
{
    own(free) struct label *sorted = mem_new(n * sizeof *sorted);
    own(free) uint64_t *bits = mem_new(n * 3 * sizeof *bits);
    if (n)
        memcpy(sorted, labels, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_key);
    for (size_t i = 0; i < n; i++) {
        bits[3 * i] = (uint64_t)sorted[i].key.i << 32 | sorted[i].text.i;
        bits[3 * i + 1] = (uint64_t)sorted[i].number;
        bits[3 * i + 2] = sorted[i].unit.i;
    }
    struct label_key key = {b, sorted, n};
    uint64_t h = idmap_hash(&b->label_sets, bits, n * 3 * sizeof *bits);
    uint32_t found = idmap_find(&b->label_sets, h, same_labels, b->p->label_sets.rows, &key);
    if (found != IDMAP_NONE)
        return (labels_id){found};
    struct label_run run = {.first = (uint32_t)b->p->labels.n, .n = (uint32_t)n};
    for (size_t i = 0; i < n; i++)
        APPEND(b, labels, sorted[i]);
    found = APPEND(b, label_sets, run);
    idmap_add(&b->label_sets, h, found);
    return (labels_id){found};
}

static bool same_context(const void *rows, uint32_t i, const void *key)
{
    const struct context *a = (const struct context *)rows + i, *c = key;
    return a->thread.i == c->thread.i && a->labels.i == c->labels.i;
}

context_id builder_context(struct builder *b, thread_id thread, labels_id labels)
{
    struct context row = {.thread = thread, .labels = labels};
    uint32_t key[] = {thread.i, labels.i};
    return (context_id){INTERN(b, contexts, contexts, same_context, key, row)};
}

/* Samples. */

static bool same_set(const void *rows, uint32_t i, const void *key)
{
    const struct sample_set *a = (const struct sample_set *)rows + i, *s = key;
    if (a->name.i != s->name.i || a->n_measures != s->n_measures)
        return false;
    for (size_t m = 0; m < s->n_measures; m++)
        if (a->measures[m].name.i != s->measures[m].name.i || a->measures[m].unit != s->measures[m].unit ||
            a->measures[m].unit_name.i != s->measures[m].unit_name.i)
            return false;
    return true;
}

set_id builder_set(struct builder *b, struct view name, const struct measure_spec *measures, size_t n)
{
    assert(n >= 1 && n <= MEASURES_MOST);
    struct sample_set row = {.name = builder_string(b, name), .n_measures = n};
    uint32_t key[2] = {row.name.i, (uint32_t)n};
    for (size_t m = 0; m < n; m++)
        row.measures[m] = (struct measure){.name = builder_string(b, measures[m].name),
                                           .unit = measures[m].unit,
                                           .unit_name = builder_string(b, measures[m].unit_name)};
    set_id id = {INTERN(b, sets, sets, same_set, key, row)};
    if (id.i == b->columns.n) {
        GROW(b->columns.rows, b->columns.cap, b->columns.n + 1);
        columns_init(&b->columns.rows[b->columns.n++], n);
    }
    for (size_t m = 0; m < n; m++)
        if (measures[m].decimals > b->p->sets.rows[id.i].measures[m].decimals)
            builder_set_decimals(b, id, m, measures[m].decimals);
    return id;
}

void builder_show(struct builder *b, set_id set, size_t measure, int64_t period)
{
    struct sample_set *s = &b->p->sets.rows[set.i];
    assert(measure < s->n_measures);
    s->shown = measure;
    s->period = period;
}

void builder_sample(struct builder *b, set_id set, uint64_t time_ns, context_id context, stack_id stack,
                    const int64_t *values)
{
    struct sample_set *s = &b->p->sets.rows[set.i];
    assert(stack.i < b->p->stacks.n && context.i < b->p->contexts.n);
    columns_add(&b->columns.rows[set.i], time_ns, context, stack, values);
    for (size_t m = 0; m < s->n_measures; m++)
        if (__builtin_add_overflow(s->measures[m].total, values[m], &s->measures[m].total))
            b->overflowed = b->p->strings.rows[s->name.i].at;
}

void builder_set_decimals(struct builder *b, set_id set, size_t measure, unsigned decimals)
{
    struct sample_set *s = &b->p->sets.rows[set.i];
    struct measure *m = &s->measures[measure];
    for (; m->decimals < decimals; m->decimals++)
        if (__builtin_mul_overflow(m->total, INT64_C(10), &m->total) ||
            !columns_times_ten(&b->columns.rows[set.i], measure))
            b->overflowed = b->p->strings.rows[s->name.i].at;
}

/* Spans and series. */

span_id builder_span(struct builder *b, struct span s)
{
    assert(s.parent.i < b->p->spans.n && s.link.i < b->p->spans.n);
    return (span_id){APPEND(b, spans, s)};
}

void builder_span_length(struct builder *b, span_id id, uint64_t length_ns)
{
    if (id.i)
        b->p->spans.rows[id.i].length_ns = length_ns;
}

void builder_span_relate(struct builder *b, span_id id, span_id parent, span_id link)
{
    assert(id.i < b->p->spans.n && parent.i < b->p->spans.n && link.i < b->p->spans.n);
    if (!id.i)
        return;
    b->p->spans.rows[id.i].parent = parent;
    b->p->spans.rows[id.i].link = link;
}

static bool same_series(const void *rows, uint32_t i, const void *key)
{
    const struct series *a = (const struct series *)rows + i, *s = key;
    return a->name.i == s->name.i && a->labels.i == s->labels.i;
}

series_id builder_series(struct builder *b, struct view name, enum unit unit, struct view unit_name, labels_id labels)
{
    struct series row = {.name = builder_string(b, name), .unit = unit,
                         .unit_name = builder_string(b, unit_name), .labels = labels};
    uint32_t key[] = {row.name.i, labels.i};
    series_id id = {INTERN(b, series, series, same_series, key, row)};
    if (id.i == b->readings.n) {
        GROW(b->readings.rows, b->readings.cap, b->readings.n + 1);
        b->readings.rows[b->readings.n++] = (struct reading_column){0};
    }
    return id;
}

void builder_reading(struct builder *b, series_id id, uint64_t time_ns, double value)
{
    struct reading_column *c = &b->readings.rows[id.i];
    GROW(c->rows, c->cap, c->n + 1);
    c->rows[c->n++] = (struct reading){time_ns, value};
}

/* About the run. */

static bool same_fact(const void *rows, uint32_t i, const void *key)
{
    return ((const struct fact *)rows)[i].key.i == ((const struct fact *)key)->key.i;
}

void builder_fact(struct builder *b, struct view key, struct view value)
{
    struct fact row = {.key = builder_string(b, key), .value = builder_string(b, value)};
    uint32_t i = INTERN(b, facts, facts, same_fact, row.key, row);
    b->p->facts.rows[i].value = row.value;
}

static bool same_loss(const void *rows, uint32_t i, const void *key)
{
    const struct loss *a = (const struct loss *)rows + i, *l = key;
    return a->set.i == l->set.i && a->reason.i == l->reason.i;
}

void builder_lost(struct builder *b, set_id set, struct view reason, uint64_t count)
{
    if (!count)
        return;
    struct loss row = {.set = set, .reason = builder_string(b, reason)};
    uint32_t key[] = {set.i, row.reason.i};
    uint32_t i = INTERN(b, losses, losses, same_loss, key, row);
    if (__builtin_add_overflow(b->p->losses.rows[i].count, count, &b->p->losses.rows[i].count))
        b->p->losses.rows[i].count = UINT64_MAX;
}

void builder_damage(struct builder *b, struct view sentence)
{
    str_id s = builder_string(b, sentence);
    APPEND(b, damages, s);
}

void builder_clock(struct builder *b, uint64_t start_ns, uint64_t end_ns, int64_t wall_offset_ns)
{
    b->p->start_ns = start_ns;
    b->p->end_ns = end_ns;
    b->p->wall_offset_ns = wall_offset_ns;
    b->p->has_wall_offset = true;
}

const struct profile *builder_view(const struct builder *b) { return b->p; }

/* Finishing. */

static bool totals_hold(const struct builder *b, struct err *e)
{
    if (b->too_many)
        return err_set(e, ERR_LIMIT, "more than 4 294 967 294 different %s", b->too_many);
    if (b->overflowed)
        return err_set(e, ERR_LIMIT, "the values of '%s' add up past 2^63", b->overflowed);
    return true;
}

static void widen_range(struct profile *p, uint64_t from_ns, uint64_t to_ns)
{
    if (from_ns != TIME_NONE && (p->start_ns == TIME_NONE || from_ns < p->start_ns))
        p->start_ns = from_ns;
    if (to_ns != TIME_NONE && (p->end_ns == TIME_NONE || to_ns > p->end_ns))
        p->end_ns = to_ns;
}

static void finish_samples(struct builder *b)
{
    for (size_t i = 0; i < b->columns.n; i++) {
        struct columns *c = &b->columns.rows[i];
        columns_sort(c);
        columns_give(c, &b->p->sets.rows[i]);
        struct sample_set *s = &b->p->sets.rows[i];
        size_t timed = s->n;
        while (s->time_ns && timed && s->time_ns[timed - 1] == TIME_NONE)
            timed--;
        if (s->time_ns && timed)
            widen_range(b->p, s->time_ns[0], s->time_ns[timed - 1]);
    }
}

static void finish_readings(struct builder *b)
{
    for (size_t i = 0; i < b->readings.n; i++) {
        struct reading_column *c = &b->readings.rows[i];
        readings_sort(c);
        b->p->series.rows[i].readings = c->rows;
        b->p->series.rows[i].n = c->n;
        if (c->n)
            widen_range(b->p, c->rows[0].time_ns, c->rows[c->n - 1].time_ns);
        *c = (struct reading_column){0};
    }
}

static void finish_spans(struct builder *b)
{
    struct profile *p = b->p;
    spans_sort(p->spans.rows, p->spans.n);
    for (size_t i = 1; i < p->spans.n; i++) {
        const struct span *s = &p->spans.rows[i];
        uint64_t end_ns = s->start_ns + s->length_ns;
        widen_range(p, s->start_ns, end_ns < s->start_ns ? TIME_NONE : end_ns);
    }
}

bool builder_finish(struct builder *b, struct profile **out, struct err *e)
{
    bool whole = totals_hold(b, e);
    if (whole) {
        finish_samples(b);
        finish_readings(b);
        finish_spans(b);
        idmap_done(&b->p->strings.map);
        *out = take(b->p);
    }
    builder_free(b);
    return whole;
}
