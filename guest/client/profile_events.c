/* What happened when, in a capture file: phases and requests are spans, counters and gauges are series. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

/* Requests by number: those that events speak of. */
struct requests {
    const inferom_request **rows;
    uint32_t *first; /* span of each: spans of one request are linked to it, wherever they are */
    size_t n;
};

static void requests_find(struct saving *s, struct requests *out)
{
    *out = (struct requests){0};
    for (const struct block *b = GET_LINK(blocks); b; b = b->next)
        for (const inferom_request *r = GET_LINK(b->made); r; r = r->next)
            out->n = r->number >= out->n ? (size_t)r->number + 1 : out->n;
    out->rows = calloc(out->n + 1, sizeof *out->rows);
    out->first = calloc(out->n + 1, sizeof *out->first);
    if (!out->rows || !out->first) {
        s->failed = true;
        out->n = 0;
    }
    for (const struct block *b = GET_LINK(blocks); b && out->n; b = b->next)
        for (const inferom_request *r = GET_LINK(b->made); r; r = r->next)
            if (r->number < out->n) /* more are made meanwhile */
                out->rows[r->number] = r;
}

static void requests_done(struct requests *r)
{
    free(r->rows);
    free(r->first);
}

static const char *request_id(const struct requests *all, uint32_t number)
{
    return number && number < all->n && all->rows[number] ? all->rows[number]->id : NULL;
}

/* When: phases and requests. */

static void put_label(struct bytes *row, uint32_t key, uint32_t text, int64_t number, uint32_t unit)
{
    put_varint(row, key);
    put_varint(row, text);
    put_signed(row, number);
    put_varint(row, unit);
}

/* What was allocated meanwhile is known where anybody counts. */
static uint32_t span_labels(struct saving *s, const char *phase_name, const char *id, const struct scopes_event *e)
{
    uint32_t row_id, phase = capture_string(&s->c, phase_name), request = capture_string(&s->c, id);
    bool is_counted = GET(process->memory_is_told);
    if (!phase && !request && !is_counted)
        return 0;
    struct bytes *row = capture_row(&s->c, CAPTURE_LABELS, &row_id);
    put_varint(row, (phase ? 1u : 0u) + (request ? 1u : 0u) + (is_counted ? 2u : 0u));
    if (phase)
        put_label(row, s->key_phase, phase, 0, 0);
    if (request)
        put_label(row, s->key_request, request, 0, 0);
    if (is_counted) {
        put_label(row, s->key_allocations, 0, (int64_t)e->allocations, 0);
        put_label(row, s->key_allocated, 0, (int64_t)e->bytes, s->unit_bytes);
    }
    return row_id;
}

/* Steps of time begin anew in each chunk. */
struct steps {
    uint64_t last_ns;
    uint32_t last_first;
};

static void span_row(struct saving *s, struct requests *all, const struct scopes_event *e, uint32_t thread, struct steps *steps)
{
    bool is_phase = e->kind == EVENT_PHASE;
    const char *phase = is_phase ? site_name(site_at(e->site)) : NULL, *id = request_id(all, e->request);
    uint32_t span, labels = span_labels(s, phase, id, e), name = capture_string(&s->c, is_phase ? phase : id);
    uint64_t start = ticks_to_ns(&s->r->scale, e->began), end = ticks_to_ns(&s->r->scale, e->ended);
    struct bytes *row = capture_row(&s->c, CAPTURE_SPANS, &span);
    size_t n = s->c.tables[CAPTURE_SPANS].n;
    uint32_t first = n ? s->c.tables[CAPTURE_SPANS].pieces[n - 1].first : 0, link = span;
    if (!is_phase && id && !all->first[e->request])
        all->first[e->request] = span;
    if (!is_phase && id)
        link = all->first[e->request];
    put_signed(row, (int64_t)(start - (first == steps->last_first ? steps->last_ns : 0)));
    put_varint(row, end - start + 1);
    put_varint(row, thread);
    put_varint(row, name);
    put_varint(row, labels);
    put_signed(row, 0);
    put_signed(row, (int64_t)span - (int64_t)link);
    put_varint(row, is_phase ? SPAN_PHASE : SPAN_REQUEST);
    *steps = (struct steps){start, first};
}

static uint64_t events_of(const struct saving *s, const struct block *b)
{
    uint64_t n = GET_LINK(b->w->events);
    return GET_LINK(b->w->events_epoch) == s->r->epoch ? n : 0;
}

/* The first that is still there: a ring that somebody reads has been written over. */
static uint64_t first_event(const struct block *b)
{
    uint64_t from = GET(b->w->events_from), n = GET_LINK(b->w->events);
    return n - from > SCOPES_EVENTS_MOST ? n - SCOPES_EVENTS_MOST : from;
}

static const struct scopes_event *event_at(const struct block *b, uint64_t i)
{
    return &b->events[i / EVENT_BLOCK % EVENT_BLOCKS_MOST]->events[i % EVENT_BLOCK];
}

void profile_spans(struct saving *s)
{
    struct requests all;
    struct steps steps = {0};
    requests_find(s, &all);
    for (const struct block *b = GET_LINK(blocks); b; b = b->next) {
        uint32_t thread = 0;
        uint64_t n = events_of(s, b);
        for (uint64_t i = first_event(b); i < n; i++) {
            const struct scopes_event *e = event_at(b, i);
            if (e->kind == EVENT_READING || (e->kind == EVENT_PHASE && !site_at(e->site)))
                continue;
            if (!thread)
                thread = profile_thread(s, b);
            span_row(s, &all, e, thread, &steps);
        }
    }
    requests_done(&all);
}

/* Readings. What threads counted apart is added up along the time. */

struct reading {
    uint64_t tick;
    const struct block *thread;
    double value;
};

static int by_tick(const void *a, const void *b)
{
    uint64_t ta = ((const struct reading *)a)->tick, tb = ((const struct reading *)b)->tick;
    return (ta > tb) - (ta < tb);
}

static size_t readings_of(struct saving *s, const inferom_site *site, struct reading **out)
{
    size_t n = 0, cap = 0;
    struct reading *rows = NULL;
    for (const struct block *b = GET_LINK(blocks); b; b = b->next)
        for (uint64_t i = first_event(b), all = events_of(s, b); i < all; i++) {
            const struct scopes_event *e = event_at(b, i);
            if (e->kind != EVENT_READING || e->site != site_number(site))
                continue;
            if (n == cap) {
                struct reading *more = realloc(rows, (cap = 2 * cap + 64) * sizeof *rows);
                if (!more) {
                    s->failed = true;
                    free(rows);
                    return 0;
                }
                rows = more;
            }
            rows[n++] = (struct reading){e->began, b, e->value};
        }
    if (n)
        qsort(rows, n, sizeof *rows, by_tick);
    *out = rows;
    return n;
}

static void put_series(struct saving *s, const inferom_site *site, const struct reading *rows, size_t n, double end)
{
    for (size_t at = 0; at <= n; at += SLICE) { /* one more at the end: what it was when this was written */
        size_t some = n + 1 - at < SLICE ? n + 1 - at : SLICE;
        struct bytes *out = capture_payload(&s->c, CAPTURE_READINGS, (uint32_t)some);
        uint64_t last = 0;
        put_text(out, site_name(site));
        put_varint(out, site->kind == SITE_COUNTER ? UNIT_COUNT : UNIT_OTHER);
        put_text(out, "");
        put_varint(out, 0);
        put_varint(out, some);
        for (size_t i = at; i < at + some; i++) {
            uint64_t ns = ticks_to_ns(&s->r->scale, i < n ? rows[i].tick : s->r->now);
            put_signed(out, (int64_t)(ns - last));
            last = ns;
        }
        for (size_t i = at; i < at + some; i++)
            put_double(out, i < n ? rows[i].value : end);
    }
}

/* A counter's readings say what a thread added since its last one. */
void profile_series(struct saving *s)
{
    for (const inferom_site *site = sites(); site; site = site->next) {
        struct metric_sum sum;
        if ((site->kind != SITE_COUNTER && site->kind != SITE_GAUGE) || site->same != site || !metric_sum_of(site, &sum))
            continue;
        struct reading *rows = NULL;
        size_t n = readings_of(s, site, &rows);
        for (size_t i = 1; site->kind == SITE_COUNTER && i < n; i++)
            rows[i].value += rows[i - 1].value;
        put_series(s, site, rows, n, sum.value);
        free(rows);
    }
}
