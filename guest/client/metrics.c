/*
 * Counters and gauges. Each thread adds to rows of its own, so that two that count the same thing do not
 * fight for a cache line. A reading is kept once a millisecond at most; extremes, sums and the number of times
 * are exact whatever happens in between.
 */
#include "client.h"

#include <math.h>
#include <string.h>

static struct scopes_metrics *make_rows(struct block *b)
{
    b->told = block_memory(b, METRICS_MOST * sizeof *b->told);
    struct scopes_metrics *m = b->told ? item_new(b, SCOPES_METRICS, sizeof *m) : NULL;
    if (m)
        item_done(b);
    return m;
}

static struct scopes_metric *row_for(struct block *b, inferom_site *site, enum site_kind kind)
{
    if (b->busy || b->muted_by)
        return NULL;
    b->busy = 1;
    site_register(site, kind);
    if (!b->metrics)
        PUT_LINK(b->metrics, make_rows(b));
    b->busy = 0;
    uint32_t id = site->same->id;
    if (!b->metrics || id >= METRICS_MOST) {
        PUT(b->w->lost_events, b->w->lost_events + 1);
        return NULL;
    }
    struct scopes_metric *m = &b->metrics->rows[id];
    uint32_t now = GET(epoch);
    if (m->epoch != now) {
        PUT_REAL(m->sum, 0);
        PUT(m->times, 0);
        b->told[id] = (struct told){0};
        PUT_LINK(m->epoch, now);
    }
    return m;
}

/* What a reader of the series sees: what this thread added since, or the value. */
static void tell(struct block *b, const struct scopes_metric *m, const inferom_site *site, uint64_t now, double value)
{
    struct told *told = &b->told[site->same->id];
    if (told->tick && now - told->tick < ticks_in_a_millisecond())
        return;
    told->tick = now;
    told->sum = m->sum;
    event_add(b, (struct scopes_event){.began = now, .site = (uint16_t)site_number(site), .value = value, .kind = EVENT_READING});
}

static struct scopes_metric *take(struct block *b, inferom_site *site, enum site_kind kind, double value, uint64_t now)
{
    struct scopes_metric *m = row_for(b, site, kind);
    if (!m)
        return NULL;
    PUT_REAL(m->least, m->times && m->least < value ? m->least : value);
    PUT_REAL(m->most, m->times && m->most > value ? m->most : value);
    PUT_REAL(m->sum, m->sum + value);
    PUT_REAL(m->last, value);
    PUT(m->last_tick, now);
    PUT(m->times, m->times + 1);
    return m;
}

void inferom_count_site(inferom_site *site, double amount)
{
    struct block *b = GET(inferom_is_on) && isfinite(amount) ? block_of_this_thread() : NULL;
    uint64_t now = b ? ticks_now() : 0;
    struct scopes_metric *m = b ? take(b, site, SITE_COUNTER, amount, now) : NULL;
    if (m)
        tell(b, m, site, now, m->sum - b->told[site->same->id].sum);
}

void inferom_gauge_site(inferom_site *site, double value)
{
    struct block *b = GET(inferom_is_on) && isfinite(value) ? block_of_this_thread() : NULL;
    uint64_t now = b ? ticks_now() : 0;
    struct scopes_metric *m = b ? take(b, site, SITE_GAUGE, value, now) : NULL;
    if (m)
        tell(b, m, site, now, value);
}

static inferom_site *named(const char *name, enum site_kind kind)
{
    struct block *b = GET(inferom_is_on) && name ? block_of_this_thread() : NULL;
    if (!b || b->busy)
        return NULL;
    b->busy = 1;
    inferom_site *s = site_named(name, kind);
    b->busy = 0;
    if (!s)
        PUT(b->w->lost_events, b->w->lost_events + 1);
    return s;
}

void inferom_count(const char *name, double amount)
{
    inferom_site *s = named(name, SITE_COUNTER);
    if (s)
        inferom_count_site(s, amount);
}

void inferom_gauge(const char *name, double value)
{
    inferom_site *s = named(name, SITE_GAUGE);
    if (s)
        inferom_gauge_site(s, value);
}

/* Together. */

bool metric_sum_of(const inferom_site *s, struct metric_sum *out)
{
    uint64_t latest = 0, now = GET(epoch);
    double sum = 0;
    *out = (struct metric_sum){.least = NAN, .most = NAN};
    if (s->id >= METRICS_MOST)
        return false;
    for (struct block *b = GET_LINK(blocks); b; b = b->next) {
        struct scopes_metrics *all = GET_LINK(b->metrics);
        struct scopes_metric *m = all ? &all->rows[s->id] : NULL;
        if (!m || GET_LINK(m->epoch) != now || !GET(m->times))
            continue;
        out->least = smaller(out->least, GET_REAL(m->least));
        out->most = larger(out->most, GET_REAL(m->most));
        out->times += GET(m->times);
        sum += GET_REAL(m->sum);
        if (GET(m->last_tick) >= latest) {
            latest = GET(m->last_tick);
            out->value = GET_REAL(m->last);
        }
    }
    if (!out->times)
        return false;
    out->mean = sum / (double)out->times;
    if (s->kind == SITE_COUNTER)
        out->value = sum;
    return true;
}

double inferom_metric(const char *name)
{
    struct metric_sum sum;
    results_lock();
    double value = NAN;
    for (inferom_site *s = name ? sites() : NULL; s; s = s->next)
        if ((s->kind == SITE_COUNTER || s->kind == SITE_GAUGE) && s->same == s && !strcmp(site_name(s), name) &&
            metric_sum_of(s, &sum))
            value = sum.value;
    results_unlock();
    return value;
}
