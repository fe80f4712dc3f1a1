/*
 * libinferom_heap.so: preloaded into a target by the recorder (docs/internals/heap.md).
 *
 *     first hook of all ── finds the region, takes an area, tells what code is mapped ── on
 *     first hook in a child of fork() ── another area; the parent's is let go
 *     exec ── begins anew in the new program
 *
 * Whether this is still the process that took the area is one load: `agent.here` lies on a page that the kernel
 * empties in a child. It works for children of a bare clone() as well, and a child of vfork(), which
 * borrows our memory, counts as us.
 *
 * Without a region, or with one of another version, all of this passes everything through.
 */
#include "agent.h"
#include "real.h"
#include "common/bare_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic uint32_t asleep; /* never set */

struct agent agent = {.here = &asleep};

uint64_t clock_slow(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void *map_shared(int fd, uint64_t bytes, uint64_t at)
{
    void *p = real.mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    return p == MAP_FAILED ? NULL : p;
}

/* The region: by its inherited descriptor, or through the recorder's own. */

static bool is_sound(const struct heap_region *r, uint64_t file_bytes)
{
    return r->magic == HEAP_MAGIC && r->version == HEAP_VERSION && r->processes > 0 && r->processes <= HEAP_PROCESSES &&
           r->area_bytes == HEAP_AREA_BYTES && r->mode < HEAP_MODE_COUNT && r->period_bytes > 0 && r->most_depth > 0 &&
           r->most_depth <= HEAP_DEPTH_MOST && heap_region_bytes(r->processes) <= file_bytes;
}

/* Sealed: nobody can take the memory away under our feet. Any other file at this number is not ours. */
static bool is_ours(int fd, struct heap_region *out_head)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) < 0)
        return false;
    if (agent.inode && (st.st_ino != agent.inode || st.st_dev != agent.device))
        return false;
    if (pread(fd, out_head, sizeof *out_head, 0) != (ssize_t)sizeof *out_head || !is_sound(out_head, (uint64_t)st.st_size))
        return false;
    agent.device = st.st_dev;
    agent.inode = st.st_ino;
    return true;
}

static void read_environment(void)
{
    const char *number = getenv(HEAP_FD_VARIABLE), *path = getenv(HEAP_PATH_VARIABLE);
    char *end = NULL;
    long fd = number ? strtol(number, &end, 10) : -1;
    agent.fd = number && *number && *end == 0 && fd >= 0 && fd < 1 << 20 ? (int)fd : -1;
    if (path && path[0] == '/' && strlen(path) < sizeof agent.path)
        strcpy(agent.path, path); /* NOLINT: it fits */
}

/* -1: nobody records. *out_is_opened: to be closed again. */
static int find_region(struct heap_region *head, bool *out_is_opened)
{
    *out_is_opened = false;
    if (agent.fd >= 0 && is_ours(agent.fd, head))
        return agent.fd;
    int fd = agent.path[0] ? open(agent.path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0 && !is_ours(fd, head)) {
        close(fd);
        fd = -1;
    }
    *out_is_opened = fd >= 0;
    return fd;
}

/* An area. A limit on address space (ulimit -v) may leave room for fewer blocks than there could be. */

static bool map_area(int fd, uint32_t i)
{
    for (uint32_t levels = HEAP_LEVELS; levels >= 3; levels--) {
        agent.area = map_shared(fd, HEAP_LIVE_LEVEL_AT(levels), heap_area_at(i));
        agent.levels = levels;
        if (agent.area)
            return true;
    }
    count_up(&agent.region->trouble[HEAP_NO_ROOM], 1);
    return false;
}

static struct heap_process *take_process(uint32_t *out_i)
{
    uint32_t n = agent.region->processes;
    for (uint32_t i = 0; i < n; i++) {
        struct heap_process *p = (struct heap_process *)(void *)((uint8_t *)agent.region + heap_processes_at()) + i;
        uint32_t state = HEAP_FREE;
        if (!atomic_compare_exchange_strong(&p->state, &state, HEAP_TAKEN))
            continue;
        p->pid = (uint32_t)getpid();
        *out_i = i;
        return p;
    }
    count_up(&agent.region->trouble[HEAP_NO_AREA], 1);
    return NULL;
}

static void name_allocator(void)
{
    Dl_info info;
    void *p;
    memcpy(&p, &real.malloc, sizeof p);
    const char *name = dladdr(p, &info) && info.dli_fname ? info.dli_fname : "";
    const char *slash = strrchr(name, '/');
    strncpy(area()->allocator, slash ? slash + 1 : name, sizeof area()->allocator - 1);
}

static bool begin(int fd, enum heap_origin origin, uint32_t parent_pid)
{
    agent.row = take_process(&agent.process);
    if (!agent.row)
        return false;
    if (!map_area(fd, agent.process)) {
        atomic_store(&agent.row->state, HEAP_FREE);
        return false;
    }
    agent.pid = agent.row->pid;
    agent.row->parent_pid = parent_pid;
    agent.row->origin = origin;
    agent.row->began_ns = bare_clock_ns(CLOCK_MONOTONIC);
    agent.row->began_tick = tick_now();
    agent.seed = mix(mix(agent.row->began_tick, (uint64_t)environ), (uint64_t)agent.pid << 32 | agent.process);
    atomic_store(&area()->threads, 1);
    atomic_store(&area()->stacks, 1);
    atomic_store(&area()->rows, 1);
    atomic_store(&agent.row->state, HEAP_LIVE);
    return true;
}

/* The start. */

static void take_wishes(const struct heap_region *r)
{
    agent.mode = r->mode;
    agent.clock = r->clock;
    agent.most_depth = r->most_depth;
    agent.wants_blocks = r->wants_blocks;
    agent.period_bytes = r->period_bytes;
    agent.ns_per_tick_32 = r->ns_per_tick_32 ? r->ns_per_tick_32 : UINT64_C(1) << 32;
    double ns = 1e9 * HEAP_WINDOW / (double)(r->calm_per_s ? r->calm_per_s : 1);
    agent.calm_ticks = (uint64_t)(ns * 4294967296.0 / (double)agent.ns_per_tick_32);
}

static void fall_silent(void)
{
    if (agent.here != &asleep)
        atomic_store(agent.here, 0);
}

void agent_stop(void)
{
    atomic_store(&agent.state, AGENT_OFF);
    fall_silent();
}

/* A page that is empty in a child. Where the kernel does not know how, fork() itself tells us. */
static bool make_here(void)
{
    if (agent.here != &asleep)
        return true;
    void *page = real.mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    agent.here = page;
    return madvise(page, 4096, MADV_WIPEONFORK) == 0 || pthread_atfork(NULL, NULL, fall_silent) == 0;
}

static bool start(void)
{
    struct heap_region head;
    bool is_opened;
    int fd = find_region(&head, &is_opened);
    if (fd < 0)
        return false;
    take_wishes(&head);
    agent.region = map_shared(fd, heap_processes_at() + HEAP_PROCESSES * sizeof(struct heap_process), 0);
    bool ok = agent.region && atomic_load(&agent.region->phase) == HEAP_GO && make_here() && thread_key_make() &&
              begin(fd, HEAP_BY_EXEC, 0);
    if (is_opened)
        close(fd);
    if (!ok)
        return false;
    name_allocator();
    ring_maps();
    return true;
}

static bool wake_from(uint32_t state, const char *path)
{
    if (!real_find() || !real.mmap || !atomic_compare_exchange_strong(&agent.state, &state, AGENT_STARTING))
        return false;
    me.guard = GUARD_OURS;
    if (path)
        strcpy(agent.path, path); /* NOLINT: it fits, the caller has looked */
    else
        read_environment();
    bool ok = start();
    me.guard = 0;
    atomic_store_explicit(&agent.state, ok ? AGENT_ON : AGENT_OFF, memory_order_release);
    if (ok)
        atomic_store(agent.here, 1);
    return ok;
}

/* Before libc has its environment, nobody can say whether we are wanted. */
static bool wake(void) { return environ && wake_from(AGENT_ASLEEP, NULL); }

/* In a process that ran already. Its environment knew nothing of us, so the constructor found nobody and switched off. */
bool agent_wake_for(const char *path)
{
    return strlen(path) < sizeof agent.path && !agent.region && wake_from(AGENT_OFF, path);
}

/*
 * The child's first hook, on its only thread. The hook we are in came after fork() returned; if one of ours was
 * interrupted by the handler that forked, it goes on behind us and the guard is its own: then it is not yet time.
 */
static bool follow(void)
{
    if (me.guard || !agent.area)
        return false;
    struct heap_region head;
    bool is_opened;
    uint32_t parent = agent.pid;
    real.munmap(agent.area, HEAP_LIVE_LEVEL_AT(agent.levels));
    agent.area = NULL;
    threads_forget();
    live_forget();
    me.guard = GUARD_OURS;
    int fd = find_region(&head, &is_opened);
    bool ok = fd >= 0 && atomic_load(&agent.region->phase) == HEAP_GO && begin(fd, HEAP_BY_FORK, parent);
    if (is_opened)
        close(fd);
    if (ok) {
        name_allocator();
        ring_maps();
        atomic_store(agent.here, 1);
    } else {
        agent_stop();
    }
    me.guard = 0;
    return ok;
}

COLD bool agent_slow(void)
{
    int error = errno;
    uint32_t state = atomic_load_explicit(&agent.state, memory_order_acquire);
    bool ok = state == AGENT_ASLEEP ? wake() : state == AGENT_ON ? follow() : false;
    errno = error;
    return ok;
}

__attribute__((constructor)) static void agent_constructed(void)
{
    if (real_find() && atomic_load(&agent.state) == AGENT_ASLEEP)
        wake();
}

/* What was loaded since the start: a process that is gone when the recorder looks still has its list. */
__attribute__((destructor)) static void agent_ends(void)
{
    if (atomic_load(&agent.state) == AGENT_ON && atomic_load(agent.here) && agent.area && !me.guard && me.counts) {
        me.guard = GUARD_OURS;
        ring_maps();
        me.guard = 0;
    }
}
