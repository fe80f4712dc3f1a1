/*
 * The reader of the memory that libinferom writes to. An input is what a hostile target does to a region in which a good
 * one had written something, between visits of the recorder: writes of bytes at places.
 *
 *     where (1 byte) | how far (2 bytes) | length (1 byte) | bytes | where | ...
 *
 * `where` picks the header, the rows of pieces, items or records; 0xff is a visit, 0xfe the end of the first process.
 */
#include "../unit/scopes_items.h"
#include "capture/scopes/scopes_capture.h"
#include "capture/scopes/scopes_join.h"
#include "capture/scopes/scopes_labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 6, VISIT = 0xff, ENDS = 0xfe };

static volatile uint32_t sum; /* everything is looked at */

static void write_good(uint8_t *bytes)
{
    struct hand h = hand_over(bytes, PIECES);
    hand_begin(&h, 1, 1);
    hand_thread(&h, 8);
    hand_process(&h, 7);
    hand_site(&h, 1, SCOPES_SITE_SCOPE, "a > b");
    hand_site(&h, 2, SCOPES_SITE_PHASE, "decode");
    hand_site(&h, 3, SCOPES_SITE_COUNTER, "tokens");
    hand_node(&h, 1, 0, 1)->timed = 3;
    hand_node(&h, 2, 1, 2)->total = 30;
    struct scopes_buckets *b = hand_item(&h, SCOPES_BUCKETS, sizeof *b);
    *b = (struct scopes_buckets){b->head, 1, 5, {2}};
    struct scopes_request *r = hand_item(&h, SCOPES_REQUEST, sizeof *r);
    r->number = 1;
    strcpy(r->id, "r-1");
    hand_record(&h, 2, 10, 20);
    hand_record(&h, 1, 5, 40);
    h.piece = hand_piece(&h, 1, 1, SCOPES_ITEMS, 1);
    struct scopes_event_list *list = hand_item(&h, SCOPES_EVENT_LIST, sizeof *list);
    list->events[0] = (struct scopes_event){.began = 10, .ended = 20, .site = 2, .request = 1, .kind = SCOPES_EVENT_PHASE};
    list->events[1] = (struct scopes_event){.began = 30, .value = 2, .site = 3, .kind = SCOPES_EVENT_READING};
    h.thread->events = 2;
    h.piece = hand_piece(&h, 1, 1, SCOPES_ITEMS, 2);
    struct scopes_metrics *metrics = hand_item(&h, SCOPES_METRICS, sizeof *metrics);
    metrics->rows[0] = (struct scopes_metric){.sum = 2, .last = 2, .times = 1, .epoch = 1};
    h.thread->began[1] = 60;
    h.thread->now = 1;
}

struct watch {
    struct scopes_memory *m;
    struct scopes_clock clock;
    struct scopes_labels *labels;
    struct capture_writer *w;
    thread_id thread;
};

static void visit(struct watch *f)
{
    scopes_memory_visit(f->m);
    for (size_t i = 0; i < f->m->n_processes; i++) {
        struct seen_process *p = f->m->processes[i];
        if (!p->is_over) {
            scopes_join_visit(f->m, p, 4);
            scopes_capture_events(f->m, p, &f->clock, 900, f->w);
        }
        for (size_t k = 0; k < p->n_threads; k++)
            for (uint64_t tick = 0; tick < 80; tick += 3) {
                uint32_t node = scopes_join_at(p->threads[k], tick);
                if (node && node >= p->threads[k]->n_nodes)
                    abort();
            }
    }
    for (uint64_t ns = 0; ns < 80; ns += 7)
        sum = sum + scopes_labels_at(f->labels, f->m, &f->clock, f->thread, ns).i;
}

static void end_first(struct watch *f)
{
    if (!f->m->n_processes || f->m->processes[0]->is_over)
        return;
    scopes_capture(f->m, f->m->processes[0], &f->clock, 1000, f->w);
    scopes_memory_release(f->m, f->m->processes[0], 1);
}

static uint64_t place(uint8_t where, uint16_t how_far)
{
    uint64_t items = scopes_pieces_at(PIECES);
    switch (where % 4) {
    case 0: return how_far % sizeof(struct scopes_region);
    case 1: return SCOPES_HEADER_BYTES + how_far % (PIECES * sizeof(struct scopes_piece));
    case 2: return items + (uint64_t)(where / 4 % PIECES) * SCOPES_PIECE_BYTES + how_far % 16384;
    default: return items + (uint64_t)(where / 4 % PIECES) * SCOPES_PIECE_BYTES + how_far;
    }
}

static size_t write_one(uint8_t *bytes, uint64_t all, const uint8_t *data, size_t size)
{
    size_t n = data[3] < size - 4 ? data[3] : size - 4;
    uint64_t at = place(data[0], (uint16_t)(data[1] | data[2] << 8));
    memcpy(bytes + at, data + 4, n < all - at ? n : (size_t)(all - at));
    return 4 + n;
}

static void play(struct watch *f, uint8_t *bytes, uint64_t all, const uint8_t *data, size_t size)
{
    while (size >= 4) {
        size_t n = 1;
        if (data[0] == VISIT)
            visit(f);
        else if (data[0] == ENDS)
            end_first(f);
        else
            n = write_one(bytes, all, data, size);
        data += n;
        size -= n;
    }
    visit(f);
    for (size_t i = 0; i < f->m->n_processes; i++)
        if (!f->m->processes[i]->is_over)
            scopes_capture(f->m, f->m->processes[i], &f->clock, 1000, f->w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t all = scopes_region_bytes(PIECES);
    uint8_t *bytes = aligned_alloc(4096, all);
    struct err e = {0};
    struct watch f = {0};
    memset(bytes, 0, all);
    f.m = scopes_memory_over(bytes, PIECES);
    write_good(bytes);
    if (!capture_open(&f.w, NULL, 0, &e))
        abort();
    struct builder *names = capture_names(f.w);
    f.labels = scopes_labels_new(names);
    f.thread = builder_thread(names, builder_process(names, 7, 0), 8);
    play(&f, bytes, all, data, size);
    for (size_t i = 0; i < f.m->n_processes; i++)
        scopes_join_forget(f.m->processes[i]);
    scopes_memory_free(f.m);
    scopes_labels_free(f.labels);
    scopes_clock_done(&f.clock);
    capture_writer_free(f.w);
    free(bytes);
    return 0;
}
