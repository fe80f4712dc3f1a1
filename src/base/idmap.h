/*
 * idmap.h - from a key to the small number of its row
 *
 * The rows, and so the keys, live in the caller's own table; the map only knows
 * hashes and row numbers. Looking up takes a function that compares a row with
 * the key in question:
 *
 *     uint64_t h = idmap_hash(&m, key, n);
 *     uint32_t row = idmap_find(&m, h, same_row, table, &key);
 *     if (row == IDMAP_NONE)
 *         idmap_add(&m, h, row = append(table, key));
 *
 * Every map hashes with a secret of its own: a file cannot be written so that
 * all its names collide.
 *
 *     slot: [ 32 bits of the hash | row ]     open addressing, linear probing
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX

struct idmap_slot {
    uint32_t tag, row;
};

struct idmap {
    struct idmap_slot *slots;
    size_t mask, used;
    uint64_t secret;
};

typedef bool (*idmap_same)(const void *table, uint32_t row, const void *key);

void idmap_init(struct idmap *m);
void idmap_done(struct idmap *m);
uint64_t idmap_hash(const struct idmap *m, const void *bytes, size_t n);
void idmap_add(struct idmap *m, uint64_t hash, uint32_t row);

/* For keys of two small numbers: one multiplication instead of a pass over bytes. */
static inline uint64_t idmap_hash_pair(const struct idmap *m, uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)a << 32 | b) ^ m->secret;
    __uint128_t wide = (__uint128_t)x * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)wide ^ (uint64_t)(wide >> 64);
}

static inline uint32_t idmap_tag(uint64_t hash) { return (uint32_t)(hash ^ hash >> 32); }

/* Inline, so that the comparison is compiled into the loop. */
static inline uint32_t idmap_find(const struct idmap *m, uint64_t hash, idmap_same same,
                                  const void *table, const void *key)
{
    uint32_t tag = idmap_tag(hash);
    for (size_t i = tag & m->mask;; i = (i + 1) & m->mask) {
        struct idmap_slot s = m->slots[i];
        if (s.row == IDMAP_NONE)
            return IDMAP_NONE;
        if (s.tag == tag && same(table, s.row, key))
            return s.row;
    }
}
