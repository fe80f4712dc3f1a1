/*
 * scopes_items.h - what libinferom would write into shared memory, written by hand
 *
 *     struct hand h = hand_over(bytes, pieces);
 *     hand_begin(&h, 1, 1);                        // process 1, thread 1: a piece of items
 *     hand_process(&h, pid); hand_thread(&h, tid);
 *     hand_site(&h, 1, SCOPES_SITE_SCOPE, "decode");
 *     struct scopes_node *n = hand_node(&h, 1, 0, 1);
 *     hand_record(&h, 1, 100, 50);                 // of node 1, from tick 100 on
 */
#pragma once
#include "inferom/scopes_wire.h"

#include <stdlib.h>
#include <string.h>

struct hand {
    struct scopes_region *region;
    struct scopes_piece *rows;
    uint8_t *bytes;
    uint32_t piece, next; /* being written; never taken yet */
    struct scopes_thread *thread;
    uint32_t ring;
};

static inline struct hand hand_over(uint8_t *bytes, uint32_t pieces)
{
    return (struct hand){.region = (struct scopes_region *)(void *)bytes, .bytes = bytes + scopes_pieces_at(pieces),
                         .rows = (struct scopes_piece *)(void *)(bytes + SCOPES_HEADER_BYTES)};
}

static inline uint32_t hand_piece(struct hand *h, uint32_t process, uint32_t thread, uint16_t kind, uint16_t index)
{
    h->rows[h->next] = (struct scopes_piece){.process = process, .thread = thread, .kind = kind, .index = index};
    h->region->pieces_used = ++h->next;
    return h->next - 1;
}

static inline void hand_begin(struct hand *h, uint32_t process, uint32_t thread)
{
    h->piece = hand_piece(h, process, thread, SCOPES_ITEMS, 0);
    h->ring = hand_piece(h, process, thread, SCOPES_RING, 0);
}

static inline void *hand_item(struct hand *h, enum scopes_kind kind, size_t size)
{
    uint32_t bytes = (uint32_t)((size + SCOPES_ITEM_ALIGN - 1) & ~(size_t)(SCOPES_ITEM_ALIGN - 1));
    struct scopes_item *item = (struct scopes_item *)(void *)(h->bytes + (size_t)h->piece * SCOPES_PIECE_BYTES + h->rows[h->piece].used);
    *item = (struct scopes_item){bytes, kind};
    h->rows[h->piece].used += bytes;
    return item;
}

static inline struct scopes_process *hand_process(struct hand *h, uint32_t pid)
{
    struct scopes_process *p = hand_item(h, SCOPES_PROCESS, sizeof *p);
    p->pid = pid;
    p->epoch = 1;
    p->ticks_are_ns = 1;
    strcpy(p->program, "by-hand");
    return p;
}

static inline struct scopes_thread *hand_thread(struct hand *h, uint32_t tid)
{
    struct scopes_thread *t = h->thread = hand_item(h, SCOPES_THREAD, sizeof *t);
    t->tid = tid;
    t->threads = 1;
    t->events_epoch = 1;
    strcpy(t->name, "worker");
    return t;
}

static inline void hand_site(struct hand *h, uint32_t number, enum scopes_site_kind kind, const char *name)
{
    struct scopes_site *s = hand_item(h, SCOPES_SITE, sizeof *s + strlen(name));
    s->number = number;
    s->kind = kind;
    s->name_bytes = (uint32_t)strlen(name);
    memcpy(s + 1, name, s->name_bytes);
}

static inline struct scopes_node *hand_node(struct hand *h, uint32_t number, uint32_t caller, uint32_t site)
{
    struct scopes_node *n = hand_item(h, SCOPES_NODE, sizeof *n);
    n->number = number;
    n->caller = caller;
    n->site = site;
    n->epoch = 1;
    return n;
}

static inline void hand_record(struct hand *h, uint32_t node, uint64_t began, uint64_t length)
{
    struct scopes_record *ring = (struct scopes_record *)(void *)(h->bytes + (size_t)h->ring * SCOPES_PIECE_BYTES);
    ring[h->thread->head_record++ % SCOPES_RECORDS] = (struct scopes_record){.began = began, .length = length, .node = node};
}
