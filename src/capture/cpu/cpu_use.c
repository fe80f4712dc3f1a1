/*
 * How busy each process and each core was, a few times a second.
 *
 * A process's time comes from its CPU clock, which the kernel keeps in nanoseconds and
 * with the time of threads that have ended; /proc/PID/stat counts the same in hundredths
 * of a second. Which processes there are the recorder knows from its engine: looking for
 * children in /proc takes a file per thread, and seconds on a machine whose threads are
 * many and busy. A core's time is in /proc/stat.
 *
 *     series "cpu use"   labels process = name, pid = n     percent of one core
 *     series "core use"  label core = n                     percent
 */
#include "base/clock.h"
#include "base/mem.h"
#include "capture/process_labels.h"
#include "capture/process_list.h"
#include "capture/recorder.h"

#include <stdio.h>
#include <time.h>

#define EVERY_NS UINT64_C(250000000)
#define SHORTEST_NS UINT64_C(50000000) /* a rest at the end that is shorter says nothing */

struct watched {
    uint64_t cpu_ns, time_ns; /* at the last look; time 0: not looked yet */
    series_id series;
    bool has_series;
};

struct core {
    unsigned number;
    uint64_t busy, all; /* clock ticks, at the last look */
    series_id series;
    bool has_series;
};

struct cpu_use {
    const struct host *host;
    struct process_list processes; /* struct watched */
    struct core *cores;
    size_t n_cores, cores_cap;
    uint64_t looked_ns; /* 0: the measuring has not begun */
};

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    (void)p;
    return h->sys || err_set(why_not, ERR_UNSUPPORTED, "there is no running system to ask");
}

static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    (void)into;
    (void)e;
    struct cpu_use *u = mem_new(sizeof *u);
    u->host = p->host;
    u->processes.row_bytes = sizeof(struct watched);
    *out_self = u;
    return true;
}

static void free_use(void *self)
{
    struct cpu_use *u = self;
    process_list_done(&u->processes);
    free(u->cores);
    free(u);
}

/* Processes. */

static bool process_cpu_ns(int32_t pid, uint64_t *out)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return false;
    *out = (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
    return true;
}

/* There is a reading from the second look on. Who is gone by then has no series: they would be many, and all empty. */
static void read_process(const struct cpu_use *u, int32_t pid, struct watched *w, struct capture_writer *into, uint64_t now_ns)
{
    uint64_t cpu_ns;
    if (!process_cpu_ns(pid, &cpu_ns))
        return;
    if (w->time_ns && now_ns > w->time_ns) {
        struct builder *names = capture_names(into);
        if (!w->has_series)
            w->series = builder_series(names, VIEW("cpu use"), UNIT_OTHER, VIEW("%"), process_labels(u->host, names, pid));
        w->has_series = true;
        capture_reading(into, w->series, now_ns, 100 * (double)(cpu_ns - w->cpu_ns) / (double)(now_ns - w->time_ns));
    }
    w->cpu_ns = cpu_ns;
    w->time_ns = now_ns;
}

static void read_processes(struct cpu_use *u, struct recorder *into)
{
    size_t n;
    const int32_t *pids = recorder_processes(into, &n);
    process_list_update(&u->processes, pids, n, &(struct process_list_news){0});
    for (size_t i = 0; i < u->processes.n; i++)
        read_process(u, u->processes.pids[i], process_list_row(&u->processes, i), recorder_capture(into), clock_monotonic_ns());
}

/* Cores. /proc/stat:   cpu0 user nice system idle iowait irq softirq steal guest guest_nice */

static struct core *core_numbered(struct cpu_use *u, unsigned number)
{
    for (size_t i = 0; i < u->n_cores; i++)
        if (u->cores[i].number == number)
            return &u->cores[i];
    GROW(u->cores, u->cores_cap, u->n_cores + 1);
    u->cores[u->n_cores] = (struct core){.number = number};
    return &u->cores[u->n_cores++];
}

static series_id core_series(struct builder *names, unsigned number)
{
    struct label label = {.key = builder_string(names, VIEW("core")), .number = number};
    return builder_series(names, VIEW("core use"), UNIT_OTHER, VIEW("%"), builder_labels(names, &label, 1));
}

static void read_core(struct cpu_use *u, const char *line, struct capture_writer *into, uint64_t now_ns)
{
    enum { IDLE = 3, WAITING = 4, FIELDS = 8 };
    unsigned number;
    int used = 0;
    if (sscanf(line, "cpu%u %n", &number, &used) != 1 || line[3] == ' ') /* the first line is the sum of all */
        return;
    uint64_t busy = 0, all = 0;
    char *at = (char *)line + used;
    for (int i = 0; i < FIELDS; i++) {
        uint64_t n = strtoull(at, &at, 10);
        all += n;
        busy += i == IDLE || i == WAITING ? 0 : n;
    }
    struct core *c = core_numbered(u, number);
    if (!c->has_series)
        c->series = core_series(capture_names(into), number);
    c->has_series = true;
    if (c->all && all > c->all)
        capture_reading(into, c->series, now_ns, 100 * (double)(busy - c->busy) / (double)(all - c->all));
    c->busy = busy;
    c->all = all;
}

static void read_cores(struct cpu_use *u, struct capture_writer *into)
{
    enum { STAT_BYTES = 1 << 16 };
    own(free) char *text = mem_new(STAT_BYTES);
    if (host_text(u->host, "/proc/stat", text, STAT_BYTES) != 0)
        return;
    uint64_t now_ns = clock_monotonic_ns();
    char *rest = NULL;
    for (const char *line = strtok_r(text, "\n", &rest); line && !strncmp(line, "cpu", 3); line = strtok_r(NULL, "\n", &rest))
        read_core(u, line, into, now_ns);
}

static void look(struct cpu_use *u, struct recorder *into)
{
    read_processes(u, into);
    read_cores(u, recorder_capture(into));
    u->looked_ns = clock_monotonic_ns();
}

static bool begin(void *self, struct err *e)
{
    struct cpu_use *u = self;
    (void)e;
    u->looked_ns = 1; /* long ago */
    return true;
}

static bool drain(void *self, struct recorder *into, struct err *e)
{
    struct cpu_use *u = self;
    (void)e;
    if (u->looked_ns && clock_monotonic_ns() - u->looked_ns >= EVERY_NS)
        look(u, into);
    return true;
}

static void begin_again(void *self, struct recorder *into)
{
    struct cpu_use *u = self;
    (void)into;
    for (size_t i = 0; i < u->processes.n; i++)
        ((struct watched *)process_list_row(&u->processes, i))->has_series = false;
    for (size_t i = 0; i < u->n_cores; i++)
        u->cores[i].has_series = false;
}

static void stop(void *self, struct recorder *into)
{
    struct cpu_use *u = self;
    if (u->looked_ns && clock_monotonic_ns() - u->looked_ns >= SHORTEST_NS)
        look(u, into);
}

const struct source source_cpu_use = {
    .name = "cpu_use",
    .role = "cpu use",
    .what = "how busy each process and core is, over time",
    .probe = probe,
    .start = start,
    .begin = begin,
    .drain = drain,
    .begin_again = begin_again,
    .stop = stop,
    .free = free_use,
};
