/*
 * One sampled profile for each measure of each set and each thread, then one
 * evented profile for the spans of each thread.
 *
 * speedscope tells frames apart by their index alone, so all frames of one
 * function share an index: the viewer would draw a function once per call site
 * otherwise. Stacks that look the same after that are the same path in a tree
 * of indices, and samples of one path that follow each other become one.
 */
#include "base/json.h"
#include "base/mem.h"
#include "formats/path_tree.h"
#include "formats/speedscope.h"

#include <inttypes.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define UNSEEN UINT32_MAX

/* What an index stands for: a frame, or the name of a span. */
struct shown {
    bool is_span;
    frame_id frame;
    str_id name;
};

struct writer {
    const struct profile *p;
    struct json_writer w;
    uint64_t zero_ns; /* times are written from here on */

    struct shown *shown; /* by index */
    size_t n_shown, cap_shown;
    uint32_t *of_function, *of_frame, *of_string; /* indices; UNSEEN */
    struct path_tree paths;
    uint32_t *path_of; /* by stack */

    size_t n_profiles, active;
    bool several;  /* measures: names say which one */
    uint32_t *walk; /* the path being written, leaf first */
    size_t cap_walk;
};

static void writer_done(struct writer *s)
{
    free(s->shown);
    free(s->of_function);
    free(s->of_frame);
    free(s->of_string);
    free(s->path_of);
    free(s->walk);
    path_tree_done(&s->paths);
}
DEFINE_OWN_IN_PLACE(writer, struct writer)

static uint32_t *all_unseen(size_t n)
{
    uint32_t *rows = mem_resize(NULL, (n ? n : 1) * sizeof *rows);
    memset(rows, 0xff, n * sizeof *rows);
    return rows;
}

static uint32_t index_for(struct writer *s, uint32_t *slot, struct shown what)
{
    if (*slot == UNSEEN) {
        GROW(s->shown, s->cap_shown, s->n_shown + 1);
        *slot = (uint32_t)s->n_shown;
        s->shown[s->n_shown++] = what;
    }
    return *slot;
}

/* A function that has no name is only an address: each frame for itself. */
static uint32_t index_of_frame(struct writer *s, frame_id id)
{
    func_id function = profile_frame(s->p, id)->function;
    bool has_name = profile_function(s->p, function)->name.i != 0;
    return index_for(s, has_name ? &s->of_function[function.i] : &s->of_frame[id.i], (struct shown){.frame = id});
}

/* Only stacks that carry something, and their callers. */
static bool *used_stacks(const struct profile *p)
{
    size_t n = profile_stacks(p);
    bool *used = mem_new(n);
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        for (size_t i = 0; i < set->n; i++)
            for (size_t m = 0; m < set->n_measures; m++)
                used[set->stacks[i].i] |= set->values[m][i] != 0;
    }
    for (uint32_t i = (uint32_t)n; i-- > 1;)
        if (used[i])
            used[profile_stack(p, (stack_id){i})->caller.i] = true;
    return used;
}

static void number_frames(struct writer *s)
{
    size_t n = profile_stacks(s->p);
    s->of_function = all_unseen(profile_functions(s->p));
    s->of_frame = all_unseen(profile_frames(s->p));
    s->of_string = all_unseen(profile_strings(s->p));
    s->path_of = mem_new(n * sizeof *s->path_of);
    own(free) bool *used = used_stacks(s->p);
    for (uint32_t i = 1; i < n; i++)
        if (used[i]) {
            const struct stack *row = profile_stack(s->p, (stack_id){i});
            s->path_of[i] = path_tree_push(&s->paths, s->path_of[row->caller.i], index_of_frame(s, row->frame));
        }
    for (uint32_t i = 1; i <= profile_spans(s->p); i++) {
        str_id name = profile_span(s->p, (span_id){i})->name;
        index_for(s, &s->of_string[name.i], (struct shown){.is_span = true, .name = name});
    }
}

/* Without a name: where it is, "[/lib/libc.so.6+0x2a1c]". */
static void write_place(struct writer *s, frame_id id)
{
    struct view module = profile_frame_module(s->p, id);
    uint64_t address = profile_frame(s->p, id)->address;
    own(buf) struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    if (module.n) {
        buf_puts(&text, "[");
        buf_add(&text, module.at, module.n);
        buf_printf(&text, "+0x%" PRIx64 "]", address);
    } else {
        buf_printf(&text, "0x%" PRIx64, address);
    }
    json_text(&s->w, buf_view(&text));
}

static void write_shown(struct writer *s, const struct shown *what)
{
    const struct profile *p = s->p;
    const struct function *function = profile_function(p, profile_frame(p, what->frame)->function);
    json_open(&s->w, '{');
    json_key(&s->w, "name");
    if (what->is_span)
        json_text(&s->w, profile_string(p, what->name));
    else if (function->name.i)
        json_text(&s->w, profile_string(p, function->name));
    else
        write_place(s, what->frame);
    if (!what->is_span && function->file.i) {
        json_key(&s->w, "file");
        json_text(&s->w, profile_string(p, function->file));
    }
    if (!what->is_span && function->line) {
        json_key(&s->w, "line");
        json_uint(&s->w, function->line);
    }
    json_close(&s->w, '}');
}

static void write_shared(struct writer *s)
{
    json_key(&s->w, "shared");
    json_open(&s->w, '{');
    json_key(&s->w, "frames");
    json_open(&s->w, '[');
    for (size_t i = 0; i < s->n_shown; i++)
        write_shown(s, &s->shown[i]);
    json_close(&s->w, ']');
    json_close(&s->w, '}');
}

/* "worker", "worker (cpu)" when there are several sets, "llama-server/worker" when there are several processes. */
static void write_name(struct writer *s, thread_id id, const char *otherwise, struct view set, struct view measure)
{
    const struct thread *thread = profile_thread(s->p, id);
    struct view name = profile_string(s->p, thread->name);
    struct view process = profile_string(s->p, profile_process(s->p, thread->process)->name);
    own(buf) struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    if (process.n && profile_processes(s->p) > 2) {
        buf_add(&text, process.at, process.n);
        buf_puts(&text, "/");
    }
    if (name.n)
        buf_add(&text, name.at, name.n);
    else if (thread->tid > 0)
        buf_printf(&text, "thread %d", thread->tid);
    else
        buf_puts(&text, otherwise);
    if (s->several && set.n) {
        buf_puts(&text, " (");
        buf_add(&text, set.at, set.n);
        if (!view_same(set, measure)) {
            buf_puts(&text, " ");
            buf_add(&text, measure.at, measure.n);
        }
        buf_puts(&text, ")");
    }
    json_key(&s->w, "name");
    json_text(&s->w, buf_view(&text));
}

static void open_profile(struct writer *s, const char *type, const char *unit)
{
    s->n_profiles++;
    json_open(&s->w, '{');
    json_key(&s->w, "type");
    json_text(&s->w, view_of(type));
    json_key(&s->w, "unit");
    json_text(&s->w, view_of(unit));
}

/* Sampled: the rows of one thread, in the order in which they are written. */

struct lane {
    const struct sample_set *set;
    const uint32_t *rows;
    size_t n, measure;
};

struct run {
    size_t next; /* row behind the run */
    uint32_t path;
    int64_t value;
};

/* Rows of one path that follow each other, as one; rows without value are as if they were not there. */
static bool next_run(const struct writer *s, const struct lane *l, struct run *r)
{
    const int64_t *values = l->set->values[l->measure];
    r->value = 0;
    for (; r->next < l->n; r->next++) {
        uint32_t row = l->rows[r->next], path = s->path_of[l->set->stacks[row].i];
        if (!values[row])
            continue;
        if (r->value && path != r->path)
            break;
        r->path = path;
        r->value += values[row]; /* the total of the set fits, and nothing is negative */
    }
    return r->value != 0;
}

static void write_stack(struct writer *s, uint32_t path)
{
    size_t n = 0;
    for (; path; path = s->paths.rows[path].before) {
        GROW(s->walk, s->cap_walk, n + 1);
        s->walk[n++] = s->paths.rows[path].step;
    }
    json_open(&s->w, '[');
    while (n)
        json_uint(&s->w, s->walk[--n]);
    json_close(&s->w, ']');
}

/* Where the thread begins, seen from the beginning of the recording. */
static int64_t lane_start(const struct writer *s, const struct lane *l, int64_t sum)
{
    const struct measure *m = &l->set->measures[l->measure];
    if (!l->set->time_ns || m->unit != UNIT_NS || m->decimals)
        return 0;
    uint64_t first_ns = l->set->time_ns[l->rows[0]];
    if (first_ns == TIME_NONE || first_ns < s->zero_ns || first_ns - s->zero_ns > (uint64_t)(INT64_MAX - sum))
        return 0;
    return (int64_t)(first_ns - s->zero_ns);
}

static void write_lane(struct writer *s, thread_id thread, const struct lane *l)
{
    static const char *const unit_words[UNIT_KIND_COUNT] = {
        [UNIT_COUNT] = "none", [UNIT_NS] = "nanoseconds", [UNIT_BYTES] = "bytes", [UNIT_OTHER] = "none",
    };
    const struct measure *m = &l->set->measures[l->measure];
    int64_t sum = 0;
    for (struct run r = {0}; next_run(s, l, &r);)
        sum += r.value;
    if (!sum)
        return;
    int64_t start = lane_start(s, l, sum);
    open_profile(s, "sampled", unit_words[m->unit]);
    write_name(s, thread, "all threads", profile_string(s->p, l->set->name), profile_string(s->p, m->name));
    json_key(&s->w, "startValue");
    json_int(&s->w, start);
    json_key(&s->w, "endValue");
    json_decimal(&s->w, start + sum, m->decimals);
    json_key(&s->w, "samples");
    json_open(&s->w, '[');
    for (struct run r = {0}; next_run(s, l, &r);)
        write_stack(s, r.path);
    json_close(&s->w, ']');
    json_key(&s->w, "weights");
    json_open(&s->w, '[');
    for (struct run r = {0}; next_run(s, l, &r);)
        json_decimal(&s->w, r.value, m->decimals);
    json_close(&s->w, ']');
    json_close(&s->w, '}');
}

static thread_id thread_of(const struct profile *p, const struct sample_set *set, size_t row)
{
    return set->contexts ? profile_context(p, set->contexts[row])->thread : (thread_id){0};
}

/* The rows by thread, in order within each; first[t] is where thread t begins. */
static uint32_t *rows_by_thread(const struct profile *p, const struct sample_set *set, size_t *first)
{
    size_t n_threads = profile_threads(p);
    uint32_t *rows = mem_resize(NULL, (set->n ? set->n : 1) * sizeof *rows);
    for (size_t i = 0; i < set->n; i++)
        first[thread_of(p, set, i).i + 1]++;
    for (size_t t = 0; t < n_threads; t++)
        first[t + 1] += first[t];
    own(free) size_t *at = mem_resize(NULL, n_threads * sizeof *at);
    memcpy(at, first, n_threads * sizeof *at);
    for (size_t i = 0; i < set->n; i++)
        rows[at[thread_of(p, set, i).i]++] = (uint32_t)i;
    return rows;
}

struct by_path {
    const struct writer *s;
    const struct sample_set *set;
};

static int compare_paths(const void *pa, const void *pb, void *arg)
{
    const struct by_path *by = arg;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    uint32_t path_a = by->s->path_of[by->set->stacks[a].i], path_b = by->s->path_of[by->set->stacks[b].i];
    if (path_a != path_b)
        return path_a < path_b ? -1 : 1;
    return (a > b) - (a < b);
}

static void write_set(struct writer *s, const struct sample_set *set, bool is_first)
{
    size_t n_threads = profile_threads(s->p);
    own(free) size_t *first = mem_new((n_threads + 1) * sizeof *first);
    own(free) uint32_t *rows = rows_by_thread(s->p, set, first);
    struct by_path by = {s, set};
    for (uint32_t t = 0; !set->time_ns && t < n_threads; t++) /* no order in time: equal stacks meet */
        qsort_r(rows + first[t], first[t + 1] - first[t], sizeof *rows, compare_paths, &by);
    for (size_t m = 0; m < set->n_measures; m++) {
        if (is_first && m == set->shown)
            s->active = s->n_profiles;
        for (uint32_t t = 0; t < n_threads; t++)
            write_lane(s, (thread_id){t}, &(struct lane){set, rows + first[t], first[t + 1] - first[t], m});
    }
}

/* Evented: spans. Those that overlap without one being inside the other go into a profile of their own. */

struct open_spans {
    span_id *rows;
    size_t n, cap;
};

static uint64_t span_end_ns(const struct span *x)
{
    return x->length_ns > UINT64_MAX - x->start_ns ? UINT64_MAX : x->start_ns + x->length_ns;
}

static void write_event(struct writer *s, const char *type, const struct span *x, uint64_t at_ns)
{
    json_open(&s->w, '{');
    json_key(&s->w, "type");
    json_text(&s->w, view_of(type));
    json_key(&s->w, "frame");
    json_uint(&s->w, s->of_string[x->name.i]);
    json_key(&s->w, "at");
    json_uint(&s->w, at_ns - s->zero_ns);
    json_close(&s->w, '}');
}

static void close_until(struct writer *s, struct open_spans *open, uint64_t now_ns)
{
    while (open->n) {
        const struct span *x = profile_span(s->p, open->rows[open->n - 1]);
        if (span_end_ns(x) > now_ns)
            break;
        write_event(s, "C", x, span_end_ns(x));
        open->n--;
    }
}

/* Writes what nests, and keeps the rest for another round. Returns how many that are. */
static size_t write_nested(struct writer *s, span_id *ids, size_t n, uint64_t *out_end_ns)
{
    size_t left = 0;
    struct open_spans open = {0};
    for (size_t i = 0; i < n; i++) {
        const struct span *x = profile_span(s->p, ids[i]);
        close_until(s, &open, x->start_ns);
        if (open.n && span_end_ns(x) > span_end_ns(profile_span(s->p, open.rows[open.n - 1]))) {
            ids[left++] = ids[i];
            continue;
        }
        write_event(s, "O", x, x->start_ns);
        GROW(open.rows, open.cap, open.n + 1);
        open.rows[open.n++] = ids[i];
        if (span_end_ns(x) > *out_end_ns)
            *out_end_ns = span_end_ns(x);
    }
    close_until(s, &open, UINT64_MAX);
    free(open.rows);
    return left;
}

static void write_spans_of(struct writer *s, thread_id thread, span_id *ids, size_t n)
{
    while (n) {
        uint64_t start_ns = profile_span(s->p, ids[0])->start_ns, end_ns = start_ns;
        open_profile(s, "evented", "nanoseconds");
        write_name(s, thread, "spans", VIEW("spans"), VIEW("spans"));
        json_key(&s->w, "events");
        json_open(&s->w, '[');
        n = write_nested(s, ids, n, &end_ns);
        json_close(&s->w, ']');
        json_key(&s->w, "startValue");
        json_uint(&s->w, start_ns - s->zero_ns);
        json_key(&s->w, "endValue");
        json_uint(&s->w, end_ns - s->zero_ns);
        json_close(&s->w, '}');
    }
}

static int by_thread(const void *pa, const void *pb, void *profile)
{
    span_id a = *(const span_id *)pa, b = *(const span_id *)pb;
    uint32_t thread_a = profile_span(profile, a)->thread.i, thread_b = profile_span(profile, b)->thread.i;
    if (thread_a != thread_b)
        return thread_a < thread_b ? -1 : 1;
    return (a.i > b.i) - (a.i < b.i);
}

static void write_spans(struct writer *s)
{
    size_t n = profile_spans(s->p);
    own(free) span_id *ids = mem_resize(NULL, (n ? n : 1) * sizeof *ids);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = (span_id){i + 1};
    qsort_r(ids, n, sizeof *ids, by_thread, (void *)(uintptr_t)s->p);
    for (size_t from = 0, to = 0; from < n; from = to) {
        thread_id thread = profile_span(s->p, ids[from])->thread;
        while (to < n && profile_span(s->p, ids[to])->thread.i == thread.i)
            to++;
        write_spans_of(s, thread, ids + from, to - from);
    }
}

/* The whole. */

static bool is_writable(const struct profile *p, struct err *e)
{
    for (uint32_t k = 0; k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        for (size_t m = 0; m < set->n_measures; m++)
            for (size_t i = 0; i < set->n; i++)
                if (set->values[m][i] < 0)
                    return err_set(e, ERR_UNSUPPORTED, "speedscope knows no negative values, and '%s' holds some",
                                   profile_string(p, set->measures[m].name).at);
    }
    return true;
}

static uint64_t earliest_ns(const struct profile *p)
{
    uint64_t start_ns = profile_start_ns(p);
    if (profile_spans(p) && profile_span(p, (span_id){1})->start_ns < start_ns)
        start_ns = profile_span(p, (span_id){1})->start_ns;
    return start_ns == TIME_NONE ? 0 : start_ns;
}

static void write_head(struct writer *s)
{
    const struct fact *name = profile_fact_named(s->p, VIEW("name"));
    if (!name)
        name = profile_fact_named(s->p, VIEW("command"));
    json_key(&s->w, "$schema");
    json_text(&s->w, VIEW(SCHEMA));
    json_key(&s->w, "exporter");
    json_text(&s->w, VIEW("inferom"));
    json_key(&s->w, "name");
    json_text(&s->w, name ? profile_string(s->p, name->value) : VIEW("profile"));
}

bool speedscope_write(const struct profile *p, struct sink *out, struct err *e)
{
    if (!is_writable(p, e))
        return false;
    own(writer) struct writer s = {.p = p, .zero_ns = earliest_ns(p)};
    path_tree_init(&s.paths);
    number_frames(&s);
    size_t n_measures = profile_spans(p) ? 1 : 0;
    for (uint32_t k = 0; k < profile_sets(p); k++)
        n_measures += profile_set(p, (set_id){k})->n_measures;
    s.several = n_measures > 1;

    json_to(&s.w, out);
    json_open(&s.w, '{');
    write_head(&s);
    write_shared(&s);
    json_key(&s.w, "profiles");
    json_open(&s.w, '[');
    for (uint32_t k = 0; k < profile_sets(p); k++)
        write_set(&s, profile_set(p, (set_id){k}), k == 0);
    write_spans(&s);
    json_close(&s.w, ']');
    json_key(&s.w, "activeProfileIndex");
    json_uint(&s.w, s.active < s.n_profiles ? s.active : 0);
    json_close(&s.w, '}');
    sink_char(out, '\n');
    return sink_flush(out, e);
}
