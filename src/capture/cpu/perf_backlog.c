#include "capture/cpu/perf_backlog.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "capture/hurry.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { SEGMENT_BYTES = 96 << 10, PULL_MS = 20 }; /* the longest record, and below what malloc() asks the kernel for one by one */

struct segment {
    struct segment *next;
    size_t at, len; /* read; filled */
    _Alignas(8) char bytes[SEGMENT_BYTES];
};

struct list {
    struct segment *first, *last;
};

struct one_ring {
    struct perf_backlog_ring from;
    struct list filled;  /* the lock's */
    struct list reading; /* the reader's */
};

struct perf_backlog {
    struct one_ring *rings;
    size_t n_rings;
    pthread_mutex_t lock;
    pthread_t thread;
    bool is_running;
    atomic_bool has_to_stop;
    atomic_size_t held_bytes;
    _Atomic uint64_t pulled_ns; /* when the last whole pull began */
    struct pollfd *fds;
    size_t n_fds;
};

/* Life. */

struct perf_backlog *perf_backlog_new(const struct perf_backlog_ring *rings, size_t n)
{
    struct perf_backlog *b = mem_new(sizeof *b);
    b->rings = mem_new(n * sizeof *b->rings);
    b->n_rings = n;
    for (size_t i = 0; i < n; i++)
        b->rings[i].from = rings[i];
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void free_list(struct list *l)
{
    for (struct segment *s; (s = l->first);) {
        l->first = s->next;
        free(s);
    }
}

void perf_backlog_free(struct perf_backlog *b)
{
    if (!b)
        return;
    perf_backlog_stop(b);
    for (size_t i = 0; i < b->n_rings; i++) {
        free_list(&b->rings[i].filled);
        free_list(&b->rings[i].reading);
    }
    pthread_mutex_destroy(&b->lock);
    free(b->rings);
    free(b->fds);
    free(b);
}

/* Pulling. */

static void append(struct list *to, struct list more)
{
    if (!more.first)
        return;
    if (to->last)
        to->last->next = more.first;
    else
        to->first = more.first;
    to->last = more.last;
}

/* Room at the end of the list for one record, however long. */
static char *room_for(struct perf_backlog *b, struct list *l, size_t n)
{
    if (!l->last || SEGMENT_BYTES - l->last->len < n) {
        struct segment *fresh = mem_resize(NULL, sizeof *fresh); /* its bytes need not be zero */
        fresh->next = NULL;
        fresh->at = fresh->len = 0;
        append(l, (struct list){fresh, fresh});
        atomic_fetch_add(&b->held_bytes, sizeof *fresh);
    }
    return l->last->bytes + l->last->len;
}

/* What is pulled is put together unseen and handed over at once: the lock is held for a moment, whatever there was. */
static void pull_ring(struct perf_backlog *b, struct one_ring *r)
{
    struct list pulled = {0};
    struct view bytes;
    for (perf_ring_look(r->from.ring); perf_ring_peek(r->from.ring, &bytes); perf_ring_pass(r->from.ring)) {
        char *to = room_for(b, &pulled, bytes.n);
        pulled.last->len += perf_record_copy(to, r->from.layout, bytes);
    }
    pthread_mutex_lock(&b->lock);
    append(&r->filled, pulled);
    pthread_mutex_unlock(&b->lock);
}

static void pull(struct perf_backlog *b)
{
    uint64_t begun_ns = clock_monotonic_ns();
    if (atomic_load(&b->held_bytes) > BACKLOG_MOST)
        return;
    for (size_t i = 0; i < b->n_rings; i++)
        pull_ring(b, &b->rings[i]);
    atomic_store(&b->pulled_ns, begun_ns);
}

/* Whose threads have all ended hangs up, and would answer at once for ever; its ring is looked at by the clock then. */
static void *run(void *self)
{
    struct perf_backlog *b = self;
    hurry();
    while (!atomic_load(&b->has_to_stop)) {
        poll(b->fds, b->n_fds, PULL_MS);
        for (size_t i = 0; i < b->n_fds; i++)
            if (b->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
                b->fds[i].fd = -1;
        pull(b);
    }
    return NULL;
}

void perf_backlog_start(struct perf_backlog *b, const int *fds, size_t n_fds)
{
    sigset_t all, before;
    pull(b); /* so that there is a moment to tell */
    b->fds = mem_new(n_fds * sizeof *b->fds);
    b->n_fds = n_fds;
    for (size_t i = 0; i < n_fds; i++)
        b->fds[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread that waits for them */
    int refusal = pthread_create(&b->thread, NULL, run, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    b->is_running = refusal == 0;
    if (refusal)
        log_info("no thread to empty the kernel's rings: %s", strerror(refusal));
}

void perf_backlog_stop(struct perf_backlog *b)
{
    if (!b->is_running)
        return;
    atomic_store(&b->has_to_stop, true);
    pthread_join(b->thread, NULL);
    b->is_running = false;
}

/* Reading. */

uint64_t perf_backlog_look(struct perf_backlog *b)
{
    if (!b->is_running)
        pull(b);
    uint64_t pulled_ns = atomic_load(&b->pulled_ns); /* before the lists are taken: they have at least what was there then */
    for (size_t i = 0; i < b->n_rings; i++) {
        pthread_mutex_lock(&b->lock);
        struct list fresh = b->rings[i].filled;
        b->rings[i].filled = (struct list){0};
        pthread_mutex_unlock(&b->lock);
        append(&b->rings[i].reading, fresh);
    }
    return pulled_ns;
}

static size_t record_bytes(const struct segment *s)
{
    struct perf_event_header h;
    memcpy(&h, s->bytes + s->at, sizeof h);
    return h.size;
}

bool perf_backlog_peek(struct perf_backlog *b, size_t ring, struct view *out)
{
    const struct segment *s = b->rings[ring].reading.first;
    if (!s)
        return false;
    *out = (struct view){s->bytes + s->at, record_bytes(s)};
    return true;
}

void perf_backlog_pass(struct perf_backlog *b, size_t ring)
{
    struct list *l = &b->rings[ring].reading;
    struct segment *s = l->first;
    if (!s)
        return;
    s->at += record_bytes(s);
    if (s->at < s->len)
        return;
    l->first = s->next;
    if (!l->first)
        l->last = NULL;
    free(s);
    atomic_fetch_sub(&b->held_bytes, sizeof *s);
}
