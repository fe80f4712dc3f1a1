/*
 * contents.h - what is in a profile, on a screen or as JSON
 *
 * Not what it means (report.h does that) but what was recorded: about the run,
 * by whom, how many samples of what over which time, and what is missing. For
 * a capture file also the state of the file itself.
 */
#pragma once
#include "model/capture_reader.h"
#include "render/table.h"

struct contents {
    const char *source; /* the file */
    const char *format; /* "inferom" */
    const struct profile *p;
    const struct capture_report *file; /* NULL: not a capture file */
    struct table_style style;
};

void contents_print(const struct contents *c, struct sink *out);
void contents_json(const struct contents *c, struct sink *out);
