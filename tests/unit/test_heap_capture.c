/* The recorder's end of the heap: rules in one word, pieces of address space, rows that become differences. */
#include "capture/heap/heap_target.h"
#include "check.h"

#include <sys/mman.h>
#include <sys/stat.h>

/* Rules. */

static void rules_survive_the_way(void)
{
    static const struct {
        enum heap_rule_kind kind;
        int64_t offset, ra, fp;
    } cases[] = {
        {HEAP_RULE_SP, 8, -8, -8},
        {HEAP_RULE_SP, 1 << 20, -8, -16},
        {HEAP_RULE_FP, 16, -8, -16},
        {HEAP_RULE_MEMORY, -8, -8, -16},
        {HEAP_RULE_FP, -64, -16, -65536},
        {HEAP_RULE_SP, ((INT64_C(1) << 27) - 1) * 8, -8, 65528},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t r = heap_rule_pack(cases[i].kind, cases[i].offset, cases[i].ra, cases[i].fp);
        CHECK_EQ(heap_rule_kind(r), cases[i].kind);
        CHECK_EQ(heap_rule_offset(r), cases[i].offset);
        CHECK_EQ(heap_rule_ra(r), cases[i].ra);
        CHECK_EQ(heap_rule_fp(r), cases[i].fp);
        CHECK_EQ(heap_rule_keeps_fp(r), cases[i].fp == cases[i].ra);
        CHECK_EQ(heap_rule_is_plain(r), cases[i].kind != HEAP_RULE_MEMORY);
    }
}

/* Mappings. */

struct told {
    int64_t objects, bytes, changes;
};

static void tell(void *self, const struct heap_piece *p, int64_t objects, int64_t bytes, uint64_t when_ns)
{
    struct told *t = self;
    (void)when_ns;
    CHECK(p->kind != NULL);
    t->objects += objects;
    t->bytes += bytes;
    t->changes++;
}

static void change(struct heap_mappings *m, struct told *t, enum heap_mapping_what what, uint64_t page, uint64_t pages)
{
    struct heap_mapping news = {.address = page * 4096, .length = pages * 4096, .what = (uint32_t)what, .flags = MAP_PRIVATE | MAP_ANONYMOUS};
    heap_mappings_take(m, &news, (struct view){0}, tell, t);
    for (size_t i = 0; i < m->n; i++) {
        CHECK(m->pieces[i].start < m->pieces[i].end);
        CHECK(i == 0 || m->pieces[i - 1].end <= m->pieces[i].start);
    }
}

static void pieces_add_up(void)
{
    struct heap_mappings m = {0};
    struct told t = {0};
    change(&m, &t, HEAP_MAPPED, 100, 10);
    CHECK_EQ(t.bytes, 10 * 4096);
    change(&m, &t, HEAP_UNMAPPED, 103, 2); /* a hole: two pieces */
    CHECK_EQ(t.objects, 2);
    CHECK_EQ(t.bytes, 8 * 4096);
    change(&m, &t, HEAP_MAPPED, 102, 4); /* over the end of one and the beginning of the other */
    CHECK_EQ(t.objects, 3);
    CHECK_EQ(t.bytes, 10 * 4096);
    change(&m, &t, HEAP_UNMAPPED, 0, 1000);
    CHECK_EQ(t.objects, 0);
    CHECK_EQ(t.bytes, 0);
    CHECK_EQ(m.n, 0);
    change(&m, &t, HEAP_UNMAPPED, 0, 1000); /* what nobody mapped */
    CHECK_EQ(t.bytes, 0);
    heap_mappings_done(&m);
}

/* Whatever is mapped and unmapped: what was told is what is there. */
static void pieces_at_random(void)
{
    struct heap_mappings m = {0};
    struct told t = {0};
    bool there[64] = {0};
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint64_t page = x % 60, pages = 1 + (x >> 8) % (64 - page);
        bool is_map = x >> 20 & 1;
        change(&m, &t, is_map ? HEAP_MAPPED : HEAP_UNMAPPED, page + 1, pages);
        for (uint64_t k = page; k < page + pages && k < 64; k++)
            there[k] = is_map;
        int64_t want = 0;
        for (size_t k = 0; k < 64; k++)
            want += there[k] ? 4096 : 0;
        CHECK_EQ(t.bytes, want);
        CHECK_EQ(t.objects, (int64_t)m.n);
    }
    heap_mappings_done(&m);
}

static void kinds_of_pieces(void)
{
    static const struct {
        const char *path;
        uint32_t flags;
        const char *kind;
        bool is_weights;
    } cases[] = {
        {"/models/a.gguf", MAP_SHARED, "file", true},
        {"/models/a.safetensors", MAP_PRIVATE, "file", true},
        {"/usr/lib/libc.so.6", MAP_PRIVATE, "file", false},
        {"/memfd:pool (deleted)", MAP_SHARED, "shared", false},
        {"/dev/shm/x", MAP_SHARED, "shared", false},
        {"", MAP_PRIVATE | MAP_ANONYMOUS, "anon", false},
        {"", MAP_SHARED | MAP_ANONYMOUS, "shared", false},
        {"", MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, "huge", false},
        {"", MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, "stack", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heap_mappings m = {0};
        struct told t = {0};
        struct heap_mapping news = {.address = 4096, .length = 1, .what = HEAP_MAPPED, .flags = cases[i].flags};
        heap_mappings_take(&m, &news, view_of(cases[i].path), tell, &t);
        CHECK_EQ(m.n, 1);
        CHECK_STR(m.pieces[0].kind, cases[i].kind);
        CHECK_EQ(heap_path_is_weights(view_of(cases[i].path)), cases[i].is_weights);
        heap_mappings_done(&m);
    }
}

/* Memory that is shared with the recorder is nobody's; what it takes the place of is gone. */
static void ours_is_no_piece(void)
{
    struct heap_mappings m = {0};
    struct told t = {0};
    struct heap_mapping news = {.address = 4096, .length = 3 * 4096, .what = HEAP_MAPPED, .flags = MAP_SHARED};
    heap_mappings_take(&m, &news, VIEW("/memfd:pool (deleted)"), tell, &t);
    CHECK_EQ(t.bytes, 3 * 4096);
    news.length = 4096;
    heap_mappings_take(&m, &news, VIEW("/memfd:inferom-scopes (deleted)"), tell, &t);
    CHECK_EQ(t.bytes, 2 * 4096);
    CHECK_EQ(m.n, 1);
    heap_mappings_done(&m);
}

/* Rows: what is written is the difference to what was, and adds up to what is. */

struct seen {
    int64_t sums[HEAP_MEASURES];
    unsigned rows;
    set_id heap;
};

static void on_sample(void *self, set_id set, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values)
{
    struct seen *s = self;
    (void)time_ns, (void)context, (void)stack;
    if (set.i != s->heap.i)
        return;
    s->rows++;
    for (size_t m = 0; m < HEAP_MEASURES; m++)
        s->sums[m] += values[m];
}

struct fake {
    struct heap_shared *shared;
    struct capture_writer *w;
    struct heap_book book;
    struct heap_target target;
    struct heap_area *head;
    struct seen seen;
};

static void fake_init(struct fake *f)
{
    struct heap_shared_plan plan = {.mode = HEAP_EXACT, .period_bytes = 1, .calm_per_s = 1, .most_depth = 64};
    *f = (struct fake){0};
    CHECK(heap_shared_new(&f->shared, &plan, &(struct err){0}) && capture_open(&f->w, NULL, 0, &(struct err){0}));
    uint8_t *area = heap_shared_area(f->shared, 0);
    heap_book_init(&f->book, f->w, f->shared, 64);
    f->seen.heap = f->book.heap;
    capture_watch(f->w, (struct capture_onlooker){.self = &f->seen, .sample = on_sample});
    heap_target_init(&f->target, &f->book, 0, &(struct heap_claim){.pid = INT32_MAX, .began_ns = 1}, area);
    f->head = (struct heap_area *)(void *)area;
    atomic_store(&f->head->threads, 2);
    atomic_store(&f->head->rows, 3);
}

static void fake_done(struct fake *f)
{
    heap_target_done(&f->target);
    heap_book_done(&f->book);
    capture_writer_free(f->w);
    heap_shared_free(f->shared);
}
#define FAKE(name) __attribute__((cleanup(fake_done))) struct fake name; fake_init(&name)

static struct heap_row_rest *rest_of(struct fake *f, uint32_t i) { return (struct heap_row_rest *)(void *)(f->target.area + HEAP_RESTS_AT) + i; }
static struct heap_row *row_of(struct fake *f, uint32_t i) { return (struct heap_row *)(void *)(f->target.area + HEAP_ROWS_AT) + i; }

static void rows_become_differences(void)
{
    FAKE(f);
    struct heap_row *r = row_of(&f, 1);
    atomic_store(&f.head->epoch, 1);
    *r = (struct heap_row){.objects_256 = 10 * 256, .bytes = 1000, .live_256 = 4 * 256, .live_bytes = 400, .samples = 10};
    heap_target_write(&f.target, &f.book, 1);
    CHECK_EQ(f.seen.rows, 1);
    CHECK_EQ(f.seen.sums[0], 10);
    CHECK_EQ(f.seen.sums[3], 400);
    CHECK_EQ(f.seen.sums[5], 400); /* no peak was passed since: what is live is what was live at it */
    heap_target_write(&f.target, &f.book, 2);
    CHECK_EQ(f.seen.rows, 1); /* nothing changed, nothing is written */
    r->objects_256 += 256 + 128; /* one and a half: a sample */
    r->live_256 = 0;
    r->live_bytes = 0;
    r->samples++;
    heap_target_write(&f.target, &f.book, 3);
    CHECK_EQ(f.seen.sums[0], 12); /* 11.5 */
    CHECK_EQ(f.seen.sums[2], 0);
    CHECK_EQ(f.seen.sums[7], 11);
}

static void peaks_are_what_was_live(void)
{
    FAKE(f);
    struct heap_row *r = row_of(&f, 1);
    atomic_store(&f.head->epoch, 7);
    *r = (struct heap_row){.live_256 = 256, .live_bytes = 10, .peak_256 = 5 * 256, .peak_bytes = 500, .epoch = 7};
    struct heap_row_rest *o = rest_of(&f, 1);
    atomic_store(&o->freed_256, 256);
    atomic_store(&o->freed_bytes, 3);
    atomic_store(&o->freed_epoch, 6); /* others know an older peak: what they freed since then was freed by the time of this one */
    heap_target_write(&f.target, &f.book, 1);
    CHECK_EQ(f.seen.sums[4], 4);
    CHECK_EQ(f.seen.sums[5], 497);
    CHECK_EQ(f.seen.sums[3], 7);
}

static void invented_numbers_are_left_out(void)
{
    FAKE(f);
    *row_of(&f, 1) = (struct heap_row){.objects_256 = UINT64_MAX / 2, .bytes = UINT64_MAX / 2};
    *row_of(&f, 2) = (struct heap_row){.objects_256 = 256, .bytes = 1, .samples = 1};
    *rest_of(&f, 2) = (struct heap_row_rest){.thread = UINT32_MAX, .stack = UINT32_MAX};
    atomic_store(&f.head->rows, UINT32_MAX);
    atomic_store(&f.head->rows, 3);
    heap_target_write(&f.target, &f.book, 1);
    CHECK_EQ(f.seen.rows, 1);
    CHECK_EQ(f.seen.sums[0], 1);
    CHECK(f.target.damaged > 0);
}

/* A row is counted modulo 2^32; who reads it now and then loses nothing. */
static void samples_wrap_around(void)
{
    FAKE(f);
    struct heap_row *r = row_of(&f, 1);
    *r = (struct heap_row){.samples = UINT32_MAX - 1, .objects_256 = 256};
    heap_target_write(&f.target, &f.book, 1);
    r->samples += 5;
    heap_target_write(&f.target, &f.book, 2);
    CHECK_EQ(f.seen.sums[7], (int64_t)UINT32_MAX + 4);
}

/* Purses. */

static void purses_are_bounded(void)
{
    struct heap_account account = {.least = 100, .one = 1000, .all = 1500};
    struct heap_purse a = {.account = &account}, b = a, c = a;
    CHECK(heap_purse_take(&a, 1000) && !heap_purse_take(&a, 1)); /* no more for one */
    CHECK(heap_purse_take(&b, 500) && !heap_purse_take(&b, 1));  /* no more for all */
    CHECK(heap_purse_take(&c, 100) && !heap_purse_take(&c, 1));  /* but everybody has a little */
    CHECK(!heap_purse_take(&c, SIZE_MAX));
    heap_purse_keep(&a, 300);
    heap_purse_close(&a);
    CHECK_EQ(account.spent, 300 + 500 + 100);
    CHECK(heap_purse_take(&b, 500) && !heap_purse_take(&c, 200));
    heap_purse_give(&b, 5000); /* not more than it has */
    CHECK_EQ(account.spent, 400);
    CHECK(heap_purse_take(NULL, SIZE_MAX));
}

static void fill_rows(struct fake *f, uint32_t n)
{
    for (uint32_t i = 1; i <= n; i++) {
        *row_of(f, i) = (struct heap_row){.objects_256 = 256, .bytes = i, .live_256 = 256, .live_bytes = i, .samples = 1};
        *rest_of(f, i) = (struct heap_row_rest){.variance = 1};
    }
    atomic_store(&f->head->rows, n + 1);
}

/* There is room for 512 rows: the others are one, and the sums are what they would be. When there is room again, they are told one by one. */
static void rows_beyond_the_limit_are_one(void)
{
    enum { N = 2000 };
    const int64_t bytes = (int64_t)N * (N + 1) / 2;
    FAKE(f);
    f.book.bytes = (struct heap_account){.least = 1 << 16, .one = 1 << 16, .all = 1 << 16};
    fill_rows(&f, N);
    heap_target_write(&f.target, &f.book, 1);
    CHECK_EQ(f.seen.rows, 511 + 1);
    CHECK_EQ(f.target.beyond, N - 511);
    CHECK_EQ(f.seen.sums[0], N);
    CHECK_EQ(f.seen.sums[1], bytes);
    CHECK_EQ(f.seen.sums[3], bytes);
    CHECK_EQ(f.seen.sums[7], N);
    heap_target_write(&f.target, &f.book, 2);
    CHECK_EQ(f.seen.rows, 512); /* nothing changed */
    row_of(&f, N)->bytes += 5;
    row_of(&f, N)->samples++;
    heap_target_write(&f.target, &f.book, 3);
    CHECK_EQ(f.seen.rows, 513);
    CHECK_EQ(f.seen.sums[1], bytes + 5);
    CHECK_EQ(f.seen.sums[7], N + 1);
    f.book.bytes.one = f.book.bytes.all = 1 << 20;
    heap_target_write(&f.target, &f.book, 4);
    CHECK_EQ(f.seen.rows, 513 + (N - 511) + 1);
    CHECK_EQ(f.target.beyond, 0);
    CHECK_EQ(f.seen.sums[0], N);
    CHECK_EQ(f.seen.sums[1], bytes + 5);
    CHECK_EQ(f.seen.sums[7], N + 1);
    struct heap_totals totals = {0};
    heap_target_end_is_peak(&f.target, &f.book, 5);
    heap_target_totals(&f.target, f.shared, &totals);
    CHECK_EQ(totals.live_bytes, bytes);
    CHECK_EQ(f.seen.sums[5], bytes);
}

/* Others have spent everything, and the process what it has in any case on something else: the sums are told all the same. */
static void sums_have_room_in_any_case(void)
{
    enum { N = 2000 };
    FAKE(f);
    struct heap_purse greedy = {.account = &f.book.bytes};
    while (heap_purse_take(&greedy, 1 << 20))
        ;
    greedy.spent = 0; /* and others were, too */
    while (f.book.bytes.spent < f.book.bytes.all && heap_purse_take(&greedy, 1 << 10))
        ;
    while (heap_purse_take(&f.target.purse, 16))
        ;
    fill_rows(&f, N);
    heap_target_write(&f.target, &f.book, 1);
    CHECK_EQ(f.target.beyond, N - 63);
    CHECK_EQ(f.seen.rows, 63 + 1);
    CHECK_EQ(f.seen.sums[0], N);
    CHECK_EQ(f.seen.sums[1], (int64_t)N * (N + 1) / 2);
}

/* A stack is counted before its slice is in the ring: until it is, and maps are known, nobody looks for names. */
static void stacks_ripen(void)
{
    FAKE(f);
    struct heap_stacks *hs = &f.target.stacks;
    struct heap_stack *s = (struct heap_stack *)(void *)(f.target.area + HEAP_STACKS_AT) + 1;
    uint64_t *frames = (uint64_t *)(void *)(f.target.area + HEAP_FRAMES_AT);
    atomic_store(&f.head->stacks, 2);
    CHECK(!heap_stacks_is_ripe(hs, 1)); /* nothing is there */
    frames[0] = 0x401234;
    *s = (struct heap_stack){.n = 1, .end = HEAP_WALK_COMPLETE};
    CHECK(!heap_stacks_is_ripe(hs, 1)); /* no maps */
    heap_stacks_map(hs, f.book.files, VIEW("400000-500000 r-xp 00000000 08:01 7  /no/such/file"), true);
    CHECK(heap_stacks_is_ripe(hs, 1));
    s->end = HEAP_WALK_SLICE;
    CHECK(!heap_stacks_is_ripe(hs, 1));
    uint64_t strings = profile_strings(builder_view(capture_names(f.w)));
    CHECK(heap_target_name(&f.target, &f.book, UINT64_MAX));
    CHECK_EQ(profile_strings(builder_view(capture_names(f.w))), strings); /* none was made */
    s->end = HEAP_WALK_LOST;
    CHECK(heap_stacks_is_ripe(hs, 1) && !heap_stacks_is_ripe(hs, HEAP_STACKS_MOST));
}

/* What is said to be there and is not: nobody makes the pages by looking. */
static void empty_tables_stay_empty(void)
{
    FAKE(f);
    atomic_store(&f.head->threads, HEAP_THREADS_MOST);
    atomic_store(&f.head->stacks, HEAP_STACKS_MOST);
    atomic_store(&f.head->rows, HEAP_ROWS_MOST);
    atomic_store(&f.head->levels, HEAP_LEVELS);
    atomic_store(&f.head->blocks_head, HEAP_BLOCKS_BYTES / sizeof(struct heap_freed));
    heap_target_read(&f.target, &f.book, 1);
    CHECK(heap_target_name(&f.target, &f.book, UINT64_MAX));
    heap_target_write(&f.target, &f.book, 2);
    heap_target_blocks(&f.target, &f.book);
    heap_target_totals(&f.target, f.shared, &(struct heap_totals){0});
    CHECK_EQ(f.seen.rows, 0);
    struct stat st;
    CHECK(fstat(heap_shared_fd(f.shared), &st) == 0 && st.st_blocks * 512 < 1 << 18);
    *row_of(&f, 1500000) = (struct heap_row){.objects_256 = 256, .samples = 1}; /* one page, far behind */
    heap_target_write(&f.target, &f.book, 3);
    CHECK_EQ(f.seen.sums[0], 1);
    CHECK(fstat(heap_shared_fd(f.shared), &st) == 0 && st.st_blocks * 512 < 1 << 18);
}

/* Pieces and paths are bounded, and what was told is what is there. */
static void mappings_are_bounded(void)
{
    struct heap_account account = {.least = 1 << 16, .one = 1 << 16, .all = 1 << 16};
    struct heap_purse purse = {.account = &account};
    struct heap_mappings m = {.purse = &purse};
    struct told t = {0};
    change(&m, &t, HEAP_MAPPED, 1, 1 << 20);
    for (uint64_t i = 0; i < 10000; i++)
        change(&m, &t, HEAP_UNMAPPED, 2 * i + 2, 1);
    CHECK_EQ(t.objects, (int64_t)m.n);
    CHECK(m.n >= 512 && m.n * sizeof *m.pieces <= 1 << 16 && m.lost > 0);
    int64_t want = 0;
    for (size_t i = 0; i < m.n; i++)
        want += (int64_t)(m.pieces[i].end - m.pieces[i].start);
    CHECK_EQ(t.bytes, want);
    heap_mappings_done(&m);
}

static void bad_rings_are_emptied(void)
{
    FAKE(f);
    atomic_store(&f.head->ring_head, 1000); /* nothing but zeros there */
    heap_target_read(&f.target, &f.book, 1);
    CHECK_EQ(f.target.damaged, 1);
    CHECK_EQ(atomic_load(&f.head->ring_tail), 1000);
    atomic_store(&f.head->ring_head, UINT64_MAX);
    heap_target_read(&f.target, &f.book, 2);
    CHECK_EQ(f.target.damaged, 2);
    CHECK_EQ(atomic_load(&f.head->ring_tail), UINT64_MAX);
}

/* What requests leave behind: blocks by row and by whom the thread worked for when they were made. */

struct left_seen {
    struct capture_writer *w;
    unsigned samples;
    int64_t blocks[8], bytes[8]; /* by request */
};

static bool there_are_requests(void *self) { return self != NULL; }
static uint32_t request_of_tick(void *self, thread_id thread, struct capture_tick t)
{
    (void)self;
    return thread.i ? (uint32_t)(t.tick / 100) : 0; /* ticks of request 3 are 300 to 399; those below 100 are nobody's */
}
static labels_id request_label(void *self, thread_id thread, uint32_t number)
{
    struct builder *names = capture_names(((struct left_seen *)self)->w);
    struct label l = {.key = builder_string(names, VIEW("request")), .number = number};
    (void)thread;
    return builder_labels(names, &l, 1);
}

static void on_left(void *self, set_id set, uint64_t time_ns, context_id context, stack_id stack, const int64_t *values)
{
    struct left_seen *s = self;
    const struct profile *p = builder_view(capture_names(s->w));
    (void)time_ns, (void)stack;
    if (!view_same(profile_string(p, profile_set(p, set)->name), VIEW("heap.left")))
        return;
    const struct label *l = profile_label(p, profile_context(p, context)->labels, VIEW("request"));
    CHECK(l && l->number > 0 && l->number < 8);
    s->samples++;
    s->blocks[l->number] += values[0];
    s->bytes[l->number] += values[1];
}

static struct heap_block *block_at(struct fake *f, uint64_t at) { return (struct heap_block *)(void *)(f->target.area + at); }

static void put_block(struct fake *f, uint64_t at, uint64_t tick, uint64_t size, uint32_t row)
{
    *block_at(f, at) = (struct heap_block){.address = 0x1000 + at, .size = size, .tick = tick, .row = row};
}

static void blocks_are_left_behind(void)
{
    FAKE(f);
    struct left_seen seen = {.w = f.w};
    capture_watch(f.w, (struct capture_onlooker){.self = &seen, .sample = on_left});
    *row_of(&f, 1) = *row_of(&f, 2) = (struct heap_row){.objects_256 = 3 * 256, .bytes = 2000, .live_256 = 3 * 256, .live_bytes = 2000, .samples = 3};
    put_block(&f, HEAP_OWN_AT, 310, 100, 1);
    heap_target_write(&f.target, &f.book, 1);
    CHECK_EQ(seen.samples, 0); /* nobody knows of requests */
    capture_label(f.w, (struct capture_labeller){.self = &seen, .has_requests = there_are_requests, .request = request_of_tick, .request_labels = request_label});
    put_block(&f, HEAP_OWN_AT + 64, 320, 50, 1);
    put_block(&f, HEAP_OWN_AT + HEAP_OWN_BYTES, 410, 7, 2);
    put_block(&f, HEAP_LIVE_AT + 3 * sizeof(struct heap_block), 399, 1000, 2);
    put_block(&f, HEAP_LIVE_LEVEL_AT(7) + HEAP_LEVEL_BLOCKS(7) * sizeof(struct heap_block) - sizeof(struct heap_block), 500, 3, 2); /* the last place of all */
    put_block(&f, HEAP_LIVE_AT, 50, 1, 1);                     /* from before all requests */
    put_block(&f, HEAP_LIVE_AT + 32, 300, 1, HEAP_ROWS_MOST);  /* invented */
    put_block(&f, HEAP_LIVE_AT + 64, 300, 1, 0);
    atomic_store(&block_at(&f, HEAP_OWN_AT + 96)->address, HEAP_BLOCK_FREED);
    heap_target_write(&f.target, &f.book, 2);
    CHECK_EQ(seen.blocks[3], 3);
    CHECK_EQ(seen.bytes[3], 1150);
    CHECK_EQ(seen.bytes[4], 7);
    CHECK_EQ(seen.bytes[5], 3);
    CHECK_EQ(seen.samples, 4); /* row 1 and row 2 of request 3 apart */
    heap_target_write(&f.target, &f.book, 3);
    CHECK_EQ(seen.samples, 4); /* nothing changed */
    atomic_store(&block_at(&f, HEAP_OWN_AT)->address, HEAP_BLOCK_FREED);
    atomic_store(&block_at(&f, HEAP_OWN_AT + HEAP_OWN_BYTES)->address, HEAP_BLOCK_FREED);
    heap_target_write(&f.target, &f.book, 4);
    CHECK_EQ(seen.samples, 6);
    CHECK_EQ(seen.blocks[3], 2);
    CHECK_EQ(seen.bytes[3], 1050);
    CHECK_EQ(seen.blocks[4], 0);
    CHECK_EQ(seen.bytes[4], 0);
}

int main(void)
{
    rules_survive_the_way();
    pieces_add_up();
    pieces_at_random();
    kinds_of_pieces();
    ours_is_no_piece();
    rows_become_differences();
    peaks_are_what_was_live();
    invented_numbers_are_left_out();
    samples_wrap_around();
    bad_rings_are_emptied();
    blocks_are_left_behind();
    purses_are_bounded();
    rows_beyond_the_limit_are_one();
    sums_have_room_in_any_case();
    stacks_ripen();
    empty_tables_stay_empty();
    mappings_are_bounded();
    return CHECK_DONE();
}
