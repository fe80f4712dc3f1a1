/* What happened when, in a capture file: phases and requests are spans, counters and gauges are series. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

/* When: phases and requests. */

static uint32_t span_labels(struct saving *s, const struct event *e)
{
    uint32_t id, phase = e->kind == EVENT_PHASE ? capture_string(&s->c, site_name(e->site)) : 0;
    uint32_t request = e->request ? capture_string(&s->c, e->request->id) : 0;
    if (!phase && !request)
        return 0;
    struct bytes *row = capture_row(&s->c, CAPTURE_LABELS, &id);
    put_varint(row, (phase ? 1u : 0u) + (request ? 1u : 0u));
    if (phase) {
        put_varint(row, s->key_phase);
        put_varint(row, phase);
        put_signed(row, 0);
        put_varint(row, 0);
    }
    if (request) {
        put_varint(row, s->key_request);
        put_varint(row, request);
        put_signed(row, 0);
        put_varint(row, 0);
    }
    return id;
}

/* Spans of one request are linked to its first, wherever it was. */
struct firsts {
    uint32_t *span; /* by number of the request */
    size_t n;
};

static uint32_t first_of(struct saving *s, struct firsts *f, const inferom_request *r, uint32_t id)
{
    if (r->number >= f->n) {
        size_t n = 2 * ((size_t)r->number + 32);
        uint32_t *more = realloc(f->span, n * sizeof *more);
        if (!more) {
            s->failed = true;
            return id;
        }
        memset(more + f->n, 0, (n - f->n) * sizeof *more);
        f->span = more;
        f->n = n;
    }
    if (!f->span[r->number])
        f->span[r->number] = id;
    return f->span[r->number];
}

static void span_row(struct saving *s, struct firsts *f, const struct event *e, uint32_t thread, uint64_t *last_ns, uint32_t *last_first)
{
    uint32_t id, labels = span_labels(s, e);
    uint32_t name = capture_string(&s->c, e->kind == EVENT_PHASE ? site_name(e->site) : e->request->id);
    uint64_t start = ticks_to_ns(&s->r->scale, e->began), end = ticks_to_ns(&s->r->scale, e->ended);
    struct bytes *row = capture_row(&s->c, CAPTURE_SPANS, &id);
    size_t n = s->c.tables[CAPTURE_SPANS].n;
    uint32_t first = n ? s->c.tables[CAPTURE_SPANS].pieces[n - 1].first : 0;
    uint64_t before = first == *last_first ? *last_ns : 0; /* steps begin anew in each chunk */
    uint32_t link = e->kind == EVENT_REQUEST ? first_of(s, f, e->request, id) : id;
    put_signed(row, (int64_t)(start - before));
    put_varint(row, end - start + 1);
    put_varint(row, thread);
    put_varint(row, name);
    put_varint(row, labels);
    put_signed(row, 0);
    put_signed(row, (int64_t)id - (int64_t)link);
    put_varint(row, e->kind == EVENT_PHASE ? SPAN_PHASE : SPAN_REQUEST);
    *last_ns = start;
    *last_first = first;
}

static uint64_t events_of(const struct saving *s, const struct block *b)
{
    return GET_LINK(b->events_epoch) == s->r->epoch ? GET_LINK(b->events_n) : 0;
}

static const struct event *event_at(const struct block *b, uint64_t i) { return &b->events[i / EVENT_BLOCK][i % EVENT_BLOCK]; }

void profile_spans(struct saving *s)
{
    struct firsts firsts = {0};
    uint64_t last_ns = 0;
    uint32_t last_first = 0;
    for (const struct block *b = GET_LINK(blocks); b; b = b->next) {
        uint32_t thread = 0;
        uint64_t n = events_of(s, b);
        for (uint64_t i = 0; i < n; i++) {
            const struct event *e = event_at(b, i);
            if (e->kind == EVENT_READING)
                continue;
            if (!thread)
                thread = profile_thread(s, b);
            span_row(s, &firsts, e, thread, &last_ns, &last_first);
        }
    }
    free(firsts.span);
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
        for (uint64_t i = 0, all = events_of(s, b); i < all; i++) {
            const struct event *e = event_at(b, i);
            if (e->kind != EVENT_READING || e->site != site)
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
