/*
 * ops.h - the building blocks of inference, once per SIMD level
 *
 * A level is a table of functions: "scalar" is the plain and obvious one that the others are checked against,
 * then "avx2", "avx512" and "neon". Which of them this processor can run is asked at run time.
 *
 *     const struct ops *o = ops_best();                        // or ops_named("avx2"): NULL where it cannot run
 *     o->rmsnorm(y, x, norm, n, 1e-5f);
 *
 * Rows times a vector, the heart of decoding. Quantised weights are multiplied with quantised activations:
 *
 *     struct activations x = {.f32 = hidden, .q8 = room};
 *     if (weight_is_quantised(w.type))
 *         o->quantise(&room, hidden, n);                       // once; then by all workers:
 *     ops_matvec(o, y, &w, &x, rows.from, rows.to);
 *
 * Many vectors at once, the heart of prefill; each worker has its own room and its own part:
 *
 *     struct matmul all = {.m = tokens, .n = w.rows, .k = w.columns, .a = x, .a_stride = w.columns,
 *                          .b = w.at, .b_type = w.type, .b_is_rows = true, .b_stride = w.columns, .c = y, .c_stride = w.rows};
 *     struct matmul mine = matmul_part(&all, worker, workers);
 *     o->matmul(&mine, room[worker]);
 *
 * Lengths are any number, 0 included, except where weights are quantised: there columns are multiples of 32.
 * Pointers need no alignment beyond that of their type. `y` may be `x` (or `a`, or `b`) itself, else they do not
 * overlap. NaN and infinity go through as arithmetic has them. Results of two levels differ by rounding; those of
 * one level are the same again and again, whatever the number of workers.
 *
 * Threads: all functions are pure; call them from anywhere.
 */
#pragma once
#include "base/own.h"
#include "lab/weights.h"

/* A vector in the form that quantised weights like: value i is scale[i / 32] * at[i]; scales are exact in f16. */
struct quantised {
    int8_t *at;     /* n bytes */
    float *scale;   /* n / 32 */
    int32_t *sum;   /* n / 32: what the bytes of a block add up to */
};
void quantised_init(struct quantised *q, size_t n); /* room for n values, a multiple of 32 */
void quantised_done(struct quantised *q);
DEFINE_OWN_IN_PLACE(quantised, struct quantised)

/* A vector for whatever weights: .f32 for plain ones, .q8 for quantised ones. */
struct activations {
    const float *f32;
    struct quantised q8;
};

/* C = A B. A has m rows of k, C has m rows of n. Strides count values. */
struct matmul {
    size_t m, n, k;
    const float *a;
    size_t a_stride;
    const void *b;
    enum weight_type b_type;
    bool b_is_rows;  /* B is n rows of k, as weights are kept; else k rows of n, and f32 */
    size_t b_stride; /* of quantised weights: a multiple of 32 */
    float *c;
    size_t c_stride;
    size_t m_of_all; /* of a part (matmul_part): the m of the whole, so that all parts go the same way; 0: m */
};

/* The same with bytes or bf16 throughout, where the processor multiplies those itself; B is n rows of k. */
struct matmul_int8 {
    size_t m, n, k;
    const int8_t *a, *b;
    size_t a_stride, b_stride;
    int32_t *c; /* exact, as long as k <= 131071 */
    size_t c_stride;
};

struct matmul_bf16 {
    size_t m, n, k;
    const uint16_t *a, *b;
    size_t a_stride, b_stride;
    float *c;
    size_t c_stride;
};

struct matmul_room; /* where blocks of A and B are laid out anew; one per worker */
struct matmul_room *matmul_room_new(void);
void matmul_room_free(struct matmul_room *r); /* NULL is fine */
DEFINE_OWN(matmul_room, struct matmul_room *)

struct ops {
    const char *name;  /* "avx512" */
    const char *what;  /* "AVX-512 (F, BW, VL, DQ) with VNNI and BF16" */
    unsigned lanes;    /* f32 values in a register */

    /* Sums of products. dot: n values. matvec: y[i] = row i times x, for `rows` rows that lie one behind the other. */
    float (*dot)(const float *a, const float *b, size_t n);
    void (*matvec[WEIGHT_TYPE_COUNT])(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n);
    void (*matmul)(const struct matmul *m, struct matmul_room *room);
    void (*matmul_int8)(const struct matmul_int8 *m, struct matmul_room *room); /* NULL: the processor cannot */
    void (*matmul_bf16)(const struct matmul_bf16 *m, struct matmul_room *room); /* NULL: the processor cannot */

    /* Other forms. */
    void (*quantise)(struct quantised *out, const float *x, size_t n);
    void (*unpack[WEIGHT_TYPE_COUNT])(float *y, const void *row, size_t n);

    /* Element by element. */
    void (*exp)(float *y, const float *x, size_t n);
    void (*gelu)(float *y, const float *x, size_t n); /* the tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
    void (*silu)(float *y, const float *x, size_t n); /* x / (1 + exp(-x)) */
    void (*add)(float *y, const float *a, const float *b, size_t n);
    void (*mul)(float *y, const float *a, const float *b, size_t n);
    void (*scale)(float *y, const float *x, float by, size_t n);
    void (*add_scaled)(float *y, const float *x, float by, size_t n); /* y += by * x */
    void (*mix)(float *y, const float *rows, const float *by, size_t n_rows, size_t n); /* y += by[i] * row i, row after row */
    void (*add_row)(float *y, const float *x, const float *row, size_t rows, size_t n); /* broadcast: to each row */

    /* Row by row. */
    void (*softmax)(float *y, const float *x, size_t n); /* one row; stable for large values */
    void (*rmsnorm)(float *y, const float *x, const float *weight, size_t n, float eps);
    void (*layernorm)(float *y, const float *x, const float *weight, const float *bias, size_t n, float eps);

    /* Rotates one head of n values, n even, by n/2 angles: neighbours (0,1) (2,3) ..., or halves (0,n/2) (1,n/2+1) ... */
    void (*rope_pairs)(float *y, const float *x, const float *cosine, const float *sine, size_t n);
    void (*rope_halves)(float *y, const float *x, const float *cosine, const float *sine, size_t n);
};

/* Choosing. */
const struct ops *ops_best(void);
const struct ops *ops_named(const char *level); /* NULL: no such level, or this processor cannot run it */
const struct ops *ops_at(size_t i);             /* those that run here, plainest first; NULL past the end */
extern const char *const ops_level_names[];     /* all there are, whether they run here or not; ends with NULL */

/* Rows [from, to) of w times x; y has a place for every row of w. */
void ops_matvec(const struct ops *o, float *y, const struct weights *w, const struct activations *x, size_t from, size_t to);

/* The part of a product that falls to a worker; empty (m or n is 0) when there are more workers than work. */
struct matmul matmul_part(const struct matmul *all, unsigned worker, unsigned workers);

/* cos and sin of the n/2 angles position * base^(-2i/n). */
void rope_angles(float *cosine, float *sine, size_t n, double position, double base);
