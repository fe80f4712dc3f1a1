#include "capture/heap/heap_shared.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>


struct heap_shared {
    int fd;
    struct heap_region *head;
    const struct heap_process *processes;
    uint8_t *areas[HEAP_PROCESSES];
    bool is_counter;
    uint64_t period_bytes; /* as it was asked for; targets see a copy */
    uint64_t first_tick, first_ns, last_tick, last_ns;
};

/* Clocks. The processor's counter where the kernel itself trusts it. */

static bool counter_is_trusted(void)
{
#if defined(__x86_64__)
    char text[16] = "";
    own(close) int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    return n > 0 && !strncmp(text, "tsc", 3);
#else
    return true;
#endif
}

static uint64_t counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#endif
}

/* Both at one moment: we may lose the processor between the readings; the tightest of a few did not. */
static void both_clocks(bool is_counter, uint64_t *out_tick, uint64_t *out_ns)
{
    uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = is_counter ? counter() : clock_monotonic_ns(), now = clock_monotonic_ns();
        uint64_t after = is_counter ? counter() : clock_monotonic_ns();
        if (after - before >= tightest)
            continue;
        tightest = after - before;
        *out_tick = is_counter ? before + tightest / 2 : now;
        *out_ns = now;
    }
}

static double ns_per_tick(const struct heap_shared *s)
{
    if (!s->is_counter || s->last_tick <= s->first_tick)
        return 1;
    return (double)(s->last_ns - s->first_ns) / (double)(s->last_tick - s->first_tick);
}

void heap_shared_tick(struct heap_shared *s)
{
    both_clocks(s->is_counter, &s->last_tick, &s->last_ns);
    atomic_store_explicit(&s->head->beat_ns, s->last_ns, memory_order_relaxed);
}

uint64_t heap_shared_ns(const struct heap_shared *s, uint64_t tick)
{
    double ns = (double)s->first_ns + ((double)tick - (double)s->first_tick) * ns_per_tick(s);
    return ns > 0 ? (uint64_t)ns : 0;
}

bool heap_shared_counts_ticks(const struct heap_shared *s) { return s->is_counter; }
uint64_t heap_shared_period(const struct heap_shared *s) { return s->period_bytes; }

/* A millisecond is enough for the classes that agents sort lifetimes into; for times we look again and again. */
static void start_clocks(struct heap_shared *s)
{
    s->is_counter = counter_is_trusted();
    both_clocks(s->is_counter, &s->first_tick, &s->first_ns);
    do
        heap_shared_tick(s);
    while (s->last_ns - s->first_ns < 1000000);
}

/* Life. */

static void write_header(struct heap_shared *s, const struct heap_shared_plan *plan)
{
    struct heap_region *h = s->head;
    h->version = HEAP_VERSION;
    h->processes = HEAP_PROCESSES;
    h->area_bytes = HEAP_AREA_BYTES;
    h->mode = plan->mode;
    h->clock = s->is_counter ? HEAP_CLOCK_COUNTER : HEAP_CLOCK_MONOTONIC;
    h->period_bytes = plan->period_bytes;
    h->calm_per_s = plan->calm_per_s;
    h->ns_per_tick_32 = (uint64_t)(ns_per_tick(s) * 4294967296.0);
    h->most_depth = plan->most_depth;
    h->wants_blocks = plan->wants_blocks;
    h->recorder_pid = (uint32_t)getpid();
    atomic_store(&h->phase, HEAP_GO);
    h->magic = HEAP_MAGIC;
}

static const uint64_t head_bytes = HEAP_HEADER_BYTES + HEAP_PROCESSES * sizeof(struct heap_process);

bool heap_shared_new(struct heap_shared **out, const struct heap_shared_plan *plan, struct err *e)
{
    int fd;
    void *p;
    if (!shared_memory_make("inferom-heap", heap_region_bytes(HEAP_PROCESSES), head_bytes, &fd, &p, e))
        return false;
    struct heap_shared *s = mem_new(sizeof *s);
    s->fd = fd;
    s->period_bytes = plan->period_bytes;
    s->head = p;
    s->processes = (const struct heap_process *)(const void *)((uint8_t *)p + heap_processes_at());
    start_clocks(s);
    write_header(s, plan);
    *out = s;
    return true;
}

static void unmap(struct heap_shared *s, uint32_t i)
{
    if (s->areas[i])
        munmap(s->areas[i], HEAP_AREA_BYTES);
    s->areas[i] = NULL;
}

void heap_shared_free(struct heap_shared *s)
{
    if (!s)
        return;
    heap_shared_stop(s);
    for (uint32_t i = 0; i < HEAP_PROCESSES; i++)
        unmap(s, i);
    munmap(s->head, head_bytes);
    close(s->fd);
    free(s);
}

void heap_shared_stop(struct heap_shared *s) { atomic_store(&s->head->phase, HEAP_STOP); }
int heap_shared_fd(const struct heap_shared *s) { return s->fd; }

uint64_t heap_shared_trouble(const struct heap_shared *s, enum heap_trouble t)
{
    return atomic_load_explicit(&s->head->trouble[t], memory_order_relaxed);
}

/* Processes. */

static _Atomic uint32_t *state_of(const struct heap_shared *s, uint32_t i)
{
    return (_Atomic uint32_t *)&((struct heap_process *)(void *)((uint8_t *)s->head + heap_processes_at()))[i].state;
}

bool heap_shared_process(const struct heap_shared *s, uint32_t i, struct heap_claim *out)
{
    if (atomic_load_explicit(state_of(s, i), memory_order_acquire) != HEAP_LIVE)
        return false;
    struct heap_process p;
    shared_memory_copy(&p, &s->processes[i], sizeof p);
    if (p.pid == 0 || p.pid > INT32_MAX || p.parent_pid > INT32_MAX || p.origin >= HEAP_ORIGIN_COUNT)
        return false;
    *out = (struct heap_claim){
        .pid = (int32_t)p.pid, .parent_pid = (int32_t)p.parent_pid, .origin = (enum heap_origin)p.origin,
        .began_ns = p.began_ns, .began_tick = p.began_tick,
    };
    return true;
}

uint8_t *heap_shared_area(struct heap_shared *s, uint32_t i)
{
    if (s->areas[i])
        return s->areas[i];
    void *p = mmap(NULL, HEAP_AREA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)heap_area_at(i));
    return s->areas[i] = p == MAP_FAILED ? NULL : p;
}

void heap_shared_punch(struct heap_shared *s, uint32_t i, uint64_t at, uint64_t bytes)
{
    fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(heap_area_at(i) + at), (off_t)bytes);
}

bool heap_shared_stretch(const struct heap_shared *s, uint32_t i, uint64_t at, uint64_t end, uint64_t *out_from, uint64_t *out_to)
{
    off_t area = (off_t)heap_area_at(i), from = at < end ? lseek(s->fd, area + (off_t)at, SEEK_DATA) : -1;
    if (from < 0 || from >= area + (off_t)end)
        return false;
    off_t to = lseek(s->fd, from, SEEK_HOLE);
    *out_from = (uint64_t)(from - area);
    *out_to = to < from || to > area + (off_t)end ? end : (uint64_t)(to - area);
    return true;
}

/* Page by page: looking for the end of a stretch takes time for all of it. */
bool heap_shared_is_there(const struct heap_shared *s, uint32_t i, uint64_t at, uint64_t bytes)
{
    enum { PAGE = 4096 };
    for (uint64_t page = at - at % PAGE; page < at + bytes; page += PAGE) {
        off_t place = (off_t)(heap_area_at(i) + page);
        if (lseek(s->fd, place, SEEK_DATA) != place)
            return false;
    }
    return true;
}

uint32_t heap_items_next(struct heap_items *all)
{
    uint64_t from, to;
    if (all->next < all->there_until)
        return all->next++;
    if (!heap_shared_stretch(all->shared, all->area, all->at + all->next * all->stride, all->at + all->n * all->stride, &from, &to))
        return all->next = all->there_until = all->n;
    uint64_t first = (from - all->at) / all->stride, end = (to - all->at + all->stride - 1) / all->stride;
    all->next = first > all->next ? (uint32_t)first : all->next;
    all->there_until = end < all->n ? (uint32_t)end : all->n;
    return all->next++;
}

/* Emptied before anybody can have it. */
void heap_shared_release(struct heap_shared *s, uint32_t i)
{
    unmap(s, i);
    heap_shared_punch(s, i, 0, HEAP_AREA_BYTES);
    atomic_store_explicit(state_of(s, i), HEAP_FREE, memory_order_release);
}
