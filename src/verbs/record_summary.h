/*
 * record_summary.h - what a recording says at its end
 *
 * The table comes from the file that was just written, so that what is shown here is what
 * 'inferom report' will show.
 */
#pragma once
#include "base/sink.h"
#include "capture/recorder.h"
#include "render/table.h"

struct record_summary {
    const char *path;
    uint64_t rate_hz;
    const struct recording *result;
    bool is_target_running;
    double command_cpu_ns; /* that the launched program took in all, when it has ended; else UNKNOWN */
    struct table_style style;
};

bool record_summary_print(const struct record_summary *s, struct sink *out, struct err *e) MUST_CHECK;
bool record_summary_json(const struct record_summary *s, struct sink *out, struct err *e) MUST_CHECK;
