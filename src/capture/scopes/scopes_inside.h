/* scopes_inside.h - a process on its way into the recording: what scopes_capture.c and scopes_events.c share */
#pragma once
#include "capture/scopes/scopes_capture.h"

struct writing {
    struct scopes_memory *m;
    struct seen_process *p;
    const struct scopes_clock *clock; /* NULL: ticks are nanoseconds */
    uint64_t now_ns;
    struct capture_writer *into;
    struct builder *names;
    process_id process;
    struct scopes_process head; /* as it is now */
};

/* Programs go on while we read: an event may be a little later than our now. What is far ahead was invented. */
static inline bool writing_is_ahead(const struct writing *w, uint64_t ns)
{
    return ns > w->now_ns && ns - w->now_ns > UINT64_C(10000000000);
}

uint64_t writing_ns(const struct writing *w, uint64_t tick);
thread_id writing_thread(const struct writing *w, const struct scopes_thread *shared);
str_id writing_site_name(const struct writing *w, uint32_t site); /* "" when nobody said */

/* scopes_events.c */
void scopes_write_events(const struct writing *w); /* what is new */
void scopes_write_last(const struct writing *w);   /* what is open, and what numbers came to */
