#include "capture/memory/touched.h"
#include "base/clock.h"
#include "capture/host/process_status.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define REST_NS UINT64_C(2000000000)
enum { REST_SHARE = 100 };

static struct holding *weights_of(struct holdings *h, const struct map_news *m)
{
    struct view path = map_path(m);
    for (size_t i = 0; i < h->n; i++)
        if (h->rows[i].is_weights && h->rows[i].inode == m->inode && view_same(view_of(h->rows[i].path), path))
            return &h->rows[i];
    return NULL;
}

bool touched_is_due(const struct touched *t, const struct holdings *h, uint64_t now_ns)
{
    bool has_weights = false;
    for (size_t i = 0; i < h->n; i++)
        has_weights |= h->rows[i].is_weights && h->rows[i].mapped_bytes;
    return has_weights && now_ns >= t->next_ns;
}

/* A line like those of maps, then lines of numbers about it. */
bool touched_take(struct holdings *h, struct reader *smaps, struct err *e)
{
    struct err failed = {0};
    struct view line;
    struct holding *row = NULL;
    for (size_t i = 0; i < h->n; i++)
        h->rows[i].touched_bytes = 0;
    while (reader_line(smaps, &line, &failed)) {
        struct map_news m;
        double bytes;
        if (maps_line_parse(line, &m))
            row = m.path.n ? weights_of(h, &m) : NULL;
        else if (row && process_kib_line(line, VIEW("Referenced:"), &bytes))
            row->touched_bytes += bytes;
    }
    return !failed.kind || err_set(e, failed.kind, "%s", failed.text);
}

static bool take_marks_away(const struct host *host, int32_t pid, struct err *e)
{
    static const char files_only[] = "3";
    char path[320];
    snprintf(path, sizeof path, "%s/proc/%" PRId32 "/clear_refs", host->root, pid);
    own(close) int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    return (fd >= 0 && write(fd, files_only, 1) == 1) || err_os(e, "%s", path);
}

static bool count_marks(struct holdings *h, const struct host *host, int32_t pid, struct err *e)
{
    char path[320];
    snprintf(path, sizeof path, "%s/proc/%" PRId32 "/smaps", host->root, pid);
    own(reader) struct reader r;
    return reader_open(&r, path, e) && touched_take(h, &r, e);
}

bool touched_look(struct touched *t, struct holdings *h, const struct host *host, int32_t pid, struct err *e)
{
    uint64_t cpu_ns = clock_thread_cpu_ns();
    bool ok = !t->next_ns || count_marks(h, host, pid, e);
    for (size_t i = 0; i < h->n; i++)
        if (!t->next_ns || !h->rows[i].is_weights)
            h->rows[i].touched_bytes = NAN;
    ok = ok && take_marks_away(host, pid, e);
    uint64_t rest_ns = REST_SHARE * (clock_thread_cpu_ns() - cpu_ns);
    t->next_ns = clock_monotonic_ns() + (rest_ns > REST_NS ? rest_ns : REST_NS);
    return ok;
}
