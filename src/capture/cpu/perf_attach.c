/* Attaching to threads that run while we look. */
#include "base/clock.h"
#include "base/mem.h"
#include "capture/cpu/perf_source.h"

#include <dirent.h>
#include <inttypes.h>

void perf_note_watched(struct perf_source *s, int32_t tid)
{
    GROW(s->watched, s->watched_cap, s->n_watched + 1);
    s->watched[s->n_watched++] = tid;
}

static bool is_watched(const struct perf_source *s, int32_t tid)
{
    for (size_t i = 0; i < s->n_watched; i++)
        if (s->watched[i] == tid)
            return true;
    return false;
}

bool perf_watch(struct perf_source *s, int32_t pid, int32_t tid, bool at_exec, struct err *e)
{
    bool is_gone = false;
    if (!perf_events_add(&s->events, tid, at_exec, &is_gone, e))
        return false;
    perf_note_watched(s, tid);
    if (is_gone)
        return true;
    if (s->waits)
        waits_found(s->waits, pid, tid, clock_monotonic_ns());
    if (s->waits && !s->events.has_wait_stacks)
        waits_rely_on_looks(s->waits);
    return true;
}

/* One look at the list of threads; *out_new says how many of them nobody watched. */
static bool watch_threads(struct perf_source *s, int32_t pid, size_t *out_new, struct err *e)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/task", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return err_set(e, ERR_NOT_FOUND, "process %" PRId32 " has ended", pid);
    bool ok = true;
    *out_new = 0;
    for (const struct dirent *d; ok && (d = readdir(folder));) {
        int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);
        if (tid <= 0 || is_watched(s, tid))
            continue;
        ++*out_new;
        ok = perf_watch(s, pid, tid, false, e);
    }
    closedir(folder);
    return ok;
}

/*
 * Threads come and go while we look. One that appears in the list later was made either by a thread
 * that had our events already, and then has inherited them (the ring tells of its fork), or by one
 * that had none yet, and then it needs its own. Both at once would count it twice.
 */
bool perf_attach_running(struct perf_source *s, int32_t pid, struct err *e)
{
    enum { LOOKS_MOST = 32 };
    size_t fresh = 1;
    if (!processes_attach(s->ps, pid, clock_monotonic_ns(), e))
        return false;
    s->is_attaching = true;
    for (int look = 0; fresh && look < LOOKS_MOST; look++) {
        if (!watch_threads(s, pid, &fresh, e))
            return false;
        perf_take_all(s);
    }
    s->is_attaching = false;
    return true;
}
