#include "base/mem.h"
#include "formats/pprof_reader.h"

#include <inttypes.h>

static bool add_location(struct pprof *f, uint64_t id, struct err *e)
{
    uint32_t row = id_table_find(&f->location_ids, id);
    if (row == IDMAP_NONE)
        return err_set(e, ERR_MALFORMED, "location %" PRIu64 " does not exist", id);
    GROW(f->sample_locations, f->cap_sample_locations, f->n_sample_locations + 1);
    f->sample_locations[f->n_sample_locations++] = row;
    return true;
}

static bool read_sample_locations(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    while (proto_more(&c)) {
        uint64_t id = proto_varint(&c);
        if (!c.is_broken && !add_location(f, id, e))
            return false;
    }
    return pprof_is_whole(f, &c, "location ids", e);
}

static bool add_value(struct pprof *f, int64_t n, struct err *e)
{
    size_t i = f->n_values;
    GROW(f->values, f->cap_values, i + 1);
    f->values[f->n_values++] = n;
    if (i < f->n_types && __builtin_mul_overflow(n, f->units[i].factor, &f->values[i]))
        return err_set(e, ERR_LIMIT, "value %zu does not fit: %" PRId64 " times %" PRId64, i + 1, n, f->units[i].factor);
    return true;
}

static bool read_values(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    while (proto_more(&c)) {
        int64_t n = (int64_t)proto_varint(&c);
        if (!c.is_broken && !add_value(f, n, e))
            return false;
    }
    return pprof_is_whole(f, &c, "values", e);
}

static bool read_label(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    uint64_t at[5] = {0};
    while (proto_next(&c, &x))
        if (x.number < 5)
            at[x.number] = x.value;
    struct label l = {.number = at[2] ? 0 : (int64_t)at[3]};
    if (!pprof_is_whole(f, &c, "label", e) || !pprof_string(f, at[1], &l.key, e) || !pprof_string(f, at[2], &l.text, e) ||
        !pprof_string(f, at[2] ? 0 : at[4], &l.unit, e))
        return false;
    GROW(f->labels, f->cap_labels, f->n_labels + 1);
    f->labels[f->n_labels++] = l;
    return true;
}

/* Who was running: some labels have a place of their own in the model. */
struct who {
    int32_t pid, tid;
    str_id process, thread;
    bool has_tid;
};

/* Yes: the label is told, and need not be kept as one. */
static bool is_who(const struct pprof *f, const struct label *l, struct who *to)
{
    struct view key = profile_string(builder_view(f->b), l->key);
    bool is_id = !l->text.i && l->number > 0 && l->number <= INT32_MAX;
    if (l->text.i && (view_same(key, VIEW("thread")) || view_same(key, VIEW("thread_name"))))
        to->thread = l->text;
    else if (l->text.i && view_same(key, VIEW("process")))
        to->process = l->text;
    else if (is_id && (view_same(key, VIEW("tid")) || view_same(key, VIEW("thread_id")))) {
        to->tid = (int32_t)l->number;
        to->has_tid = true;
    } else if (is_id && (view_same(key, VIEW("pid")) || view_same(key, VIEW("process_id"))))
        to->pid = (int32_t)l->number;
    else
        return false;
    return true;
}

/* A thread whose number nobody said gets one that no thread has; another for each name. */
static int32_t made_up_tid(str_id name) { return -(int32_t)(name.i & INT32_MAX); }

static context_id sample_context(struct pprof *f)
{
    struct who who = {0};
    size_t kept = 0;
    for (size_t i = 0; i < f->n_labels; i++)
        if (!is_who(f, &f->labels[i], &who))
            f->labels[kept++] = f->labels[i];
    const struct profile *p = builder_view(f->b);
    process_id process = who.pid ? builder_process(f->b, who.pid, 0) : PROCESS_NONE;
    if (who.process.i)
        builder_name_process(f->b, process, profile_string(p, who.process));
    thread_id thread = THREAD_NONE;
    if (who.has_tid || who.thread.i || who.pid)
        thread = builder_thread(f->b, process, who.has_tid ? who.tid : made_up_tid(who.thread));
    if (who.thread.i)
        builder_name_thread(f->b, thread, profile_string(p, who.thread));
    return builder_context(f->b, thread, builder_labels(f->b, f->labels, kept));
}

static stack_id sample_stack(struct pprof *f)
{
    size_t n = 0;
    for (size_t i = f->n_sample_locations; i-- > 0;) {
        struct location l = f->locations[f->sample_locations[i]];
        GROW(f->stack, f->cap_stack, n + l.n);
        memcpy(f->stack + n, f->frames + l.first, l.n * sizeof *f->stack);
        n += l.n;
    }
    return builder_stack(f->b, f->stack, n);
}

static bool read_sample(struct pprof *f, struct view bytes, struct err *e)
{
    struct proto_cursor c = proto_over(bytes);
    struct proto_field x;
    f->n_sample_locations = f->n_labels = f->n_values = 0;
    while (proto_next(&c, &x)) {
        bool is_bytes = x.type == PROTO_BYTES, is_list = is_bytes || x.type == PROTO_VARINT;
        if ((x.number == 1 && is_list && !read_sample_locations(f, x.bytes, e)) ||
            (x.number == 2 && is_list && !read_values(f, x.bytes, e)) ||
            (x.number == 3 && is_bytes && !read_label(f, x.bytes, e)))
            return false;
    }
    if (!pprof_is_whole(f, &c, "sample", e))
        return false;
    if (f->n_values != f->n_types)
        return err_set(e, ERR_MALFORMED, "%zu values for %zu sample types", f->n_values, f->n_types);
    context_id context = sample_context(f);
    stack_id stack = sample_stack(f);
    for (size_t s = 0; s * MEASURES_MOST < f->n_types; s++)
        builder_sample(f->b, f->sets[s], TIME_NONE, context, stack, f->values + s * MEASURES_MOST);
    return true;
}

bool pprof_read_samples(struct pprof *f, struct err *e)
{
    struct proto_cursor c = proto_over(f->message);
    struct proto_field x;
    while (proto_next(&c, &x)) {
        if (x.number != PROFILE_SAMPLE)
            continue;
        f->n_samples++;
        if (!read_sample(f, x.bytes, e))
            return err_in(e, "sample %zu", f->n_samples);
    }
    return true;
}
