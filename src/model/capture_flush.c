/* From what waits in a capture writer to chunks in its file. */
#include "base/outfile.h"
#include "model/capture_writer_inside.h"
#include "model/translate.h"

#include <errno.h>

#define FLUSH_EVERY_NS UINT64_C(1000000000)
#define FLUSH_BYTES ((size_t)1 << 20)

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
    struct waiting_samples *s = capture_samples_of(w, id);
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
    struct waiting_readings *r = capture_readings_of(w, id);
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

bool capture_flush_now(struct capture_writer *w)
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
    latest_flush(w);
    return arrive(w);
}

/* Beginning again. */

size_t capture_names_bytes(const struct capture_writer *w) { return builder_held_bytes(w->names); }

static void forget_series(struct capture_writer *w)
{
    for (size_t i = 0; i < w->n_series; i++)
        free(w->series[i].rows);
    w->n_series = 0;
}

/* Sets are few, and everybody knows theirs by number: they go on under the same. */
static struct builder *names_with_sets_of(const struct profile *old)
{
    struct builder *fresh = builder_new();
    own(translation) struct translation t;
    translation_init(&t, old, fresh);
    for (uint32_t i = 0; i < profile_sets(old); i++)
        translate_set(&t, (set_id){i});
    return fresh;
}

bool capture_begin_again(struct capture_writer *w)
{
    if (!capture_flush_now(w) || (w->path && !tables_begin_again(&w->tables)))
        return false;
    const struct profile *old = builder_view(w->names);
    struct builder *fresh = names_with_sets_of(old);
    forget_series(w);
    w->n_processes = w->n_threads = 0;
    if (w->onlooker.begun_again)
        w->onlooker.begun_again(w->onlooker.self, old, fresh);
    builder_free(w->names);
    w->names = fresh;
    return true;
}

/* When. */

static bool say(const struct capture_writer *w, struct err *e)
{
    if (w->failed.kind && e)
        *e = w->failed;
    return !w->failed.kind;
}

bool capture_flush(struct capture_writer *w, struct err *e) { return capture_flush_now(w) || say(w, e); }

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
    if (capture_flush_now(w) && now_ns - w->synced_ns >= FLUSH_EVERY_NS)
        sync_file(w, now_ns);
    return say(w, e);
}

bool capture_close(struct capture_writer *w, struct err *e)
{
    if (capture_flush_now(w) && w->path) {
        put_cut_note(&w->tables);
        chunk_put_end(&w->chunks);
        if (arrive(w))
            sync_file(w, w->synced_ns);
    }
    return say(w, e);
}
