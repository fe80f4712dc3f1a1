/*
 * What happened when: phases and requests are spans, counters and gauges are series. They are written as they come: a
 * recorder that is killed has them up to the last second, as it has the samples that they tell apart.
 */
#include "base/mem.h"
#include "capture/scopes/scopes_inside.h"
#include "capture/scopes/scopes_requests.h"

#include <math.h>

enum { BATCH = 256 };

/* Spans. */

/* No thread does so much in one span: what is larger was invented, or counted by a process before it forked. */
#define MEMORY_MOST (UINT64_C(1) << 50)

static labels_id labels_of(const struct writing *w, str_id phase, str_id request, const struct scopes_event *e)
{
    struct label labels[4];
    size_t n = 0;
    if (phase.i)
        labels[n++] = (struct label){.key = builder_string(w->names, VIEW("phase")), .text = phase};
    if (request.i)
        labels[n++] = (struct label){.key = builder_string(w->names, VIEW("request")), .text = request};
    if ((w->head.memory_is_told || e->allocations) && e->allocations < MEMORY_MOST && e->bytes < MEMORY_MOST) {
        labels[n++] = (struct label){.key = builder_string(w->names, VIEW("allocations")), .number = (int64_t)e->allocations};
        labels[n++] = (struct label){.key = builder_string(w->names, VIEW("allocated")), .number = (int64_t)e->bytes,
                                     .unit = builder_string(w->names, VIEW("bytes"))};
    }
    return n ? builder_labels(w->names, labels, n) : LABELS_NONE;
}

/* The thread that had these items then. Only the one that has them now is known by name. */
static thread_id thread_of(const struct writing *w, const struct scopes_thread *shared, const struct scopes_event *e)
{
    uint32_t tid = e->tid & INT32_MAX;
    return !tid || tid == shared->tid ? writing_thread(w, shared) : builder_thread(w->names, w->process, (int32_t)tid);
}

static void write_span(const struct writing *w, thread_id thread, const struct scopes_event *e)
{
    bool is_phase = e->kind == SCOPES_EVENT_PHASE;
    struct seen_request *r = scopes_requests_named(w->p, e->request);
    str_id request = r ? builder_string(w->names, view_of(r->id)) : STR_EMPTY;
    str_id phase = is_phase ? writing_site_name(w, e->site) : STR_EMPTY;
    uint64_t start = writing_ns(w, e->began), end = writing_ns(w, e->ended);
    if ((is_phase ? !phase.i : !request.i) || end < start || writing_is_ahead(w, end))
        return;
    struct span span = {.start_ns = start, .length_ns = end - start, .thread = thread, .name = is_phase ? phase : request,
                        .labels = labels_of(w, phase, request, e), .kind = is_phase ? SPAN_PHASE : SPAN_REQUEST};
    if (!is_phase)
        span.link.i = r->first_span;
    uint32_t id = capture_span(w->into, span).i;
    if (!is_phase && !r->first_span)
        r->first_span = id;
}

/* A phase that is still on lasts until now. */
static void write_open_phases(const struct writing *w, const struct seen_thread *t)
{
    struct scopes_thread shared;
    scopes_memory_copy(w->m, t->place, &shared, sizeof shared);
    uint64_t now = w->clock ? scopes_clock_tick(w->clock, w->now_ns) : w->now_ns;
    for (uint32_t node = shared.now < t->n_nodes ? shared.now : 0; node; node = t->nodes[node].caller) {
        uint64_t began = shared.began[t->nodes[node].depth];
        uint32_t site = t->nodes[node].site;
        bool is_phase = site < w->p->n_sites && w->p->sites[site].kind == SCOPES_SITE_PHASE;
        struct scopes_event e = {.began = began, .ended = now, .site = (uint16_t)site, .kind = SCOPES_EVENT_PHASE,
                                 .allocations = UINT64_MAX /* not known before it ends */};
        if (is_phase && began != SCOPES_NOT_TIMED && began < SCOPES_BEGAN_SPECIAL)
            write_span(w, writing_thread(w, &shared), &e);
    }
}

/* Series. What threads counted apart is added up along the time. */

struct told {
    uint64_t time_ns;
    double value;
    uint32_t site;
};

struct all_told {
    struct told *rows;
    size_t n, cap;
};

static void keep_reading(const struct writing *w, struct all_told *all, const struct scopes_event *e)
{
    bool is_series = e->site && e->site < w->p->n_sites && w->p->sites[e->site].name && w->p->sites[e->site].kind >= SCOPES_SITE_COUNTER;
    uint64_t time_ns = writing_ns(w, e->began);
    if (!is_series || !isfinite(e->value) || writing_is_ahead(w, time_ns))
        return;
    GROW(all->rows, all->cap, all->n + 1);
    all->rows[all->n++] = (struct told){time_ns, e->value, e->site};
}

static int by_time(const void *pa, const void *pb)
{
    const struct told *a = pa, *b = pb;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

static void write_reading(const struct writing *w, const struct seen_site *site, uint64_t time_ns, double value)
{
    enum unit unit = site->kind == SCOPES_SITE_COUNTER ? UNIT_COUNT : UNIT_OTHER;
    capture_reading(w->into, builder_series(w->names, view_of(site->name), unit, VIEW(""), LABELS_NONE), time_ns, value);
}

/* A new epoch: counters begin again. */
static void write_readings(const struct writing *w, struct all_told *all)
{
    for (uint32_t i = 0; w->p->epoch != w->head.epoch && i < w->p->n_sites; i++)
        w->p->sites[i].sum = 0;
    w->p->epoch = w->head.epoch;
    if (all->n)
        qsort(all->rows, all->n, sizeof *all->rows, by_time);
    for (size_t i = 0; i < all->n; i++) {
        struct seen_site *site = &w->p->sites[all->rows[i].site];
        site->sum = site->kind == SCOPES_SITE_COUNTER ? site->sum + all->rows[i].value : all->rows[i].value;
        write_reading(w, site, all->rows[i].time_ns, site->sum);
    }
}

/* What it came to, over all threads: a counter's sum, a gauge's last value; NAN: nobody said anything. */
static double value_now(const struct writing *w, const struct seen_site *site)
{
    double sum = 0, last = NAN;
    uint64_t latest = 0;
    bool is_told = false;
    for (size_t k = 0; k < w->p->n_threads && site->id < SCOPES_METRICS_MOST; k++) {
        const struct seen_thread *t = w->p->threads[k];
        struct scopes_metric row;
        if (!t->metrics)
            continue;
        scopes_memory_copy(w->m, t->metrics + offsetof(struct scopes_metrics, rows) + site->id * sizeof row, &row, sizeof row);
        if (row.epoch != w->head.epoch || !row.times || !isfinite(row.sum) || !isfinite(row.last))
            continue;
        is_told = true;
        sum += row.sum;
        if (row.last_tick >= latest) {
            latest = row.last_tick;
            last = row.last;
        }
    }
    return !is_told ? NAN : site->kind == SCOPES_SITE_COUNTER ? sum : last;
}

/* Together. */

/* Names and requests are told before the events that speak of them; but after we last looked, maybe. */
static bool speaks_of_news(const struct writing *w, const struct scopes_event *e)
{
    bool is_new_site = e->site && (e->site >= w->p->n_sites || !w->p->sites[e->site].name);
    return is_new_site || (e->kind != SCOPES_EVENT_READING && e->request && !scopes_requests_named(w->p, e->request));
}

static void learn_news(const struct writing *w, const struct scopes_event *events, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n && !any; i++)
        any = speaks_of_news(w, &events[i]);
    if (any)
        scopes_memory_visit(w->m);
}

static void take_span(const struct writing *w, const struct scopes_thread *shared, const struct scopes_event *e)
{
    uint32_t tid = e->tid ? e->tid : shared->tid;
    if (e->kind == SCOPES_EVENT_REQUEST)
        scopes_requests_add(w->p, (struct seen_work){.tid = tid, .request = e->request, .began = e->began, .ended = e->ended});
    write_span(w, thread_of(w, shared, e), e);
}

static void write_events_of(const struct writing *w, struct seen_thread *t, struct all_told *readings)
{
    struct scopes_event batch[BATCH];
    struct scopes_thread shared;
    size_t most = SCOPES_EVENTS_MOST; /* who writes as we read does not keep us */
    scopes_memory_copy(w->m, t->place, &shared, sizeof shared);
    for (size_t n; most && (n = scopes_memory_events(w->m, t, batch, BATCH)) > 0; most -= n < most ? n : most) {
        learn_news(w, batch, n);
        for (size_t i = 0; i < n; i++)
            if (batch[i].kind == SCOPES_EVENT_READING)
                keep_reading(w, readings, &batch[i]);
            else if (batch[i].kind == SCOPES_EVENT_PHASE || batch[i].kind == SCOPES_EVENT_REQUEST)
                take_span(w, &shared, &batch[i]);
    }
}

void scopes_write_events(const struct writing *w)
{
    struct all_told readings = {0};
    for (size_t k = 0; k < w->p->n_threads; k++)
        if (w->p->threads[k]->place)
            write_events_of(w, w->p->threads[k], &readings);
    write_readings(w, &readings);
    free(readings.rows);
}

void scopes_write_last(const struct writing *w)
{
    for (size_t k = 0; k < w->p->n_threads; k++)
        if (w->p->threads[k]->place)
            write_open_phases(w, w->p->threads[k]);
    for (uint32_t i = 1; i < w->p->n_sites; i++) {
        const struct seen_site *site = &w->p->sites[i];
        double now = site->name && site->kind >= SCOPES_SITE_COUNTER ? value_now(w, site) : NAN;
        if (!isnan(now))
            write_reading(w, site, w->now_ns, now);
    }
}
