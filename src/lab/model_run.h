/*
 * model_run.h - one measured run of a model: a prompt in, so many tokens out
 *
 * Time is taken by the clock on the wall and by the CPU clock of the process; on a shared machine the second is the one
 * to believe. A step of decoding reads every weight once, so how fast it can be is known: by how fast one thread reads
 * memory. That is measured in the same run, in turns with the decoding, and the share is the middle of the pairs.
 */
#pragma once
#include "lab/model.h"
#include <signal.h>

struct model_run_plan {
    struct session_plan session;
    const uint32_t *prompt;
    size_t n_prompt;
    size_t tokens;    /* to be made; less when the context is full or the model is done */
    bool wants_roof;
    void (*said)(void *self, struct view piece);
    void (*progress)(void *self, uint64_t done);
    void *self;
    const volatile sig_atomic_t *stop; /* may be NULL */
};

struct model_phase {
    uint64_t tokens;
    double wall_ns, cpu_ns;
};

enum { MODEL_RUN_PAIRS = 9 };

/* Weights that are smaller than this may stay in the caches: then memory is not what holds decoding back. */
#define MODEL_ROOF_BYTES ((uint64_t)48 << 20)

struct model_run {
    struct model_phase prefill, decode;
    double sample_ns;
    double step_p50_ns, step_p90_ns, step_p99_ns, step_least_ns, step_most_ns; /* of one decode step, on the wall; NAN: none */
    double roof_bytes_per_s;                     /* one thread, reading, per CPU second; NAN: not measured */
    double share, share_low, share_high;         /* of the roof that decoding reached, per CPU second */
    unsigned pairs;
    uint64_t checksum;        /* of the tokens that were made */
    uint64_t logits_checksum; /* of the last opinion about all tokens, to the bit */
    size_t made;
    size_t cache_bytes;     /* of keys and values, when the context is full */
    double bytes_per_token; /* of them */
    bool is_stopped, is_full; /* ended before so many tokens */
};

bool model_run(struct model *m, const struct model_run_plan *p, struct model_run *out, struct err *e) MUST_CHECK;
