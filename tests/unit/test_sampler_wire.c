/* The ring between a sampler and the recorder: the guest's own writing end against the recorder's reading end. */
#include "capture/cpu/maps_line.h"
#include "capture/cpu/sampler_region.h"
#include "check.h"
#include "sampler/ring_writer.h"

#include <unistd.h>

enum { SLOTS = 4 };
static const struct sampler_region_plan plan = {.slots = SLOTS, .ring_bytes = WIRE_RING_LEAST, .period_ns = 1000000, .phase = WIRE_GO};

/* Both ends, and what the reader was told. */
struct pair {
    uint8_t *bytes;
    struct sampler_region *region;
    struct wire_slot *slots;
    unsigned began, maps, samples, ended;
    uint64_t sum_cpu_ns, stack_bytes;
    int32_t began_pids[16];
    char name[32], line[64];
    uint64_t lost;
};

static void on_began(void *self, const struct sampler_thread *t)
{
    struct pair *p = self;
    p->began_pids[p->began++ % 16] = t->pid;
}

static void on_map(void *self, const struct sampler_thread *t, struct view line)
{
    struct pair *p = self;
    (void)t;
    p->maps++;
    snprintf(p->line, sizeof p->line, "%.*s", (int)line.n, line.at);
}

/* Every byte of the stack is what the writer put there. */
static void on_sample(void *self, const struct sampler_thread *t, const struct sampler_sample *s)
{
    struct pair *p = self;
    p->samples++;
    p->sum_cpu_ns += s->cpu_ns - t->cpu_ns;
    p->stack_bytes += s->stack_bytes;
    for (size_t i = 0; i < s->stack_bytes; i++)
        CHECK(s->stack[i] == (uint8_t)(s->cpu_ns + i));
}

static void on_ended(void *self, const struct sampler_thread *t)
{
    struct pair *p = self;
    p->ended++;
    p->lost += t->lost;
    snprintf(p->name, sizeof p->name, "%s", t->name);
}

static void pair_init(struct pair *p)
{
    uint64_t bytes = wire_region_bytes(SLOTS, WIRE_RING_LEAST);
    *p = (struct pair){.bytes = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)};
    memset(p->bytes, 0, bytes);
    p->slots = (struct wire_slot *)(void *)(p->bytes + WIRE_HEADER_BYTES);
    p->region = sampler_region_over(p->bytes, &plan);
}

static void pair_done(struct pair *p)
{
    sampler_region_free(p->region);
    free(p->bytes);
}
#define PAIR(name) __attribute__((cleanup(pair_done))) struct pair name; pair_init(&name)

static void pair_visit(struct pair *p)
{
    struct sampler_listener to = {p, on_began, on_map, on_sample, on_ended};
    sampler_region_visit(p->region, 1, &to);
}

static uint8_t *ring_of(const struct pair *p, uint32_t i) { return p->bytes + wire_rings_at(SLOTS) + i * plan.ring_bytes; }

static void hold(struct pair *p, uint32_t i, uint32_t pid, uint32_t tid, enum wire_origin origin, uint64_t began_ns)
{
    struct wire_slot *s = &p->slots[i];
    s->pid = pid;
    s->tid = tid;
    s->origin = origin;
    s->began_ns = began_ns;
    s->cpu_began_ns = 0;
    atomic_store(&s->cpu_ns, 0);
    atomic_store(&s->state, WIRE_LIVE);
}

static bool put(struct pair *p, uint32_t i, uint64_t cpu_ns, uint32_t stack_bytes)
{
    uint64_t bytes = wire_rounded(sizeof(struct wire_sample) + stack_bytes);
    struct wire_sample *w = ring_room(&p->slots[i], ring_of(p, i), plan.ring_bytes, bytes);
    if (!w)
        return false;
    *w = (struct wire_sample){.head = {.bytes = (uint32_t)bytes, .kind = WIRE_SAMPLE, .when_ns = cpu_ns}, .cpu_ns = cpu_ns,
                              .tid = p->slots[i].tid, .stack_bytes = stack_bytes};
    for (uint32_t k = 0; k < stack_bytes; k++)
        ((uint8_t *)(w + 1))[k] = (uint8_t)(cpu_ns + k);
    ring_commit(&p->slots[i], bytes);
    return true;
}

static void test_there_and_back(void)
{
    PAIR(p);
    hold(&p, 0, 100, 100, WIRE_BY_EXEC, 5);
    for (uint64_t i = 1; i <= 10; i++)
        CHECK(put(&p, 0, i * 1000, 100));
    pair_visit(&p);
    CHECK_EQ(p.began, 1);
    CHECK_EQ(p.samples, 10);
    CHECK_EQ(p.sum_cpu_ns, 10000); /* each is worth what has gone by since the one before */
    CHECK_EQ(p.stack_bytes, 1000);
    pair_visit(&p);
    CHECK_EQ(p.samples, 10);
    CHECK_EQ(p.ended, 0);
}

/* Records of all sizes, round and round: none is lost while the reader keeps up, none is torn. */
static void test_round_and_round(void)
{
    PAIR(p);
    hold(&p, 1, 100, 101, WIRE_BY_THREAD, 5);
    uint64_t written = 0, cpu_ns = 0;
    for (uint32_t round = 0; round < 400; round++) {
        for (uint32_t k = 0; k < 3; k++)
            written += put(&p, 1, cpu_ns += 7, (round * 977 + k * 131) % 65528 & ~7u);
        pair_visit(&p);
    }
    CHECK_EQ(written, 1200);
    CHECK_EQ(p.samples, 1200);
    CHECK_EQ(sampler_region_counts(p.region).lost, 0);
    CHECK_EQ(sampler_region_counts(p.region).damaged, 0);
    CHECK(atomic_load(&p.slots[1].head) > 40 * plan.ring_bytes);
}

/* What does not fit is counted, and what was there before is whole. */
static void test_overflow(void)
{
    PAIR(p);
    hold(&p, 0, 100, 100, WIRE_BY_EXEC, 5);
    uint64_t kept = 0, lost = 0;
    for (uint64_t i = 1; i <= 100; i++)
        *(put(&p, 0, i, 8000) ? &kept : &lost) += 1;
    CHECK(kept > 25 && lost > 60);
    pair_visit(&p);
    CHECK_EQ(p.samples, kept);
    CHECK_EQ(sampler_region_counts(p.region).lost, lost);
    CHECK(sampler_region_counts(p.region).fullest_ratio > 0.9);
    CHECK(put(&p, 0, 200, 8000)); /* there is room again */
    atomic_store(&p.slots[0].state, WIRE_ENDED);
    pair_visit(&p);
    CHECK_EQ(p.samples, kept + 1);
    CHECK_EQ(p.lost, lost);

    hold(&p, 0, 102, 102, WIRE_BY_EXEC, 9); /* who comes next has lost nothing yet */
    pair_visit(&p);
    CHECK_EQ(sampler_region_counts(p.region).lost, lost);
}

/* A ring with shallow stacks in it stays in its first pages. */
static void test_few_pages(void)
{
    PAIR(p);
    hold(&p, 0, 100, 100, WIRE_BY_EXEC, 5);
    memset(ring_of(&p, 0), 0xee, plan.ring_bytes);
    for (uint64_t i = 1; i <= 5000; i++) {
        CHECK(put(&p, 0, i, 400));
        if (i % 10 == 0)
            pair_visit(&p);
    }
    uint64_t touched = 0;
    for (uint64_t i = 0; i < plan.ring_bytes; i++)
        touched += ring_of(&p, 0)[i] != 0xee;
    CHECK(touched < plan.ring_bytes / 4);
    CHECK_EQ(p.samples, 5000);
}

static void test_end(void)
{
    PAIR(p);
    hold(&p, 2, 100, 103, WIRE_BY_THREAD, 5);
    put(&p, 2, 10, 16);
    memcpy(p.slots[2].name, "decode worker 12", WIRE_NAME_BYTES); /* as long as it may be: no zero at the end */
    atomic_store(&p.slots[2].state, WIRE_ENDED);
    pair_visit(&p);
    CHECK_EQ(p.samples, 1);
    CHECK_EQ(p.ended, 1);
    CHECK_STR(p.name, "decode worker 12");
    CHECK_EQ(atomic_load(&p.slots[2].state), WIRE_FREE);
}

/* The old program's samples come before the news of the new one, whichever slots they have. */
static void test_order(void)
{
    PAIR(p);
    hold(&p, 3, 100, 100, WIRE_BY_EXEC, 5);
    hold(&p, 1, 200, 200, WIRE_BY_FORK, 6);
    hold(&p, 0, 100, 100, WIRE_BY_EXEC, 7);
    put(&p, 3, 10, 16);
    pair_visit(&p);
    CHECK_EQ(p.began_pids[0], 100);
    CHECK_EQ(p.began_pids[1], 200);
    CHECK_EQ(p.began_pids[2], 100);
    pair_visit(&p); /* the process runs another program: the slot of the old one is free again */
    CHECK_EQ(atomic_load(&p.slots[3].state), WIRE_FREE);
    CHECK_EQ(atomic_load(&p.slots[1].state), WIRE_LIVE);
    hold(&p, 3, 300, 300, WIRE_BY_EXEC, 8); /* and whoever has it next keeps it */
    pair_visit(&p);
    CHECK_EQ(atomic_load(&p.slots[3].state), WIRE_LIVE);
}

/* What a hostile or broken target may leave in a ring of which the writer says there are 320 bytes. */
static const struct {
    const char *what;
    struct wire_sample w;
    uint64_t head;
    unsigned samples, damaged;
} spoiled[] = {
    {"a good one", {{320, WIRE_SAMPLE, 0, 1}, .tid = 100, .stack_bytes = 16}, 320, 1, 0},
    {"larger than what is there", {{336, WIRE_SAMPLE, 0, 1}, .tid = 100}, 320, 0, 1},
    {"smaller than its head", {{8, WIRE_SAMPLE, 0, 1}, .tid = 100}, 320, 0, 1},
    {"of no size", {{0, WIRE_SAMPLE, 0, 1}, .tid = 100}, 320, 0, 1},
    {"of an odd size", {{312, WIRE_SAMPLE, 0, 1}, .tid = 100}, 320, 0, 1},
    {"too small for a sample", {{64, WIRE_SAMPLE, 0, 1}, .tid = 100}, 320, 0, 1},
    {"with more stack than bytes", {{320, WIRE_SAMPLE, 0, 1}, .tid = 100, .stack_bytes = 17}, 320, 0, 1},
    {"with all the stack there is", {{320, WIRE_SAMPLE, 0, 1}, .tid = 100, .stack_bytes = UINT32_MAX}, 320, 0, 1},
    {"of another thread", {{320, WIRE_SAMPLE, 0, 1}, .tid = 99}, 320, 0, 1},
    {"of no kind", {{320, 77, 0, 1}, .tid = 100}, 320, 0, 1},
    {"a pad in the middle", {{320, WIRE_PAD, 0, 1}}, 320, 0, 1},
    {"a map with a long line", {{320, WIRE_MAP, 0, 1}, .cpu_ns = 4000}, 320, 0, 1},
    {"a head beyond the ring", {{320, WIRE_SAMPLE, 0, 1}, .tid = 100}, WIRE_RING_LEAST + 16, 0, 1},
    {"a head that went back", {{320, WIRE_SAMPLE, 0, 1}, .tid = 100}, UINT64_MAX - 15, 0, 1},
};

static void test_spoiled(void)
{
    static_assert(sizeof(struct wire_sample) == 304, "the sizes above are made for this");
    for (size_t i = 0; i < sizeof spoiled / sizeof *spoiled; i++) {
        PAIR(p);
        hold(&p, 0, 100, 100, WIRE_BY_EXEC, 5);
        memcpy(ring_of(&p, 0), &spoiled[i].w, sizeof spoiled[i].w);
        for (uint8_t k = 0; k < 16; k++)
            ring_of(&p, 0)[sizeof spoiled[i].w + k] = k;
        atomic_store(&p.slots[0].head, spoiled[i].head);
        pair_visit(&p);
        printf("%s\n", spoiled[i].what);
        CHECK_EQ(p.samples, spoiled[i].samples);
        CHECK_EQ(sampler_region_counts(p.region).damaged, spoiled[i].damaged);
        atomic_store(&p.slots[0].head, 0);
    }
}

/* Nobody is who has no number. */
static void test_nobody(void)
{
    PAIR(p);
    hold(&p, 0, 0, 5, WIRE_BY_EXEC, 5);
    hold(&p, 1, 5, UINT32_MAX, WIRE_BY_EXEC, 5);
    hold(&p, 2, 5, 5, (enum wire_origin)9, 5);
    pair_visit(&p);
    CHECK_EQ(p.began, 0);
}

/* The recorder asks for a thread; who does not answer loses the slot again. */
static void test_want(void)
{
    PAIR(p);
    hold(&p, 0, 100, 100, WIRE_BY_EXEC, 5);
    pair_visit(&p);
    const struct sampler_thread *t = sampler_region_next(p.region, NULL);
    CHECK(t && t->pid == 100 && !sampler_region_next(p.region, t));
    CHECK(sampler_region_want(p.region, t, 177));
    CHECK(!sampler_region_want(p.region, t, 178)); /* one at a time */
    CHECK_EQ(atomic_load(&p.slots[0].please), 2);
    CHECK_EQ(atomic_load(&p.slots[1].state), WIRE_WANTED);
    CHECK_EQ(p.slots[1].tid, 177);

    struct sampler_listener to = {&p, on_began, on_map, on_sample, on_ended};
    sampler_region_visit(p.region, UINT64_C(1000000000), &to);
    CHECK_EQ(atomic_load(&p.slots[1].state), WIRE_WANTED);
    sampler_region_visit(p.region, UINT64_C(9000000000), &to);
    CHECK_EQ(atomic_load(&p.slots[1].state), WIRE_FREE);
}

static void test_shared_memory(void)
{
    struct err e = {0};
    own(sampler_region) struct sampler_region *r = NULL;
    CHECK(sampler_region_new(&r, &plan, &e));
    CHECK(ftruncate(sampler_region_fd(r), 0) < 0); /* nobody takes it away */
    CHECK(sampler_region_fd(r) >= 200);
}

static const struct {
    const char *line;
    bool is_line, is_code, is_shared, has_access;
    uint64_t start, length, offset;
    const char *path;
} lines[] = {
    {"7f10a2c28000-7f10a2d9d000 r-xp 00028000 fe:01 1234      /usr/lib/a b.so", true, true, false, true, 0x7f10a2c28000, 0x175000, 0x28000, "/usr/lib/a b.so"},
    {"7ffd0000-7ffd2000 r-xp 00000000 00:00 0          [vdso]", true, true, false, true, 0x7ffd0000, 0x2000, 0, "[vdso]"},
    {"7ffd0000-7ffd2000 rw-p 00000000 00:00 0 ", true, false, false, true, 0x7ffd0000, 0x2000, 0, ""},
    {"7ffd0000-7ffd2000 rw-s 00000000 00:01 7  /memfd:x (deleted)", true, false, true, true, 0x7ffd0000, 0x2000, 0, "/memfd:x (deleted)"},
    {"7ffd0000-7ffd2000 ---p 00000000 00:00 0 ", true, false, false, false, 0x7ffd0000, 0x2000, 0, ""},
    {"7ffd2000-7ffd0000 r-xp 00000000 00:00 0 ", false, false, false, false, 0, 0, 0, ""},
    {"nothing of the kind", false, false, false, false, 0, 0, 0, ""},
    {"", false, false, false, false, 0, 0, 0, ""},
};

static void test_maps_line(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct map_news m = {0};
        char path[64];
        printf("%s\n", lines[i].line);
        CHECK_EQ(maps_line_parse(view_of(lines[i].line), &m), lines[i].is_line);
        snprintf(path, sizeof path, "%.*s", (int)m.path.n, m.path.n ? m.path.at : "");
        CHECK_EQ(m.is_code, lines[i].is_code);
        CHECK_EQ(m.is_shared, lines[i].is_shared);
        CHECK_EQ(m.has_access, lines[i].has_access);
        CHECK_EQ(m.start, lines[i].start);
        CHECK_EQ(m.length, lines[i].length);
        CHECK_EQ(m.file_offset, lines[i].offset);
        CHECK_STR(path, lines[i].path);
    }
}

int main(void)
{
    test_there_and_back();
    test_round_and_round();
    test_overflow();
    test_few_pages();
    test_end();
    test_order();
    test_spoiled();
    test_nobody();
    test_want();
    test_shared_memory();
    test_maps_line();
    return CHECK_DONE();
}
