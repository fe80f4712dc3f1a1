/*
 * How the matrices of ops.h are laid out for matmul_blocked.c: f32 with any weights, bytes, bf16.
 */
#include "lab/matmul_blocked.h"

struct f32_job {
    const struct matmul *m;
    const struct ops *level;
    const struct tile *tile;
};

/* `count` lines of f32 side by side: cell k of line i goes to out[k * width + i]. Eight lines at a time keep the writes together. */
static void lay_lines(float *out, size_t width, const float *from, size_t stride, size_t count, size_t depth)
{
    for (size_t k = 0; k < depth; k++) {
        for (size_t i = 0; i < count; i++)
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

/* Rows of weights are unpacked a few at a time and then laid out like lines of A. */
static void lay_b_rows(const struct f32_job *j, float *out, size_t column, size_t count, size_t k, size_t depth)
{
    enum { WIDEST = 64, DEEPEST = 256 };
    float lines[WIDEST * DEEPEST];
    const struct matmul *m = j->m;
    if (m->b_type == WEIGHT_F32) {
        lay_lines(out, j->tile->columns, (const float *)m->b + column * m->b_stride + k, m->b_stride, count, depth);
        return;
    }
    for (size_t i = 0; i < count; i++)
        j->level->unpack[m->b_type](lines + i * depth, (const char *)m->b + weight_bytes(m->b_type, (column + i) * m->b_stride + k), depth);
    lay_lines(out, j->tile->columns, lines, depth, count, depth);
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

/* Lines of small values, `bytes` each; cells of four bytes side by side as above. */
static void lay_small(uint8_t *out, size_t width, const uint8_t *from, size_t stride_bytes, size_t count, size_t depth_bytes,
                      uint8_t flip)
{
    enum { CELL = 4 };
    size_t cells = (depth_bytes + CELL - 1) / CELL;
    memset(out, 0, cells * width * CELL);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *line = from + i * stride_bytes;
        for (size_t k = 0; k < depth_bytes; k++)
            out[(k / CELL * width + i) * CELL + k % CELL] = line[k] ^ flip;
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
    lay_small(out, j->tile->rows, (const uint8_t *)j->m->a + row * j->m->a_stride + k, j->m->a_stride, count, depth, 0x80);
}

static void lay_b_int8(const void *job, void *out, size_t column, size_t count, size_t k, size_t depth, int32_t *start)
{
    const struct int8_job *j = job;
    const int8_t *from = j->m->b + column * j->m->b_stride + k;
    lay_small(out, j->tile->columns, (const uint8_t *)from, j->m->b_stride, count, depth, 0);
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
    lay_small(out, j->tile->rows, (const uint8_t *)(j->m->a + row * j->m->a_stride + k), 2 * j->m->a_stride, count, 2 * depth, 0);
}

static void lay_b_bf16(const void *job, void *out, size_t column, size_t count, size_t k, size_t depth, int32_t *start)
{
    const struct bf16_job *j = job;
    (void)start;
    lay_small(out, j->tile->columns, (const uint8_t *)(j->m->b + column * j->m->b_stride + k), 2 * j->m->b_stride, count, 2 * depth, 0);
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
