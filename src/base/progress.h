/*
 * progress.h - a line that moves while we work, on a terminal; silence otherwise
 *
 *     struct progress p = progress_begin("reading run.folded", total_bytes);
 *     progress_at(&p, done_bytes);             // as often as you like
 *     progress_end(&p);                        // clears the line
 *
 * Nothing is shown for work shorter than half a second.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what;
    uint64_t total; /* 0: unknown */
    uint64_t begun_ns, drawn_ns;
    bool shown;
};

struct progress progress_begin(const char *what, uint64_t total);
void progress_at(struct progress *p, uint64_t done);
void progress_end(struct progress *p);

/* Off unless a door that talks to a terminal switches it on. */
void progress_enable(bool on);
