#include "capture/scopes/scopes_memory.h"
#include "base/mem.h"
#include "capture/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#define NO_PIECE UINT32_MAX
#define REFUSED_MOST UINT64_C(1000000000) /* more than this is not counted but invented */

/* Life. */

static struct scopes_memory *over(void *bytes, uint32_t pieces, int fd)
{
    struct scopes_memory *m = mem_new(sizeof *m);
    m->pieces = pieces;
    m->fd = fd;
    m->head = bytes;
    m->rows = (struct scopes_piece *)(void *)((uint8_t *)bytes + SCOPES_HEADER_BYTES);
    m->bytes = (uint8_t *)bytes + scopes_pieces_at(pieces);
    m->known = mem_new(pieces * sizeof *m->known);
    m->head->version = SCOPES_VERSION;
    m->head->pieces = pieces;
    m->head->recorder_pid = (uint32_t)getpid();
    m->head->magic = SCOPES_MAGIC;
    return m;
}

struct scopes_memory *scopes_memory_over(void *bytes, uint32_t pieces) { return over(bytes, pieces, -1); }

bool scopes_memory_new(struct scopes_memory **out, uint32_t pieces, struct err *e)
{
    uint64_t bytes = scopes_region_bytes(pieces);
    int fd;
    void *p;
    if (!shared_memory_make("inferom-scopes", bytes, bytes, &fd, &p, e))
        return false;
    *out = over(p, pieces, fd);
    return true;
}

static void thread_free(struct seen_thread *t)
{
    free(t->nodes);
    free(t->buckets);
    free(t->pieces);
    free(t);
}

static void process_free(struct seen_process *p)
{
    for (size_t i = 0; i < p->n_threads; i++)
        thread_free(p->threads[i]);
    for (size_t i = 0; i < p->n_sites; i++) {
        free(p->sites[i].name);
        free(p->sites[i].file);
    }
    free(p->threads);
    free(p->sites);
    free(p->requests);
    free(p->work);
    free(p);
}

void scopes_memory_forget(struct scopes_memory *m, size_t process)
{
    process_free(m->processes[process]);
    memmove(m->processes + process, m->processes + process + 1, (--m->n_processes - process) * sizeof *m->processes);
}

void scopes_memory_free(struct scopes_memory *m)
{
    if (!m)
        return;
    while (m->n_processes)
        scopes_memory_forget(m, m->n_processes - 1);
    if (m->fd >= 0) {
        munmap(m->head, scopes_region_bytes(m->pieces));
        close(m->fd);
    }
    free(m->processes);
    free(m->known);
    free(m);
}

/* Reading. From here on nothing is as it should be until it has been looked at. */

void scopes_memory_copy(const struct scopes_memory *m, scopes_place place, void *to, size_t bytes)
{
    shared_memory_copy(to, m->bytes + place - 1, bytes);
}

static scopes_place place_of(uint32_t piece, uint32_t byte) { return (uint64_t)piece * SCOPES_PIECE_BYTES + byte + 1; }

static char *text_of(const struct scopes_memory *m, scopes_place at, size_t n)
{
    char *text = mem_new(n + 1);
    scopes_memory_copy(m, at, text, n);
    return text;
}

/* What each kind of item tells; at most `bytes` of it may be looked at. False: this cannot be. */

static bool learn_process(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    struct scopes_process head;
    (void)t, (void)bytes;
    scopes_memory_copy(m, at, &head, sizeof head);
    if (p->head.pid || head.pid == 0 || head.pid > INT32_MAX)
        return false;
    p->head = head;
    p->head.program[sizeof p->head.program - 1] = '\0';
    p->place = at;
    return true;
}

static bool learn_thread(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    (void)m, (void)p, (void)bytes;
    if (t->place)
        return false;
    t->place = at;
    return true;
}

static bool learn_site(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    struct scopes_site s;
    (void)t;
    scopes_memory_copy(m, at, &s, sizeof s);
    uint32_t room = bytes - (uint32_t)sizeof s;
    if (!s.number || s.number >= SCOPES_SITES_MOST || s.kind >= SCOPES_SITE_KIND_COUNT || s.name_bytes > room ||
        s.file_bytes > room - s.name_bytes)
        return false;
    for (; p->n_sites <= s.number; p->n_sites++) {
        GROW(p->sites, p->cap_sites, p->n_sites + 1);
        p->sites[p->n_sites] = (struct seen_site){0};
    }
    struct seen_site *row = &p->sites[s.number];
    if (row->name)
        return false;
    *row = (struct seen_site){.name = text_of(m, at + sizeof s, s.name_bytes), .line = s.line, .id = s.id,
                              .kind = (enum scopes_site_kind)s.kind, .file = text_of(m, at + sizeof s + s.name_bytes, s.file_bytes)};
    return true;
}

/* One after the other, callers first: so there are no circles. */
static bool learn_node(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    struct scopes_node n;
    (void)p, (void)bytes;
    scopes_memory_copy(m, at, &n, sizeof n);
    if (!t->n_nodes) {
        GROW(t->nodes, t->cap_nodes, 1);
        t->nodes[t->n_nodes++] = (struct seen_node){0};
    }
    if (n.number != t->n_nodes || n.number > SCOPES_NODES_MOST || n.caller >= n.number || !n.site || n.site >= SCOPES_SITES_MOST ||
        t->nodes[n.caller].depth >= SCOPES_DEPTH_MOST)
        return false;
    GROW(t->nodes, t->cap_nodes, t->n_nodes + 1);
    t->nodes[t->n_nodes++] = (struct seen_node){
        .caller = n.caller, .site = n.site, .depth = t->nodes[n.caller].depth + 1, .place = at,
    };
    return true;
}

static bool learn_buckets(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    (void)m, (void)p, (void)bytes;
    GROW(t->buckets, t->cap_buckets, t->n_buckets + 1);
    t->buckets[t->n_buckets++] = at;
    return true;
}

static bool learn_events(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    struct {
        struct scopes_item head;
        uint32_t index;
    } list;
    (void)p, (void)bytes;
    scopes_memory_copy(m, at, &list, sizeof list);
    if (list.index >= SCOPES_EVENT_ITEMS_MOST || t->events[list.index])
        return false;
    t->events[list.index] = at;
    return true;
}

static bool learn_request(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    struct scopes_request r;
    (void)t, (void)bytes;
    scopes_memory_copy(m, at, &r, sizeof r);
    GROW(p->requests, p->cap_requests, p->n_requests + 1);
    struct seen_request *row = &p->requests[p->n_requests++];
    *row = (struct seen_request){.number = r.number};
    memcpy(row->id, r.id, sizeof r.id);
    row->id[SCOPES_ID_BYTES] = '\0';
    return true;
}

static bool learn_metrics(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes)
{
    (void)m, (void)p, (void)bytes;
    if (t->metrics)
        return false;
    t->metrics = at;
    return true;
}

static const struct lesson {
    uint32_t least; /* bytes */
    bool (*learn)(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, scopes_place at, uint32_t bytes);
} lessons[SCOPES_KIND_COUNT] = {
    [SCOPES_PROCESS] = {sizeof(struct scopes_process), learn_process},
    [SCOPES_THREAD] = {sizeof(struct scopes_thread), learn_thread},
    [SCOPES_SITE] = {sizeof(struct scopes_site), learn_site},
    [SCOPES_NODE] = {sizeof(struct scopes_node), learn_node},
    [SCOPES_BUCKETS] = {sizeof(struct scopes_buckets), learn_buckets},
    [SCOPES_EVENT_LIST] = {sizeof(struct scopes_event_list), learn_events},
    [SCOPES_REQUEST] = {sizeof(struct scopes_request), learn_request},
    [SCOPES_METRICS] = {sizeof(struct scopes_metrics), learn_metrics},
};

static bool learn_item(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t, uint32_t piece, uint32_t used)
{
    scopes_place at = place_of(piece, t->at_byte);
    struct scopes_item item;
    if (used - t->at_byte < SCOPES_ITEM_ALIGN)
        return false;
    scopes_memory_copy(m, at, &item, sizeof item);
    if (!item.bytes || item.bytes % SCOPES_ITEM_ALIGN || item.bytes > used - t->at_byte || item.kind >= SCOPES_KIND_COUNT)
        return false;
    const struct lesson *kind = &lessons[item.kind];
    if (!kind->learn || item.bytes < kind->least || !kind->learn(m, p, t, at, item.bytes))
        return false;
    t->at_byte += item.bytes;
    return true;
}

static uint32_t look(const uint32_t *v) { return __atomic_load_n(v, __ATOMIC_ACQUIRE); }

/* As far as the thread had come when we looked. A piece is full when there is a next one: asked before how far it is used. */
static void learn_items(struct scopes_memory *m, struct seen_process *p, struct seen_thread *t)
{
    while (!t->is_damaged && t->at_piece < t->n_pieces && t->pieces[t->at_piece] != NO_PIECE) {
        bool has_next = t->at_piece + 1 < t->n_pieces && t->pieces[t->at_piece + 1] != NO_PIECE;
        uint32_t piece = t->pieces[t->at_piece], used = look(&m->rows[piece].used);
        t->is_damaged = used > SCOPES_PIECE_BYTES || used < t->at_byte;
        while (!t->is_damaged && t->at_byte < used)
            t->is_damaged = !learn_item(m, p, t, piece, used);
        m->damaged += t->is_damaged;
        if (!has_next)
            return;
        t->at_piece++;
        t->at_byte = 0;
    }
}

/* Whose pieces. */

static struct seen_process *process_of(struct scopes_memory *m, uint32_t number)
{
    for (size_t i = m->n_processes; i-- > 0;)
        if (m->processes[i]->number == number)
            return m->processes[i];
    struct seen_process *p = mem_new(sizeof *p);
    p->number = number;
    p->subject = ++m->met;
    GROW(m->processes, m->cap_processes, m->n_processes + 1);
    return m->processes[m->n_processes++] = p;
}

static struct seen_thread *thread_of(struct seen_process *p, uint32_t number)
{
    for (size_t i = p->n_threads; i-- > 0;)
        if (p->threads[i]->number == number)
            return p->threads[i];
    struct seen_thread *t = mem_new(sizeof *t);
    t->number = number;
    for (size_t i = 0; i < SCOPES_RING_PIECES; i++)
        t->ring[i] = NO_PIECE;
    GROW(p->threads, p->cap_threads, p->n_threads + 1);
    return p->threads[p->n_threads++] = t;
}

static void add_piece(struct seen_thread *t, const struct scopes_piece *row, uint32_t piece)
{
    if (row->kind == SCOPES_RING && row->index < SCOPES_RING_PIECES && t->ring[row->index] == NO_PIECE)
        t->ring[row->index] = piece;
    if (row->kind != SCOPES_ITEMS)
        return;
    for (; t->n_pieces <= row->index; t->n_pieces++) {
        GROW(t->pieces, t->cap_pieces, t->n_pieces + 1);
        t->pieces[t->n_pieces] = NO_PIECE;
    }
    if (t->pieces[row->index] == NO_PIECE)
        t->pieces[row->index] = piece;
}

static void meet_pieces(struct scopes_memory *m)
{
    uint32_t n = look(&m->head->pieces_used);
    for (uint32_t i = 0; i < m->pieces && i < n; i++) {
        if (m->known[i] || !__atomic_load_n(&m->rows[i].kind, __ATOMIC_ACQUIRE))
            continue;
        struct scopes_piece row;
        shared_memory_copy(&row, &m->rows[i], sizeof row);
        if (!row.process || !row.thread)
            continue;
        struct seen_process *p = process_of(m, row.process);
        if (p->is_over)
            continue; /* it was gone, and writes: whatever this is */
        m->known[i] = row.process;
        add_piece(thread_of(p, row.thread), &row, i);
    }
}

void scopes_memory_visit(struct scopes_memory *m)
{
    meet_pieces(m);
    for (size_t i = 0; i < m->n_processes; i++)
        for (size_t k = 0; !m->processes[i]->is_over && k < m->processes[i]->n_threads; k++)
            learn_items(m, m->processes[i], m->processes[i]->threads[k]);
}

/* Records. */

static struct scopes_thread *thread_at(const struct scopes_memory *m, const struct seen_thread *t)
{
    return (struct scopes_thread *)(void *)(m->bytes + t->place - 1);
}

/* A piece that we have not met yet has what it has until the next visit. A head from nowhere is a ring to be passed over. */
size_t scopes_memory_records(struct scopes_memory *m, struct seen_thread *t, struct scopes_record *out, size_t most)
{
    if (!t->place)
        return 0;
    struct scopes_thread *shared = thread_at(m, t);
    uint64_t head = __atomic_load_n(&shared->head_record, __ATOMIC_ACQUIRE), ready = head - t->tail;
    size_t n = 0;
    if (ready > (uint64_t)SCOPES_RING_PIECES * SCOPES_RECORDS) {
        t->tail = head;
        ready = 0;
    }
    for (; n < ready && n < most; n++) {
        uint32_t piece = t->ring[t->tail / SCOPES_RECORDS % SCOPES_RING_PIECES];
        if (piece == NO_PIECE)
            break;
        scopes_memory_copy(m, place_of(piece, (uint32_t)(t->tail % SCOPES_RECORDS * sizeof *out)), &out[n], sizeof *out);
        t->tail++;
    }
    __atomic_store_n(&shared->tail_record, t->tail, __ATOMIC_RELEASE);
    return n;
}

size_t scopes_memory_events(struct scopes_memory *m, struct seen_thread *t, struct scopes_event *out, size_t most)
{
    if (!t->place)
        return 0;
    struct scopes_thread *shared = thread_at(m, t);
    uint64_t head = __atomic_load_n(&shared->events, __ATOMIC_ACQUIRE);
    size_t n = 0;
    if (head - t->event_tail > SCOPES_EVENTS_MOST)
        t->event_tail = head;
    for (; t->event_tail != head && n < most; n++) {
        scopes_place list = t->events[t->event_tail / SCOPES_EVENTS % SCOPES_EVENT_ITEMS_MOST];
        if (!list)
            break;
        size_t at = offsetof(struct scopes_event_list, events) + t->event_tail % SCOPES_EVENTS * sizeof *out;
        scopes_memory_copy(m, list + at, &out[n], sizeof *out);
        t->event_tail++;
    }
    __atomic_store_n(&shared->tail_event, t->event_tail, __ATOMIC_RELEASE);
    return n;
}

/* Giving back. */

/* Whoever takes a piece finds it zeroed. Where the pages cannot be given back they are wiped. */
static void wipe(struct scopes_memory *m, uint32_t piece)
{
    off_t at = (off_t)scopes_pieces_at(m->pieces) + (off_t)piece * SCOPES_PIECE_BYTES;
    if (m->fd < 0 || fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, SCOPES_PIECE_BYTES) != 0)
        memset(m->bytes + (size_t)piece * SCOPES_PIECE_BYTES, 0, SCOPES_PIECE_BYTES);
}

void scopes_memory_release(struct scopes_memory *m, struct seen_process *p, uint64_t now_ns)
{
    p->is_over = true;
    p->over_ns = now_ns;
    for (uint32_t i = 0; i < m->pieces; i++) {
        uint32_t owner = m->known[i] ? m->known[i] : look(&m->rows[i].process); /* who was killed between taking and saying so */
        if (owner != p->number)
            continue;
        wipe(m, i);
        m->known[i] = 0;
        __atomic_store_n(&m->rows[i].kind, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&m->rows[i].process, 0, __ATOMIC_RELEASE);
    }
}

uint64_t scopes_memory_refused(const struct scopes_memory *m)
{
    uint64_t n = __atomic_load_n(&m->head->refused, __ATOMIC_RELAXED);
    return n <= REFUSED_MOST ? n : 0;
}
