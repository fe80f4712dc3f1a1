#include "model/capture_writer_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#define HOLD_BYTES ((size_t)4 << 20) /* nobody ticked: flush anyway */

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
    latest_init(&w->latest);
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
    latest_done(&w->latest);
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

static void took(struct capture_writer *w, size_t bytes)
{
    w->waiting_bytes += bytes;
    if (w->waiting_bytes >= HOLD_BYTES)
        capture_flush_now(w);
}

struct waiting_samples *capture_samples_of(struct capture_writer *w, set_id set)
{
    while (w->n_sets <= set.i) {
        GROW(w->sets, w->cap_sets, w->n_sets + 1);
        w->sets[w->n_sets++] = (struct waiting_samples){0};
    }
    return &w->sets[set.i];
}

void capture_label(struct capture_writer *w, struct capture_labeller labeller) { w->labeller = labeller; }

/* Both what the sample says itself and what is known besides. */
static labels_id joined_labels(struct builder *names, labels_id a, labels_id b)
{
    size_t n_a, n_b;
    const struct label *of_a = profile_labels(builder_view(names), a, &n_a), *of_b = profile_labels(builder_view(names), b, &n_b);
    own(free) struct label *all = mem_new((n_a + n_b + 1) * sizeof *all);
    memcpy(all, of_a, n_a * sizeof *all);
    memcpy(all + n_a, of_b, n_b * sizeof *all);
    return builder_labels(names, all, n_a + n_b);
}

static context_id context_with(struct capture_writer *w, context_id context, labels_id more)
{
    struct context c = *profile_context(builder_view(w->names), context);
    if (!more.i)
        return context;
    return builder_context(w->names, c.thread, c.labels.i ? joined_labels(w->names, c.labels, more) : more);
}

static thread_id thread_of(const struct capture_writer *w, context_id context)
{
    return profile_context(builder_view(w->names), context)->thread;
}

context_id capture_context(struct capture_writer *w, context_id context, uint64_t time_ns)
{
    if (!w->labeller.labels || time_ns == TIME_NONE)
        return context;
    return context_with(w, context, w->labeller.labels(w->labeller.self, thread_of(w, context), time_ns));
}

context_id capture_in_scope(struct capture_writer *w, context_id context, uint32_t number)
{
    if (!w->labeller.scope || !number)
        return context;
    return context_with(w, context, w->labeller.scope(w->labeller.self, thread_of(w, context), number));
}

bool capture_has_requests(struct capture_writer *w) { return w->labeller.has_requests && w->labeller.has_requests(w->labeller.self); }

uint32_t capture_request_at(struct capture_writer *w, context_id context, struct capture_tick tick)
{
    return w->labeller.request ? w->labeller.request(w->labeller.self, thread_of(w, context), tick) : 0;
}

context_id capture_for_request(struct capture_writer *w, context_id context, uint32_t request)
{
    if (!w->labeller.request_labels || !request)
        return context;
    return context_with(w, context, w->labeller.request_labels(w->labeller.self, thread_of(w, context), request));
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
    if (!capture_is_kept(w))
        return;
    struct waiting_samples *s = capture_samples_of(w, set);
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
    if (!capture_is_kept(w))
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

struct waiting_readings *capture_readings_of(struct capture_writer *w, series_id series)
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
    if (!capture_is_kept(w))
        return;
    struct waiting_readings *r = capture_readings_of(w, series);
    GROW(r->rows, r->cap, r->n + 1);
    r->rows[r->n++] = (struct reading){time_ns, value};
    took(w, sizeof *r->rows);
}

void capture_fact(struct capture_writer *w, struct view key, struct view value)
{
    if (!capture_is_kept(w))
        return;
    add_fact(&w->tables, &w->facts, key, value);
    took(w, key.n + value.n);
}

void capture_lost(struct capture_writer *w, set_id set, struct view reason, uint64_t count)
{
    if (w->onlooker.lost)
        w->onlooker.lost(w->onlooker.self, set, count);
    if (!capture_is_kept(w) || !count)
        return;
    if (!capture_samples_of(w, set)->defined)
        capture_flush_now(w); /* a loss refers to its set, so the set goes first */
    add_loss(&w->tables, &w->losses, set, reason, count);
    took(w, reason.n);
}

void capture_clock(struct capture_writer *w, uint64_t start_ns, uint64_t end_ns, int64_t wall_offset_ns)
{
    if (capture_is_kept(w))
        put_clock(&w->tables, start_ns, end_ns, &wall_offset_ns);
}
