/*
 * roof.h - what this machine can do at most, measured
 *
 * Memory bandwidth, arithmetic, caches, and what a look at the clock costs: the ground truth that a kernel, a model or
 * a profile is held against. Each row is one figure with its spread:
 *
 *     kind      what                       figure
 *     memory    read, read huge, copy,     bytes per second a program sees; memory that each thread touched first itself,
 *               triad                      in ordinary pages (huge: in huge ones); writes count once
 *     peak      scalar ... avx512, neon;   operations per second in registers: multiply and add are two
 *               int8, bf16
 *     cache     read                       bytes per second from a working set of `bytes`
 *     latency   chase                      nanoseconds from one pointer to the next, in a random ring of `bytes`
 *     cost      clock, cpu clock, syscall  nanoseconds of one call
 *
 * Threads are timed by their CPU clocks, several by that of the slowest. A figure is the median of its readings, with
 * the least and the most of them.
 *
 *     struct roof r;
 *     if (!roof_load(&r, e))                       // what was measured here before; else ERR_NOT_FOUND
 *         ...roof_measure(&r, &plan, e) && roof_save(&r, e)
 *     double seconds = bytes / roof_value(&r, "memory", "read", 1);
 *
 * Kept in $XDG_CACHE_HOME/inferom (or ~/.cache/inferom), one file per machine: processor, cores and memory are its key.
 */
#pragma once
#include "base/err.h"
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

struct figure {
    double median, least, most;
    unsigned readings;
};

enum { ROOF_WORD = 24, ROOF_ROWS_MOST = 96 };

struct roof_row {
    char kind[ROOF_WORD], what[ROOF_WORD];
    uint64_t bytes;   /* the working set; 0: as large as it takes */
    unsigned threads;
    struct figure f;
};

struct roof_key {
    char cpu[128]; /* "" where the system does not say */
    unsigned cores, memory_gib;
};

struct roof {
    struct roof_key key;
    unsigned threads;    /* what "all" was */
    bool is_short;
    int64_t measured_at; /* seconds since 1970 */
    struct roof_row rows[ROOF_ROWS_MOST];
    size_t n;
};

struct roof_plan {
    unsigned threads;                  /* all */
    bool is_short;                     /* a few seconds: fewer readings, smaller sets */
    const volatile sig_atomic_t *stop; /* may be NULL */
    void (*progress)(void *self, size_t done, size_t all); /* may be NULL */
    void *self;
};

/* Interrupted: what is finished is in *out, and e says so. */
bool roof_measure(struct roof *out, const struct roof_plan *p, struct err *e) MUST_CHECK;

/* roof_file.c: this machine's file. */
bool roof_load(struct roof *out, struct err *e) MUST_CHECK;
bool roof_save(const struct roof *r, char *out_path, size_t size, struct err *e) MUST_CHECK; /* out_path: where it is now */
struct roof_key roof_key_here(void);

struct json_writer;
struct reader;
void roof_json(const struct roof *r, struct json_writer *w);
bool roof_read(struct roof *out, struct reader *in, struct err *e) MUST_CHECK;

/* Asking. NAN where there is no such row. */
const struct roof_row *roof_find(const struct roof *r, const char *kind, const char *what, unsigned threads);
double roof_value(const struct roof *r, const char *kind, const char *what, unsigned threads); /* median; `threads` beyond one: all */

/* Bytes per second from a working set of so many bytes: of the cache that holds it, else `beyond` ("read", "copy", "triad"). */
double roof_bandwidth(const struct roof *r, const char *beyond, uint64_t working_set, unsigned threads);

/*
 * The least time in which so much can be done, in nanoseconds, and what sets it: the arithmetic of a level ("avx2",
 * "int8") or the memory. NAN where the roof does not know.
 */
struct limit {
    double ns;
    const char *by; /* "compute", "memory", or "" when unknown */
};
struct work {
    double flops, bytes;
    uint64_t working_set;
    const char *level, *beyond;
    unsigned threads;
};
struct limit roof_limit(const struct roof *r, const struct work *w);
