#include "capture/memory/memory_process.h"
#include "base/clock.h"
#include "base/log.h"
#include "capture/process_labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define PASS_REST_NS UINT64_C(1000000000)
#define PASS_CHANGED_NS UINT64_C(200000000) /* something was mapped or unmapped */
enum { PASS_SHARE = 1000, PASS_CHANGED_SHARE = 200 }; /* one part in so many of the time */

static const struct {
    struct view name;
    size_t at; /* in struct process_status */
} series_rows[MEMORY_SERIES_COUNT] = {
    [MEMORY_RSS] = {VIEW("memory.rss"), offsetof(struct process_status, rss_bytes)},
    [MEMORY_ANON] = {VIEW("memory.anon"), offsetof(struct process_status, anon_bytes)},
    [MEMORY_FILE] = {VIEW("memory.file"), offsetof(struct process_status, file_bytes)},
    [MEMORY_SHARED] = {VIEW("memory.shared"), offsetof(struct process_status, shared_bytes)},
    [MEMORY_SWAP] = {VIEW("memory.swap"), offsetof(struct process_status, swap_bytes)},
};

static double value_of(const struct process_status *s, enum memory_series which)
{
    double bytes;
    memcpy(&bytes, (const char *)s + series_rows[which].at, sizeof bytes);
    return bytes;
}

void memory_process_init(struct memory_process *p, int32_t pid, bool is_main)
{
    *p = (struct memory_process){.pid = pid, .is_main = is_main, .pages = {.fd = -1}};
}

void memory_process_done(struct memory_process *p)
{
    holdings_done(&p->holdings);
    pages_done(&p->pages);
}

void memory_process_begin_again(struct memory_process *p)
{
    p->has_series = false;
    for (size_t i = 0; i < p->holdings.n; i++)
        p->holdings.rows[i].has_mapped = p->holdings.rows[i].has_resident = p->holdings.rows[i].has_touched = false;
}

/* Status. */

static void make_series(struct memory_process *p, const struct memory_watch *w)
{
    struct builder *names = capture_names(w->into);
    labels_id labels = process_labels(w->host, names, p->pid);
    for (size_t i = 0; i < MEMORY_SERIES_COUNT; i++)
        p->series[i] = builder_series(names, series_rows[i].name, UNIT_BYTES, VIEW(""), labels);
    p->has_series = true;
}

static void write_status(const struct memory_process *p, const struct memory_watch *w)
{
    for (size_t i = 0; i < MEMORY_SERIES_COUNT; i++) {
        double bytes = value_of(&p->status, (enum memory_series)i);
        if (!isnan(bytes))
            capture_reading(w->into, p->series[i], p->status_ns, bytes);
    }
}

bool memory_process_look(struct memory_process *p, const struct memory_watch *w, uint64_t now_ns)
{
    struct process_status s;
    if (process_status_read(w->host, p->pid, &s) != 0 || isnan(s.rss_bytes))
        return false;
    bool is_new = !p->has_series;
    if (is_new && (p->is_main || p->status_ns)) {
        make_series(p, w);
        if (p->status_ns && !p->is_main) /* the first, which had to wait */
            write_status(p, w);
    }
    p->status = s;
    p->status_ns = now_ns;
    if (p->has_series)
        write_status(p, w);
    return true;
}

bool memory_process_pss(const struct memory_process *p, const struct memory_watch *w, uint64_t now_ns)
{
    double bytes;
    if (process_pss_read(w->host, p->pid, &bytes) != 0)
        return false;
    struct builder *names = capture_names(w->into);
    series_id series = builder_series(names, VIEW("memory.pss"), UNIT_BYTES, VIEW(""), process_labels(w->host, names, p->pid));
    capture_reading(w->into, series, now_ns, bytes);
    return true;
}

/* Series of what is mapped. */

static labels_id holding_labels(const struct memory_process *p, const struct memory_watch *w, const struct holding *h)
{
    struct builder *names = capture_names(w->into);
    struct label labels[6];
    size_t n = 0;
    char region[24];
    labels[n++] = (struct label){.key = builder_string(names, VIEW("map_kind")), .text = builder_string(names, view_of(map_kind_names[h->kind]))};
    if (h->path)
        labels[n++] = (struct label){.key = builder_string(names, VIEW("path")), .text = builder_string(names, view_of(h->path))};
    if (h->is_weights)
        labels[n++] = (struct label){.key = builder_string(names, VIEW("weights")), .number = 1};
    if (h->region && !h->is_rest) {
        snprintf(region, sizeof region, "0x%" PRIx64, h->region);
        labels[n++] = (struct label){.key = builder_string(names, VIEW("region")), .text = builder_string(names, view_of(region))};
    }
    return builder_labels(names, labels, process_labels_add(w->host, names, p->pid, labels, n));
}

enum holding_series { SAY_MAPPED, SAY_RESIDENT, SAY_TOUCHED };

static void say(const struct memory_process *p, const struct memory_watch *w, struct holding *h, enum holding_series what, uint64_t now_ns,
                double bytes)
{
    const struct {
        struct view name;
        series_id *series;
        bool *has;
    } rows[] = {
        [SAY_MAPPED] = {VIEW("memory.mapped"), &h->mapped, &h->has_mapped},
        [SAY_RESIDENT] = {VIEW("memory.resident"), &h->resident, &h->has_resident},
        [SAY_TOUCHED] = {VIEW("memory.touched"), &h->touched, &h->has_touched},
    }, *row = &rows[what];
    if (!*row->has)
        *row->series = builder_series(capture_names(w->into), row->name, UNIT_BYTES, VIEW(""), holding_labels(p, w, h));
    *row->has = true;
    capture_reading(w->into, *row->series, now_ns, bytes);
}

static void say_mapped(struct memory_process *p, const struct memory_watch *w, uint64_t now_ns)
{
    for (size_t i = 0; i < p->holdings.n; i++) {
        struct holding *h = &p->holdings.rows[i];
        double bytes = (double)h->mapped_bytes;
        if (h->has_mapped && h->said_mapped_bytes == bytes)
            continue;
        say(p, w, h, SAY_MAPPED, now_ns, bytes);
        h->said_mapped_bytes = bytes;
    }
}

/* A page of a file that the process has written to is its own from then on: anonymous, whatever is mapped there. */
static void say_resident(struct memory_process *p, const struct memory_watch *w)
{
    uint64_t now_ns = clock_monotonic_ns(), written = 0;
    struct holding *rest = NULL;
    for (size_t i = 0; i < p->holdings.n; i++) {
        struct holding *h = &p->holdings.rows[i];
        if (h->kind == MAP_FILE_PAGES)
            written += h->pages.private;
        if (h->is_rest && h->kind == MAP_ANON)
            rest = h;
    }
    for (size_t i = 0; i < p->holdings.n; i++) {
        struct holding *h = &p->holdings.rows[i];
        uint64_t bytes = h->pages.file + (h->kind == MAP_FILE_PAGES ? 0 : h->pages.private) + (h == rest ? written : 0);
        say(p, w, h, SAY_RESIDENT, now_ns, (double)bytes);
    }
}

/* A pass. */

static uint64_t longer(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool is_due(const struct memory_process *p, uint64_t now_ns)
{
    if (!p->status_ns)
        return false;
    if (!p->passes)
        return true;
    uint64_t rest_ns = longer(PASS_REST_NS, PASS_SHARE * p->pass_cpu_ns);
    if (p->status.size_bytes != p->pass_size_bytes)
        rest_ns = longer(PASS_CHANGED_NS, PASS_CHANGED_SHARE * p->pass_cpu_ns);
    return now_ns - p->pass_ended_ns >= rest_ns;
}

static void end_pass(struct memory_process *p)
{
    pages_done(&p->pages);
    p->pass_ended_ns = clock_monotonic_ns();
    p->passes++;
}

static void refuse(struct memory_process *p, const char *what, const struct err *why)
{
    end_pass(p);
    snprintf(p->why_not, sizeof p->why_not, "%s%.120s", what, why->text);
    log_debug("memory of process %" PRId32 ": %s", p->pid, p->why_not);
}

static bool begin_pass(struct memory_process *p, const struct memory_watch *w)
{
    struct err e = {0};
    p->pass_cpu_ns = 0;
    p->pass_size_bytes = p->status.size_bytes;
    p->at_stretch = 0;
    if (!holdings_read(&p->holdings, w->host, p->pid, &e)) {
        refuse(p, "what is mapped: ", &e);
        return false;
    }
    say_mapped(p, w, clock_monotonic_ns());
    if (!pages_open(&p->pages, w->host, p->pid, &e)) {
        refuse(p, "how much of each mapping is in memory: ", &e);
        return false;
    }
    p->pages.has_scan = !p->lacks_scan;
    p->at = p->holdings.stretches[0].start;
    return true;
}

/* Counts until it is late. False: the pass is over. */
static bool count_some(struct memory_process *p, const struct memory_watch *w, uint64_t until_ns)
{
    struct err e = {0};
    while (p->at_stretch < p->holdings.n_stretches) {
        const struct stretch *s = &p->holdings.stretches[p->at_stretch];
        if (!pages_count(&p->pages, &p->at, s->end, &p->holdings.rows[s->holding].pages, &e)) {
            if (e.kind == ERR_DENIED)
                refuse(p, "how much of each mapping is in memory: ", &e);
            else
                end_pass(p); /* it has ended, or runs another program now: what was counted is no use */
            return false;
        }
        if (p->at >= s->end && ++p->at_stretch < p->holdings.n_stretches)
            p->at = p->holdings.stretches[p->at_stretch].start;
        if (clock_monotonic_ns() >= until_ns)
            break;
    }
    if (p->at_stretch < p->holdings.n_stretches)
        return true;
    say_resident(p, w);
    p->lacks_scan = !p->pages.has_scan;
    p->why_not[0] = '\0';
    end_pass(p);
    return false;
}

void memory_process_pass(struct memory_process *p, const struct memory_watch *w, uint64_t until_ns)
{
    uint64_t now_ns = clock_monotonic_ns();
    if (p->pages.fd < 0 && !is_due(p, now_ns))
        return;
    uint64_t cpu_ns = clock_thread_cpu_ns(), before_ns = p->pages.fd < 0 ? 0 : p->pass_cpu_ns;
    if (p->pages.fd >= 0 || begin_pass(p, w))
        count_some(p, w, until_ns);
    p->pass_cpu_ns = before_ns + clock_thread_cpu_ns() - cpu_ns;
}

/* Between passes: a pass has rows of its own in mind. */
void memory_process_touched(struct memory_process *p, const struct memory_watch *w, uint64_t now_ns)
{
    struct err e = {0};
    if (p->pages.fd >= 0 || !touched_is_due(&p->touched, &p->holdings, now_ns))
        return;
    if (!touched_look(&p->touched, &p->holdings, w->host, p->pid, &e)) {
        snprintf(p->why_not, sizeof p->why_not, "which pages of weights are used: %.120s", e.text);
        return;
    }
    for (size_t i = 0; i < p->holdings.n; i++) {
        struct holding *h = &p->holdings.rows[i];
        if (h->is_weights && h->mapped_bytes && !isnan(h->touched_bytes))
            say(p, w, h, SAY_TOUCHED, clock_monotonic_ns(), h->touched_bytes);
    }
}
