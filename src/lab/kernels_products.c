/*
 * Matrix products, rows times a vector, dot products.
 *
 * A product of n x n matrices is too large to be repeated in double precision. Its sum is not: the sum of all numbers of
 * C is, over k, the sum of A's column k times the sum of B's row k. And a hundred numbers of it are checked one by one.
 */
#include "lab/kernels.h"

#include <math.h>
#include <stdio.h>

enum { A, B, C }; /* rooms */
enum { PROBES = 101 };

static void shape_product(const struct kernel_run *r, char *out, size_t size)
{
    snprintf(out, size, "%zu x %zu x %zu", r->size, r->size, r->size);
}

/* Errors of a sum of n products are held against the root of n: that is how large the sum of random numbers is. */
static void note_error(struct kernel_check *out, double got, double want, double magnitude)
{
    double error = fabs(got - want) / fmax(fabs(want), magnitude);
    if (!(error <= out->worst))
        out->worst = error;
}

/* f32 times anything. */

static struct matmul product_of(const struct kernel_run *r)
{
    size_t n = r->size;
    return (struct matmul){
        .m = n, .n = n, .k = n, .a = r->room[A], .a_stride = n, .b = r->room[B], .b_type = (enum weight_type)r->kernel->type,
        .b_is_rows = r->kernel->type != WEIGHT_F32, .b_stride = n, .c = r->room[C], .c_stride = n,
    };
}

static bool prepare_matmul(struct kernel_run *r, struct err *e)
{
    size_t n = r->size, all = n * n;
    enum weight_type t = (enum weight_type)r->kernel->type;
    if (!kernel_room(r, A, all * sizeof(float), e) || !kernel_room(r, B, weight_bytes(t, all), e) ||
        !kernel_room(r, C, all * sizeof(float), e))
        return false;
    float *a = r->room[A], line[WEIGHT_BLOCK];
    for (size_t i = 0; i < all; i++)
        a[i] = kernel_number(i);
    for (size_t i = 0; i < all; i += WEIGHT_BLOCK) {
        for (size_t j = 0; j < WEIGHT_BLOCK; j++)
            line[j] = kernel_number(all + i + j);
        weight_pack(t, (char *)r->room[B] + weight_bytes(t, i), line, WEIGHT_BLOCK);
    }
    return kernel_matmul_rooms(r);
}

static void work_matmul(struct kernel_run *r, unsigned worker, unsigned workers)
{
    struct matmul all = product_of(r), part = matmul_part(&all, worker, workers);
    if (part.m && part.n)
        r->ops->matmul(&part, r->matmul_rooms[worker]);
}

static struct kernel_amount amount_matmul(const struct kernel_run *r)
{
    double n = (double)r->size;
    double bytes = 2 * n * n * sizeof(float) + (double)weight_bytes((enum weight_type)r->kernel->type, r->size * r->size);
    return (struct kernel_amount){.flops = 2 * n * n * n, .bytes = bytes, .elements = n * n, .working_set = (uint64_t)bytes};
}

/* What a product is made of, whatever its type: the functions say value (row, k) of A, (k, column) of B, and of C. */
struct product_values {
    const struct kernel_run *r;
    double (*a)(const struct kernel_run *r, size_t row, size_t k);
    double (*b)(const struct kernel_run *r, size_t k, size_t column);
    double (*c)(const struct kernel_run *r, size_t row, size_t column);
};

static void check_probe(const struct product_values *v, size_t row, size_t column, struct kernel_check *out)
{
    double sum = 0;
    for (size_t k = 0; k < v->r->size; k++)
        sum += v->a(v->r, row, k) * v->b(v->r, k, column);
    note_error(out, v->c(v->r, row, column), sum, sqrt((double)v->r->size));
}

static void check_product(const struct product_values *v, struct kernel_check *out)
{
    size_t n = v->r->size;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out->checksum += v->c(v->r, i, j);
    for (size_t k = 0; k < n; k++) {
        double of_a = 0, of_b = 0;
        for (size_t i = 0; i < n; i++) {
            of_a += v->a(v->r, i, k);
            of_b += v->b(v->r, k, i);
        }
        out->want += of_a * of_b;
    }
    note_error(out, out->checksum, out->want, (double)n * sqrt((double)n));
    for (size_t p = 0; n && p < PROBES; p++)
        check_probe(v, p * 7919 % n, p * 104729 % n, out);
}

static double a_of(const struct kernel_run *r, size_t row, size_t k) { return ((const float *)r->room[A])[row * r->size + k]; }
static double c_of(const struct kernel_run *r, size_t row, size_t column) { return ((const float *)r->room[C])[row * r->size + column]; }

static double b_of(const struct kernel_run *r, size_t k, size_t column)
{
    enum weight_type t = (enum weight_type)r->kernel->type;
    size_t i = t == WEIGHT_F32 ? k * r->size + column : column * r->size + k;
    float block[WEIGHT_BLOCK];
    size_t first = weight_is_quantised(t) ? i / WEIGHT_BLOCK * WEIGHT_BLOCK : i;
    weight_unpack(t, block, (const char *)r->room[B] + weight_bytes(t, first), weight_is_quantised(t) ? WEIGHT_BLOCK : 1);
    return block[i - first];
}

static void check_matmul(struct kernel_run *r, struct kernel_check *out)
{
    out->tolerance = 1e-5;
    check_product(&(struct product_values){r, a_of, b_of, c_of}, out);
}

/* Bytes and bf16 throughout: where the processor multiplies those itself. The plain level can, for comparison. */

static bool can_int8(const struct kernel *k, const struct ops *o) { return (void)k, o->matmul_int8 != NULL; }
static bool can_bf16(const struct kernel *k, const struct ops *o) { return (void)k, o->matmul_bf16 != NULL; }

static bool prepare_small(struct kernel_run *r, struct err *e)
{
    size_t all = r->size * r->size;
    bool is_int8 = r->kernel->type == WEIGHT_Q8_0;
    for (unsigned i = A; i <= B; i++) {
        if (!kernel_room(r, i, all * (is_int8 ? 1 : 2), e))
            return false;
        for (size_t j = 0; j < all; j++) {
            float x = kernel_number(i * all + j);
            if (is_int8)
                ((int8_t *)r->room[i])[j] = (int8_t)lrintf(127 * x);
            else
                ((uint16_t *)r->room[i])[j] = f32_to_bf16(x);
        }
    }
    return kernel_room(r, C, all * 4, e) && kernel_matmul_rooms(r);
}

/* Workers share the columns. */
static void work_int8(struct kernel_run *r, unsigned worker, unsigned workers)
{
    size_t n = r->size;
    struct share s = team_share(n, 32, worker, workers);
    struct matmul_int8 m = {n, s.to - s.from, n, r->room[A], (int8_t *)r->room[B] + s.from * n, n, n, (int32_t *)r->room[C] + s.from, n};
    if (m.n)
        r->ops->matmul_int8(&m, r->matmul_rooms[worker]);
}

static void work_bf16(struct kernel_run *r, unsigned worker, unsigned workers)
{
    size_t n = r->size;
    struct share s = team_share(n, 32, worker, workers);
    struct matmul_bf16 m = {n, s.to - s.from, n, r->room[A], (uint16_t *)r->room[B] + s.from * n, n, n, (float *)r->room[C] + s.from, n};
    if (m.n)
        r->ops->matmul_bf16(&m, r->matmul_rooms[worker]);
}

static struct kernel_amount amount_small(const struct kernel_run *r)
{
    double n = (double)r->size, bytes = n * n * (r->kernel->type == WEIGHT_Q8_0 ? 2 + 4 : 4 + 4);
    return (struct kernel_amount){.flops = 2 * n * n * n, .bytes = bytes, .elements = n * n, .working_set = (uint64_t)bytes};
}

static double a_int8(const struct kernel_run *r, size_t row, size_t k) { return ((const int8_t *)r->room[A])[row * r->size + k]; }
static double b_int8(const struct kernel_run *r, size_t k, size_t column) { return ((const int8_t *)r->room[B])[column * r->size + k]; }
static double c_int32(const struct kernel_run *r, size_t row, size_t column) { return ((const int32_t *)r->room[C])[row * r->size + column]; }
static double a_bf16(const struct kernel_run *r, size_t row, size_t k) { return bf16_to_f32(((const uint16_t *)r->room[A])[row * r->size + k]); }
static double b_bf16(const struct kernel_run *r, size_t k, size_t column) { return bf16_to_f32(((const uint16_t *)r->room[B])[column * r->size + k]); }

static void check_int8(struct kernel_run *r, struct kernel_check *out)
{
    check_product(&(struct product_values){r, a_int8, b_int8, c_int32}, out); /* whole numbers: no tolerance */
}

static void check_bf16(struct kernel_run *r, struct kernel_check *out)
{
    out->tolerance = 1e-5;
    check_product(&(struct product_values){r, a_bf16, b_bf16, c_of}, out);
}

/* Rows times a vector: size x size weights, what decoding a token does. */

enum { W, X, Y };

static void fill_rows(void *arg, unsigned worker, unsigned workers)
{
    struct kernel_run *r = arg;
    size_t n = r->size, bytes = weight_bytes(r->w.type, n);
    struct share s = team_share(n, 4, worker, workers); /* by the one who will read them */
    float line[WEIGHT_BLOCK];
    for (size_t row = s.from; row < s.to; row++)
        for (size_t i = 0; i < n; i += WEIGHT_BLOCK) {
            for (size_t j = 0; j < WEIGHT_BLOCK; j++)
                line[j] = kernel_number(row * n + i + j);
            weight_pack(r->w.type, (char *)r->room[W] + row * bytes + weight_bytes(r->w.type, i), line, WEIGHT_BLOCK);
        }
}

static bool prepare_matvec(struct kernel_run *r, struct err *e)
{
    size_t n = r->size;
    enum weight_type t = (enum weight_type)r->kernel->type;
    if (!kernel_room(r, W, weight_bytes(t, n * n), e) || !kernel_room(r, X, n * sizeof(float), e) ||
        !kernel_room(r, Y, n * sizeof(float), e))
        return false;
    r->w = (struct weights){t, n, n, r->room[W]};
    team_run(r->team, fill_rows, r);
    float *x = r->room[X];
    for (size_t i = 0; i < n; i++)
        x[i] = kernel_number(~(uint64_t)i);
    r->x.f32 = x;
    if (weight_is_quantised(t)) {
        quantised_init(&r->x.q8, n);
        r->ops->quantise(&r->x.q8, x, n);
    }
    return true;
}

static void work_matvec(struct kernel_run *r, unsigned worker, unsigned workers)
{
    struct share s = team_share(r->size, 4, worker, workers);
    ops_matvec(r->ops, r->room[Y], &r->w, &r->x, s.from, s.to);
}

static struct kernel_amount amount_matvec(const struct kernel_run *r)
{
    double n = (double)r->size, bytes = (double)weight_bytes(r->w.type, r->size * r->size) + 2 * n * sizeof(float);
    return (struct kernel_amount){.flops = 2 * n * n, .bytes = bytes, .elements = n, .working_set = (uint64_t)bytes};
}

static void check_matvec(struct kernel_run *r, struct kernel_check *out)
{
    const float *y = r->room[Y];
    size_t n = r->size;
    out->tolerance = 1e-5;
    for (size_t row = 0; row < n; row++) {
        double sum = 0;
        float line[WEIGHT_BLOCK];
        for (size_t i = 0; i < n; i += WEIGHT_BLOCK) {
            weight_unpack(r->w.type, line, (const char *)weights_row(&r->w, row) + weight_bytes(r->w.type, i), WEIGHT_BLOCK);
            for (size_t j = 0; j < WEIGHT_BLOCK; j++)
                sum += (double)line[j] * (r->x.q8.at ? (double)r->x.q8.scale[i / WEIGHT_BLOCK] * r->x.q8.at[i + j] : (double)r->x.f32[i + j]);
        }
        out->checksum += y[row];
        out->want += sum;
        note_error(out, y[row], sum, sqrt((double)n));
    }
}

static void shape_matvec(const struct kernel_run *r, char *out, size_t size) { snprintf(out, size, "%zu x %zu", r->size, r->size); }

/* Two vectors. */

static bool prepare_dot(struct kernel_run *r, struct err *e)
{
    for (unsigned i = A; i <= B; i++) {
        if (!kernel_room(r, i, r->size * sizeof(float), e))
            return false;
        for (size_t j = 0; j < r->size; j++)
            ((float *)r->room[i])[j] = kernel_number(i * r->size + j);
    }
    return true;
}

static void work_dot(struct kernel_run *r, unsigned worker, unsigned workers)
{
    struct share s = team_share(r->size, 64, worker, workers);
    r->partial[worker] = (double)r->ops->dot((float *)r->room[A] + s.from, (float *)r->room[B] + s.from, s.to - s.from);
}

static struct kernel_amount amount_dot(const struct kernel_run *r)
{
    double n = (double)r->size;
    return (struct kernel_amount){.flops = 2 * n, .bytes = 8 * n, .elements = n, .working_set = (uint64_t)(8 * n)};
}

static void check_dot(struct kernel_run *r, struct kernel_check *out)
{
    const float *a = r->room[A], *b = r->room[B];
    out->tolerance = 1e-5;
    for (unsigned i = 0; i < team_size(r->team); i++)
        out->checksum += r->partial[i];
    for (size_t i = 0; i < r->size; i++)
        out->want += (double)a[i] * b[i];
    note_error(out, out->checksum, out->want, sqrt((double)r->size));
}

#define MATMUL .prepare = prepare_matmul, .work = work_matmul, .amount = amount_matmul, .check = check_matmul, .shape = shape_product
#define SMALL .prepare = prepare_small, .amount = amount_small, .shape = shape_product
#define MATVEC .prepare = prepare_matvec, .work = work_matvec, .amount = amount_matvec, .check = check_matvec, .shape = shape_matvec

const struct kernel product_kernels[] = {
    {.name = "matmul f32", .what = "C = A B", .peak = "", .beyond = "read", .from = KERNELS_BASIC, .scales = true, .type = WEIGHT_F32,
     .sizes = {{64, 128, 256, 512}, {64, 128, 256, 512, 1024}, {64, 128, 256, 512, 1024, 2048}}, .scalar_most = 512, MATMUL},
    {.name = "matmul f16", .what = "A in f32, weights in f16", .peak = "", .beyond = "read", .from = KERNELS_DEEP, .type = WEIGHT_F16,
     .sizes = {{0}, {256, 512}, {128, 256, 512, 1024}}, .scalar_most = 256, MATMUL},
    {.name = "matmul q8_0", .what = "A in f32, weights in q8_0", .peak = "", .beyond = "read", .from = KERNELS_ENHANCED, .type = WEIGHT_Q8_0,
     .sizes = {{0}, {0}, {256, 512, 1024}}, .scalar_most = 256, MATMUL},
    {.name = "matmul bf16", .what = "bf16 times bf16, sums in f32", .peak = "bf16", .beyond = "read", .from = KERNELS_DEEP, .type = WEIGHT_BF16,
     .sizes = {{0}, {256, 512}, {128, 256, 512, 1024}}, .scalar_most = 256, .can = can_bf16, .work = work_bf16, .check = check_bf16, SMALL},
    {.name = "matmul int8", .what = "bytes times bytes, sums in 32 bits", .peak = "int8", .beyond = "read", .from = KERNELS_DEEP, .type = WEIGHT_Q8_0,
     .sizes = {{0}, {256, 512}, {128, 256, 512, 1024}}, .scalar_most = 256, .can = can_int8, .work = work_int8, .check = check_int8, SMALL},
    {.name = "matvec f32", .what = "rows times a vector, as in decoding", .peak = "", .beyond = "read", .from = KERNELS_BASIC, .scales = true, .type = WEIGHT_F32,
     .sizes = {{1024, 4096}, {1024, 4096}, {512, 1024, 2048, 4096, 8192}}, MATVEC},
    {.name = "matvec f16", .what = "rows of f16 times a vector", .peak = "", .beyond = "read", .from = KERNELS_BASIC, .type = WEIGHT_F16,
     .sizes = {{4096}, {1024, 4096}, {1024, 2048, 4096, 8192}}, MATVEC},
    {.name = "matvec bf16", .what = "rows of bf16 times a vector", .peak = "", .beyond = "read", .from = KERNELS_DEEP, .type = WEIGHT_BF16,
     .sizes = {{0}, {1024, 4096}, {1024, 2048, 4096, 8192}}, MATVEC},
    {.name = "matvec q8_0", .what = "rows of q8_0 times a quantised vector", .peak = "", .beyond = "read", .from = KERNELS_BASIC, .scales = true, .type = WEIGHT_Q8_0,
     .sizes = {{4096}, {1024, 4096}, {1024, 2048, 4096, 8192}}, MATVEC},
    {.name = "matvec q4_0", .what = "rows of q4_0 times a quantised vector", .peak = "", .beyond = "read", .from = KERNELS_BASIC, .type = WEIGHT_Q4_0,
     .sizes = {{4096}, {1024, 4096}, {1024, 2048, 4096, 8192}}, MATVEC},
    {.name = "dot", .what = "sum of a[i] b[i]", .peak = "", .beyond = "read", .from = KERNELS_DEEP,
     .sizes = {{0}, {4096, 1048576}, {1024, 4096, 65536, 1048576, 16777216}}, .scalar_most = 65536, /* one sum in f32 is not good for more */
     .prepare = prepare_dot, .work = work_dot, .amount = amount_dot, .check = check_dot},
    {.name = NULL},
};
