#include "capture/heap/heap_target.h"
#include "base/clock.h"
#include "base/mem.h"
#include "capture/process_row.h"
#include "capture/shared_ring.h"

#include <fcntl.h>
#include <inttypes.h>

struct heap_who {
    uint32_t tid;
    thread_id thread;
    bool is_known, is_named, is_there;
};

/* The book. */

void heap_book_init(struct heap_book *b, struct capture_writer *into, struct heap_shared *shared, size_t most_depth)
{
    struct builder *names = capture_names(into);
    *b = (struct heap_book){.into = into, .shared = shared, .files = code_files_new(names, "/proc"),
                             .bytes = HEAP_ACCOUNT_OF_BYTES, .frames = HEAP_ACCOUNT_OF_FRAMES};
    b->naming = (struct stack_names){.names = names, .files = b->files, .most_depth = most_depth ? most_depth : DEPTH_MOST};
    struct measure_spec measures[HEAP_MEASURES] = {
        {VIEW("alloc_objects"), UNIT_COUNT}, {VIEW("alloc_space"), UNIT_BYTES}, {VIEW("inuse_objects"), UNIT_COUNT},
        {VIEW("inuse_space"), UNIT_BYTES},   {VIEW("peak_objects"), UNIT_COUNT}, {VIEW("peak_space"), UNIT_BYTES},
        {VIEW("temporary"), UNIT_COUNT},     {VIEW("samples"), UNIT_COUNT},
    };
    b->heap = builder_set(names, VIEW("heap"), measures, HEAP_MEASURES);
    builder_show(names, b->heap, 1, 0);
}

void heap_book_done(struct heap_book *b) { code_files_free(b->files); }

void heap_book_begin_again(struct heap_book *b)
{
    b->naming.names = capture_names(b->into);
    code_files_begin_again(b->files, b->naming.names);
}

/* Life. */

static void read_name(int32_t pid, char out[64])
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", pid);
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, 63);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

void heap_target_init(struct heap_target *t, struct heap_book *b, uint32_t index, const struct heap_claim *claim, uint8_t *area)
{
    *t = (struct heap_target){.index = index, .claim = *claim, .area = area, .named = 1, .purse = {.account = &b->bytes},
                              .frames = {.account = &b->frames}};
    t->mappings.purse = &t->purse;
    heap_stacks_init(&t->stacks, &(struct heap_stacks_place){claim->pid, b->shared, index, area, &t->purse, &t->frames});
    heap_rows_init(t);
    read_name(claim->pid, t->name);
}

void heap_target_done(struct heap_target *t)
{
    heap_stacks_done(&t->stacks);
    heap_mappings_done(&t->mappings);
    heap_left_done(&t->left);
    free(t->written);
    free(t->threads);
    heap_purse_close(&t->purse);
    heap_purse_close(&t->frames);
}

void heap_target_begin_again(struct heap_target *t)
{
    heap_stacks_begin_again(&t->stacks);
    for (size_t i = 0; i < t->threads_cap; i++)
        t->threads[i] = (struct heap_who){0};
    t->has_series = t->has_process = false;
}

/* Who. */
static void find_process(struct heap_target *t, struct heap_book *b)
{
    t->process = process_row(b->naming.names, t->claim.pid, 0, t->claim.began_ns, view_of(t->name));
    t->has_process = true;
}

static void name_thread(struct heap_target *t, struct heap_book *b, struct heap_who *w, const struct heap_thread *copy)
{
    char name[64] = "", path[64];
    memcpy(name, copy->name, HEAP_NAME_BYTES);
    if (!*name) {
        snprintf(path, sizeof path, "/proc/%" PRId32 "/task/%" PRIu32 "/comm", t->claim.pid, w->tid);
        own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
        name[n > 0 ? n : 0] = '\0';
        name[strcspn(name, "\n")] = '\0';
    }
    if (!*name && w->tid == (uint32_t)t->claim.pid)
        memcpy(name, t->name, sizeof name);
    if (*name)
        builder_name_thread(b->naming.names, w->thread, view_of(name));
    w->is_named = *name;
}


/* Place 0 is everybody who has none of his own: the process. */
context_id heap_target_context(struct heap_target *t, struct heap_book *b, uint32_t thread, labels_id labels)
{
    struct heap_thread copy = {0};
    size_t before = t->threads_cap;
    thread = thread < HEAP_THREADS_MOST ? thread : 0;
    GROW(t->threads, t->threads_cap, (size_t)thread + 1);
    memset(t->threads + before, 0, (t->threads_cap - before) * sizeof *t->threads);
    struct heap_who *w = &t->threads[thread];
    w->is_there = w->is_there || heap_shared_is_there(b->shared, t->index, HEAP_THREADS_AT + thread * HEAP_THREAD_STRIDE, sizeof copy);
    if (w->is_there)
        heap_read_thread(t, thread, &copy);
    uint32_t tid = copy.tid && copy.tid <= INT32_MAX && thread ? copy.tid : (uint32_t)t->claim.pid;
    if (!t->has_process)
        find_process(t, b);
    if (!w->is_known || w->tid != tid) {
        *w = (struct heap_who){.tid = tid, .is_known = true, .is_there = w->is_there, .thread = builder_thread(b->naming.names, t->process, (int32_t)tid)};
        name_thread(t, b, w, &copy);
    }
    return builder_context(b->naming.names, w->thread, labels);
}

/* Rings. */

static void tell_mapping(void *self, const struct heap_piece *p, int64_t objects, int64_t bytes, uint64_t when_ns);

struct teller {
    struct heap_target *t;
    struct heap_book *b;
};

static void take_record(struct heap_target *t, struct heap_book *b, const uint8_t *record, uint64_t now_ns)
{
    const struct heap_record *head = (const void *)record;
    if (head->kind == HEAP_SLICE) {
        const struct heap_slice *s = (const void *)record;
        if (head->bytes >= sizeof *s && s->bytes <= head->bytes - sizeof *s && s->bytes <= HEAP_SLICE_MOST)
            heap_stacks_slice(&t->stacks, b->files, s, record + sizeof *s, now_ns);
    } else if (head->kind == HEAP_MAP_LINE) {
        const struct heap_map_line *m = (const void *)record;
        if (head->bytes >= sizeof *m && m->line_bytes <= head->bytes - sizeof *m)
            heap_stacks_map(&t->stacks, b->files, (struct view){(const char *)(m + 1), m->line_bytes}, m->is_first);
    } else if (head->kind == HEAP_MAPPING) {
        const struct heap_mapping *m = (const void *)record;
        if (head->bytes >= sizeof *m && m->path_bytes <= head->bytes - sizeof *m && m->what < HEAP_MAPPING_WHAT_COUNT)
            heap_mappings_take(&t->mappings, m, (struct view){(const char *)(m + 1), m->path_bytes}, tell_mapping,
                               &(struct teller){t, b});
    } else {
        t->damaged++;
    }
}

/* One record at the tail, of at most `ready` bytes. False: this cannot be one. */
static bool read_record(struct heap_target *t, struct heap_book *b, uint64_t ready, uint64_t now_ns)
{
    enum { MOST = HEAP_SLICE_MOST + 8192 };
    _Alignas(16) uint8_t record[MOST];
    struct shared_ring ring = {t->area + HEAP_RING_AT, HEAP_RING_BYTES};
    enum shared_ring_got got = shared_ring_next(&ring, &t->tail, ready, record, sizeof record);
    if (got != SHARED_RING_RECORD)
        return got == SHARED_RING_PAD;
    t->ring_records++;
    take_record(t, b, record, now_ns);
    return true;
}

/* Whole pages that were read, before the agent may write there again. */
static void give_back(const struct heap_target *t, struct heap_book *b, uint64_t from)
{
    enum { PAGE = 4096, WORTH_IT = 1 << 18 };
    uint64_t first = (from + PAGE - 1) & ~(uint64_t)(PAGE - 1), last = t->tail & ~(uint64_t)(PAGE - 1);
    if (last <= first || last - first < WORTH_IT || last - first > HEAP_RING_BYTES)
        return;
    uint64_t at = first & (HEAP_RING_BYTES - 1), n = last - first, to_end = HEAP_RING_BYTES - at;
    heap_shared_punch(b->shared, t->index, HEAP_RING_AT + at, n < to_end ? n : to_end);
    if (n > to_end)
        heap_shared_punch(b->shared, t->index, HEAP_RING_AT, n - to_end);
}

static void read_ring(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    struct heap_area *a = heap_head_of(t);
    uint64_t head = heap_look(&a->ring_head), from = t->tail;
    bool is_sound = head - t->tail <= HEAP_RING_BYTES;
    while (is_sound && t->tail != head)
        is_sound = read_record(t, b, head - t->tail, now_ns);
    if (!is_sound) {
        t->damaged++;
        t->tail = head;
    }
    give_back(t, b, from);
    atomic_store_explicit(&a->ring_tail, t->tail, memory_order_release);
}

static set_id blocks_set(struct heap_book *b)
{
    struct measure_spec measures[] = {{VIEW("bytes"), UNIT_BYTES}, {VIEW("freed"), UNIT_COUNT}, {VIEW("lifetime_ns"), UNIT_NS}};
    if (!b->has_blocks)
        b->blocks = builder_set(b->naming.names, VIEW("heap.blocks"), measures, 3);
    b->has_blocks = true;
    return b->blocks;
}

static void write_block(struct heap_target *t, struct heap_book *b, const struct heap_block *block, uint64_t freed_tick)
{
    struct heap_row_rest row;
    bool is_new;
    uint64_t size = block->size & HEAP_BLOCK_SIZE;
    if (block->row == 0 || block->row >= HEAP_ROWS_MOST || size >= (uint64_t)HEAP_VALUE_MOST) {
        t->damaged++;
        return;
    }
    uint64_t at = HEAP_RESTS_AT + block->row * sizeof row;
    if (block->row >= t->written_cap && !heap_shared_is_there(b->shared, t->index, at, sizeof row)) {
        t->damaged++;
        return;
    }
    heap_book_bound_names(b);
    shared_memory_copy(&row, t->area + at, sizeof row);
    struct label address = {.key = builder_string(b->naming.names, VIEW("address")), .number = (int64_t)atomic_load_explicit(&block->address, memory_order_relaxed)};
    context_id who = capture_in_scope(b->into, heap_target_context(t, b, row.thread, builder_labels(b->naming.names, &address, 1)), row.scope);
    uint64_t from_ns = heap_shared_ns(b->shared, block->tick), to_ns = heap_shared_ns(b->shared, freed_tick);
    int64_t values[] = {(int64_t)size, freed_tick != 0, freed_tick && to_ns > from_ns ? (int64_t)(to_ns - from_ns) : 0};
    if (values[2] < HEAP_VALUE_MOST && from_ns < (uint64_t)HEAP_VALUE_MOST * 16)
        capture_sample(b->into, blocks_set(b), from_ns, who, heap_stacks_find(&t->stacks, &b->naming, row.stack, &is_new), values);
}

/* Up to where the ring of blocks was written without a gap, from `at` on, of these bytes; `at`: there is nothing. */
static uint64_t blocks_until(const struct heap_target *t, const struct heap_book *b, uint64_t at, uint64_t bytes)
{
    uint64_t from, to, end = bytes < HEAP_BLOCKS_BYTES - at ? at + bytes : HEAP_BLOCKS_BYTES;
    bool is_there = heap_shared_stretch(b->shared, t->index, HEAP_BLOCKS_AT + at, HEAP_BLOCKS_AT + end, &from, &to);
    return is_there && from == HEAP_BLOCKS_AT + at ? to - HEAP_BLOCKS_AT : at;
}

static void read_blocks(struct heap_target *t, struct heap_book *b)
{
    enum { MOST = HEAP_BLOCKS_BYTES / sizeof(struct heap_freed) };
    struct heap_area *a = heap_head_of(t);
    uint64_t head = heap_look(&a->blocks_head);
    if (head - t->blocks_tail > MOST) {
        t->damaged++;
        t->blocks_tail = head;
    }
    for (uint64_t there = 0; t->blocks_tail != head; t->blocks_tail++) {
        struct heap_freed f;
        uint64_t at = t->blocks_tail % MOST * sizeof f;
        there = at + sizeof f <= there && at ? there : blocks_until(t, b, at, (head - t->blocks_tail) * sizeof f);
        if (at + sizeof f > there) {
            t->damaged++;
            t->blocks_tail = head;
            break;
        }
        shared_memory_copy(&f, t->area + HEAP_BLOCKS_AT + at, sizeof f);
        write_block(t, b, &f.block, f.freed_tick);
    }
    atomic_store_explicit(&a->blocks_tail, t->blocks_tail, memory_order_release);
}

void heap_target_read(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    read_ring(t, b, now_ns);
    uint32_t unloads = atomic_load_explicit(&heap_head_of(t)->unloads, memory_order_acquire);
    if (unloads != t->unloads) { /* what was seen before gets its names while they can be found */
        t->unloads = unloads;
        heap_target_name(t, b, UINT64_MAX);
        heap_stacks_unloaded(&t->stacks, b->files);
        heap_shared_punch(b->shared, t->index, HEAP_RULES_AT, HEAP_RULES * sizeof(struct heap_rule));
    }
    read_blocks(t, b);
}

bool heap_target_name(struct heap_target *t, struct heap_book *b, uint64_t until_ns)
{
    uint32_t n = heap_look32(&heap_head_of(t)->stacks, HEAP_STACKS_MOST);
    struct heap_items all = heap_items_of(t, b->shared, HEAP_STACKS_AT, sizeof(struct heap_stack), n);
    all.next = t->named;
    for (bool is_new; (t->named = heap_items_next(&all)) < n; t->named++) {
        if (!heap_stacks_is_ripe(&t->stacks, t->named))
            continue; /* its rows will ask */
        heap_book_bound_names(b);
        heap_stacks_find(&t->stacks, &b->naming, t->named, &is_new);
        if (until_ns != UINT64_MAX && is_new && clock_monotonic_ns() >= until_ns)
            return false;
    }
    return true;
}

/* Mappings. */

static void tell_mapping(void *self, const struct heap_piece *p, int64_t objects, int64_t bytes, uint64_t when_ns)
{
    const struct teller *to = self;
    heap_book_bound_names(to->b);
    struct builder *names = to->b->naming.names;
    struct measure_spec measures[] = {{VIEW("mapped_objects"), UNIT_COUNT}, {VIEW("mapped_space"), UNIT_BYTES}};
    if (!to->b->has_mappings) {
        to->b->mappings = builder_set(names, VIEW("mappings"), measures, 2);
        builder_show(names, to->b->mappings, 1, 0);
    }
    to->b->has_mappings = true;
    struct label labels[3] = {{.key = builder_string(names, VIEW("map_kind")), .text = builder_string(names, view_of(p->kind))}};
    size_t n = 1;
    if (p->path) {
        labels[n++] = (struct label){.key = builder_string(names, VIEW("path")), .text = builder_string(names, view_of(p->path))};
        if (heap_path_is_weights(view_of(p->path)))
            labels[n++] = (struct label){.key = builder_string(names, VIEW("weights")), .number = 1};
    }
    bool is_new;
    context_id who = heap_target_context(to->t, to->b, p->thread, builder_labels(names, labels, n));
    uint64_t now_ns = clock_monotonic_ns();
    capture_sample(to->b->into, to->b->mappings, when_ns < now_ns ? when_ns : now_ns, who,
                   heap_stacks_find(&to->t->stacks, &to->b->naming, p->stack, &is_new), (int64_t[]){objects, bytes});
}

/* Blocks that are live. */

static void write_table(struct heap_target *t, struct heap_book *b, uint64_t at, uint32_t n)
{
    struct heap_items all = heap_items_of(t, b->shared, at, sizeof(struct heap_block), n);
    for (uint32_t i; (i = heap_items_next(&all)) < n;) {
        struct heap_block block;
        shared_memory_copy(&block, t->area + at + i * sizeof block, sizeof block);
        if (atomic_load_explicit(&block.address, memory_order_relaxed) >= HEAP_BLOCK_NONE_COUNT)
            write_block(t, b, &block, 0);
    }
}

void heap_target_blocks(struct heap_target *t, struct heap_book *b)
{
    uint32_t threads = heap_look32(&heap_head_of(t)->threads, HEAP_THREADS_MOST);
    uint32_t levels = heap_look32(&heap_head_of(t)->levels, HEAP_LEVELS);
    for (uint32_t i = 0; i < threads; i++)
        write_table(t, b, HEAP_OWN_AT + i * HEAP_OWN_BYTES, HEAP_OWN_BLOCKS);
    for (uint32_t level = 0; level < levels; level++)
        write_table(t, b, HEAP_LIVE_LEVEL_AT(level), (uint32_t)HEAP_LEVEL_BLOCKS(level));
}
