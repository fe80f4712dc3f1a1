#include "capture/cpu/sampler_region.h"
#include "base/clock.h"
#include "base/mem.h"
#include "capture/shared_memory.h"
#include "capture/shared_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

enum { RECORD_MOST = sizeof(struct wire_sample) + WIRE_STACK_MOST };

/* A thread that lost more than this has not counted but invented. */
#define LOST_MOST UINT64_C(1000000000)

/* How long a slot may be on its way from one state to another before we ask whether anybody is still there. */
#define PASSING_NS UINT64_C(3000000000)

/* What we know about a slot, and need not ask the target for. */
struct reading {
    struct sampler_thread thread;
    bool is_known, is_gone;
    uint64_t tail;
    uint64_t visit_bytes; /* read on this visit */
    uint64_t lost_before; /* of those who had the slot earlier */
    uint32_t passing;     /* the state between FREE and LIVE it was seen in, and since when */
    uint64_t passing_ns;
};

struct sampler_region {
    struct sampler_region_plan plan;
    int fd; /* -1: the memory is somebody else's */
    struct wire_region *head;
    struct wire_slot *slots;
    uint8_t *rings;
    struct reading *readings;
    uint32_t *order; /* of the slots of this visit */
    struct sampler_region_count count;
    _Alignas(16) uint8_t record[RECORD_MOST];
};

/* Life. */

static struct sampler_region *over(void *bytes, const struct sampler_region_plan *plan, int fd)
{
    struct sampler_region *r = mem_new(sizeof *r);
    r->plan = *plan;
    r->fd = fd;
    r->head = bytes;
    r->slots = (struct wire_slot *)(void *)((uint8_t *)bytes + WIRE_HEADER_BYTES);
    r->rings = (uint8_t *)bytes + wire_rings_at(plan->slots);
    r->readings = mem_new(plan->slots * sizeof *r->readings);
    r->order = mem_new(plan->slots * sizeof *r->order);
    return r;
}

struct sampler_region *sampler_region_over(void *bytes, const struct sampler_region_plan *plan)
{
    return over(bytes, plan, -1);
}

static void write_header(struct sampler_region *r)
{
    struct wire_region *h = r->head;
    h->version = WIRE_VERSION;
    h->slots = r->plan.slots;
    h->ring_bytes = r->plan.ring_bytes;
    h->period_ns = r->plan.period_ns;
    h->recorder_pid = (uint32_t)getpid();
    atomic_store(&h->beat_ns, clock_monotonic_ns());
    atomic_store(&h->phase, (uint32_t)r->plan.phase);
    h->magic = WIRE_MAGIC;
}

bool sampler_region_new(struct sampler_region **out, const struct sampler_region_plan *plan, struct err *e)
{
    int fd;
    void *bytes;
    uint64_t size = wire_region_bytes(plan->slots, plan->ring_bytes);
    if (!shared_memory_make("inferom-sampler", size, size, &fd, &bytes, e))
        return false;
    *out = over(bytes, plan, fd);
    write_header(*out);
    return true;
}

void sampler_region_free(struct sampler_region *r)
{
    if (!r)
        return;
    if (r->fd >= 0) {
        sampler_region_phase(r, WIRE_STOP);
        munmap(r->head, wire_region_bytes(r->plan.slots, r->plan.ring_bytes));
        close(r->fd);
    }
    free(r->readings);
    free(r->order);
    free(r);
}

int sampler_region_fd(const struct sampler_region *r) { return r->fd; }

/* Reading. From here on nothing is as it should be until it has been looked at. */

static uint64_t look(const _Atomic uint64_t *v) { return atomic_load_explicit(v, memory_order_acquire); }

static uint32_t state_of(const struct sampler_region *r, uint32_t i)
{
    return atomic_load_explicit(&r->slots[i].state, memory_order_acquire);
}

/* Numbers of processes and threads are positive; what is not belongs to nobody. */
static bool read_owner(struct sampler_region *r, uint32_t i)
{
    struct wire_slot s;
    shared_memory_copy(&s, &r->slots[i], sizeof s);
    struct reading *g = &r->readings[i];
    if (s.pid == 0 || s.pid > INT32_MAX || s.tid == 0 || s.tid > INT32_MAX || s.parent_pid > INT32_MAX ||
        s.origin >= WIRE_ORIGIN_COUNT)
        return false;
    g->thread = (struct sampler_thread){
        .slot = i, .pid = (int32_t)s.pid, .tid = (int32_t)s.tid, .parent_pid = (int32_t)s.parent_pid,
        .origin = (enum wire_origin)s.origin, .began_ns = s.began_ns, .cpu_began_ns = s.cpu_began_ns, .cpu_ns = s.cpu_began_ns,
    };
    return true;
}

static bool tell_sample(struct sampler_region *r, struct reading *g, const struct wire_record *head, const struct sampler_listener *to)
{
    const struct wire_sample *w = (const void *)r->record;
    if (head->bytes < sizeof *w || w->stack_bytes > head->bytes - sizeof *w || w->tid != (uint32_t)g->thread.tid)
        return false;
    struct sampler_sample s = {
        .when_ns = head->when_ns, .cpu_ns = w->cpu_ns, .registers = w->registers, .stack_start = w->stack_start,
        .stack = (const uint8_t *)(w + 1), .stack_bytes = w->stack_bytes, .is_cut = head->flags & WIRE_CUT,
    };
    r->count.samples++;
    to->sample(to->self, &g->thread, &s);
    if (s.cpu_ns > g->thread.cpu_ns)
        g->thread.cpu_ns = s.cpu_ns;
    return true;
}

static bool tell_map(struct sampler_region *r, struct reading *g, const struct wire_record *head, const struct sampler_listener *to)
{
    const struct wire_map *m = (const void *)r->record;
    if (head->bytes < sizeof *m || m->line_bytes > head->bytes - sizeof *m)
        return false;
    to->map(to->self, &g->thread, (struct view){(const char *)(m + 1), m->line_bytes});
    return true;
}

/* One record at the reading's tail, of at most `ready` bytes. False: this cannot be one. */
static bool read_record(struct sampler_region *r, struct reading *g, uint64_t ready, const struct sampler_listener *to)
{
    struct shared_ring ring = {r->rings + g->thread.slot * r->plan.ring_bytes, r->plan.ring_bytes};
    enum shared_ring_got got = shared_ring_next(&ring, &g->tail, ready, r->record, sizeof r->record);
    if (got != SHARED_RING_RECORD)
        return got == SHARED_RING_PAD;
    struct wire_record head;
    memcpy(&head, r->record, sizeof head);
    g->visit_bytes += head.bytes;
    switch (head.kind) {
    case WIRE_SAMPLE: return tell_sample(r, g, &head, to);
    case WIRE_MAP: return tell_map(r, g, &head, to);
    default: return false;
    }
}

/* As far as the thread had come when we looked; what it adds meanwhile waits for the next visit. */
static void read_ring(struct sampler_region *r, struct reading *g, const struct sampler_listener *to)
{
    struct wire_slot *s = &r->slots[g->thread.slot];
    uint64_t head = look(&s->head), ready = head - g->tail;
    bool is_sound = ready <= r->plan.ring_bytes;
    g->visit_bytes = 0;
    while (is_sound && g->tail != head)
        is_sound = read_record(r, g, head - g->tail, to);
    if (!is_sound) {
        r->count.damaged++;
        g->tail = head;
    }
    double ratio = (double)g->visit_bytes / (double)r->plan.ring_bytes;
    if (ratio > r->count.fullest_ratio)
        r->count.fullest_ratio = ratio;
    atomic_store_explicit(&s->tail, g->tail, memory_order_release);
    uint64_t lost = look(&s->lost) - g->lost_before;
    if (lost > g->thread.lost && lost <= LOST_MOST)
        g->thread.lost = lost;
}

static int by_beginning(const void *pa, const void *pb, void *readings)
{
    const struct reading *all = readings;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    uint64_t began_a = all[a].thread.began_ns, began_b = all[b].thread.began_ns;
    if (began_a != began_b)
        return began_a < began_b ? -1 : 1;
    return (a > b) - (a < b);
}

static bool is_held(uint32_t state) { return state == WIRE_LIVE || state == WIRE_ENDED; }

/* Whoever was killed between taking a slot and using it, or never did what was asked, gives it back this way. */
static void reclaim(struct sampler_region *r, uint32_t i, uint32_t state, uint64_t now_ns)
{
    struct reading *g = &r->readings[i];
    if (state == WIRE_FREE || state != g->passing) {
        g->passing = state;
        g->passing_ns = now_ns;
        return;
    }
    uint32_t pid;
    shared_memory_copy(&pid, &r->slots[i].pid, sizeof pid);
    bool is_alive = pid == 0 || pid > INT32_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH;
    if (now_ns - g->passing_ns > PASSING_NS && (state == WIRE_WANTED || !is_alive))
        atomic_compare_exchange_strong(&r->slots[i].state, &state, WIRE_FREE);
}

/* The slots that somebody holds, first come first. Taken before the first ring is read: see the header. */
static size_t held_slots(struct sampler_region *r, uint64_t now_ns)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->plan.slots; i++) {
        uint32_t state = r->readings[i].is_known ? WIRE_LIVE : state_of(r, i);
        if (!is_held(state))
            reclaim(r, i, state, now_ns);
        else if (r->readings[i].is_known || read_owner(r, i))
            r->order[n++] = i;
    }
    qsort_r(r->order, n, sizeof *r->order, by_beginning, r->readings);
    return n;
}

/* The first thread of a new program, or of a child that has the number of one who died: the older ones are gone. */
static void bury_older(struct sampler_region *r, const struct sampler_thread *t)
{
    for (uint32_t i = 0; t->origin != WIRE_BY_THREAD && i < r->plan.slots; i++) {
        struct reading *g = &r->readings[i];
        if (g->is_known && i != t->slot && g->thread.pid == t->pid)
            g->is_gone = true;
    }
}

static void meet(struct sampler_region *r, struct reading *g, const struct sampler_listener *to)
{
    bury_older(r, &g->thread);
    g->is_known = true;
    r->count.threads++;
    to->began(to->self, &g->thread);
}

static void let_go(struct sampler_region *r, struct reading *g, const struct sampler_listener *to)
{
    struct wire_slot *s = &r->slots[g->thread.slot];
    uint64_t cpu_ns = look(&s->cpu_ns);
    if (cpu_ns > g->thread.cpu_ns)
        g->thread.cpu_ns = cpu_ns;
    shared_memory_copy(g->thread.name, s->name, WIRE_NAME_BYTES);
    g->thread.name[WIRE_NAME_BYTES] = '\0';
    to->ended(to->self, &g->thread);

    r->count.lost += g->thread.lost;
    g->lost_before += g->thread.lost;
    g->is_known = g->is_gone = false;
    atomic_store_explicit(&s->stack_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&s->please, 0, memory_order_relaxed);
    atomic_store_explicit(&s->state, WIRE_FREE, memory_order_release);
}

void sampler_region_visit(struct sampler_region *r, uint64_t now_ns, const struct sampler_listener *to)
{
    atomic_store_explicit(&r->head->beat_ns, now_ns, memory_order_relaxed);
    r->count.fullest_ratio = 0;
    size_t n = held_slots(r, now_ns);
    for (size_t k = 0; k < n; k++) {
        struct reading *g = &r->readings[r->order[k]];
        bool is_over = state_of(r, g->thread.slot) != WIRE_LIVE || g->is_gone; /* looked at before the last record is read */
        if (!g->is_known)
            meet(r, g, to);
        read_ring(r, g, to);
        if (is_over)
            let_go(r, g, to);
    }
}

/* The rest. */

void sampler_region_phase(struct sampler_region *r, enum wire_phase phase)
{
    if (phase == WIRE_GO && r->plan.phase == WIRE_PAUSE) /* what was used until now is nobody's sample */
        for (uint32_t i = 0; i < r->plan.slots; i++) {
            uint64_t cpu_ns = look(&r->slots[i].cpu_ns);
            struct sampler_thread *t = &r->readings[i].thread;
            if (r->readings[i].is_known && cpu_ns > t->cpu_ns)
                t->cpu_ns = t->cpu_began_ns = cpu_ns;
        }
    r->plan.phase = phase;
    atomic_store(&r->head->phase, (uint32_t)phase);
}

const struct sampler_thread *sampler_region_next(const struct sampler_region *r, const struct sampler_thread *after)
{
    for (uint32_t i = after ? after->slot + 1 : 0; i < r->plan.slots; i++)
        if (r->readings[i].is_known)
            return &r->readings[i].thread;
    return NULL;
}

void sampler_region_gone(struct sampler_region *r, const struct sampler_thread *t) { r->readings[t->slot].is_gone = true; }

bool sampler_region_want(struct sampler_region *r, const struct sampler_thread *t, int32_t tid)
{
    if (atomic_load(&r->slots[t->slot].please))
        return false;
    for (uint32_t i = 0; i < r->plan.slots; i++) {
        struct wire_slot *s = &r->slots[i];
        uint32_t state = WIRE_FREE;
        if (r->readings[i].is_known || !atomic_compare_exchange_strong(&s->state, &state, WIRE_TAKEN))
            continue;
        s->pid = (uint32_t)t->pid;
        s->tid = (uint32_t)tid;
        s->parent_pid = 0;
        atomic_store_explicit(&s->state, WIRE_WANTED, memory_order_release);
        atomic_store_explicit(&r->slots[t->slot].please, i + 1, memory_order_release);
        return true;
    }
    return false;
}

void sampler_region_stack_bytes(struct sampler_region *r, const struct sampler_thread *t, uint32_t most)
{
    atomic_store_explicit(&r->slots[t->slot].stack_bytes, most, memory_order_relaxed);
}

struct sampler_region_count sampler_region_counts(const struct sampler_region *r)
{
    struct sampler_region_count c = r->count;
    for (uint32_t i = 0; i < r->plan.slots; i++)
        c.lost += r->readings[i].is_known ? r->readings[i].thread.lost : 0;
    for (size_t t = 0; t < WIRE_TROUBLE_COUNT; t++)
        c.trouble[t] = look(&r->head->trouble[t]);
    return c;
}
