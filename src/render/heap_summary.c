#include "render/heap_summary.h"
#include "base/json.h"
#include "base/text.h"
#include "render/heap_tables.h"

#include <stdarg.h>

#define Z_95 1.959963984540054 /* a normal value lies within so many deviations, 95 times in 100 */

/* The recorder's own count where there is one; else the sum of the rows. */
static int64_t best(int64_t counted, int64_t sum) { return counted != HEAP_UNKNOWN ? counted : sum; }

struct numbers {
    int64_t allocations, allocated, frees, freed, live, live_bytes, peak_bytes;
    double peak_after_ns, seconds;
};

static int64_t less(int64_t a, int64_t b) { return a == HEAP_UNKNOWN || b == HEAP_UNKNOWN ? HEAP_UNKNOWN : heap_sum(a, -b); }

static struct numbers numbers_of(const struct heap *h)
{
    const struct heap_counters *c = &h->counted;
    const int64_t *sum = h->whole.of;
    uint64_t start = profile_start_ns(h->p), end = profile_end_ns(h->p);
    struct numbers n = {.allocations = best(c->allocations, sum[HEAP_ALLOCS]), .allocated = best(c->allocated_bytes, sum[HEAP_BYTES]),
                        .live = best(c->live_blocks, sum[HEAP_LIVE]), .live_bytes = best(c->live_bytes, sum[HEAP_LIVE_BYTES]),
                        .peak_bytes = best(c->peak_bytes, sum[HEAP_PEAK_BYTES]), .peak_after_ns = UNKNOWN, .seconds = UNKNOWN};
    n.frees = best(c->frees, less(n.allocations, n.live));
    n.freed = best(c->freed_bytes, less(n.allocated, n.live_bytes));
    if (start != TIME_NONE && c->peak_time_ns != HEAP_UNKNOWN && (uint64_t)c->peak_time_ns >= start)
        n.peak_after_ns = (double)((uint64_t)c->peak_time_ns - start);
    if (start != TIME_NONE && end != TIME_NONE && end > start)
        n.seconds = (double)(end - start) / 1e9;
    return n;
}

static struct heap_line *line(struct heap_lines *l, const char *title)
{
    struct heap_line *row = &l->rows[l->n++];
    row->title = title;
    row->text[0] = '\0';
    return row;
}

static void say(struct heap_line *to, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct heap_line *to, const char *fmt, ...)
{
    size_t at = strlen(to->text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(to->text + at, sizeof to->text - at, fmt, args);
    va_end(args);
}

/* "4.5 MiB in 10 000 allocations"; either may be unknown. */
static void say_amount(struct heap_line *to, int64_t bytes, int64_t n, const char *what)
{
    char size[32] = "-", count[32] = "-";
    if (bytes != HEAP_UNKNOWN)
        text_bytes(size, (double)bytes);
    if (n != HEAP_UNKNOWN)
        text_count(count, n);
    say(to, "%s in %s %s%s", size, count, what, n == 1 ? "" : "s");
}

static void say_allocated(struct heap_lines *l, const struct numbers *n)
{
    char each[32], rate[32], count[32];
    struct heap_line *to = line(l, "Allocated");
    say_amount(to, n->allocated, n->allocations, "allocation");
    if (n->allocations > 0 && n->allocated >= 0) {
        text_bytes(each, (double)n->allocated / (double)n->allocations);
        say(to, ", %s each", each);
    }
    if (!isnan(n->seconds) && n->allocated >= 0 && n->allocations >= 0) {
        text_bytes(rate, (double)n->allocated / n->seconds);
        text_count(count, llround((double)n->allocations / n->seconds));
        say(to, "; %s and %s allocations per second", rate, count);
    }
}

static void say_freed(struct heap_lines *l, const struct heap *h, const struct numbers *n)
{
    char count[32];
    struct heap_line *to = line(l, "Freed");
    say_amount(to, n->freed, n->frees, "block");
    if (h->counted.unknown_frees > 0) {
        text_count(count, h->counted.unknown_frees);
        say(to, "; %s more from before the recording, or of allocations it did not see", count);
    }
}

static void say_peak(struct heap_lines *l, const struct numbers *n)
{
    char text[32];
    if (n->peak_bytes == HEAP_UNKNOWN)
        return;
    struct heap_line *to = line(l, "Peak");
    text_bytes(text, (double)n->peak_bytes);
    say(to, "%s", text);
    if (!isnan(n->peak_after_ns)) {
        text_ns(text, n->peak_after_ns);
        say(to, ", %s after the start", text);
    }
}

static void say_temporary(struct heap_lines *l, const struct heap *h)
{
    char count[32];
    int64_t n = h->whole.of[HEAP_TEMPORARY];
    if (n == HEAP_UNKNOWN || n < 0)
        return;
    struct heap_line *to = line(l, "Temporary");
    text_count(count, n);
    say(to, "%s allocation%s", count, n == 1 ? "" : "s");
    if (h->whole.of[HEAP_ALLOCS] > 0)
        say(to, ", %.1f %%", 100 * heap_part(n, h->whole.of[HEAP_ALLOCS]));
}

static void say_tokens(struct heap_lines *l, const struct heap_view *v, const struct numbers *n)
{
    char each[32], count[32];
    double tokens = (double)v->tokens;
    if (tokens == 0 || n->allocated < 0 || n->allocations < 0)
        return;
    text_bytes(each, (double)n->allocated / tokens);
    text_count(count, (int64_t)v->tokens);
    say(line(l, "Per token"), "%s in %.1f allocations, all that was allocated over %s tokens", each, (double)n->allocations / tokens, count);
}

static void say_turns(struct heap_lines *l, const struct heap_view *v)
{
    char each[32], least[32], most[32];
    own(heap_turns) struct heap_turns t = heap_turns_of(v->heap.p);
    struct heap_rate r = heap_per_turn(&v->heap, &t);
    if (isnan(r.bytes))
        return;
    text_bytes(each, r.bytes);
    struct heap_line *to = line(l, t.kind == SPAN_REQUEST ? "Per request" : "Per phase");
    say(to, "%s in %.1f allocations, ", each, r.allocations);
    if (!r.is_counted) {
        say(to, "from the first to the last of %zu", t.n);
        return;
    }
    text_bytes(least, (double)r.least_bytes);
    text_bytes(most, (double)r.most_bytes);
    say(to, "counted in each of %zu: %s to %s", t.n, least, most);
}

/* What the rows of a sampled heap are worth. */
static void say_interval(struct heap_line *to, const struct heap *h)
{
    double sum = (double)h->whole.of[HEAP_BYTES], error = heap_error(&h->whole, HEAP_BYTES);
    char middle[32], low[32], high[32];
    if (h->whole.of[HEAP_BYTES] == HEAP_UNKNOWN || !(error > 0))
        return;
    text_bytes(middle, sum);
    text_bytes(low, fmax(0, sum - Z_95 * error));
    text_bytes(high, sum + Z_95 * error);
    say(to, "; rows are estimates, +- is one standard error; all rows together allocated %s, 95 %% interval %s to %s", middle, low, high);
}

static void say_mode(struct heap_lines *l, const struct heap *h)
{
    char period[32];
    if (!h->mode.n && !h->is_sampled)
        return;
    struct heap_line *to = line(l, "Recorded");
    say(to, "%.*s", (int)(h->mode.n < 60 ? h->mode.n : 60), h->mode.at);
    if (h->is_sampled && h->period > 0) {
        text_bytes(period, (double)h->period);
        say(to, "%sone sample in %s on average", h->mode.n ? ", " : "", period);
    }
    if (h->allocator.n)
        say(to, ", allocator %.*s", (int)(h->allocator.n < 60 ? h->allocator.n : 60), h->allocator.at);
    if (h->is_sampled)
        say_interval(to, h);
}

static void say_unseen(struct heap_lines *l, const struct heap *h)
{
    char count[32];
    if (h->counted.unseen > 0) {
        text_count(count, h->counted.unseen);
        say(line(l, "Not seen"), "%s allocations: in the numbers above they are missing", count);
    }
    if (h->note.n)
        say(line(l, "Note"), "%.*s", (int)(h->note.n < 390 ? h->note.n : 390), h->note.at);
}

static void say_change(struct heap_lines *l, const struct heap_view *v)
{
    const int64_t *of = v->heap.whole.of;
    char size[32] = "-", count[32] = "-";
    say(line(l, "Change"), "%s", v->look.change ? v->look.change : "");
    say_amount(line(l, "Allocated"), of[HEAP_BYTES], of[HEAP_ALLOCS], "allocation");
    if (of[HEAP_LIVE_BYTES] == HEAP_UNKNOWN)
        return;
    text_bytes(size, fabs((double)of[HEAP_LIVE_BYTES]));
    if (of[HEAP_LIVE] != HEAP_UNKNOWN)
        text_count(count, of[HEAP_LIVE]);
    say(line(l, "Live"), "%c%s, %s%s blocks", of[HEAP_LIVE_BYTES] < 0 ? '-' : '+', size, of[HEAP_LIVE] > 0 ? "+" : "", count);
}

void heap_lines_of(const struct heap_view *v, struct heap_lines *out)
{
    const struct heap *h = &v->heap;
    struct numbers n = numbers_of(h);
    *out = (struct heap_lines){0};
    if (v->look.parts == HEAP_CHANGE) {
        say_change(out, v);
        return;
    }
    if (n.allocated != HEAP_UNKNOWN)
        say_allocated(out, &n);
    if (n.freed != HEAP_UNKNOWN)
        say_freed(out, h, &n);
    if (n.live_bytes != HEAP_UNKNOWN)
        say_amount(line(out, "Live at the end"), n.live_bytes, n.live, "block");
    say_peak(out, &n);
    say_temporary(out, h);
    say_turns(out, v);
    say_tokens(out, v, &n);
    say_mode(out, h);
    say_unseen(out, h);
}

/* For machines. */

static void number(struct json_writer *w, const char *key, int64_t n)
{
    json_key(w, key);
    if (n == HEAP_UNKNOWN)
        json_null(w);
    else
        json_int(w, n);
}

static void real(struct json_writer *w, const char *key, double n)
{
    json_key(w, key);
    json_double(w, n);
}

static void text(struct json_writer *w, const char *key, struct view v)
{
    json_key(w, key);
    if (v.n)
        json_text(w, v);
    else
        json_null(w);
}

static void json_estimate(struct json_writer *w, const struct heap *h)
{
    double sum = (double)h->whole.of[HEAP_BYTES], error = heap_error(&h->whole, HEAP_BYTES);
    bool is_known = h->whole.of[HEAP_BYTES] != HEAP_UNKNOWN;
    json_key(w, "rows_allocated_bytes");
    json_open(w, '{');
    number(w, "value", h->whole.of[HEAP_BYTES]);
    real(w, "error", error);
    real(w, "low_95", is_known ? fmax(0, sum - Z_95 * error) : UNKNOWN);
    real(w, "high_95", is_known ? sum + Z_95 * error : UNKNOWN);
    json_close(w, '}');
}

static void json_rates(struct json_writer *w, const struct heap_view *v, const struct numbers *n)
{
    double tokens = (double)v->tokens;
    own(heap_turns) struct heap_turns t = heap_turns_of(v->heap.p);
    struct heap_rate r = heap_per_turn(&v->heap, &t);
    real(w, "allocated_bytes_per_turn", r.bytes);
    real(w, "allocations_per_turn", r.allocations);
    number(w, "least_bytes_per_turn", r.is_counted ? r.least_bytes : HEAP_UNKNOWN);
    number(w, "most_bytes_per_turn", r.is_counted ? r.most_bytes : HEAP_UNKNOWN);
    number(w, "tokens", v->tokens ? (int64_t)v->tokens : HEAP_UNKNOWN);
    real(w, "allocated_bytes_per_token", tokens > 0 && n->allocated >= 0 ? (double)n->allocated / tokens : UNKNOWN);
    real(w, "allocations_per_token", tokens > 0 && n->allocations >= 0 ? (double)n->allocations / tokens : UNKNOWN);
}

void heap_lines_json(const struct heap_view *v, struct json_writer *w)
{
    const struct heap *h = &v->heap;
    struct numbers n = numbers_of(h);
    number(w, "allocations", n.allocations);
    number(w, "allocated_bytes", n.allocated);
    number(w, "frees", n.frees);
    number(w, "freed_bytes", n.freed);
    number(w, "live_blocks", n.live);
    number(w, "live_bytes", n.live_bytes);
    number(w, "peak_bytes", n.peak_bytes);
    real(w, "peak_after_ns", n.peak_after_ns);
    number(w, "temporary", h->whole.of[HEAP_TEMPORARY]);
    number(w, "unknown_frees", h->counted.unknown_frees);
    number(w, "unseen", h->counted.unseen);
    real(w, "allocations_per_s", n.allocations >= 0 ? (double)n.allocations / n.seconds : UNKNOWN);
    real(w, "allocated_bytes_per_s", n.allocated >= 0 ? (double)n.allocated / n.seconds : UNKNOWN);
    json_rates(w, v, &n);
    text(w, "mode", h->mode);
    number(w, "period_bytes", h->period ? h->period : HEAP_UNKNOWN);
    text(w, "allocator", h->allocator);
    text(w, "note", h->note);
    json_estimate(w, h);
}
