#include "model/capture_writer.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "model/capture_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#define FLUSH_EVERY_NS UINT64_C(1000000000)
#define FLUSH_BYTES ((size_t)1 << 20)
#define HOLD_BYTES ((size_t)4 << 20) /* nobody ticked: flush anyway */

/* Samples of one set since the last flush. */
struct waiting_samples {
    uint64_t *time_ns;
    context_id *contexts;
    stack_id *stacks;
    int64_t *values[MEASURES_MOST];
    size_t n, cap;
    bool has_times, has_contexts;
    bool defined; /* the file knows the set, with this... */
    size_t shown;
    int64_t period;
};

struct waiting_readings {
    struct reading *rows;
    size_t n, cap;
    bool defined;
};

struct capture_writer {
    char *path; /* NULL: no file */
    int fd;
    struct capture_onlooker onlooker;
    bool is_regular, has_durable_name;
    struct sink sink;
    struct chunk_writer chunks;
    struct tables tables;
    struct builder *names;

    struct waiting_samples *sets;
    size_t n_sets, cap_sets;
    struct waiting_readings *series;
    size_t n_series, cap_series;
    struct span *spans; /* ids first_span, first_span + 1, ... */
    size_t n_spans, cap_spans;
    uint32_t first_span;
    struct span_change *changes; /* of spans that are in the file already */
    size_t n_changes, cap_changes;
    struct text_rows facts, losses;
    str_id *process_names, *thread_names; /* as the file knows them */
    size_t n_processes, cap_processes, n_threads, cap_threads;

    size_t waiting_bytes;
    uint64_t flushed_ns, synced_ns;
    uint64_t good_bytes; /* the end of the last flush that succeeded */
    struct err failed;
};

/* Life. */

static uint64_t random_id(void)
{
    uint64_t id;
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) != (ssize_t)sizeof id)
        id = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&id; /* early in a boot; it need not be secret */
    return id;
}

/* Two recorders in one file would leave nothing of either. Readers look at the same lock to tell a
   file that is still being written from one whose recorder is gone. */
static bool lock(int fd, const char *path, struct err *e)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &all) == 0 || (errno != EAGAIN && errno != EACCES))
        return true; /* some file systems have no locks */
    return err_set(e, ERR_DENIED, "%s: another recorder is writing this file", path);
}

static bool open_file(struct capture_writer *w, struct err *e)
{
    struct stat st;
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (w->fd < 0)
        return err_os(e, "creating %s", w->path);
    w->is_regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!w->is_regular)
        return true;
    if (!lock(w->fd, w->path, e))
        return false;
    if (ftruncate(w->fd, 0) < 0 || fchmod(w->fd, 0600) < 0)
        return err_os(e, "emptying %s", w->path);
    return true;
}

bool capture_open(struct capture_writer **out, const char *path, uint64_t now_ns, struct err *e)
{
    own(capture_writer) struct capture_writer *w = mem_new(sizeof *w);
    w->fd = -1;
    w->flushed_ns = w->synced_ns = now_ns;
    w->first_span = 1;
    w->names = builder_new();
    text_rows_init(&w->facts, CHUNK_FACTS);
    text_rows_init(&w->losses, CHUNK_LOSSES);
    if (!path) {
        *out = take(w);
        return true;
    }
    w->path = mem_text(path, strlen(path));
    if (!open_file(w, e))
        return false;
    sink_to_fd(&w->sink, w->fd, w->path);
    chunk_writer_init(&w->chunks, &w->sink, random_id(), CHUNK_PACKED);
    tables_init(&w->tables, &w->chunks);
    if (!capture_flush(w, e))
        return false;
    *out = take(w);
    return true;
}

static void free_samples(struct waiting_samples *s)
{
    free(s->time_ns);
    free(s->contexts);
    free(s->stacks);
    for (size_t m = 0; m < MEASURES_MOST; m++)
        free(s->values[m]);
}

void capture_writer_free(struct capture_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_sets; i++)
        free_samples(&w->sets[i]);
    for (size_t i = 0; i < w->n_series; i++)
        free(w->series[i].rows);
    free(w->sets);
    free(w->series);
    free(w->spans);
    free(w->changes);
    free(w->process_names);
    free(w->thread_names);
    text_rows_done(&w->facts);
    text_rows_done(&w->losses);
    tables_done(&w->tables);
    chunk_writer_done(&w->chunks);
    builder_free(w->names);
    own_close(&w->fd);
    free(w->path);
    free(w);
}

struct builder *capture_names(struct capture_writer *w) { return w->names; }
uint64_t capture_written_bytes(const struct capture_writer *w) { return w->good_bytes; }

void capture_watch(struct capture_writer *w, struct capture_onlooker onlooker) { w->onlooker = onlooker; }

/* Recording. */

/* Whether there is a file to wait for, and it has not failed. */
static bool is_kept(const struct capture_writer *w) { return w->path && !w->failed.kind; }

static bool flush(struct capture_writer *w);

static void took(struct capture_writer *w, size_t bytes)
{
    w->waiting_bytes += bytes;
    if (w->waiting_bytes >= HOLD_BYTES)
        flush(w); /* a failure is remembered */
}

static struct waiting_samples *samples_of(struct capture_writer *w, set_id set)
{
    while (w->n_sets <= set.i) {
        GROW(w->sets, w->cap_sets, w->n_sets + 1);
        w->sets[w->n_sets++] = (struct waiting_samples){0};
    }
    return &w->sets[set.i];
}

static void *resize(void *column, size_t rows, size_t row_bytes) { return mem_resize(column, rows * row_bytes); }

static void make_room(struct waiting_samples *s, size_t n_measures)
{
    s->cap = s->cap ? s->cap * 2 : 256;
    s->time_ns = resize(s->time_ns, s->cap, sizeof *s->time_ns);
    s->contexts = resize(s->contexts, s->cap, sizeof *s->contexts);
    s->stacks = resize(s->stacks, s->cap, sizeof *s->stacks);
    for (size_t m = 0; m < n_measures; m++)
        s->values[m] = resize(s->values[m], s->cap, sizeof *s->values[m]);
}

void capture_sample(struct capture_writer *w, set_id set, uint64_t time_ns, context_id context, stack_id stack,
                    const int64_t *values)
{
    if (w->onlooker.sample)
        w->onlooker.sample(w->onlooker.self, set, time_ns, context, stack, values);
    if (!is_kept(w))
        return;
    struct waiting_samples *s = samples_of(w, set);
    size_t n_measures = profile_set(builder_view(w->names), set)->n_measures;
    if (s->n == s->cap)
        make_room(s, n_measures);
    s->time_ns[s->n] = time_ns;
    s->contexts[s->n] = context;
    s->stacks[s->n] = stack;
    for (size_t m = 0; m < n_measures; m++)
        s->values[m][s->n] = values[m];
    s->has_times |= time_ns != TIME_NONE;
    s->has_contexts |= context.i != 0;
    s->n++;
    took(w, 16 + 8 * n_measures);
}

span_id capture_span(struct capture_writer *w, struct span s)
{
    if (w->first_span + w->n_spans >= UINT32_MAX - 1)
        err_set(&w->failed, ERR_LIMIT, "%s: more than 4 294 967 294 spans", w->path);
    if (!is_kept(w))
        return (span_id){0};
    GROW(w->spans, w->cap_spans, w->n_spans + 1);
    w->spans[w->n_spans] = s;
    span_id id = {w->first_span + (uint32_t)w->n_spans++};
    took(w, sizeof s);
    return id;
}

static void change_later(struct capture_writer *w, struct span_change c)
{
    GROW(w->changes, w->cap_changes, w->n_changes + 1);
    w->changes[w->n_changes++] = c;
    took(w, sizeof c);
}

void capture_span_length(struct capture_writer *w, span_id id, uint64_t length_ns)
{
    if (w->failed.kind || !id.i)
        return;
    if (id.i >= w->first_span)
        w->spans[id.i - w->first_span].length_ns = length_ns;
    else
        change_later(w, (struct span_change){.span = id, .what = CHANGED_LENGTH, .length_ns = length_ns});
}

void capture_span_relate(struct capture_writer *w, span_id id, span_id parent, span_id link)
{
    if (w->failed.kind || !id.i)
        return;
    if (id.i >= w->first_span) {
        w->spans[id.i - w->first_span].parent = parent;
        w->spans[id.i - w->first_span].link = link;
    } else {
        change_later(w, (struct span_change){.span = id, .what = CHANGED_RELATION, .parent = parent, .link = link});
    }
}

static struct waiting_readings *readings_of(struct capture_writer *w, series_id series)
{
    while (w->n_series <= series.i) {
        GROW(w->series, w->cap_series, w->n_series + 1);
        w->series[w->n_series++] = (struct waiting_readings){0};
    }
    return &w->series[series.i];
}

void capture_reading(struct capture_writer *w, series_id series, uint64_t time_ns, double value)
{
    if (w->onlooker.reading)
        w->onlooker.reading(w->onlooker.self, series, time_ns, value);
    if (!is_kept(w))
        return;
    struct waiting_readings *r = readings_of(w, series);
    GROW(r->rows, r->cap, r->n + 1);
    r->rows[r->n++] = (struct reading){time_ns, value};
    took(w, sizeof *r->rows);
}

void capture_fact(struct capture_writer *w, struct view key, struct view value)
{
    if (!is_kept(w))
        return;
    add_fact(&w->tables, &w->facts, key, value);
    took(w, key.n + value.n);
}

void capture_lost(struct capture_writer *w, set_id set, struct view reason, uint64_t count)
{
    if (w->onlooker.lost)
        w->onlooker.lost(w->onlooker.self, set, count);
    if (!is_kept(w) || !count)
        return;
    if (!samples_of(w, set)->defined)
        flush(w); /* a loss refers to its set, so the set goes first */
    add_loss(&w->tables, &w->losses, set, reason, count);
    took(w, reason.n);
}

void capture_clock(struct capture_writer *w, uint64_t start_ns, uint64_t end_ns, int64_t wall_offset_ns)
{
    if (is_kept(w))
        put_clock(&w->tables, start_ns, end_ns, &wall_offset_ns);
}

/* Flushing. */

/* Rows are written when they are new; here are those that got another name afterwards. */
static void flush_renamed(struct capture_writer *w, const struct profile *p)
{
    for (uint32_t i = 1; i < w->n_processes; i++)
        if (profile_process(p, (process_id){i})->name.i != w->process_names[i].i)
            put_process_again(&w->tables, p, (process_id){i});
    for (uint32_t i = 1; i < w->n_threads; i++)
        if (profile_thread(p, (thread_id){i})->name.i != w->thread_names[i].i)
            put_thread_again(&w->tables, p, (thread_id){i});
}

static void remember_names(struct capture_writer *w, const struct profile *p)
{
    w->n_processes = profile_processes(p);
    w->n_threads = profile_threads(p);
    GROW(w->process_names, w->cap_processes, w->n_processes);
    GROW(w->thread_names, w->cap_threads, w->n_threads);
    for (uint32_t i = 1; i < w->n_processes; i++)
        w->process_names[i] = profile_process(p, (process_id){i})->name;
    for (uint32_t i = 1; i < w->n_threads; i++)
        w->thread_names[i] = profile_thread(p, (thread_id){i})->name;
}

static void flush_set(struct capture_writer *w, const struct profile *p, set_id id)
{
    struct waiting_samples *s = samples_of(w, id);
    const struct sample_set *set = profile_set(p, id);
    bool same = s->defined && s->shown == set->shown && s->period == set->period;
    if (same && !s->n)
        return;
    struct sample_set columns = {.n_measures = set->n_measures, .n = s->n, .stacks = s->stacks,
                                 .time_ns = s->has_times ? s->time_ns : NULL,
                                 .contexts = s->has_contexts ? s->contexts : NULL};
    for (size_t m = 0; m < set->n_measures; m++)
        columns.values[m] = s->values[m];
    put_samples(&w->tables, p, id, &columns, 0, s->n);
    s->defined = true;
    s->shown = set->shown;
    s->period = set->period;
    s->n = 0;
    s->has_times = s->has_contexts = false;
}

static void flush_series(struct capture_writer *w, const struct profile *p, series_id id)
{
    struct waiting_readings *r = readings_of(w, id);
    if (r->defined && !r->n)
        return;
    put_readings(&w->tables, p, profile_series(p, id), r->rows, r->n);
    r->defined = true;
    r->n = 0;
}

static void flush_spans(struct capture_writer *w)
{
    put_spans(&w->tables, w->first_span, w->spans, w->n_spans);
    w->first_span += (uint32_t)w->n_spans;
    w->n_spans = 0;
    put_span_changes(&w->tables, w->changes, w->n_changes);
    w->n_changes = 0;
}

/* Half a chunk at the end would be skipped by every reader; better not to leave one. */
static bool give_up(struct capture_writer *w)
{
    if (w->is_regular && ftruncate(w->fd, (off_t)w->good_bytes) < 0) {
        /* the half chunk stays, and readers pass over it */
    }
    err_hint(&w->failed, "what was written before is whole: 'inferom runs show %s'", w->path);
    return false;
}

static bool arrive(struct capture_writer *w)
{
    if (w->failed.kind)
        return false;
    if (!sink_flush(&w->sink, &w->failed))
        return give_up(w);
    w->good_bytes = w->chunks.offset;
    return true;
}

static bool flush(struct capture_writer *w)
{
    const struct profile *p = builder_view(w->names);
    w->waiting_bytes = 0;
    if (!w->path)
        return true;
    if (w->failed.kind)
        return false;
    put_names(&w->tables, p);
    flush_renamed(w, p);
    remember_names(w, p);
    put_text_rows(&w->tables, &w->facts);
    for (uint32_t i = 0; i < profile_sets(p); i++)
        flush_set(w, p, (set_id){i});
    flush_spans(w);
    for (uint32_t i = 0; i < profile_series_count(p); i++)
        flush_series(w, p, (series_id){i});
    put_text_rows(&w->tables, &w->losses);
    return arrive(w);
}

static bool say(const struct capture_writer *w, struct err *e)
{
    if (w->failed.kind && e)
        *e = w->failed;
    return !w->failed.kind;
}

bool capture_flush(struct capture_writer *w, struct err *e) { return flush(w) || say(w, e); }

/* Not every kind of file can be synced; those that cannot have nothing to lose to a power cut. */
static bool sync_file(struct capture_writer *w, uint64_t now_ns)
{
    w->synced_ns = now_ns;
    if (w->is_regular && !w->has_durable_name)
        outfile_sync_name(w->path);
    w->has_durable_name = true;
    if (!w->is_regular || fdatasync(w->fd) == 0 || errno == EINVAL || errno == EROFS)
        return true;
    return err_os(&w->failed, "%s: writing", w->path);
}

bool capture_tick(struct capture_writer *w, uint64_t now_ns, struct err *e)
{
    bool due = now_ns - w->flushed_ns >= FLUSH_EVERY_NS;
    if (!w->path)
        return true;
    if (!due && w->waiting_bytes < FLUSH_BYTES && !w->failed.kind)
        return true;
    w->flushed_ns = now_ns;
    if (flush(w) && now_ns - w->synced_ns >= FLUSH_EVERY_NS)
        sync_file(w, now_ns);
    return say(w, e);
}

bool capture_close(struct capture_writer *w, struct err *e)
{
    if (flush(w) && w->path) {
        put_cut_note(&w->tables);
        chunk_put_end(&w->chunks);
        if (arrive(w))
            sync_file(w, w->synced_ns);
    }
    return say(w, e);
}
