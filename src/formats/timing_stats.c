#include "formats/timing_stats.h"

#include <inttypes.h>
#include <math.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char *const columns[] = {
    "row_index", "timestamp_iso", "timestamp_unix", "prompt_tokens", "kv_len", "completion_tokens", "generated_tokens",
    "prefill_seconds", "elapsed_seconds", "tokens_per_second", "prompt_start_to_prompt_start_seconds",
    "max_context_tokens", "max_kv_size", "repetition_window", "loop_detection_mode", "prefill_start_offset",
    "memory_architecture", "memory_device_name", "memory_max_buffer_length", "memory_max_recommended_working_set_size",
    "memory_memory_size", "memory_resource_limit",
};

void timing_stats_header(struct sink *out)
{
    sink_puts(out, "TIMING_STATS_HEADER");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        sink_printf(out, "\t%s", columns[i]);
    sink_char(out, '\n');
}

static void put_seconds(struct sink *out, double s)
{
    if (isfinite(s))
        sink_printf(out, "\t%.9f", s);
    else
        sink_puts(out, "\tNone");
}

/* The last six columns are facts of the device; we have a processor, and its memory. */
static void put_device(struct sink *out)
{
    struct utsname host;
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    sink_printf(out, "\t%s\tNone\tNone\tNone\t", uname(&host) == 0 ? host.machine : "None");
    if (pages > 0 && page_bytes > 0)
        sink_printf(out, "%" PRId64 "\tNone\n", (int64_t)pages * page_bytes);
    else
        sink_puts(out, "None\tNone\n");
}

void timing_stats_row(struct sink *out, const struct timing_row *r)
{
    time_t second = (time_t)(r->ended_ns / 1000000000);
    unsigned micros = (unsigned)(r->ended_ns % 1000000000 / 1000);
    struct tm utc;
    char day[32];
    gmtime_r(&second, &utc);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    sink_printf(out, "TIMING_STATS\t%" PRIu64 "\t%s.%06uZ\t%" PRId64 ".%06u", r->index, day, micros, (int64_t)second, micros);
    sink_printf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, r->prompt_tokens, r->prompt_tokens, r->generated_tokens,
                r->generated_tokens);
    put_seconds(out, r->prefill_s);
    put_seconds(out, r->elapsed_s);
    put_seconds(out, r->elapsed_s > 0 ? (double)r->generated_tokens / r->elapsed_s : NAN);
    put_seconds(out, r->since_last_start_s);
    sink_printf(out, "\t%" PRIu64 "\tNone\tNone\tNone\t%" PRIu64, r->context, r->cached_tokens);
    put_device(out);
}
