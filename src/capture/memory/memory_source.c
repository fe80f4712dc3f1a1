/*
 * The memory of the target, seen from outside: nothing is put into it, nothing stops it.
 *
 * Ten times a second a few processes are looked at, and a millisecond is spent on counting pages
 * (memory_process.h). Of very many processes each is looked at less often; no tick takes longer.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "capture/memory/memory_process.h"
#include "capture/process_list.h"
#include "capture/recorder.h"

#include <inttypes.h>

#define TICK_NS UINT64_C(100000000)
#define PASS_NS UINT64_C(1000000)
#define SHORTEST_NS UINT64_C(20000000) /* a rest at the end that is shorter says nothing */

enum { LOOKS_MOST = 64 /* in one tick */ };

struct memory_source {
    struct memory_watch watch;
    bool want_pss, want_touched;
    struct process_list processes; /* struct memory_process */
    size_t next_look, next_pass;
    uint64_t tick_ns; /* when the next is due; 0: the measuring has not begun */
    uint64_t looked_ns;
    double peak_bytes; /* the largest of all processes */
    int32_t peak_pid;
    bool has_looked, has_scan, has_words, has_pss;
    char why_not[sizeof ((struct memory_process *)0)->why_not];
    int32_t why_not_pid;
};

static bool probe(const struct host *h, const struct plan *p, struct err *why_not)
{
    if (!p->want_memory)
        return err_set(why_not, ERR_USAGE, "nobody asked");
    return h->sys || err_set(why_not, ERR_UNSUPPORTED, "there is no running system to ask");
}

static bool start(void **out_self, const struct plan *p, struct recorder *into, struct err *e)
{
    (void)e;
    struct memory_source *m = mem_new(sizeof *m);
    m->watch = (struct memory_watch){.host = p->host, .into = recorder_capture(into)};
    m->want_pss = p->want_pss;
    m->want_touched = p->want_touched;
    m->processes.row_bytes = sizeof(struct memory_process);
    *out_self = m;
    return true;
}

static struct memory_process *process_at(const struct memory_source *m, size_t i) { return process_list_row(&m->processes, i); }

static void free_memory(void *self)
{
    struct memory_source *m = self;
    for (size_t i = 0; i < m->processes.n; i++)
        memory_process_done(process_at(m, i));
    process_list_done(&m->processes);
    free(m);
}

/* Who is there. */

/* What is worth remembering of a process that is gone, or of all of them at the end. */
static void take_facts(struct memory_source *m, const struct memory_process *p)
{
    if (p->status_ns && p->status.peak_bytes > m->peak_bytes) {
        m->peak_bytes = p->status.peak_bytes;
        m->peak_pid = p->pid;
    }
    m->has_scan |= p->passes && !*p->why_not && !p->lacks_scan;
    m->has_words |= p->passes && !*p->why_not && p->lacks_scan;
    if (*p->why_not && !*m->why_not) {
        memcpy(m->why_not, p->why_not, sizeof m->why_not);
        m->why_not_pid = p->pid;
    }
}

static void came(void *self, void *row, int32_t pid)
{
    const struct memory_source *m = self;
    memory_process_init(row, pid, !m->has_looked);
}

static void gone(void *self, void *row)
{
    take_facts(self, row);
    memory_process_done(row);
}

static void find_processes(struct memory_source *m, struct recorder *from)
{
    size_t n;
    const int32_t *pids = recorder_processes(from, &n);
    process_list_update(&m->processes, pids, n, &(struct process_list_news){m, came, gone});
    m->has_looked |= n > 0;
}

/* Looking. */

static void look(struct memory_source *m, struct recorder *from)
{
    find_processes(m, from);
    size_t looks = m->processes.n < LOOKS_MOST ? m->processes.n : LOOKS_MOST;
    for (size_t i = 0; i < looks; i++) {
        m->next_look = (m->next_look + 1) % m->processes.n;
        memory_process_look(process_at(m, m->next_look), &m->watch, clock_monotonic_ns());
    }
    m->looked_ns = clock_monotonic_ns();
}

/* One after the other: who is in the middle of a pass keeps its turn. */
static void count_pages(struct memory_source *m)
{
    uint64_t until_ns = clock_monotonic_ns() + PASS_NS;
    for (size_t i = 0; i < m->processes.n && clock_monotonic_ns() < until_ns; i++) {
        m->next_pass %= m->processes.n;
        memory_process_pass(process_at(m, m->next_pass), &m->watch, until_ns);
        m->next_pass += process_at(m, m->next_pass)->pages.fd < 0;
    }
}

static bool begin(void *self, struct err *e)
{
    struct memory_source *m = self;
    (void)e;
    m->tick_ns = clock_monotonic_ns();
    return true;
}

static void look_at_pss(struct memory_source *m)
{
    for (size_t i = 0; m->want_pss && i < m->processes.n && i < LOOKS_MOST; i++)
        m->has_pss |= memory_process_pss(process_at(m, i), &m->watch, clock_monotonic_ns());
}

static bool drain(void *self, struct recorder *into, struct err *e)
{
    struct memory_source *m = self;
    uint64_t now_ns = clock_monotonic_ns();
    (void)e;
    if (!m->tick_ns || now_ns < m->tick_ns)
        return true;
    bool is_first = !m->looked_ns;
    look(m, into);
    if (is_first)
        look_at_pss(m);
    count_pages(m);
    for (size_t i = 0; m->want_touched && i < m->processes.n; i++)
        memory_process_touched(process_at(m, i), &m->watch, now_ns);
    m->tick_ns += TICK_NS;
    if (m->tick_ns < now_ns) /* we were kept from it: those that are missed are missed */
        m->tick_ns = now_ns + TICK_NS;
    return true;
}

static void begin_again(void *self, struct recorder *into)
{
    struct memory_source *m = self;
    (void)into;
    for (size_t i = 0; i < m->processes.n; i++)
        memory_process_begin_again(process_at(m, i));
}

/* The end. */

static void write_facts(const struct memory_source *m)
{
    struct capture_writer *w = m->watch.into;
    char text[sizeof m->why_not + 64];
    if (m->peak_bytes > 0) {
        snprintf(text, sizeof text, "%.0f", m->peak_bytes);
        capture_fact(w, VIEW("memory.peak_bytes"), view_of(text));
        snprintf(text, sizeof text, "%" PRId32, m->peak_pid);
        capture_fact(w, VIEW("memory.peak_pid"), view_of(text));
    }
    if (m->has_scan || m->has_words)
        capture_fact(w, VIEW("memory.residency"), m->has_scan ? VIEW("counted by the kernel (PAGEMAP_SCAN)") : VIEW("read from /proc/PID/pagemap"));
    if (*m->why_not) {
        snprintf(text, sizeof text, "process %" PRId32 ": %s", m->why_not_pid, m->why_not);
        capture_fact(w, VIEW("memory.not_seen"), view_of(text));
    }
    if (m->want_pss && !m->has_pss)
        capture_fact(w, VIEW("memory.pss_not_seen"), VIEW("/proc/PID/smaps_rollup is not there, or not ours to read"));
}

static void stop(void *self, struct recorder *into)
{
    struct memory_source *m = self;
    if (m->tick_ns && clock_monotonic_ns() - m->looked_ns >= SHORTEST_NS)
        look(m, into);
    look_at_pss(m);
    for (size_t i = 0; i < m->processes.n; i++)
        take_facts(m, process_at(m, i));
    write_facts(m);
}

const struct source source_memory = {
    .name = "memory",
    .role = "memory",
    .what = "how much memory each process has, of which kind, and what is mapped",
    .probe = probe,
    .start = start,
    .begin = begin,
    .drain = drain,
    .begin_again = begin_again,
    .stop = stop,
    .free = free_memory,
};
