/*
 * heap_purse.h - how much the recorder spends on what one process says, and on what all of them say
 *
 * Tables in a target's area may be as large as it likes; what we remember of them is ours. So each process has purses, of bytes
 * and of frames to be named, and all purses of a kind have one account:
 *
 *               a process, in any case   a process, at most   all together, beyond what each has in any case
 *     bytes     128 KiB                  64 MiB               96 MiB
 *     frames    16,384                   8,388,608            16,777,216
 *
 * (256 processes at once are 128 MiB at most.) Programs that were not made to be a burden need a tenth of it: a row takes 80 bytes, a
 * stack 24 and a frame for each of its callers. Who is refused says so in its own way: rows that are not remembered one by one are
 * told together, and stacks that are not named are called so.
 *
 *     if (!heap_purse_take(purse, bytes)) ...     // there is no more
 *     heap_purse_keep(purse, bytes);              // of what was taken: it stays when the process is gone
 *     heap_purse_close(purse);                    // it is gone: the rest is given back
 *
 * Threads: one at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct heap_account {
    size_t least, one, all; /* of a process in any case; of a process at most; of all together */
    size_t spent;           /* from all purses that are open, and what was kept from others */
};

#define HEAP_ACCOUNT_OF_BYTES ((struct heap_account){.least = (size_t)128 << 10, .one = (size_t)64 << 20, .all = (size_t)96 << 20})
#define HEAP_ACCOUNT_OF_FRAMES ((struct heap_account){.least = (size_t)1 << 14, .one = (size_t)1 << 23, .all = (size_t)1 << 24})

struct heap_purse {
    struct heap_account *account;
    size_t spent, kept; /* kept: of what was spent */
};

/* Without a purse nobody counts. */
static inline bool heap_purse_take(struct heap_purse *p, size_t n)
{
    if (!p)
        return true;
    struct heap_account *a = p->account;
    if (n > a->one || p->spent + n > a->one || (p->spent + n > a->least && a->spent + n > a->all))
        return false;
    p->spent += n;
    a->spent += n;
    return true;
}

static inline size_t heap_purse_own(const struct heap_purse *p, size_t n) { return n < p->spent - p->kept ? n : p->spent - p->kept; }

static inline void heap_purse_give(struct heap_purse *p, size_t n)
{
    if (!p)
        return;
    n = heap_purse_own(p, n);
    p->spent -= n;
    p->account->spent -= n;
}

static inline void heap_purse_keep(struct heap_purse *p, size_t n)
{
    if (p)
        p->kept += heap_purse_own(p, n);
}

static inline void heap_purse_close(struct heap_purse *p) { heap_purse_give(p, p->spent); }
