/*
 * grown.h - a file of names for code that was made in memory, read at once and as it grew
 *
 * Whatever the bytes are: a file read in two steps knows the same names as the whole file.
 */
#pragma once
#include "symbols/symbols.h"

#include <stdlib.h>
#include <sys/mman.h>

struct grown {
    int fd;
    char path[32];
};

static inline struct grown grown_file(void)
{
    struct grown g = {.fd = memfd_create("grown", MFD_CLOEXEC)};
    if (g.fd < 0)
        abort();
    snprintf(g.path, sizeof g.path, "/proc/self/fd/%d", g.fd);
    return g;
}

static inline void grown_add(const struct grown *g, struct view bytes)
{
    if (write(g->fd, bytes.at, bytes.n) != (ssize_t)bytes.n)
        abort();
}

static inline void check_grown(struct view bytes)
{
    size_t cut = bytes.n ? (unsigned char)bytes.at[bytes.n / 2] % bytes.n : 0;
    struct grown once = grown_file(), twice = grown_file();
    own(jit_symbols) struct jit_symbols *a = NULL;
    own(jit_symbols) struct jit_symbols *b = NULL;
    struct err e = {0};
    grown_add(&once, bytes);
    bool is_good = jit_symbols_open(&a, once.path, &e);
    grown_add(&twice, (struct view){bytes.at, cut});
    bool is_half_good = jit_symbols_open(&b, twice.path, &e);
    grown_add(&twice, (struct view){bytes.at + cut, bytes.n - cut});
    if (is_good && (!is_half_good || !jit_symbols_refresh(b, &e)))
        abort();
    for (uint64_t at = 0; is_good && at < 0x3000; at += 7)
        if (!view_same(jit_symbols_at(a, at), jit_symbols_at(b, at)))
            abort();
    close(once.fd);
    close(twice.fd);
}
