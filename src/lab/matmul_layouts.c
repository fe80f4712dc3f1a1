/*
 * How the matrices of ops.h are laid out for matmul_blocked.c: f32 with any weights, bytes, bf16.
 */
#include "lab/matmul_blocked.h"

struct f32_job {
    const struct matmul *m;
    const struct ops *level;
    const struct tile *tile;
};

/* Four lines of four cells, turned: the vectors are the compiler's own, four f32 wide on every processor. */
typedef float four __attribute__((vector_size(16)));

static inline four load_four(const float *p)
{
    four v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_four(float *p, four v) { memcpy(p, &v, sizeof v); }

static void turn_four(float *out, size_t width, const float *from, size_t stride)
{
    four a = load_four(from), b = load_four(from + stride), c = load_four(from + 2 * stride), d = load_four(from + 3 * stride);
    four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    store_four(out, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
    store_four(out + width, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
    store_four(out + 2 * width, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    store_four(out + 3 * width, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

/* Lines of f32 side by side: cell k of line i goes to out[k * width + i]. Lines beyond `count` are zero. */
static void lay_lines(float *out, size_t width, const float *from, size_t stride, size_t count, size_t depth)
{
    size_t fours = count / 4 * 4, deep = depth / 4 * 4;
    for (size_t k = 0; k < deep; k += 4)
        for (size_t i = 0; i < fours; i += 4)
            turn_four(out + k * width + i, width, from + i * stride + k, stride);
    for (size_t k = 0; k < depth; k++) {
        for (size_t i = k < deep ? fours : 0; i < count; i++)
            out[k * width + i] = from[i * stride + k];
        for (size_t i = count; i < width; i++)
            out[k * width + i] = 0;
    }
}

static void lay_a_f32(const void *job, void *out, size_t row, size_t count, size_t k, size_t depth)
{
    const struct f32_job *j = job;
    lay_lines(out, j->tile->rows, j->m->a + row * j->m->a_stride + k, j->m->a_stride, count, depth);
}

static void lay_b_columns(const struct f32_job *j, float *out, size_t column, size_t count, size_t k, size_t depth)
{
    const float *from = (const float *)j->m->b + k * j->m->b_stride + column;
    size_t width = j->tile->columns;
    for (size_t p = 0; p < depth; p++, out += width, from += j->m->b_stride) {
        memcpy(out, from, count * sizeof *out);
        memset(out + count, 0, (width - count) * sizeof *out);
    }
}

/*
 * Rows of weights are unpacked a piece at a time and then laid out like lines of A. A piece is whole blocks of quantised
 * weights, and small: stacks with large frames are hard on whoever samples them.
 */
static void lay_b_rows(const struct f32_job *j, float *out, size_t column, size_t count, size_t k, size_t depth)
{
    enum { WIDEST = 64, PIECE = 64 };
    float lines[WIDEST * PIECE];
    const struct matmul *m = j->m;
    if (m->b_type == WEIGHT_F32) {
        lay_lines(out, j->tile->columns, (const float *)m->b + column * m->b_stride + k, m->b_stride, count, depth);
        return;
    }
    for (size_t at = 0; at < depth; at += PIECE) {
        size_t n = depth - at < PIECE ? depth - at : PIECE;
        for (size_t i = 0; i < count; i++)
            j->level->unpack[m->b_type](lines + i * n, (const char *)m->b + weight_bytes(m->b_type, (column + i) * m->b_stride + k + at), n);
        lay_lines(out + at * j->tile->columns, j->tile->columns, lines, n, count, n);
    }
}

static void lay_b_f32(const void *job, void *out, size_t column, size_t count, size_t k, size_t depth, int32_t *start)
{
    const struct f32_job *j = job;
    (void)start;
    if (j->m->b_is_rows)
        lay_b_rows(j, out, column, count, k, depth);
    else
        lay_b_columns(j, out, column, count, k, depth);
}

void matmul_with_tile(const struct matmul *m, const struct tile *t, const struct ops *level, struct matmul_room *room)
{
    struct f32_job job = {m, level, t};
    struct blocked b = {
        .m = m->m, .n = m->n, .k = m->k, .per_cell = 1, .tile = t, .job = &job, .lay_a = lay_a_f32, .lay_b = lay_b_f32,
        .c = m->c, .c_stride = m->c_stride,
    };
    matmul_blocked(&b, room);
}

/* Lines of small values: cells of four bytes side by side, as above. `flip` is applied to every byte that is there. */
static void lay_small(uint32_t *out, size_t width, const void *from, size_t stride_bytes, size_t count, size_t depth_bytes,
                      uint32_t flip)
{
    size_t cells = depth_bytes / sizeof *out, rest = depth_bytes % sizeof *out;
    for (size_t i = 0; i < width; i++) {
        const char *line = (const char *)from + i * stride_bytes;
        uint32_t cell = 0;
        for (size_t k = 0; k < cells; k++) {
            if (i < count)
                memcpy(&cell, line + k * sizeof cell, sizeof cell);
            out[k * width + i] = i < count ? cell ^ flip : 0;
        }
        if (!rest)
            continue;
        cell = 0;
        if (i < count)
            memcpy(&cell, line + cells * sizeof cell, rest);
        out[cells * width + i] = i < count ? cell ^ flip : 0;
    }
}

struct int8_job {
    const struct matmul_int8 *m;
    const struct tile *tile;
};

/*
 * The instruction multiplies unsigned with signed bytes. So A is shifted up by 128 (its top bit flipped), and each
 * column begins with -128 times what its bytes add up to. What fills a panel up is a byte of B that is zero.
 */
static void lay_a_int8(const void *job, void *out, size_t row, size_t count, size_t k, size_t depth)
{
    const struct int8_job *j = job;
    lay_small(out, j->tile->rows, j->m->a + row * j->m->a_stride + k, j->m->a_stride, count, depth, 0x80808080);
}

static void lay_b_int8(const void *job, void *out, size_t column, size_t count, size_t k, size_t depth, int32_t *start)
{
    const struct int8_job *j = job;
    const int8_t *from = j->m->b + column * j->m->b_stride + k;
    lay_small(out, j->tile->columns, from, j->m->b_stride, count, depth, 0);
    memset(start, 0, j->tile->columns * sizeof *start);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < depth; p++)
            start[i] -= 128 * from[i * j->m->b_stride + p];
}

void matmul_int8_with_tile(const struct matmul_int8 *m, const struct tile *t, struct matmul_room *room)
{
    struct int8_job job = {m, t};
    struct blocked b = {
        .m = m->m, .n = m->n, .k = m->k, .per_cell = 4, .tile = t, .job = &job, .lay_a = lay_a_int8, .lay_b = lay_b_int8,
        .c = m->c, .c_stride = m->c_stride,
    };
    matmul_blocked(&b, room);
}

struct bf16_job {
    const struct matmul_bf16 *m;
    const struct tile *tile;
};

static void lay_a_bf16(const void *job, void *out, size_t row, size_t count, size_t k, size_t depth)
{
    const struct bf16_job *j = job;
    lay_small(out, j->tile->rows, j->m->a + row * j->m->a_stride + k, 2 * j->m->a_stride, count, 2 * depth, 0);
}

static void lay_b_bf16(const void *job, void *out, size_t column, size_t count, size_t k, size_t depth, int32_t *start)
{
    const struct bf16_job *j = job;
    (void)start;
    lay_small(out, j->tile->columns, j->m->b + column * j->m->b_stride + k, 2 * j->m->b_stride, count, 2 * depth, 0);
}

void matmul_bf16_with_tile(const struct matmul_bf16 *m, const struct tile *t, struct matmul_room *room)
{
    struct bf16_job job = {m, t};
    struct blocked b = {
        .m = m->m, .n = m->n, .k = m->k, .per_cell = 2, .tile = t, .job = &job, .lay_a = lay_a_bf16, .lay_b = lay_b_bf16,
        .c = m->c, .c_stride = m->c_stride,
    };
    matmul_blocked(&b, room);
}
