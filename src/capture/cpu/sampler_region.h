/*
 * sampler_region.h - the recorder's end of the memory it shares with samplers in targets
 *
 * The layout is in include/inferom/wire.h. What is in there was written by a program
 * we know nothing about: by our sampler, one hopes, or by whatever else found the
 * memory mapped. So every value is read once, into memory of our own, and checked;
 * sizes are the ones we made the region with; a ring that makes no sense is emptied
 * and counted. Nobody can make us read outside the region, wait, or loop.
 *
 *     own(sampler_region) struct sampler_region *r = NULL;
 *     if (!sampler_region_new(&r, &plan, e)) ...
 *     sampler_region_visit(r, now_ns, &listener);        // a few times a second
 *
 * Threads of a target are told of in the order in which they began, and what a thread
 * wrote before any thread that began later: the news that a process runs another
 * program comes after all samples of the old one.
 *
 * Owns:     the memory and its descriptor.
 * Threads:  one at a time.
 * Fails:    sampler_region_new(), when the system has no such memory for us.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/view.h"
#include "inferom/wire.h"

struct sampler_region_plan {
    uint32_t slots;      /* threads at the same time, of all processes together */
    uint64_t ring_bytes; /* of each; a power of two, used as far as it is needed */
    uint64_t period_ns;
    enum wire_phase phase;
};

/* One thread that is sampled. Lives in the region; good until it has ended and the visit is over. */
struct sampler_thread {
    uint32_t slot;
    int32_t pid, tid;
    enum wire_origin origin;
    int32_t parent_pid; /* of WIRE_BY_FORK */
    uint64_t began_ns, cpu_began_ns;
    uint64_t cpu_ns; /* by the last sample; when it has ended, at its end if that is known */
    uint64_t lost;   /* samples, since it began */
    char name[WIRE_NAME_BYTES + 1]; /* when it has ended; "" when it did not say */
};

struct sampler_sample {
    uint64_t when_ns, cpu_ns;
    const uint64_t *registers; /* WIRE_REGISTERS of them */
    uint64_t stack_start;
    const uint8_t *stack;
    size_t stack_bytes;
    bool is_cut;
};

/* Who is told what was found. Pointers are good for the call. */
struct sampler_listener {
    void *self;
    void (*began)(void *self, const struct sampler_thread *t);
    void (*map)(void *self, const struct sampler_thread *t, struct view line);
    void (*sample)(void *self, const struct sampler_thread *t, const struct sampler_sample *s);
    void (*ended)(void *self, const struct sampler_thread *t);
};

struct sampler_region;

bool sampler_region_new(struct sampler_region **out, const struct sampler_region_plan *plan, struct err *e) MUST_CHECK;
void sampler_region_free(struct sampler_region *r); /* NULL is fine; tells samplers to stop */
DEFINE_OWN(sampler_region, struct sampler_region *)

int sampler_region_fd(const struct sampler_region *r);
void sampler_region_phase(struct sampler_region *r, enum wire_phase phase);

void sampler_region_visit(struct sampler_region *r, uint64_t now_ns, const struct sampler_listener *to);

/* Threads that began and did not end: the first (after NULL), the next, NULL. */
const struct sampler_thread *sampler_region_next(const struct sampler_region *r, const struct sampler_thread *after);

/* The process is gone without a word: the next visit takes what is left and tells the end. */
void sampler_region_gone(struct sampler_region *r, const struct sampler_thread *t);

/* Asks the process of `t`, when `t` ticks next, to sample a thread it does not know of. False: not now. */
bool sampler_region_want(struct sampler_region *r, const struct sampler_thread *t, int32_t tid);

void sampler_region_stack_bytes(struct sampler_region *r, const struct sampler_thread *t, uint32_t most);

struct sampler_region_count {
    uint64_t threads, samples, lost;      /* lost: rings were full */
    uint64_t damaged;                     /* rings that made no sense, and were emptied */
    uint64_t trouble[WIRE_TROUBLE_COUNT]; /* as the samplers counted */
    double fullest_ratio;                 /* of the fullest ring, when last visited */
};

struct sampler_region_count sampler_region_counts(const struct sampler_region *r);

/* For tests and fuzzers: a region over memory that somebody else made, and keeps. */
struct sampler_region *sampler_region_over(void *bytes, const struct sampler_region_plan *plan);
