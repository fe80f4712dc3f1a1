#include "capture/cpu/perf_events.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>

const char *const perf_event_names[PERF_EVENT_COUNT + 1] = {"cpu-clock", "cycles", "instructions", "cache-misses", NULL};

static const struct {
    uint32_t type;
    uint64_t config;
} kinds[PERF_EVENT_COUNT] = {
    [PERF_EVENT_CPU_CLOCK] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    [PERF_EVENT_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [PERF_EVENT_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [PERF_EVENT_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

/* A stack of a wait takes this much of its ring, whatever of it is used: deep enough for most, and a few hundred fit. */
enum { WAIT_STACK_BYTES = 16 << 10 };

/*
 * 512 KiB and one page is what every user may have on each CPU (perf_event_mlock_kb); who may have more takes it,
 * up to what all CPUs together should not exceed.
 */
enum { RING_MOST = 8 << 20, RING_USUAL = 512 << 10, RING_LEAST = 128 << 10, RINGS_MOST = 64 << 20 };

/* Opening. */

static void list_cpus(struct perf_events *pe)
{
    char text[4096];
    if (!host_cpu_list(pe->wish.host, text, sizeof text))
        return;
    size_t cap = 0;
    char *at = text;
    while (*at >= '0' && *at <= '9') { /* 0-3,6,8-11 */
        long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        for (long n = first; n <= last && n < 1 << 16; n++) {
            GROW(pe->cpus, cap, pe->n_cpus + 1);
            pe->cpus[pe->n_cpus++] = (struct perf_cpu){.number = (int)n, .news_fd = -1, .wait_fd = -1};
        }
        at += *at == ',';
    }
}

/* A descriptor per thread, CPU and size is many; the soft limit is there for programs that use select(). */
static void allow_many_files(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

bool perf_events_open(struct perf_events *pe, const struct perf_wish *w, struct err *e)
{
    *pe = (struct perf_events){.wish = *w, .has_kernel = w->want_kernel, .has_build_id = true, .keeps_children_out = !w->want_children,
                               .has_wait_stacks = w->want_waits};
    pe->layout = (struct perf_layout){.has_callchain = w->want_kernel};
    pe->period_ns = w->event == PERF_EVENT_CPU_CLOCK ? UINT64_C(1000000000) / w->rate_hz : 0;
    list_cpus(pe);
    if (!pe->n_cpus)
        return err_set(e, ERR_UNSUPPORTED, "the kernel does not say which CPUs there are");
    allow_many_files();
    return true;
}

static void close_all(int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
    free(fds);
}

void perf_events_close(struct perf_events *pe)
{
    for (size_t i = 0; i < pe->n_cpus; i++) {
        perf_ring_close(&pe->cpus[i].ring);
        perf_ring_close(&pe->cpus[i].wait_ring);
    }
    close_all(pe->sampling, pe->n_sampling);
    close_all(pe->waits, pe->n_waits);
    close_all(pe->news, pe->n_news);
    free(pe->cpus);
    *pe = (struct perf_events){0};
}

static struct perf_event_attr common_attr(const struct perf_events *pe)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .sample_type = PERF_RECORD_ID,
        .sample_id_all = 1,
        .inherit = 1,
        .inherit_thread = pe->keeps_children_out,
        .exclude_kernel = !pe->has_kernel,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static struct perf_event_attr news_attr(const struct perf_events *pe)
{
    struct perf_event_attr a = common_attr(pe);
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_DUMMY;
    a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 1;
    a.build_id = pe->has_build_id;
    a.context_switch = pe->wish.want_waits;
    a.watermark = 1;
    a.wakeup_watermark = (uint32_t)(pe->ring_bytes / 4);
    return a;
}

/*
 * The CPU clock ticks in nanoseconds that the thread ran, so a fixed period is a fixed rate per
 * CPU second, whatever else the machine does. Hardware events have no natural period: the kernel
 * adapts it to the rate and each sample tells what it was.
 */
static struct perf_event_attr sampling_attr(const struct perf_events *pe, size_t size, bool at_exec)
{
    struct perf_event_attr a = common_attr(pe);
    a.type = kinds[pe->wish.event].type;
    a.config = kinds[pe->wish.event].config;
    a.sample_type |= PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    a.sample_type |= pe->layout.has_callchain ? (uint64_t)PERF_SAMPLE_CALLCHAIN : 0;
    a.sample_regs_user = perf_register_mask();
    a.sample_stack_user = slice_bytes[size];
    a.exclude_callchain_user = 1;
    a.freq = pe->period_ns == 0;
    a.sample_period = pe->period_ns ? pe->period_ns : pe->wish.rate_hz; /* the same field as sample_freq */
    bool is_first = size == pe->slice.now;
    a.disabled = !(is_first && pe->is_on);
    a.enable_on_exec = is_first && at_exec;
    return a;
}

/*
 * The count of switches is an event of the kernel's, so it is ours only where samples in the kernel
 * are. In return its stack says what the thread waits for.
 */
static struct perf_event_attr wait_attr(const struct perf_events *pe, bool at_exec)
{
    struct perf_event_attr a = sampling_attr(pe, 0, at_exec);
    a.type = PERF_TYPE_SOFTWARE;
    a.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
    a.sample_type |= PERF_SAMPLE_CALLCHAIN;
    a.sample_stack_user = WAIT_STACK_BYTES;
    a.exclude_kernel = 0;
    a.freq = 0;
    a.sample_period = 1;
    a.disabled = !pe->is_on;
    a.enable_on_exec = at_exec;
    a.watermark = 1;
    a.wakeup_watermark = (uint32_t)(pe->ring_bytes / 4);
    return a;
}

static int open_one(const struct perf_events *pe, struct perf_event_attr *a, int32_t tid, int cpu)
{
    return pe->wish.host->sys->perf_event_open(a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What to do without when the kernel says no; false when there is nothing left. */
static bool concede(struct perf_events *pe, int refusal)
{
    bool is_denied = refusal == EACCES || refusal == EPERM;
    if (is_denied && pe->has_kernel)
        pe->has_kernel = pe->layout.has_callchain = false;
    else if (refusal == EINVAL && pe->has_build_id)
        pe->has_build_id = false; /* since Linux 5.12 */
    else if (refusal == EINVAL && pe->keeps_children_out)
        pe->keeps_children_out = false; /* since Linux 5.13 */
    else
        return false;
    return true;
}

static bool refused(const struct perf_events *pe, int32_t tid, int refusal, struct err *e)
{
    errno = refusal;
    switch (refusal) {
    case EACCES:
    case EPERM:
        err_set(e, ERR_DENIED, "the kernel does not let us sample process %" PRId32, tid);
        return err_hint(e, "'inferom doctor' says why, and what to type");
    case ENOENT:
    case EOPNOTSUPP:
        err_set(e, ERR_UNSUPPORTED, "this machine does not count %s", perf_event_names[pe->wish.event]);
        return err_hint(e, "--event cpu-clock works everywhere; virtual machines seldom have hardware counters");
    case EMFILE:
        err_set(e, ERR_LIMIT, "too many open files: %zu events so far", pe->n_news + pe->n_sampling);
        return err_hint(e, "ulimit -n %zu", 4 * (pe->n_news + pe->n_sampling));
    default:
        return err_os(e, "sampling process %" PRId32, tid);
    }
}

/* Finds out, on the first CPU of the first thread, how much we may ask for. */
static int negotiate(struct perf_events *pe, int32_t tid)
{
    for (;;) {
        struct perf_event_attr news = news_attr(pe), sampling = sampling_attr(pe, 0, false);
        sampling.disabled = 1;
        own(close) int a = open_one(pe, &news, tid, pe->cpus[0].number);
        int refusal = a < 0 ? errno : 0;
        own(close) int b = a < 0 ? -1 : open_one(pe, &sampling, tid, pe->cpus[0].number);
        if (a >= 0 && b < 0)
            refusal = errno;
        if (!refusal || !concede(pe, refusal))
            return refusal;
    }
}

/* Waits without stacks are better than no waits. */
static void negotiate_waits(struct perf_events *pe, int32_t tid)
{
    struct perf_event_attr a = wait_attr(pe, false);
    a.disabled = 1;
    own(close) int fd = pe->has_wait_stacks ? open_one(pe, &a, tid, pe->cpus[0].number) : -1;
    pe->has_wait_stacks = fd >= 0;
}

static void keep(int **fds, size_t *n, size_t *cap, int fd)
{
    *fds = mem_grow(*fds, cap, *n + 1, sizeof **fds);
    (*fds)[(*n)++] = fd;
}

/* The ring of a CPU belongs to the first thread's news; everything else on that CPU is led into it. */
static int add_news(struct perf_events *pe, struct perf_cpu *c, int32_t tid)
{
    struct perf_event_attr a = news_attr(pe);
    int fd = open_one(pe, &a, tid, c->number);
    if (fd < 0)
        return errno;
    keep(&pe->news, &pe->n_news, &pe->news_cap, fd);
    if (c->news_fd >= 0)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->news_fd) < 0 ? errno : 0;
    int refusal = perf_ring_open(&c->ring, fd, pe->ring_bytes);
    if (!refusal)
        c->news_fd = fd;
    return refusal;
}

static int add_sampling(struct perf_events *pe, const struct perf_cpu *c, int32_t tid, bool at_exec)
{
    for (size_t size = 0; size < SLICE_COUNT; size++) {
        struct perf_event_attr a = sampling_attr(pe, size, at_exec);
        int fd = open_one(pe, &a, tid, c->number);
        if (fd < 0)
            return errno;
        keep(&pe->sampling, &pe->n_sampling, &pe->sampling_cap, fd);
        if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->news_fd) < 0)
            return errno;
    }
    return 0;
}

static int add_waits(struct perf_events *pe, struct perf_cpu *c, int32_t tid, bool at_exec)
{
    if (!pe->has_wait_stacks)
        return 0;
    struct perf_event_attr a = wait_attr(pe, at_exec);
    int fd = open_one(pe, &a, tid, c->number);
    if (fd < 0)
        return errno;
    keep(&pe->waits, &pe->n_waits, &pe->waits_cap, fd);
    if (c->wait_fd >= 0)
        return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->wait_fd) < 0 ? errno : 0;
    int refusal = perf_ring_open(&c->wait_ring, fd, pe->ring_bytes);
    if (!refusal)
        c->wait_fd = fd;
    return refusal;
}

static int add_everywhere(struct perf_events *pe, int32_t tid, bool at_exec)
{
    for (size_t i = 0; i < pe->n_cpus; i++) {
        struct perf_cpu *c = &pe->cpus[i];
        int refusal = add_news(pe, c, tid);
        if (!refusal)
            refusal = add_sampling(pe, c, tid, at_exec);
        if (!refusal)
            refusal = add_waits(pe, c, tid, at_exec);
        if (refusal)
            return refusal;
    }
    return 0;
}

/* Until there are no more than so many of each. */
static void take_back(struct perf_events *pe, size_t n_news, size_t n_sampling, size_t n_waits)
{
    for (size_t i = 0; i < pe->n_cpus && n_news == 0; i++) {
        perf_ring_close(&pe->cpus[i].ring);
        perf_ring_close(&pe->cpus[i].wait_ring);
        pe->cpus[i].news_fd = pe->cpus[i].wait_fd = -1;
    }
    while (pe->n_sampling > n_sampling)
        close(pe->sampling[--pe->n_sampling]);
    while (pe->n_waits > n_waits)
        close(pe->waits[--pe->n_waits]);
    while (pe->n_news > n_news)
        close(pe->news[--pe->n_news]);
}

/*
 * How much memory may be locked is counted for all rings of a user together, so a size is
 * good only when every CPU got its ring; else all of them are tried at half the size.
 */
static int add_first(struct perf_events *pe, int32_t tid, bool at_exec)
{
    pe->ring_bytes = RING_MOST;
    size_t rings = pe->n_cpus * (pe->has_wait_stacks ? 2 : 1);
    while (pe->ring_bytes > RING_USUAL && pe->ring_bytes * rings > RINGS_MOST)
        pe->ring_bytes /= 2;
    int refusal = negotiate(pe, tid);
    if (!refusal)
        negotiate_waits(pe, tid);
    while (!refusal) {
        pe->slice = slice_first(pe->ring_bytes);
        refusal = add_everywhere(pe, tid, at_exec);
        if (!refusal)
            return 0;
        take_back(pe, 0, 0, 0);
        bool is_too_large = refusal == EPERM || refusal == ENOMEM || refusal == EINVAL;
        if (!is_too_large || pe->ring_bytes / 2 < RING_LEAST)
            return refusal;
        pe->ring_bytes /= 2;
        refusal = 0;
    }
    return refusal;
}

bool perf_events_add(struct perf_events *pe, int32_t tid, bool at_exec, bool *out_is_gone, struct err *e)
{
    size_t n_news = pe->n_news, n_sampling = pe->n_sampling, n_waits = pe->n_waits;
    int refusal = n_news ? add_everywhere(pe, tid, at_exec) : add_first(pe, tid, at_exec);
    *out_is_gone = refusal == ESRCH;
    pe->is_on |= !refusal && at_exec; /* it will be, before there is anything to sample */
    if (!refusal)
        return true;
    take_back(pe, n_news, n_sampling, n_waits);
    return *out_is_gone || refused(pe, tid, refusal, e);
}

/* Switching. A call on an event reaches all copies that threads inherited from it. */

static void tell(const struct perf_events *pe, size_t size, unsigned long request)
{
    for (size_t i = size; i < pe->n_sampling; i += SLICE_COUNT)
        ioctl(pe->sampling[i], request, 0);
}

static void tell_waits(const struct perf_events *pe, unsigned long request)
{
    for (size_t i = 0; i < pe->n_waits; i++)
        ioctl(pe->waits[i], request, 0);
}

void perf_events_on(struct perf_events *pe)
{
    pe->is_on = true;
    tell(pe, pe->slice.now, PERF_EVENT_IOC_ENABLE);
    tell_waits(pe, PERF_EVENT_IOC_ENABLE);
}

void perf_events_off(struct perf_events *pe)
{
    pe->is_on = false;
    tell(pe, pe->slice.now, PERF_EVENT_IOC_DISABLE);
    tell_waits(pe, PERF_EVENT_IOC_DISABLE);
}

static void change(const struct perf_events *pe, size_t before)
{
    if (!pe->is_on)
        return;
    tell(pe, before, PERF_EVENT_IOC_DISABLE);
    tell(pe, pe->slice.now, PERF_EVENT_IOC_ENABLE);
    log_info("%u KiB of each stack are copied from here on", (unsigned)(slice_bytes[pe->slice.now] >> 10));
}

void perf_events_needed(struct perf_events *pe, size_t size)
{
    size_t before = pe->slice.now;
    if (slice_needed(&pe->slice, size))
        change(pe, before);
}

void perf_events_saw(struct perf_events *pe, bool is_cut)
{
    size_t before = pe->slice.now;
    if (slice_saw(&pe->slice, is_cut))
        change(pe, before);
}

size_t perf_events_stack_bytes(const struct perf_events *pe) { return slice_bytes[pe->slice.now]; }

uint64_t perf_events_counted(const struct perf_events *pe)
{
    uint64_t sum = 0, n;
    for (size_t i = 0; i < pe->n_sampling; i++)
        if (read(pe->sampling[i], &n, sizeof n) == sizeof n)
            sum += n;
    return sum;
}
