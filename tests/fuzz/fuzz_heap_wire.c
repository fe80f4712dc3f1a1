/*
 * The reader of the memory that heap agents write to. An input is what a hostile target does between visits of the
 * recorder: writes of bytes at places.
 *
 *     where (1 byte) | how far (2 bytes) | length (1 byte) | bytes | where | ...
 *
 * `where` picks a part of the area; 0xff is a visit. Whatever it does, nothing but the area is read, nothing waits, and the
 * sums that are written down stay sums.
 */
#include "base/own.h"
#include "capture/heap/heap_target.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VISIT = 0xff, PARTS = 10, NOBODY = INT32_MAX };

static uint64_t place(const struct heap_target *t, uint8_t where, uint16_t how_far)
{
    switch (where % PARTS) {
    case 0: return how_far % sizeof(struct heap_area);
    case 1: return HEAP_THREADS_AT + how_far % (4 * HEAP_THREAD_STRIDE);
    case 2: return HEAP_RING_AT + ((t->tail + how_far) & (HEAP_RING_BYTES - 1));
    case 3: return HEAP_RING_AT + HEAP_RING_BYTES - 1 - how_far;
    case 4: return HEAP_STACKS_AT + how_far % (64 * sizeof(struct heap_stack));
    case 5: return HEAP_FRAMES_AT + how_far;
    case 6: return HEAP_ROWS_AT + how_far % (64 * sizeof(struct heap_row));
    case 7: return HEAP_BLOCKS_AT + how_far;
    case 8: return HEAP_RESTS_AT + how_far % (64 * sizeof(struct heap_row_rest));
    default: return HEAP_OWN_AT + how_far;
    }
}

static size_t write_one(struct heap_target *t, const uint8_t *data, size_t size)
{
    size_t n = data[3] < size - 4 ? data[3] : size - 4;
    uint64_t at = place(t, data[0], (uint16_t)(data[1] | data[2] << 8));
    memcpy(t->area + at, data + 4, n < HEAP_AREA_BYTES - at ? n : (size_t)(HEAP_AREA_BYTES - at));
    return 4 + n;
}

/* Somebody who knows whom threads worked for: live blocks are looked at, whatever they say. */
static bool there_are_requests(void *self) { return self != NULL; }
static uint32_t request_at(void *self, thread_id thread, struct capture_tick tick)
{
    (void)self, (void)thread;
    return (uint32_t)tick.tick % 5;
}
static labels_id request_labels(void *self, thread_id thread, uint32_t request)
{
    struct builder *names = capture_names(self);
    struct label label = {.key = builder_string(names, VIEW("request")), .number = request};
    (void)thread;
    return builder_labels(names, &label, 1);
}

/* What a real recorder does with a process, from one visit to its end. */
static void visit(struct heap_target *t, struct heap_book *b, uint64_t now_ns)
{
    heap_target_read(t, b, now_ns);
    heap_target_name(t, b, UINT64_MAX);
    heap_target_write(t, b, now_ns);
    for (size_t m = 0; m < HEAP_MEASURES; m++)
        if (b->sums[m] > INT64_MAX / 2 || b->sums[m] < -(INT64_MAX / 2))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct heap_shared *shared;
    struct heap_shared_plan plan = {.mode = HEAP_EXACT, .period_bytes = 1, .calm_per_s = 1, .most_depth = 64, .wants_blocks = true};
    struct err e = {0};
    if (!shared && !heap_shared_new(&shared, &plan, &e))
        return 0;
    own(capture_writer) struct capture_writer *w = NULL;
    uint8_t *area = heap_shared_area(shared, 0);
    if (!area || !capture_open(&w, NULL, 0, &e))
        return 0;
    capture_label(w, (struct capture_labeller){.self = w, .has_requests = there_are_requests, .request = request_at, .request_labels = request_labels});
    struct heap_book book;
    struct heap_target t;
    heap_book_init(&book, w, shared, 64);
    book.bytes = (struct heap_account){.least = 1 << 13, .one = 1 << 14, .all = 1 << 14}; /* soon spent */
    book.frames = (struct heap_account){.least = 64, .one = 128, .all = 128};
    heap_target_init(&t, &book, 0, &(struct heap_claim){.pid = NOBODY, .began_ns = 1}, area);
    struct heap_area *head = (struct heap_area *)(void *)area;
    atomic_store(&head->threads, 3);
    atomic_store(&head->stacks, 8);
    atomic_store(&head->rows, 8);
    uint64_t now_ns = 1000;
    while (size >= 4) {
        size_t n = 1;
        if (data[0] == VISIT)
            visit(&t, &book, now_ns += 1000000000);
        else
            n = write_one(&t, data, size);
        data += n;
        size -= n;
    }
    visit(&t, &book, now_ns);
    heap_target_blocks(&t, &book);
    heap_target_done(&t);
    heap_book_done(&book);
    heap_shared_punch(shared, 0, 0, HEAP_AREA_BYTES);
    return 0;
}
