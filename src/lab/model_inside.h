/*
 * model_inside.h - what a model is made of; for the files that make one and those that compute with it
 *
 * One shape serves both architectures; what one of them does not have is NULL or 0.
 *
 *     token ─ embed (+ position) ─┬─ norm ─ q k v ─ rotate ─ attention ─ out ─(+)─┬─ norm ─ feed forward ─(+)─ ... ─ norm ─ head
 *                                 └────────────────────────────────────────────┘ └────────────────────────┘
 *                                          a layer: x = x + attention(norm(x)), then x = x + feed forward(norm(x))
 */
#pragma once
#include "lab/model.h"
#include "lab/ops.h"
#include "lab/team.h"
#include "lab/vocabulary.h"
#include <pthread.h>

enum { PASS_TOKENS = 64 }; /* evaluated together, at most */

struct layer {
    const float *attention_norm, *attention_norm_bias;
    struct weights q, k, v, out;
    const float *q_bias, *k_bias, *v_bias, *out_bias;
    const float *feed_norm, *feed_norm_bias;
    struct weights gate, up, down; /* gate.at NULL: up alone, with GELU; else silu(gate) * up */
    const float *up_bias, *down_bias;
};

/* Room for the numbers of one pass; passes of one model come one after the other. */
struct pass_room {
    float *x, *normed, *q, *k, *v, *mixed, *gate, *up, *delta; /* PASS_TOKENS rows each */
    struct quantised q8[PASS_TOKENS];
    float *cosine, *sine;          /* rotated / 2 for each of PASS_TOKENS */
    struct matmul_room **products; /* one per worker */
    float **scores;                /* one per worker, of n_scores each */
    size_t n_scores;
};

struct model {
    struct model_facts facts;
    char *name;
    struct vocabulary *words;
    struct gguf *file; /* that the weights are in; NULL: they are in `memory` */
    void *memory;
    size_t memory_bytes;

    struct weights embedding, positions, head; /* positions.at NULL: places are rotations */
    const float *final_norm, *final_norm_bias;
    struct layer *layers;
    size_t head_size, rotated; /* values of a head; those of them that are rotated, as neighbours */
    double *frequencies;       /* rotated / 2 */
    float epsilon;
    bool is_rms; /* norms by root mean square; else layer norms */

    const struct ops *ops;
    struct team *team;
    pthread_mutex_t lock; /* of team and room */
    struct pass_room room;
};

static inline size_t model_q_width(const struct model *m) { return m->facts.heads * m->head_size; }
static inline size_t model_kv_width(const struct model *m) { return m->facts.kv_heads * m->head_size; }

/* A model that has its shape, weights and words gets what it computes with; fails when threads cannot be had. */
bool model_ready(struct model *m, unsigned threads, struct err *e) MUST_CHECK;

/* From a file that is open already; the model owns it, whatever happens. */
struct gguf;
bool model_of_gguf(struct gguf *g, const struct model_plan *p, struct model **out, struct err *e) MUST_CHECK;

/*
 * Keys and values of a session, in blocks of positions: [block][layer][kv head][position in block][head_size]. What a
 * head reads lies together, and a conversation takes memory for the positions it has, not for its whole context.
 */
enum { CACHE_BLOCK = 64 };
struct cache {
    float *keys, *values; /* of `bytes` each */
    size_t context, bytes;
};

static inline size_t cache_at(const struct model *m, size_t layer, size_t head, size_t position)
{
    size_t place = (position / CACHE_BLOCK * m->facts.layers + layer) * m->facts.kv_heads + head;
    return (place * CACHE_BLOCK + position % CACHE_BLOCK) * m->head_size;
}

/* One pass through the model: n tokens from `position` on, PASS_TOKENS at most. */
struct pass {
    struct model *model;
    struct cache *cache;
    const uint32_t *tokens;
    size_t n, position;
    bool is_decode;
    float *logits; /* of the last token; NULL: not wanted */
    void *request; /* whom it is for, as the client library knows it */
};
void pass_run(struct pass *p);
