/* The recorder's end of the memory shared with libinferom: what is read, what is not believed, who was where when. */
#include "base/mem.h"
#include "capture/scopes/scopes_capture.h"
#include "capture/scopes/scopes_clock.h"
#include "capture/scopes/scopes_join.h"
#include "capture/scopes/scopes_pace.h"
#include "check.h"
#include "model/capture_reader.h"
#include "scopes_items.h"

enum { PIECES = 8 };

static uint8_t *bytes;

/* A region with one process, one thread and the scopes serve > decode > attention, serve > sample. */
static struct scopes_memory *begin_case(struct hand *h)
{
    free(bytes);
    size_t all = scopes_region_bytes(PIECES);
    bytes = aligned_alloc(4096, (all + 4095) / 4096 * 4096);
    memset(bytes, 0, all);
    struct scopes_memory *m = scopes_memory_over(bytes, PIECES);
    *h = hand_over(bytes, PIECES);
    hand_begin(h, 1, 1);
    hand_thread(h, 43);
    hand_process(h, 42);
    hand_site(h, 1, SCOPES_SITE_SCOPE, "serve");
    hand_site(h, 2, SCOPES_SITE_SCOPE, "decode");
    hand_site(h, 3, SCOPES_SITE_SCOPE, "attention");
    hand_site(h, 4, SCOPES_SITE_SCOPE, "sample");
    hand_node(h, 1, 0, 1);
    hand_node(h, 2, 1, 2);
    hand_node(h, 3, 2, 3);
    hand_node(h, 4, 1, 4);
    return m;
}

static void end_case(struct scopes_memory *m)
{
    for (size_t i = 0; i < m->n_processes; i++)
        scopes_join_forget(m->processes[i]);
    scopes_memory_free(m);
}

static void test_tables(void)
{
    struct hand h;
    struct scopes_memory *m = begin_case(&h);
    scopes_memory_visit(m);
    CHECK_EQ(m->n_processes, 1);
    const struct seen_process *p = m->processes[0];
    CHECK_EQ(p->head.pid, 42);
    CHECK_EQ(p->n_threads, 1);
    CHECK_STR(p->sites[3].name, "attention");
    CHECK_EQ(p->threads[0]->n_nodes, 5);
    CHECK_EQ(p->threads[0]->nodes[3].depth, 3);
    hand_node(&h, 5, 4, 2); /* learnt by the next visit */
    scopes_memory_visit(m);
    CHECK_EQ(p->threads[0]->n_nodes, 6);
    CHECK_EQ(m->damaged, 0);
    end_case(m);
}

/* Each would be a circle, a wild place or a lie, and ends the reading of its thread. */
static void test_nonsense(void)
{
    for (int what = 0; what < 9; what++) {
        struct hand h;
        struct scopes_memory *m = begin_case(&h);
        struct scopes_node *n;
        struct scopes_site *s;
        switch (what) {
        case 0: hand_node(&h, 5, 5, 1); break;
        case 1: hand_node(&h, 7, 1, 1); break;
        case 2: hand_node(&h, 5, 4, SCOPES_SITES_MOST); break;
        case 3: n = hand_node(&h, 5, 1, 1); n->head.bytes = 64; break;
        case 4: n = hand_node(&h, 5, 1, 1); n->head.bytes = 1 << 30; break;
        case 5: n = hand_node(&h, 5, 1, 1); n->head.kind = 99; break;
        case 6: h.rows[h.piece].used = SCOPES_PIECE_BYTES + 64; break;
        case 7: hand_process(&h, 44); break;
        default:
            hand_site(&h, 5, SCOPES_SITE_SCOPE, "long");
            s = (struct scopes_site *)(void *)(h.bytes + h.rows[h.piece].used - SCOPES_ITEM_ALIGN);
            s->name_bytes = 1 << 20;
        }
        scopes_memory_visit(m);
        CHECK_EQ(m->damaged, 1);
        CHECK_EQ(m->processes[0]->threads[0]->n_nodes, what == 6 ? 0 : 5);
        hand_node(&h, 5, 1, 1); /* nothing more is read */
        scopes_memory_visit(m);
        CHECK_EQ(m->damaged, 1);
        end_case(m);
    }
}

/*
 *     ticks         100  200  300  400  500  600  700  800  900
 *     serve 1       [.................................................. open
 *     decode 2           [................]    [............]
 *     attention 3             [...]                [...]
 *     sample 4                                                 [.. open
 */
static const struct {
    uint64_t tick;
    uint32_t node;
} moments[] = {
    {99, 0}, {100, 1}, {199, 1}, {200, 2}, {299, 2}, {300, 3}, {399, 3}, {400, 2}, {549, 2}, {550, 1}, {599, 1}, {600, 2},
    {650, 3}, {700, 2}, {850, 1}, {899, 1}, {900, 4}, {5000, 4},
};

static void write_moments(struct hand *h)
{
    hand_record(h, 3, 300, 100);
    hand_record(h, 2, 200, 350);
    hand_record(h, 3, 650, 50);
    hand_record(h, 2, 600, 250);
    h->thread->began[1] = 100;
    h->thread->began[2] = 900;
    h->thread->now = 4;
}

static void test_moments(void)
{
    struct hand h;
    struct scopes_memory *m = begin_case(&h);
    write_moments(&h);
    scopes_memory_visit(m);
    scopes_join_visit(m, m->processes[0], 0);
    const struct seen_thread *t = m->processes[0]->threads[0];
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        CHECK_EQ(scopes_join_at(t, moments[i].tick), moments[i].node);
        if (scopes_join_at(t, moments[i].tick) != moments[i].node)
            printf("  at %llu\n", (unsigned long long)moments[i].tick);
    }
    h.thread->began[2] = SCOPES_NOT_TIMED; /* a call that is not timed is its caller's */
    scopes_join_visit(m, m->processes[0], 0);
    CHECK_EQ(scopes_join_at(t, 950), 1);
    hand_record(&h, 1, 100, 1000); /* all of it has ended */
    h.thread->now = 0;
    scopes_join_visit(m, m->processes[0], 0);
    CHECK_EQ(scopes_join_at(t, 575), 1);
    CHECK_EQ(scopes_join_at(t, 1099), 1);
    CHECK_EQ(scopes_join_at(t, 1100), 0);
    end_case(m);
}

/* More than the ring holds, over many visits; old ones are dropped, new ones are found. */
static void test_ring(void)
{
    struct hand h;
    struct scopes_memory *m = begin_case(&h);
    for (uint16_t i = 1; i < 4; i++)
        hand_piece(&h, 1, 1, SCOPES_RING, i);
    uint64_t at = 1000;
    scopes_memory_visit(m);
    struct seen_thread *t = m->processes[0]->threads[0];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < SCOPES_RECORDS / 2; i++, at += 100)
            hand_record(&h, 1, at, 50);
        scopes_join_visit(m, m->processes[0], at - 5000);
        CHECK_EQ(h.thread->tail_record, h.thread->head_record);
        if (round == 2)
            break;
        CHECK_EQ(scopes_join_at(t, at - 100), 1);
        CHECK_EQ(scopes_join_at(t, at - 40), 0);
    }
    h.thread->head_record += 1u << 20; /* a head from nowhere */
    struct scopes_record r;
    CHECK_EQ(scopes_memory_records(m, t, &r, 1), 0);
    CHECK_EQ(h.thread->tail_record, h.thread->head_record);
    end_case(m);
}

static void test_given_back(void)
{
    struct hand h;
    struct scopes_memory *m = begin_case(&h);
    h.rows[h.next++] = (struct scopes_piece){.process = 1}; /* killed between taking and saying so */
    h.region->pieces_used = h.next;
    scopes_memory_visit(m);
    scopes_memory_release(m, m->processes[0], 5);
    for (uint32_t i = 0; i < h.next; i++)
        CHECK_EQ(h.rows[i].process, 0);
    CHECK_EQ(h.bytes[0], 0);
    CHECK(m->processes[0]->is_over);
    h.next = 0;
    hand_begin(&h, 2, 1); /* the next process finds room there */
    hand_thread(&h, 7);
    hand_process(&h, 7);
    scopes_memory_visit(m);
    CHECK_EQ(m->n_processes, 2);
    CHECK_EQ(m->processes[1]->head.pid, 7);
    end_case(m);
}

/* Self times, calls, losses and a phase that is still on, as the recording tells them. */
struct sums {
    int64_t self, calls, timed_by_length;
    uint64_t lost;
};

/* What a reader makes of the file. */
static struct sums sums_in(const char *path)
{
    struct sums s = {0};
    struct err e = {0};
    own(reader) struct reader in;
    own(builder) struct builder *b = builder_new();
    own(profile) struct profile *p = NULL;
    CHECK(reader_open(&in, path, &e) && capture_read(b, &in, NULL, &e) && builder_finish(take(b), &p, &e));
    for (uint32_t k = 0; p && k < profile_sets(p); k++) {
        const struct sample_set *set = profile_set(p, (set_id){k});
        for (size_t i = 0; i < set->n; i++) {
            if (set->n_measures > 1)
                s.self += set->values[0][i], s.calls += set->values[1][i];
            else if (view_same(profile_string(p, set->name), VIEW("scope times")))
                s.timed_by_length += set->values[0][i];
        }
    }
    for (size_t i = 0; p && i < profile_losses(p); i++)
        s.lost += profile_loss(p, i)->count;
    return s;
}

/* Told again and again, as a recorder does that may be killed behind each: a reader has the last. */
static void test_capture(void)
{
    struct hand h;
    struct err e = {0};
    struct scopes_clock clock = {0};
    struct scopes_memory *m = begin_case(&h);
    char path[64];
    snprintf(path, sizeof path, "test_scopes_memory_%ld.inferom", (long)getpid());
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, path, 0, &e));
    struct scopes_node *n = hand_node(&h, 5, 4, 2), *inner = hand_node(&h, 6, 5, 3), *wild = hand_node(&h, 7, 0, 3);
    *n = (struct scopes_node){n->head, 5, 4, 2, 1, .timed = 2, .last = 400, .total = 900, .middle = 500, .squares = 10000, .least = 400, .most = 500};
    *inner = (struct scopes_node){inner->head, 6, 5, 3, 1, .timed = 1, .skipped = 3, .last = 50, .total = 50, .middle = 50, .least = 50, .most = 50};
    wild->timed = UINT64_MAX;
    wild->total = UINT64_MAX;
    h.thread->lost_scopes = 3;
    h.thread->lost_records = UINT64_MAX;
    scopes_memory_visit(m);
    struct seen_process *p = m->processes[0];
    uint64_t numbers = scopes_capture_numbers(m, p);
    CHECK(scopes_capture_table(m, p, &clock, 10000, w) > 0);
    struct sums sums = sums_in(path);
    CHECK_EQ(sums.self, 900); /* 4 calls of 50 inside 2 calls of 900 in all; whatever cannot be counts as nothing */
    CHECK_EQ(sums.calls, 6);
    CHECK_EQ(sums.lost, 3);
    CHECK_EQ(scopes_capture_numbers(m, p), numbers);

    inner->skipped = 5;
    inner->left = 1; /* of five, one is still to come */
    h.thread->lost_scopes = 4;
    CHECK(scopes_capture_numbers(m, p) != numbers);
    scopes_capture_table(m, p, &clock, 11000, w);
    sums = sums_in(path);
    CHECK_EQ(sums.self, 900);
    CHECK_EQ(sums.calls, 7);
    CHECK_EQ(sums.lost, 4);

    scopes_capture(m, p, &clock, 12000, w);
    CHECK(capture_close(w, &e));
    sums = sums_in(path);
    CHECK_EQ(sums.calls, 7);
    CHECK_EQ(sums.timed_by_length, 2); /* those that were the last; others have no bucket here */
    CHECK_EQ(sums.lost, 4);
    unlink(path);
    end_case(m);
}

/* A day: a table every second to begin with, in all no more than its logarithm; a large one comes as often as 8 KiB/s allow. */
static void test_pace(void)
{
    const uint64_t second = 1000000000, day = 86400 * second;
    const struct {
        uint64_t bytes, took_ns, tables_most, tables_least;
    } cases[] = {
        {500, 100000, 5600, 5400},
        {8192, second / 100, 5600, 5400},
        {1 << 20, second / 100, 86400 / 128 + 1, 86400 / 128 - 10},
        {1 << 10, 10 * second, 86400 / 200 + 1, 86400 / 200 - 30},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t tables = 0, at = scopes_pace_ns(0, 0, 0);
        for (; at < day; tables++)
            at += cases[i].took_ns + scopes_pace_ns(at, cases[i].took_ns, cases[i].bytes);
        CHECK(tables <= cases[i].tables_most && tables >= cases[i].tables_least);
        CHECK(tables * cases[i].bytes <= 86400 * SCOPES_PACE_BYTES_PER_S + cases[i].bytes);
    }
    CHECK_EQ(scopes_pace_ns(0, 0, 0), second);
}

static void test_clock(void)
{
    own(scopes_clock) struct scopes_clock c = {0};
    CHECK_EQ(scopes_clock_ns(&c, 77), 77);
    scopes_clock_add(&c, (struct tick_pair){1000, 5000000000});
    scopes_clock_add(&c, (struct tick_pair){3001000, 6000000000}); /* three ticks are a microsecond */
    scopes_clock_add(&c, (struct tick_pair){5001000, 7000000000}); /* and then two */
    CHECK_EQ(c.n, 3);
    CHECK_EQ(scopes_clock_ns(&c, 1501000), 5500000000);
    CHECK_EQ(scopes_clock_ns(&c, 4001000), 6500000000);
    CHECK_EQ(scopes_clock_ns(&c, 6001000), 7500000000);
    CHECK_EQ(scopes_clock_tick(&c, 5500000000), 1501000);
    CHECK_EQ(scopes_clock_tick(&c, 7500000000), 6001000);
    CHECK_EQ(scopes_clock_tick(&c, 4999999000), 1000 - 3);
    scopes_clock_add(&c, (struct tick_pair){4000000, 8000000000}); /* back: not believed */
    CHECK_EQ(c.n, 3);
    scopes_clock_add(&c, (struct tick_pair){5002000, 7000500000});
    CHECK_EQ(c.n, 4);
    scopes_clock_add(&c, (struct tick_pair){5003000, 7001000000}); /* in place of the one just before */
    CHECK_EQ(c.n, 4);
}

int main(void)
{
    test_tables();
    test_nonsense();
    test_moments();
    test_ring();
    test_given_back();
    test_capture();
    test_pace();
    test_clock();
    free(bytes);
    return CHECK_DONE();
}
