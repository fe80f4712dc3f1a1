/*
 * The plain level: each function as its definition reads. It runs everywhere, and the others are checked
 * against the same definitions.
 */
#include "lab/ops_levels.h"
#include "lab/simd.h"

#include <math.h>

PLAIN_BEGIN

static float dot(const float *a, const float *b, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void matvec_f32(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    for (size_t r = 0; r < n_rows; r++)
        y[r] = dot((const float *)rows + r * n, x->f32, n);
}

static void matvec_f16(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    const uint16_t *row = rows;
    for (size_t r = 0; r < n_rows; r++, row += n) {
        float sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += f16_to_f32(row[i]) * x->f32[i];
        y[r] = sum;
    }
}

static void matvec_bf16(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    const uint16_t *row = rows;
    for (size_t r = 0; r < n_rows; r++, row += n) {
        float sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += bf16_to_f32(row[i]) * x->f32[i];
        y[r] = sum;
    }
}

static int32_t block_dot_q8_0(const struct block_q8_0 *b, const int8_t *x)
{
    int32_t sum = 0;
    for (size_t i = 0; i < WEIGHT_BLOCK; i++)
        sum += b->at[i] * x[i];
    return sum;
}

static int32_t block_dot_q4_0(const struct block_q4_0 *b, const int8_t *x)
{
    enum { HALF = WEIGHT_BLOCK / 2 };
    int32_t sum = 0;
    for (size_t i = 0; i < HALF; i++)
        sum += ((b->at[i] & 15) - 8) * x[i] + ((b->at[i] >> 4) - 8) * x[i + HALF];
    return sum;
}

static void matvec_q8_0(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    const struct block_q8_0 *b = rows;
    for (size_t r = 0; r < n_rows; r++) {
        float sum = 0;
        for (size_t i = 0; i < n / WEIGHT_BLOCK; i++, b++)
            sum += f16_to_f32(b->scale) * x->q8.scale[i] * (float)block_dot_q8_0(b, x->q8.at + i * WEIGHT_BLOCK);
        y[r] = sum;
    }
}

static void matvec_q4_0(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)
{
    const struct block_q4_0 *b = rows;
    for (size_t r = 0; r < n_rows; r++) {
        float sum = 0;
        for (size_t i = 0; i < n / WEIGHT_BLOCK; i++, b++)
            sum += f16_to_f32(b->scale) * x->q8.scale[i] * (float)block_dot_q4_0(b, x->q8.at + i * WEIGHT_BLOCK);
        y[r] = sum;
    }
}

/* The value of B in row k, column n of the product. */
static float b_at(const struct matmul *m, size_t k, size_t n)
{
    if (!m->b_is_rows)
        return ((const float *)m->b)[k * m->b_stride + n];
    size_t i = n * m->b_stride + k, block = i / WEIGHT_BLOCK, in_block = i % WEIGHT_BLOCK;
    float of_block[WEIGHT_BLOCK], one;
    if (!weight_is_quantised(m->b_type)) {
        weight_unpack(m->b_type, &one, (const char *)m->b + weight_bytes(m->b_type, i), 1);
        return one;
    }
    weight_unpack(m->b_type, of_block, (const char *)m->b + weight_bytes(m->b_type, block * WEIGHT_BLOCK), WEIGHT_BLOCK);
    return of_block[in_block];
}

/* A column of B at a time, since unpacking it costs most; then it meets every row of A. */
static void matmul(const struct matmul *m, struct matmul_room *room)
{
    (void)room;
    enum { PIECE = 512 };
    float piece[PIECE];
    for (size_t j = 0; j < m->n; j++) {
        for (size_t i = 0; i < m->m; i++)
            m->c[i * m->c_stride + j] = 0;
        for (size_t k = 0; k < m->k; k += PIECE) {
            size_t n = m->k - k < PIECE ? m->k - k : PIECE;
            for (size_t p = 0; p < n; p++)
                piece[p] = b_at(m, k + p, j);
            for (size_t i = 0; i < m->m; i++)
                m->c[i * m->c_stride + j] += dot(m->a + i * m->a_stride + k, piece, n);
        }
    }
}

static void matmul_int8(const struct matmul_int8 *m, struct matmul_room *room)
{
    (void)room;
    for (size_t i = 0; i < m->m; i++)
        for (size_t j = 0; j < m->n; j++) {
            int32_t sum = 0;
            for (size_t k = 0; k < m->k; k++)
                sum += m->a[i * m->a_stride + k] * m->b[j * m->b_stride + k];
            m->c[i * m->c_stride + j] = sum;
        }
}

static void matmul_bf16(const struct matmul_bf16 *m, struct matmul_room *room)
{
    (void)room;
    for (size_t i = 0; i < m->m; i++)
        for (size_t j = 0; j < m->n; j++) {
            float sum = 0;
            for (size_t k = 0; k < m->k; k++)
                sum += bf16_to_f32(m->a[i * m->a_stride + k]) * bf16_to_f32(m->b[j * m->b_stride + k]);
            m->c[i * m->c_stride + j] = sum;
        }
}

static void quantise_block(struct quantised *out, size_t block, const float *x)
{
    float most = 0;
    for (size_t i = 0; i < WEIGHT_BLOCK; i++)
        most = fmaxf(most, fabsf(x[i]));
    float scale = most / 127, inverse = scale != 0 ? 1 / scale : 0;
    int32_t sum = 0;
    int8_t *at = out->at + block * WEIGHT_BLOCK;
    for (size_t i = 0; i < WEIGHT_BLOCK; i++)
        sum += at[i] = (int8_t)lrintf(x[i] * inverse);
    out->scale[block] = f16_to_f32(f32_to_f16(scale));
    out->sum[block] = sum;
}

static void quantise(struct quantised *out, const float *x, size_t n)
{
    for (size_t b = 0; b < n / WEIGHT_BLOCK; b++)
        quantise_block(out, b, x + b * WEIGHT_BLOCK);
}

#define UNPACK(type, TYPE) \
    static void unpack_##type(float *y, const void *row, size_t n) { weight_unpack(TYPE, y, row, n); }
UNPACK(f32, WEIGHT_F32)
UNPACK(f16, WEIGHT_F16)
UNPACK(bf16, WEIGHT_BF16)
UNPACK(q8_0, WEIGHT_Q8_0)
UNPACK(q4_0, WEIGHT_Q4_0)

static void exponential(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = expf(x[i]);
}

/* (1 + tanh u) / 2 is 1 / (1 + exp(-2u)), and in that form nothing cancels out where x is below zero. */
static void gelu(float *y, const float *x, size_t n)
{
    const float twice = 2 * 0.79788456080286535588f; /* sqrt(2/pi) */
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + expf(-twice * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

static void silu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + expf(-x[i]));
}

static void add(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static void mul(float *y, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

static void scale(float *y, const float *x, float by, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * by;
}

static void mix(float *y, const float *rows, const float *by, size_t n_rows, size_t n)
{
    for (size_t r = 0; r < n_rows; r++)
        for (size_t i = 0; i < n; i++)
            y[i] += by[r] * rows[r * n + i];
}

static void add_scaled(float *y, const float *x, float by, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += by * x[i];
}

static void add_row(float *y, const float *x, const float *row, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++)
        add(y + r * n, x + r * n, row, n);
}

static void softmax(float *y, const float *x, size_t n)
{
    float most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++)
        sum += y[i] = expf(x[i] - most);
    scale(y, y, 1 / sum, n);
}

static void rmsnorm(float *y, const float *x, const float *weight, size_t n, float eps)
{
    float by = 1 / sqrtf(dot(x, x, n) / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * by * weight[i];
}

static void layernorm(float *y, const float *x, const float *weight, const float *bias, size_t n, float eps)
{
    float sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    float mean = sum / (float)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    float by = 1 / sqrtf(squares / (float)n + eps);
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * by * weight[i] + bias[i];
}

static void rope_pairs(float *y, const float *x, const float *cosine, const float *sine, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        float u = x[2 * i], v = x[2 * i + 1];
        y[2 * i] = u * cosine[i] - v * sine[i];
        y[2 * i + 1] = u * sine[i] + v * cosine[i];
    }
}

static void rope_halves(float *y, const float *x, const float *cosine, const float *sine, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        float u = x[i], v = x[i + n / 2];
        y[i] = u * cosine[i] - v * sine[i];
        y[i + n / 2] = u * sine[i] + v * cosine[i];
    }
}

PLAIN_END

const struct ops *ops_scalar(void)
{
    static const struct ops ops = {
        .name = "scalar",
        .what = "plain C, one number at a time",
        .lanes = 1,
        .dot = dot,
        .matvec = {matvec_f32, matvec_f16, matvec_bf16, matvec_q8_0, matvec_q4_0},
        .matmul = matmul,
        .matmul_int8 = matmul_int8,
        .matmul_bf16 = matmul_bf16,
        .quantise = quantise,
        .unpack = {unpack_f32, unpack_f16, unpack_bf16, unpack_q8_0, unpack_q4_0},
        .exp = exponential,
        .gelu = gelu,
        .silu = silu,
        .add = add,
        .mul = mul,
        .scale = scale,
        .add_scaled = add_scaled,
        .mix = mix,
        .add_row = add_row,
        .softmax = softmax,
        .rmsnorm = rmsnorm,
        .layernorm = layernorm,
        .rope_pairs = rope_pairs,
        .rope_halves = rope_halves,
    };
    return &ops;
}
