/* Rows times a vector and matrix products, at every level that runs here, against sums in double precision. */
#include "lab/ops.h"
#include "base/mem.h"
#include "numbers.h"

static struct weights weights_random(enum weight_type t, size_t rows, size_t columns, float **out_values)
{
    size_t n = rows * columns;
    char *at = mem_new(weight_bytes(t, n) + !n);
    struct weights w = {t, rows, columns, at};
    float *values = mem_new(n * sizeof *values + !n);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)number_between(-1, 1);
    for (size_t r = 0; r < rows; r++) {
        char *row = at + r * weight_bytes(t, columns);
        weight_pack(t, row, values + r * columns, columns);
        weight_unpack(t, values + r * columns, row, columns); /* what it really holds */
    }
    *out_values = values;
    return w;
}

/* The vector as quantised weights see it. */
static void check_quantise(const struct ops *o, const float *x, size_t n, struct quantised *q, float *out_seen)
{
    struct quantised plain;
    quantised_init(&plain, n);
    ops_named("scalar")->quantise(&plain, x, n);
    o->quantise(q, x, n);
    for (size_t b = 0; b < n / WEIGHT_BLOCK; b++) {
        int32_t sum = 0;
        CHECK(q->scale[b] == plain.scale[b]);
        for (size_t i = b * WEIGHT_BLOCK; i < (b + 1) * WEIGHT_BLOCK; i++) {
            CHECK_EQ(q->at[i], plain.at[i]);
            CHECK_NUMBER(q->scale[b] * (float)q->at[i], x[i], 0.57 / 127, 2, "%s quantise %zu", o->name, i);
            sum += q->at[i];
            out_seen[i] = q->scale[b] * (float)q->at[i];
        }
        CHECK_EQ(q->sum[b], sum);
    }
    quantised_done(&plain);
}

static void check_matvec(const struct ops *o, enum weight_type t, size_t rows, size_t n)
{
    float *values = NULL;
    struct weights w = weights_random(t, rows, n, &values);
    struct numbers x = numbers_random(n, 1, -2, 2), seen = numbers_new(n, 0), y = numbers_new(rows, 0);
    struct activations in = {.f32 = x.at};
    memcpy(seen.at, x.at, n * sizeof *seen.at);
    if (weight_is_quantised(t)) {
        quantised_init(&in.q8, n);
        check_quantise(o, x.at, n, &in.q8, seen.at);
    }
    memset(y.at, 0x55, rows * sizeof *y.at);
    ops_matvec(o, y.at, &w, &in, 0, rows / 2);
    ops_matvec(o, y.at, &w, &in, rows / 2, rows);
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (double)values[r * n + i] * seen.at[i];
        CHECK_NUMBER(y.at[r], sum, 1e-5, sqrt((double)n) + 1, "%s matvec %s row %zu of %zu x %zu", o->name, weight_type_names[t], r, rows, n);
    }
    quantised_done(&in.q8);
    free((void *)w.at);
    free(values);
    numbers_free(x);
    numbers_free(seen);
    numbers_free(y);
}

static void check_unpack(const struct ops *o, enum weight_type t, size_t n)
{
    float *values = NULL;
    struct weights w = weights_random(t, 1, n, &values);
    struct numbers y = numbers_new(n, 0);
    o->unpack[t](y.at, w.at, n);
    for (size_t i = 0; i < n; i++)
        CHECK(y.at[i] == values[i]);
    free((void *)w.at);
    free(values);
    numbers_free(y);
}

/* Infinities and NaN among the weights come through. */
static void check_matvec_odd(const struct ops *o)
{
    enum { N = 40 };
    uint16_t rows[3 * N] = {0};
    float x[N], y[3];
    for (size_t i = 0; i < N; i++)
        x[i] = 1;
    rows[N + 33] = 0x7c00;
    rows[2 * N + 2] = 0x7e00;
    o->matvec[WEIGHT_F16](y, rows, &(struct activations){.f32 = x}, 3, N);
    CHECK(y[0] == 0 && y[1] == INFINITY && isnan(y[2]));
}

static double b_value(const struct matmul *m, const float *values, size_t k, size_t n)
{
    return m->b_is_rows ? values[n * m->b_stride + k] : values[k * m->b_stride + n];
}

static void check_product(const struct ops *o, const struct matmul *m, const float *values, const char *what)
{
    for (size_t i = 0; i < m->m; i++)
        for (size_t j = 0; j < m->n; j++) {
            double sum = 0;
            for (size_t k = 0; k < m->k; k++)
                sum += (double)m->a[i * m->a_stride + k] * b_value(m, values, k, j);
            CHECK_NUMBER(m->c[i * m->c_stride + j], sum, 1e-5, sqrt((double)m->k) + 1, "%s matmul %s (%zu, %zu) of %zu x %zu x %zu",
                         o->name, what, i, j, m->m, m->n, m->k);
        }
}

/* Alone and in parts, to the same bits; what lies between the rows of C is nobody's to touch. */
static void run_in_parts(const struct ops *o, const struct matmul *m, unsigned workers, struct matmul_room *room)
{
    for (unsigned w = 0; w < workers; w++) {
        struct matmul part = matmul_part(m, w, workers);
        if (part.m && part.n)
            o->matmul(&part, room);
    }
}

static void check_matmul(const struct ops *o, enum weight_type t, bool is_rows, size_t m, size_t n, size_t k)
{
    own(matmul_room) struct matmul_room *room = matmul_room_new();
    float *values = NULL;
    struct weights w = is_rows ? weights_random(t, n, k, &values) : weights_random(WEIGHT_F32, k, n, &values);
    struct numbers a = numbers_random(m * (k + 3), 1, -1, 1), c = numbers_new(m * (n + 2), 0), alone = numbers_new(m * (n + 2), 0);
    struct matmul all = {.m = m, .n = n, .k = k, .a = a.at, .a_stride = k + 3, .b = w.at, .b_type = w.type, .b_is_rows = is_rows,
                         .b_stride = w.columns, .c = c.at, .c_stride = n + 2};
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        for (size_t i = 0; i < c.n; i++)
            c.at[i] = 77;
        run_in_parts(o, &all, workers, room);
        check_product(o, &all, values, is_rows ? weight_type_names[t] : "f32 columns");
        for (size_t i = 0; i < m; i++)
            CHECK(c.at[i * (n + 2) + n] == 77 && c.at[i * (n + 2) + n + 1] == 77);
        if (workers == 1)
            memcpy(alone.at, c.at, c.n * sizeof *c.at);
        else
            CHECK(!memcmp(alone.at, c.at, c.n * sizeof *c.at));
    }
    numbers_free(alone);
    free((void *)w.at);
    free(values);
    numbers_free(a);
    numbers_free(c);
}

static void check_matmul_int8(const struct ops *o, size_t m, size_t n, size_t k)
{
    own(matmul_room) struct matmul_room *room = matmul_room_new();
    own(free) int8_t *a = mem_new(m * k + 1);
    own(free) int8_t *b = mem_new(n * k + 1);
    own(free) int32_t *c = mem_new(m * n * sizeof *c + 1);
    for (size_t i = 0; i < m * k; i++)
        a[i] = (int8_t)number_between(-128, 127.99);
    for (size_t i = 0; i < n * k; i++)
        b[i] = (int8_t)(i % 5 ? number_between(-128, 127.99) : -128);
    o->matmul_int8(&(struct matmul_int8){m, n, k, a, b, k, k, c, n}, room);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            int64_t sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[j * k + p];
            CHECK_EQ(c[i * n + j], sum);
        }
}

static void check_matmul_bf16(const struct ops *o, size_t m, size_t n, size_t k)
{
    own(matmul_room) struct matmul_room *room = matmul_room_new();
    own(free) uint16_t *a = mem_new(m * k * sizeof *a + 1);
    own(free) uint16_t *b = mem_new(n * k * sizeof *b + 1);
    own(free) float *c = mem_new(m * n * sizeof *c + 1);
    for (size_t i = 0; i < m * k; i++)
        a[i] = f32_to_bf16((float)number_between(-1, 1));
    for (size_t i = 0; i < n * k; i++)
        b[i] = f32_to_bf16((float)number_between(-1, 1));
    o->matmul_bf16(&(struct matmul_bf16){m, n, k, a, b, k, k, c, n}, room);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t p = 0; p < k; p++)
                sum += (double)bf16_to_f32(a[i * k + p]) * bf16_to_f32(b[j * k + p]);
            CHECK_NUMBER(c[i * n + j], sum, 1e-5, sqrt((double)k) + 1, "%s matmul_bf16 (%zu, %zu) of %zu x %zu x %zu", o->name, i, j, m, n, k);
        }
}

static void check_level(const struct ops *o)
{
    static const size_t shapes[][3] = {{1, 1, 1},  {2, 3, 5},    {12, 32, 64},  {13, 33, 65},  {1, 70, 300},
                                       {70, 1, 3}, {25, 100, 0}, {30, 95, 257}, {64, 64, 513}, {193, 40, 33},
                                       {60, 40, 33}, {100, 70, 300}, {65, 20, 129}};
    static const size_t lengths[] = {1, 5, 16, 31, 64, 100, 129, 1000};
    printf("%s\n", o->name);
    for (enum weight_type t = 0; t < WEIGHT_TYPE_COUNT; t++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            size_t n = weight_is_quantised(t) ? lengths[i] * WEIGHT_BLOCK : lengths[i];
            for (size_t rows = 1; rows <= 11; rows += 2)
                check_matvec(o, t, rows, n);
            check_unpack(o, t, n);
        }
    check_matvec_odd(o);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        check_matmul(o, WEIGHT_F32, false, m, n, k);
        for (enum weight_type t = 0; t < WEIGHT_TYPE_COUNT; t++)
            check_matmul(o, t, true, m, n, weight_is_quantised(t) ? (k + 31) / 32 * 32 : k);
        if (o->matmul_int8)
            check_matmul_int8(o, m, n, k);
        if (o->matmul_bf16)
            check_matmul_bf16(o, m, n, k);
    }
}

int main(void)
{
    const struct ops *o;
    for (size_t i = 0; (o = ops_at(i)); i++)
        check_level(o);
    return CHECK_DONE();
}
