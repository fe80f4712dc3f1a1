/* What happened when: phases and requests are spans, counters and gauges are series. */
#include "base/mem.h"
#include "capture/scopes/scopes_inside.h"

#include <math.h>

/* Those of an older epoch count as nothing; how many there are is what the thread says, as far as there are lists. */
static size_t events_of(const struct writing *w, const struct seen_thread *t)
{
    struct scopes_thread shared;
    scopes_memory_copy(w->m, t->place, &shared, sizeof shared);
    size_t lists = 0;
    while (lists < SCOPES_EVENT_ITEMS_MOST && t->events[lists])
        lists++;
    size_t most = lists * SCOPES_EVENTS;
    return shared.events_epoch != w->head.epoch ? 0 : shared.events < most ? (size_t)shared.events : most;
}

static struct scopes_event event_at(const struct writing *w, const struct seen_thread *t, size_t i)
{
    struct scopes_event e;
    size_t at = offsetof(struct scopes_event_list, events) + i % SCOPES_EVENTS * sizeof e;
    scopes_memory_copy(w->m, t->events[i / SCOPES_EVENTS] + at, &e, sizeof e);
    return e;
}

/* Spans. */

static int request_order(const void *key, const void *row)
{
    uint32_t number = *(const uint32_t *)key, other = ((const struct seen_request *)row)->number;
    return (number > other) - (number < other);
}

static size_t request_of(const struct writing *w, uint32_t number)
{
    const struct seen_request *r = number && w->p->n_requests
        ? bsearch(&number, w->requests, w->p->n_requests, sizeof *r, request_order) : NULL;
    return r ? (size_t)(r - w->requests) : SIZE_MAX;
}

struct spans {
    const struct writing *w;
    thread_id thread;
    span_id *first; /* by request: spans of one are linked to its first, wherever it was */
};

static labels_id labels_of(const struct writing *w, str_id phase, str_id request)
{
    struct label labels[2];
    size_t n = 0;
    if (phase.i)
        labels[n++] = (struct label){.key = builder_string(w->names, VIEW("phase")), .text = phase};
    if (request.i)
        labels[n++] = (struct label){.key = builder_string(w->names, VIEW("request")), .text = request};
    return n ? builder_labels(w->names, labels, n) : LABELS_NONE;
}

static void write_span(struct spans *s, const struct scopes_event *e)
{
    const struct writing *w = s->w;
    bool is_phase = e->kind == SCOPES_EVENT_PHASE;
    size_t row = request_of(w, e->request);
    str_id request = row == SIZE_MAX ? STR_EMPTY : builder_string(w->names, view_of(w->requests[row].id));
    str_id phase = is_phase ? writing_site_name(w, e->site) : STR_EMPTY;
    uint64_t start = writing_ns(w, e->began), end = writing_ns(w, e->ended);
    if ((is_phase ? !phase.i : !request.i) || end < start || end > w->now_ns)
        return;
    struct span span = {.start_ns = start, .length_ns = end - start, .thread = s->thread, .name = is_phase ? phase : request,
                        .labels = labels_of(w, phase, request), .kind = is_phase ? SPAN_PHASE : SPAN_REQUEST};
    if (!is_phase)
        span.link = s->first[row];
    span_id id = capture_span(w->into, span);
    if (!is_phase && !s->first[row].i)
        s->first[row] = id;
}

/* A phase that is still on lasts until now. */
static void write_open_phases(struct spans *s, const struct seen_thread *t, const struct scopes_thread *shared)
{
    const struct writing *w = s->w;
    uint64_t now = w->clock ? scopes_clock_tick(w->clock, w->now_ns) : w->now_ns;
    for (uint32_t node = shared->now < t->n_nodes ? shared->now : 0; node; node = t->nodes[node].caller) {
        uint64_t began = shared->began[t->nodes[node].depth];
        uint32_t site = t->nodes[node].site;
        bool is_phase = site < w->p->n_sites && w->p->sites[site].kind == SCOPES_SITE_PHASE;
        if (is_phase && began != SCOPES_NOT_TIMED && began < SCOPES_BEGAN_SPECIAL)
            write_span(s, &(struct scopes_event){.began = began, .ended = now, .site = site, .kind = SCOPES_EVENT_PHASE});
    }
}

void scopes_write_spans(const struct writing *w)
{
    own(free) span_id *first = mem_new((w->p->n_requests + 1) * sizeof *first);
    for (size_t k = 0; k < w->p->n_threads; k++) {
        const struct seen_thread *t = w->p->threads[k];
        struct scopes_thread shared;
        if (!t->place)
            continue;
        scopes_memory_copy(w->m, t->place, &shared, sizeof shared);
        struct spans s = {.w = w, .thread = writing_thread(w, &shared), .first = first};
        for (size_t i = 0, n = events_of(w, t); i < n; i++) {
            struct scopes_event e = event_at(w, t, i);
            if (e.kind == SCOPES_EVENT_PHASE || e.kind == SCOPES_EVENT_REQUEST)
                write_span(&s, &e);
        }
        write_open_phases(&s, t, &shared);
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

static int by_site_and_time(const void *pa, const void *pb)
{
    const struct told *a = pa, *b = pb;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static struct all_told readings_of(const struct writing *w)
{
    struct all_told all = {0};
    for (size_t k = 0; k < w->p->n_threads; k++) {
        const struct seen_thread *t = w->p->threads[k];
        for (size_t i = 0, n = t->place ? events_of(w, t) : 0; i < n; i++) {
            struct scopes_event e = event_at(w, t, i);
            if (e.kind != SCOPES_EVENT_READING || !e.site || e.site >= w->p->n_sites || !isfinite(e.value))
                continue;
            GROW(all.rows, all.cap, all.n + 1);
            all.rows[all.n++] = (struct told){writing_ns(w, e.began), e.value, e.site};
        }
    }
    if (all.n)
        qsort(all.rows, all.n, sizeof *all.rows, by_site_and_time);
    return all;
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

void scopes_write_series(const struct writing *w)
{
    struct all_told all = readings_of(w);
    size_t at = 0;
    for (uint32_t i = 1; i < w->p->n_sites; i++) {
        const struct seen_site *site = &w->p->sites[i];
        double sum = 0, now = site->name && site->kind >= SCOPES_SITE_COUNTER ? value_now(w, site) : NAN;
        while (at < all.n && all.rows[at].site < i)
            at++;
        if (isnan(now))
            continue;
        bool adds_up = site->kind == SCOPES_SITE_COUNTER;
        series_id id = builder_series(w->names, view_of(site->name), adds_up ? UNIT_COUNT : UNIT_OTHER, VIEW(""), LABELS_NONE);
        for (; at < all.n && all.rows[at].site == i; at++) {
            sum = adds_up ? sum + all.rows[at].value : all.rows[at].value;
            if (all.rows[at].time_ns <= w->now_ns)
                capture_reading(w->into, id, all.rows[at].time_ns, sum);
        }
        capture_reading(w->into, id, w->now_ns, now);
    }
    free(all.rows);
}
