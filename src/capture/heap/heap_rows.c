/*
 * What is written of a process: rows of stacks, classes of sizes and lifetimes, readings; and its totals. Counters are read as they
 * stand, without stopping anybody, so a row may be read between two of its changes; the next writing makes up for it, and the
 * last one, when the process is gone, is exact.
 */
#include "capture/heap/heap_target.h"
#include "base/mem.h"

/* Beyond this nothing adds up any more. */
#define SUM_MOST (INT64_C(1) << 61)

enum { ROWS_FIRST = 64 };

struct heap_written {
    int64_t values[HEAP_MEASURES];
    int64_t variance;
    uint32_t samples; /* as the row had it */
};

static int64_t rounded(int64_t value_256) { return (value_256 + (value_256 < 0 ? -128 : 128)) / HEAP_WHOLE; }
static bool is_sound(int64_t v) { return v > -HEAP_VALUE_MOST && v < HEAP_VALUE_MOST; }

/* What the row says now. False: nobody counts so much. */
static bool row_values(const struct heap_row *r, const struct heap_row_rest *o, uint32_t epoch, int64_t out[HEAP_MEASURES])
{
    int64_t freed_256 = atomic_load_explicit(&o->freed_256, memory_order_relaxed);
    int64_t freed_bytes = atomic_load_explicit(&o->freed_bytes, memory_order_relaxed);
    uint64_t freed_epoch = atomic_load_explicit(&o->freed_epoch, memory_order_relaxed);
    const int64_t all[] = {(int64_t)r->objects_256, (int64_t)r->bytes, r->live_256, r->live_bytes, r->peak_256, r->peak_bytes,
                           (int64_t)r->temporary_256, freed_256, freed_bytes, o->peak_freed_256, o->peak_freed_bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!is_sound(all[i]))
            return false;
    int64_t own_256 = r->epoch == epoch ? r->peak_256 : r->live_256, own_bytes = r->epoch == epoch ? r->peak_bytes : r->live_bytes;
    int64_t others_256 = freed_epoch == epoch ? o->peak_freed_256 : freed_256;
    int64_t others_bytes = freed_epoch == epoch ? o->peak_freed_bytes : freed_bytes;
    out[0] = rounded((int64_t)r->objects_256);
    out[1] = (int64_t)r->bytes;
    out[2] = rounded(r->live_256 - freed_256);
    out[3] = r->live_bytes - freed_bytes;
    out[4] = rounded(own_256 - others_256);
    out[5] = own_bytes - others_bytes;
    out[6] = rounded((int64_t)r->temporary_256);
    return true;
}

static bool keeps_sums(const int64_t sums[HEAP_MEASURES], const int64_t values[HEAP_MEASURES])
{
    for (size_t m = 0; m < HEAP_MEASURES; m++)
        if (sums[m] + values[m] > SUM_MOST || sums[m] + values[m] < -SUM_MOST)
            return false;
    return true;
}

static void write_variance(struct heap_book *b, struct heap_written *w, const struct heap_row_rest *r, uint64_t now_ns, context_id who,
                           stack_id stack)
{
    if (!(r->variance > 0) || r->variance > (double)HEAP_VALUE_MOST)
        return;
    struct measure_spec measure = {.name = VIEW("variance"), .unit = UNIT_OTHER, .unit_name = VIEW("bytes^2/2^20")};
    if (!b->has_variance)
        b->variance = builder_set(b->naming.names, VIEW("heap.variance"), &measure, 1);
    b->has_variance = true;
    int64_t more = (int64_t)r->variance - w->variance;
    if (more <= 0)
        return;
    w->variance += more;
    capture_sample(b->into, b->variance, now_ns, who, stack, &more);
}

/* `rest` says whose it is; row 0 is nobody's. */
static void tell_row(struct heap_target *t, struct heap_book *b, struct heap_written *w, const struct heap_row_rest *rest,
                     const int64_t more[HEAP_MEASURES], uint64_t now_ns)
{
    bool is_new;
    for (size_t m = 0; m < HEAP_MEASURES; m++)
        b->sums[m] += more[m];
    heap_book_bound_names(b);
    stack_id stack = w == t->written ? heap_stacks_beyond(&b->naming) : heap_stacks_find(&t->stacks, &b->naming, rest->stack, &is_new);
    context_id who = capture_in_scope(b->into, heap_target_context(t, b, rest->thread, LABELS_NONE), rest->scope);
    capture_sample(b->into, b->heap, now_ns, who, stack, more);
    write_variance(b, w, rest, now_ns, who, stack);
}

/* False: it makes no sense. */
static bool read_row(struct heap_target *t, uint32_t number, uint32_t epoch, struct heap_row_rest *out_rest, int64_t out[HEAP_MEASURES],
                     uint32_t *out_samples)
{
    struct heap_row r;
    shared_memory_copy(&r, t->area + HEAP_ROWS_AT + number * sizeof r, sizeof r);
    shared_memory_copy(out_rest, t->area + HEAP_RESTS_AT + number * sizeof *out_rest, sizeof *out_rest);
    *out_samples = r.samples;
    if (row_values(&r, out_rest, epoch, out))
        return true;
    t->damaged++;
    return false;
}

/* What is new of it. */
static void write_values(struct heap_target *t, struct heap_book *b, struct heap_written *w, const struct heap_row_rest *rest,
                         int64_t now[HEAP_MEASURES], uint32_t samples, uint64_t now_ns)
{
    int64_t more[HEAP_MEASURES];
    uint32_t taken = samples - w->samples;
    now[7] = w->values[7] + (w == t->written ? (int64_t)(int32_t)taken : (int64_t)taken); /* only row 0 can have less than before */
    bool is_changed = false;
    for (size_t m = 0; m < HEAP_MEASURES; m++) {
        more[m] = now[m] - w->values[m];
        is_changed |= more[m] != 0;
    }
    if (!is_changed)
        return;
    if (!keeps_sums(b->sums, more)) {
        t->damaged++;
        return;
    }
    memcpy(w->values, now, sizeof w->values);
    w->samples = samples;
    tell_row(t, b, w, rest, more, now_ns);
}

static void write_row(struct heap_target *t, struct heap_book *b, uint32_t number, uint32_t epoch, uint64_t now_ns)
{
    struct heap_row_rest rest;
    int64_t now[HEAP_MEASURES];
    uint32_t samples;
    if (read_row(t, number, epoch, &rest, now, &samples))
        write_values(t, b, &t->written[number], &rest, now, samples, now_ns);
}

/* Row 0: the sum of all that there is no room for. They may become fewer, when there is room again; then they are told one by one. */
struct beyond {
    int64_t sums[HEAP_MEASURES];
    double variance;
    uint32_t samples;
    uint64_t n;
};

static void add_beyond(struct heap_target *t, uint32_t number, uint32_t epoch, struct beyond *to)
{
    struct heap_row_rest rest;
    int64_t now[HEAP_MEASURES] = {0};
    uint32_t samples;
    if (!read_row(t, number, epoch, &rest, now, &samples))
        return;
    if (!keeps_sums(to->sums, now)) {
        t->damaged++;
        return;
    }
    for (size_t m = 0; m < HEAP_MEASURES; m++)
        to->sums[m] += now[m];
    to->variance += rest.variance > 0 && rest.variance < (double)HEAP_VALUE_MOST ? rest.variance : 0;
    to->samples += samples;
    to->n++;
}

static void write_beyond(struct heap_target *t, struct heap_book *b, struct beyond *all, uint64_t now_ns)
{
    if (all->n || t->beyond)
        write_values(t, b, t->written, &(struct heap_row_rest){.variance = all->variance}, all->sums, all->samples, now_ns);
    t->beyond = all->n;
}

/* As many as there is room for. */
static void remember_rows(struct heap_target *t, size_t n)
{
    while (t->written_cap < n) {
        size_t more = t->written_cap ? t->written_cap : ROWS_FIRST;
        if (!heap_purse_take(&t->purse, more * sizeof *t->written))
            return;
        t->written = mem_resize(t->written, (t->written_cap + more) * sizeof *t->written);
        memset(t->written + t->written_cap, 0, more * sizeof *t->written);
        t->written_cap += more;
    }
}

static void write_rows(struct heap_target *t, struct heap_book *b, uint32_t n, uint32_t epoch, uint64_t now_ns)
{
    struct beyond beyond = {0};
    struct heap_items all = heap_items_of(t, b->shared, HEAP_ROWS_AT, sizeof(struct heap_row), n);
    all.next = 1;
    for (uint32_t i; (i = heap_items_next(&all)) < n;) {
        if (i >= t->written_cap)
            remember_rows(t, (size_t)i + 1);
        if (i < t->written_cap)
            write_row(t, b, i, epoch, now_ns);
        else
            add_beyond(t, i, epoch, &beyond);
    }
    write_beyond(t, b, &beyond, now_ns);
}

/* Before the purse is spent on anything else: there is always room for the sum of all. */
void heap_rows_init(struct heap_target *t) { remember_rows(t, ROWS_FIRST); }

/*
 * Threads keep a little of what they allocate to themselves before the agent adds it up, so of several threads the end may
 * be higher than the highest sum anybody saw. Then the end is the peak.
 */
void heap_target_end_is_peak(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    enum { LIVE = 2, PEAK = 4 };
    int64_t live_bytes = 0, peak_bytes = 0;
    for (size_t i = 0; i < t->written_cap; i++) {
        live_bytes += t->written[i].values[LIVE + 1];
        peak_bytes += t->written[i].values[PEAK + 1];
    }
    if (live_bytes <= peak_bytes)
        return;
    t->end_peak_bytes = live_bytes;
    t->end_peak_ns = now_ns;
    for (size_t i = 0; i < t->written_cap; i++) {
        int64_t *v = t->written[i].values, more[HEAP_MEASURES] = {[PEAK] = v[LIVE] - v[PEAK], [PEAK + 1] = v[LIVE + 1] - v[PEAK + 1]};
        struct heap_row_rest rest = {0};
        if (!more[PEAK] && !more[PEAK + 1])
            continue;
        v[PEAK] = v[LIVE];
        v[PEAK + 1] = v[LIVE + 1];
        if (i)
            shared_memory_copy(&rest, t->area + HEAP_RESTS_AT + i * sizeof rest, sizeof rest);
        tell_row(t, b, &t->written[i], &rest, more, now_ns);
    }
}

/* Classes of sizes and lifetimes, of all threads together. */

static void add_classes(const struct heap_target *t, const struct heap_shared *s, struct heap_class sizes[HEAP_CLASSES], struct heap_class lifetimes[HEAP_CLASSES])
{
    struct heap_items all = heap_threads_of(t, s);
    for (uint32_t i; (i = heap_items_next(&all)) < all.n;) {
        struct heap_thread copy;
        heap_read_thread(t, i, &copy);
        for (size_t k = 0; k < HEAP_CLASSES; k++) {
            sizes[k].objects_256 += copy.sizes[k].objects_256;
            sizes[k].bytes += copy.sizes[k].bytes;
            lifetimes[k].objects_256 += copy.lifetimes[k].objects_256;
            lifetimes[k].bytes += copy.lifetimes[k].bytes;
        }
    }
}

static void write_classes(struct heap_target *t, struct heap_book *b, set_id set, struct view key, const struct heap_class *now,
                          struct heap_class *told, uint64_t now_ns)
{
    for (size_t k = 0; k < HEAP_CLASSES; k++) {
        if (!is_sound((int64_t)now[k].objects_256) || !is_sound((int64_t)now[k].bytes)) {
            t->damaged++;
            continue;
        }
        int64_t more[] = {rounded((int64_t)now[k].objects_256) - rounded((int64_t)told[k].objects_256),
                          (int64_t)(now[k].bytes - told[k].bytes)};
        if (!more[0] && !more[1])
            continue;
        told[k] = now[k];
        struct label label = {.key = builder_string(b->naming.names, key), .number = (int64_t)k};
        context_id who = heap_target_context(t, b, 0, builder_labels(b->naming.names, &label, 1));
        capture_sample(b->into, set, now_ns, who, STACK_ROOT, more);
    }
}

static void write_histograms(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    struct heap_class sizes[HEAP_CLASSES] = {0}, lifetimes[HEAP_CLASSES] = {0};
    struct measure_spec measures[] = {{VIEW("objects"), UNIT_COUNT}, {VIEW("bytes"), UNIT_BYTES}};
    if (!b->has_classes) {
        b->sizes = builder_set(b->naming.names, VIEW("heap.sizes"), measures, 2);
        b->lifetimes = builder_set(b->naming.names, VIEW("heap.lifetimes"), measures, 2);
    }
    b->has_classes = true;
    add_classes(t, b->shared, sizes, lifetimes);
    write_classes(t, b, b->sizes, VIEW("size_class"), sizes, t->sizes_told, now_ns);
    write_classes(t, b, b->lifetimes, VIEW("lifetime_class"), lifetimes, t->lifetimes_told, now_ns);
}

static void write_series(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    struct heap_totals sum = {0};
    heap_target_totals(t, b->shared, &sum);
    struct builder *names = b->naming.names;
    if (!t->has_series) {
        struct label pid = {.key = builder_string(names, VIEW("pid")), .number = t->claim.pid};
        labels_id labels = builder_labels(names, &pid, 1);
        t->live_series = builder_series(names, VIEW("heap.live"), UNIT_BYTES, VIEW(""), labels);
        t->rate_series = builder_series(names, VIEW("heap.allocations"), UNIT_COUNT, VIEW(""), labels);
    }
    t->has_series = true;
    capture_reading(b->into, t->live_series, now_ns, (double)sum.live_bytes);
    capture_reading(b->into, t->rate_series, now_ns, (double)(sum.allocations - t->allocations_told));
    t->allocations_told = sum.allocations;
}

void heap_target_write(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    uint32_t n = heap_look32(&heap_head_of(t)->rows, HEAP_ROWS_MOST);
    uint32_t epoch = atomic_load_explicit(&heap_head_of(t)->epoch, memory_order_acquire);
    heap_target_read(t, b, now_ns); /* a row's slice is in the ring before the row is there */
    write_rows(t, b, n, epoch, now_ns);
    heap_left_write(&t->left, t, b, now_ns);
    write_histograms(t, b, now_ns);
    write_series(t, b, now_ns);
}

/* Totals. */

void heap_target_totals(const struct heap_target *t, const struct heap_shared *s, struct heap_totals *to)
{
    struct heap_area *a = heap_head_of(t);
    struct heap_items all = heap_threads_of(t, s);
    for (uint32_t i; (i = heap_items_next(&all)) < all.n;) {
        struct heap_thread copy;
        heap_read_thread(t, i, &copy);
        to->allocations += copy.allocations;
        to->bytes += copy.bytes;
        to->frees += copy.frees;
        to->freed_bytes += copy.freed_bytes;
        to->exact += copy.exact_allocations;
        to->samples += copy.samples;
    }
    for (size_t i = 0; i < t->written_cap; i++)
        to->live_bytes += t->written[i].values[3];
    int64_t peak_bytes = atomic_load_explicit(&a->peak_bytes, memory_order_relaxed);
    if (t->end_peak_bytes > peak_bytes)
        peak_bytes = t->end_peak_bytes;
    if (is_sound(peak_bytes) && peak_bytes > 0) {
        if (peak_bytes > to->peak_bytes)
            to->peak_ns = t->end_peak_bytes == peak_bytes ? t->end_peak_ns : heap_shared_ns(s, heap_look(&a->peak_tick));
        to->peak_bytes += peak_bytes;
    }
    to->unseen += heap_look(&a->unseen);
    to->unseen_bytes += heap_look(&a->unseen_bytes);
    to->unknown_frees += heap_look(&a->unknown_frees);
    to->lost_stacks += heap_look(&a->lost_stacks);
    to->lost_blocks += heap_look(&a->lost_blocks);
    to->lost_maps += heap_look(&a->lost_maps);
    to->damaged += t->damaged;
    to->beyond += t->beyond;
    to->lost_slices += t->stacks.lost_slices;
    to->lost_mappings += t->mappings.lost + t->stacks.lost_lines;
    to->is_sampling |= atomic_load_explicit(&a->is_sampling_seen, memory_order_relaxed) != 0;
    if (!*to->allocator) {
        shared_memory_copy(to->allocator, a->allocator, sizeof to->allocator);
        to->allocator[sizeof to->allocator - 1] = '\0';
    }
}
