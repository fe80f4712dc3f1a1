#include "base/idmap.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIRST_SLOTS 64

static struct idmap_slot *empty_slots(size_t n)
{
    struct idmap_slot *slots = mem_resize(NULL, n * sizeof *slots);
    memset(slots, 0xff, n * sizeof *slots); /* every row IDMAP_NONE */
    return slots;
}

static uint64_t new_secret(void)
{
    uint64_t secret;
    if (getrandom(&secret, sizeof secret, GRND_NONBLOCK) != sizeof secret)
        secret = (uint64_t)time(NULL) * UINT64_C(0x9e3779b97f4a7c15); /* early boot: better than none */
    return secret;
}

void idmap_init(struct idmap *m)
{
    *m = (struct idmap){.slots = empty_slots(FIRST_SLOTS), .mask = FIRST_SLOTS - 1, .secret = new_secret()};
}

void idmap_done(struct idmap *m)
{
    free(m->slots);
    *m = (struct idmap){0};
}

uint64_t idmap_hash(const struct idmap *m, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, m->secret);
}

static void place(struct idmap *m, struct idmap_slot s)
{
    size_t i = s.tag & m->mask;
    while (m->slots[i].row != IDMAP_NONE)
        i = (i + 1) & m->mask;
    m->slots[i] = s;
}

static void widen(struct idmap *m)
{
    struct idmap_slot *old = m->slots;
    size_t n = m->mask + 1;
    m->slots = empty_slots(n * 2);
    m->mask = n * 2 - 1;
    for (size_t i = 0; i < n; i++)
        if (old[i].row != IDMAP_NONE)
            place(m, old[i]);
    free(old);
}

void idmap_add(struct idmap *m, uint64_t hash, uint32_t row)
{
    if ((m->used + 1) * 3 > (m->mask + 1) * 2)
        widen(m);
    place(m, (struct idmap_slot){.tag = idmap_tag(hash), .row = row});
    m->used++;
}
