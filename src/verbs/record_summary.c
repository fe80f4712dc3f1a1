#include "verbs/record_summary.h"
#include "base/json.h"
#include "base/text.h"
#include "capture/host/process_status.h"
#include "model/capture_reader.h"
#include "render/heap_view.h"
#include "render/report.h"

#include <sys/stat.h>

static uint64_t file_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* The most memory this process ever had. Not from getrusage(): that counts from before the exec. */
static double peak_bytes(void)
{
    struct host here = host_here();
    struct process_status s;
    return process_status_read(&here, 0, &s) == 0 ? s.peak_bytes : UNKNOWN;
}

/* Sums are enough for a list of the busiest: an hour of samples is more than the recorder had in memory at any time. */
static bool open_sums(const char *path, struct profile **out, struct err *e)
{
    own(reader) struct reader in = {.fd = -1};
    if (!reader_open(&in, path, e))
        return false;
    own(builder) struct builder *b = builder_new();
    builder_add_up(b);
    return (capture_read(b, &in, NULL, e) && builder_finish(take(b), out, e)) || err_in(e, "%s", path);
}

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : UNKNOWN; }

static void print_waits(const struct recording *r, struct sink *out)
{
    const struct waits_count *w = &r->waits;
    char off[32], count[32], text[32];
    text_ns(off, (double)w->sum.waiting_ns);
    text_count(count, (int64_t)w->waits);
    sink_printf(out, "off CPU: %s in %s waits, %s", off, count,
                r->has_wait_stacks ? "with stacks taken at each switch"
                                   : "looked at every 20 ms (root, or CAP_PERFMON, would give the stack of each)");
    if (w->stackless_ns) {
        text_ns(text, (double)w->stackless_ns);
        sink_printf(out, "; %s without a stack of its own", text);
    }
    if (w->sum.unknown_ns) {
        text_ns(text, (double)w->sum.unknown_ns);
        sink_printf(out, "; %s neither on nor off for sure, records were lost", text);
    }
    sink_char(out, '\n');
}

static void print_heap(const struct heap_result *h, struct sink *out)
{
    char count[32], bytes[32], live[32], blocks[32], peak[32];
    text_count(count, (int64_t)h->allocations);
    text_count(blocks, h->live_blocks);
    text_bytes(bytes, (double)h->bytes);
    text_bytes(live, (double)h->live_bytes);
    text_bytes(peak, (double)h->peak_bytes);
    sink_printf(out, "heap: %s allocations, %s in all; peak %s; %s in %s blocks not freed; %s", count, bytes, peak, live, blocks, h->mode);
    if (h->samples) {
        text_count(count, (int64_t)h->samples);
        sink_printf(out, ", %s samples", count);
    }
    if (h->unseen)
        sink_printf(out, "; %llu calls not seen", (unsigned long long)h->unseen);
    sink_char(out, '\n');
    if (*h->note)
        sink_printf(out, "heap: %s\n", h->note);
}

static void print_counts(const struct record_summary *s, struct sink *out)
{
    const struct recording *r = s->result;
    char length[32], cpu[32], count[32];
    text_ns(length, (double)(r->end_ns - r->start_ns));
    text_count(count, (int64_t)r->samples);
    sink_printf(out, "recorded %s", length);
    if (r->cpu_ns >= 0) {
        text_ns(cpu, (double)r->cpu_ns);
        sink_printf(out, " with %s of CPU time", cpu);
    }
    sink_printf(out, ": %s samples at %llu Hz, by %s%s%s%s\n", count, (unsigned long long)s->rate_hz, r->engine,
                *r->engine_note ? " (" : "", r->engine_note, *r->engine_note ? ")" : "");
    sink_printf(out, "lost: %llu", (unsigned long long)r->lost);
    if (r->unsampled)
        sink_printf(out, ", and %.1f %% of the CPU time without a sample",
                    100 * share(r->unsampled, r->unsampled + r->lost + r->samples));
    if (r->with_stack)
        sink_printf(out, "; %.2f %% of the stacks reach a thread's start, %llu truncated",
                    100 * share(r->complete, r->with_stack), (unsigned long long)r->truncated);
    if (r->guessed)
        sink_printf(out, ", %llu with guessed frames", (unsigned long long)r->guessed);
    sink_puts(out, "\n");
    if (r->has_waits)
        print_waits(r, out);
    if (r->heap.is_on)
        print_heap(&r->heap, out);
    sink_puts(out, "\n");
}

/* The set that holds the samples of the CPU; NULL when there is none. */
static const struct sample_set *cpu_set(const struct profile *p)
{
    for (uint32_t i = 0; i < profile_sets(p); i++) {
        const struct sample_set *set = profile_set(p, (set_id){i});
        if (view_same(profile_string(p, set->name), VIEW("cpu")) && set->n)
            return set;
    }
    return NULL;
}

static struct report report_of(const struct record_summary *s, const struct profile *p)
{
    enum { TOP_ROWS = 10 };
    return (struct report){.source = s->path, .p = p, .set = cpu_set(p), .most_rows = TOP_ROWS, .top = true, .style = s->style};
}

bool record_summary_print(const struct record_summary *s, struct sink *out, struct err *e)
{
    own(profile) struct profile *p = NULL;
    print_counts(s, out);
    if (!open_sums(s->path, &p, e))
        return false;
    struct report r = report_of(s, p);
    if (r.set)
        report_top(&r, out);
    else
        sink_puts(out, "No sample: the program used no CPU time that could be seen, or ended at once.\n");
    heap_summary_print(p, &s->style, out);
    char size[32];
    text_bytes(size, (double)file_bytes(s->path));
    sink_printf(out, "\nwritten: %s (%s)\n", s->path, size);
    if (r.set)
        sink_printf(out, "next:    inferom report --tree %s\n", s->path);
    if (s->is_target_running)
        sink_puts(out, "The recording is over, the program goes on; Ctrl-C ends it.\n");
    return true;
}

static void json_number(struct json_writer *w, const char *key, uint64_t n)
{
    json_key(w, key);
    json_uint(w, n);
}

bool record_summary_json(const struct record_summary *s, struct sink *out, struct err *e)
{
    const struct recording *r = s->result;
    own(profile) struct profile *p = NULL;
    if (!open_sums(s->path, &p, e))
        return false;
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_key(&w, "file");
    json_text(&w, view_of(s->path));
    json_number(&w, "file_bytes", file_bytes(s->path));
    json_key(&w, "engine");
    json_text(&w, view_of(r->engine));
    json_number(&w, "rate_hz", s->rate_hz);
    json_number(&w, "duration_ns", r->end_ns - r->start_ns);
    json_key(&w, "cpu_ns");
    if (r->cpu_ns >= 0)
        json_int(&w, r->cpu_ns);
    else
        json_null(&w);
    json_key(&w, "command_cpu_ns");
    json_double(&w, s->command_cpu_ns);
    json_key(&w, "recorder_peak_bytes");
    json_double(&w, peak_bytes());
    json_number(&w, "samples", r->samples);
    json_number(&w, "lost", r->lost);
    json_number(&w, "unsampled", r->unsampled);
    json_number(&w, "truncated", r->truncated);
    json_number(&w, "guessed", r->guessed);
    if (r->has_waits) {
        json_number(&w, "off_cpu_ns", r->waits.sum.waiting_ns);
        json_number(&w, "waits", r->waits.waits);
        json_number(&w, "waits_unknown_ns", r->waits.sum.unknown_ns);
        json_number(&w, "waits_stackless_ns", r->waits.stackless_ns);
        json_key(&w, "wait_stacks");
        json_text(&w, r->has_wait_stacks ? VIEW("switch") : VIEW("look"));
    }
    if (r->heap.is_on) {
        json_key(&w, "heap_mode");
        json_text(&w, view_of(r->heap.mode));
        json_number(&w, "heap_allocations", r->heap.allocations);
        json_number(&w, "heap_frees", r->heap.frees);
        json_number(&w, "heap_allocated_bytes", r->heap.bytes);
        json_number(&w, "heap_live_bytes", (uint64_t)(r->heap.live_bytes > 0 ? r->heap.live_bytes : 0));
        json_number(&w, "heap_live_blocks", (uint64_t)(r->heap.live_blocks > 0 ? r->heap.live_blocks : 0));
        json_number(&w, "heap_peak_bytes", (uint64_t)(r->heap.peak_bytes > 0 ? r->heap.peak_bytes : 0));
        json_number(&w, "heap_samples", r->heap.samples);
        json_number(&w, "heap_unseen", r->heap.unseen);
        json_key(&w, "heap_note");
        json_text(&w, view_of(r->heap.note));
    }
    json_key(&w, "complete_share");
    json_double(&w, share(r->complete, r->with_stack));
    struct report top = report_of(s, p);
    json_key(&w, "top");
    if (top.set)
        report_top_json(&top, &w);
    else
        json_null(&w);
    heap_summary_json(p, &w);
    json_close(&w, '}');
    sink_char(out, '\n');
    return true;
}
