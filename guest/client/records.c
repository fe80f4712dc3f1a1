/*
 * Which scope was it, when a sample was taken? Each call that ended leaves a record in the ring of its thread, with when it
 * began and how long it took; the recorder, who reads them, also sees what is still open (scopes_thread.began).
 *
 * Calls shorter than two microseconds leave none, and neither do scopes of which only some calls are timed: hardly a
 * sample meets them, and then it is their caller's. When nobody reads quickly enough, the newest are dropped and counted.
 */
#include "hot.h"

uint64_t record_least = UINT64_MAX;

/* How long a tick is is known better after a while. */
void records_learn(void)
{
    if (process_number)
        PUT(record_least, 2 * ticks_in_a_millisecond() / 1000);
}

/* Up to the end of the piece, or as far as the reader has left room. */
static void make_room(struct block *b)
{
    uint64_t most = (uint64_t)SCOPES_RING_PIECES * SCOPES_RECORDS, to_end = SCOPES_RECORDS - b->record_head % SCOPES_RECORDS;
    uint64_t used = b->record_head - GET_LINK(b->w->tail_record), room = used < most ? most - used : 0;
    uint16_t index = (uint16_t)(b->record_head / SCOPES_RECORDS % SCOPES_RING_PIECES);
    if (room && !b->ring[index] && !b->busy) {
        b->busy = 1;
        b->ring[index] = ring_piece(b, index);
        b->busy = 0;
    }
    if (b->ring[index])
        b->record_room = b->record_head + (room < to_end ? room : to_end);
}

void record_call(struct block *b, const struct node *n, uint64_t began, uint64_t ticks)
{
    if (ticks < record_least || n->stride > 1)
        return;
    if (b->record_head >= b->record_room)
        make_room(b);
    uint64_t head = b->record_head;
    if (head >= b->record_room) {
        PUT(b->w->lost_records, b->w->lost_records + 1);
        return;
    }
    b->record_head = head + 1; /* a signal handler that comes now takes the next one */
    IN_THIS_ORDER();
    b->ring[head / SCOPES_RECORDS % SCOPES_RING_PIECES][head % SCOPES_RECORDS] = (struct scopes_record){
        .began = began, .length = ticks, .node = n->number, .allocations = (uint32_t)n->w->allocations, .bytes = n->w->bytes,
    };
    PUT_LINK(b->w->head_record, b->record_head);
}
