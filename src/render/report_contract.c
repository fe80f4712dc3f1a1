/*
 * report_contract.c - the keys of the JSON report that other programs were promised
 *
 *     profile_id, duration_seconds, cpu {total_samples, top_functions}, memory {...}, bottlenecks
 *
 * docs/formats/report.schema.json says what each may be. What the profile does not know is null; means
 * per call need calls that somebody counted.
 */
#include "base/json.h"
#include "render/heap_view.h"
#include "render/names.h"
#include "render/report_formats.h"
#include "render/system_info.h"

static void number(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void text(struct json_writer *w, const char *key, struct view t)
{
    json_key(w, key);
    if (t.n)
        json_text(w, t);
    else
        json_null(w);
}

static double known(int64_t n) { return n == METHOD_UNKNOWN ? UNKNOWN : (double)n; }

static void top_function(struct json_writer *w, const struct findings *f, const struct method *m)
{
    char room[NAME_ROOM];
    const struct function *is = profile_function(f->r->p, m->function);
    struct interval i = finding_interval(f, m->self);
    json_open(w, '{');
    text(w, "name", name_of_function(f->r->p, m->function, room));
    number(w, "samples", known(m->samples));
    number(w, "percent", 100 * finding_share(f, m->self));
    number(w, "percent_low", 100 * i.low);
    number(w, "percent_high", 100 * i.high);
    text(w, "file", profile_string(f->r->p, is->file));
    number(w, "line", is->line ? (double)is->line : UNKNOWN);
    json_close(w, '}');
}

static void cpu(struct json_writer *w, const struct findings *f)
{
    json_key(w, "cpu");
    json_open(w, '{');
    number(w, "total_samples", known(f->quality.taken));
    json_key(w, "top_functions");
    json_open(w, '[');
    for (size_t i = 0; i < f->hot.n; i++)
        top_function(w, f, &f->methods.rows[f->hot.rows[i]]);
    json_close(w, ']');
    json_close(w, '}');
}

static void memory(struct json_writer *w, const struct findings *f)
{
    int64_t allocations = f->methods.has_bytes ? 0 : METHOD_UNKNOWN;
    for (size_t i = 0; f->methods.has_bytes && i < f->methods.n; i++)
        allocations += f->methods.rows[i].allocations > 0 ? f->methods.rows[i].allocations : 0;
    const struct heap_view *heap = f->r->heap;
    bool knows_peak = heap && heap_has(&heap->heap, HEAP_PEAK_BYTES), knows_leaks = heap && heap->has_leaks;
    json_key(w, "memory");
    json_open(w, '{');
    int64_t peak = !knows_peak ? 0 : heap->heap.counted.peak_bytes >= 0 ? heap->heap.counted.peak_bytes : heap->heap.whole.of[HEAP_PEAK_BYTES];
    number(w, "peak_mb", knows_peak && peak >= 0 ? (double)peak / 1e6 : UNKNOWN); /* a part of the time has none */
    number(w, "allocations", allocations > 0 ? (double)allocations : UNKNOWN);
    number(w, "allocated_mb", f->methods.has_bytes ? (double)f->methods.bytes_whole / 1e6 : UNKNOWN);
    number(w, "leaked_mb", knows_leaks ? (double)heap_leaked(heap).bytes / 1e6 : UNKNOWN); /* live at the end, not suppressed */
    json_close(w, '}');
}

static void bottleneck(struct json_writer *w, const struct findings *f, const struct method *m, const char *severity)
{
    char room[NAME_ROOM];
    bool is_timed = finding_is_time(f) && m->calls > 0;
    json_open(w, '{');
    text(w, "function", name_of_function(f->r->p, m->function, room));
    number(w, "avg_time_ms", is_timed ? finding_number(f, m->total) / (double)m->calls : UNKNOWN);
    number(w, "call_count", known(m->calls));
    text(w, "severity", view_of(severity));
    number(w, "percent", 100 * finding_share(f, m->self));
    json_close(w, '}');
}

static void bottlenecks(struct json_writer *w, const struct findings *f)
{
    size_t n;
    own(free) size_t *rows = methods_ranked(&f->methods, f->r->p, METHODS_BY_SELF, &n);
    const char *severity;
    json_key(w, "bottlenecks");
    json_open(w, '[');
    for (size_t i = 0; i < n && (severity = finding_severity(f, f->methods.rows[rows[i]].self)); i++)
        bottleneck(w, f, &f->methods.rows[rows[i]], severity);
    json_close(w, ']');
}

static void insights(struct json_writer *w, const struct findings *f)
{
    json_key(w, "insights");
    json_open(w, '[');
    for (size_t i = 0; i < f->n_insights; i++) {
        const struct insight *s = &f->insights[i];
        char room[NAME_ROOM];
        json_open(w, '{');
        text(w, "key", view_of(s->key));
        json_key(w, "is_warning");
        json_bool(w, s->is_warning);
        text(w, "function", s->function.i ? name_of_function(f->r->p, s->function, room) : VIEW(""));
        number(w, "number", s->number);
        text(w, "text", view_of(s->text));
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void limits(struct json_writer *w, const struct findings *f)
{
    json_key(w, "limits");
    json_open(w, '[');
    for (size_t i = 0; i < f->r->n_limits; i++) {
        json_open(w, '{');
        text(w, "pattern", view_of(f->r->limits[i].pattern));
        number(w, "share", f->limits[i].share);
        number(w, "most", f->r->limits[i].share);
        json_key(w, "is_kept");
        json_bool(w, f->limits[i].is_kept);
        json_close(w, '}');
    }
    json_close(w, ']');
}

void report_contract_json(const struct findings *f, struct json_writer *w)
{
    char id[40];
    text(w, "profile_id", report_start(f->r, "prof_%Y%m%d_%H%M%S", id) ? view_of(id) : VIEW(""));
    number(w, "duration_seconds", f->length_ns / 1e9);
    cpu(w, f);
    memory(w, f);
    bottlenecks(w, f);
    insights(w, f);
    if (f->r->n_limits)
        limits(w, f);
    json_key(w, "system");
    system_json(f->r->p, w);
}
