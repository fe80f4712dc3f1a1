/*
 * What happens between the products: activations, norms, softmax, positions, sums; element by element and row by row.
 *
 * Kernels that work on rows get ROWS of them, as a batch of tokens or heads would have; workers share the rows. Bytes
 * are those of x and y: weights of a norm and angles of a rotation are used by every row and stay in the cache.
 */
#include "lab/kernels.h"

#include <math.h>
#include <stdio.h>

enum { X, Y, P, Q }; /* rooms: in, out, and what else */
enum { ROWS = 32 };
#define EPS 1e-5f

static void note(struct kernel_check *out, double got, double want, double magnitude)
{
    double error = fabs(got - want) / fmax(fabs(want), magnitude);
    if (!(error <= out->worst))
        out->worst = error;
    out->checksum += got;
    out->want += want;
}

static float *of(const struct kernel_run *r, unsigned room) { return r->room[room]; }

static bool fill(struct kernel_run *r, unsigned room, size_t n, float scale, float shift, struct err *e)
{
    if (!kernel_room(r, room, n * sizeof(float), e))
        return false;
    for (size_t i = 0; i < n; i++)
        of(r, room)[i] = shift + scale * kernel_number(room * n + i);
    return true;
}

static struct share elements(const struct kernel_run *r, unsigned worker, unsigned workers) { return team_share(r->size, 64, worker, workers); }

/* One in, one out. */

enum { EXP, GELU, SILU };

static bool prepare_unary(struct kernel_run *r, struct err *e)
{
    return fill(r, X, r->size, 6, 0, e) && kernel_room(r, Y, r->size * sizeof(float), e);
}

static void work_unary(struct kernel_run *r, unsigned worker, unsigned workers)
{
    struct share s = elements(r, worker, workers);
    void (*const run[])(float *, const float *, size_t) = {r->ops->exp, r->ops->gelu, r->ops->silu};
    run[r->kernel->type](of(r, Y) + s.from, of(r, X) + s.from, s.to - s.from);
}

static double want_unary(int which, double x)
{
    if (which == EXP)
        return exp(x);
    return which == SILU ? x / (1 + exp(-x)) : 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static void check_unary(struct kernel_run *r, struct kernel_check *out)
{
    out->tolerance = 1e-5;
    for (size_t i = 0; i < r->size; i++)
        note(out, of(r, Y)[i], want_unary(r->kernel->type, of(r, X)[i]), 1e-3);
}

static struct kernel_amount amount_unary(const struct kernel_run *r)
{
    double n = (double)r->size;
    return (struct kernel_amount){.bytes = 8 * n, .elements = n, .working_set = (uint64_t)(8 * n)};
}

/* Two in, one out. */

enum { ADD, MUL };

static bool prepare_binary(struct kernel_run *r, struct err *e)
{
    return fill(r, X, r->size, 1, 0, e) && fill(r, P, r->size, 1, 0, e) && kernel_room(r, Y, r->size * sizeof(float), e);
}

static void work_binary(struct kernel_run *r, unsigned worker, unsigned workers)
{
    struct share s = elements(r, worker, workers);
    void (*const run[])(float *, const float *, const float *, size_t) = {r->ops->add, r->ops->mul};
    run[r->kernel->type](of(r, Y) + s.from, of(r, X) + s.from, of(r, P) + s.from, s.to - s.from);
}

static void check_binary(struct kernel_run *r, struct kernel_check *out)
{
    out->tolerance = 1e-6;
    for (size_t i = 0; i < r->size; i++) {
        double a = of(r, X)[i], b = of(r, P)[i];
        note(out, of(r, Y)[i], r->kernel->type == ADD ? a + b : a * b, 1e-3);
    }
}

static struct kernel_amount amount_binary(const struct kernel_run *r)
{
    double n = (double)r->size;
    return (struct kernel_amount){.flops = n, .bytes = 12 * n, .elements = n, .working_set = (uint64_t)(12 * n)};
}

/* Rows. */

enum { BROADCAST, SOFTMAX, RMSNORM, LAYERNORM, ROPE_PAIRS, ROPE_HALVES };

static bool prepare_rows(struct kernel_run *r, struct err *e)
{
    size_t n = r->size;
    r->rows = ROWS;
    if (!fill(r, X, ROWS * n, 4, 1, e) || !fill(r, P, n, 0.5f, 1, e) || !fill(r, Q, n, 1, 0, e))
        return false;
    if (r->kernel->type >= ROPE_PAIRS)
        rope_angles(of(r, P), of(r, Q), n, 42, 10000);
    return kernel_room(r, Y, ROWS * n * sizeof(float), e);
}

static void work_row(const struct kernel_run *r, float *y, const float *x)
{
    const struct ops *o = r->ops;
    const float *p = of(r, P), *q = of(r, Q);
    switch (r->kernel->type) {
    case BROADCAST: o->add_row(y, x, p, 1, r->size); break;
    case SOFTMAX: o->softmax(y, x, r->size); break;
    case RMSNORM: o->rmsnorm(y, x, p, r->size, EPS); break;
    case LAYERNORM: o->layernorm(y, x, p, q, r->size, EPS); break;
    case ROPE_PAIRS: o->rope_pairs(y, x, p, q, r->size); break;
    case ROPE_HALVES: o->rope_halves(y, x, p, q, r->size); break;
    default: break;
    }
}

static void work_rows(struct kernel_run *r, unsigned worker, unsigned workers)
{
    struct share s = team_share(r->rows, 1, worker, workers);
    for (size_t i = s.from; i < s.to; i++)
        work_row(r, of(r, Y) + i * r->size, of(r, X) + i * r->size);
}

/* What a row is judged by as a whole: its largest number, its sum, its sum of squares around the mean. */
struct row_sums {
    double most, exps, mean, squares, spread;
};

static struct row_sums sums_of(const float *x, size_t n)
{
    struct row_sums s = {.most = -INFINITY};
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        s.most = fmax(s.most, x[i]);
        sum += x[i];
        s.squares += (double)x[i] * x[i];
    }
    s.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        s.exps += exp(x[i] - s.most);
        s.spread += (x[i] - s.mean) * (x[i] - s.mean);
    }
    return s;
}

/* The other number of the pair that is rotated, its angle, and whether `i` is the second of them. */
static double want_rope(const struct kernel_run *r, const float *x, size_t i)
{
    size_t half = r->size / 2;
    if (!half)
        return x[i];
    bool by_pairs = r->kernel->type == ROPE_PAIRS, is_second = by_pairs ? i % 2 : i >= half;
    size_t angle = by_pairs ? i / 2 : i % half, other = by_pairs ? i ^ 1 : (i + half) % r->size;
    double c = of(r, P)[angle], s = of(r, Q)[angle];
    return is_second ? x[other] * s + x[i] * c : x[i] * c - x[other] * s;
}

static double want_row(const struct kernel_run *r, const float *x, const struct row_sums *s, size_t i)
{
    double n = (double)r->size, p = of(r, P)[i], q = of(r, Q)[i];
    switch (r->kernel->type) {
    case BROADCAST: return x[i] + p;
    case SOFTMAX: return exp(x[i] - s->most) / s->exps;
    case RMSNORM: return x[i] / sqrt(s->squares / n + (double)EPS) * p;
    case LAYERNORM: return (x[i] - s->mean) / sqrt(s->spread / n + (double)EPS) * p + q;
    default: return want_rope(r, x, i);
    }
}

static void check_rows(struct kernel_run *r, struct kernel_check *out)
{
    size_t n = r->size;
    bool is_softmax = r->kernel->type == SOFTMAX;
    out->tolerance = 1e-5;
    for (size_t row = 0; row < r->rows; row++) {
        const float *x = of(r, X) + row * n, *y = of(r, Y) + row * n;
        struct row_sums s = sums_of(x, n);
        for (size_t i = 0; i < n; i++)
            note(out, y[i], want_row(r, x, &s, i), is_softmax ? 1e-6 : 1);
    }
}

static struct kernel_amount amount_rows(const struct kernel_run *r)
{
    double n = (double)(r->rows * r->size);
    double flops = r->kernel->type == BROADCAST ? n : r->kernel->type >= ROPE_PAIRS ? 3 * n : 0;
    return (struct kernel_amount){.flops = flops, .bytes = 8 * n, .elements = n, .working_set = (uint64_t)(8 * n)};
}

static void shape_rows(const struct kernel_run *r, char *out, size_t size) { snprintf(out, size, "%zu x %zu", r->rows, r->size); }

#define UNARY .peak = "", .beyond = "copy", .prepare = prepare_unary, .work = work_unary, .amount = amount_unary, .check = check_unary
#define BINARY .peak = "", .beyond = "triad", .prepare = prepare_binary, .work = work_binary, .amount = amount_binary, .check = check_binary
#define BY_ROW .peak = "", .beyond = "copy", .prepare = prepare_rows, .work = work_rows, .amount = amount_rows, .check = check_rows, .shape = shape_rows
#define ELEMENTS {{4096, 1048576}, {4096, 65536, 1048576}, {1024, 4096, 65536, 1048576, 16777216}}
#define ROW_SIZES {{1024, 4096}, {128, 1024, 4096}, {128, 512, 2048, 8192, 32768}}

const struct kernel row_kernels[] = {
    {.name = "gelu", .what = "x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", .from = KERNELS_BASIC, .sizes = ELEMENTS, .type = GELU, UNARY},
    {.name = "silu", .what = "x / (1 + exp(-x))", .from = KERNELS_DEEP, .sizes = ELEMENTS, .type = SILU, UNARY},
    {.name = "exp", .what = "exp(x)", .from = KERNELS_DEEP, .sizes = ELEMENTS, .type = EXP, UNARY},
    {.name = "softmax", .what = "exp(x - max) / sum, row by row", .from = KERNELS_BASIC, .sizes = ROW_SIZES, .type = SOFTMAX, BY_ROW},
    {.name = "rmsnorm", .what = "x / sqrt(mean of squares) * weight, row by row", .from = KERNELS_BASIC, .sizes = ROW_SIZES, .type = RMSNORM, BY_ROW},
    {.name = "layernorm", .what = "(x - mean) / deviation * weight + bias, row by row", .from = KERNELS_DEEP, .sizes = ROW_SIZES, .type = LAYERNORM, BY_ROW},
    {.name = "rope pairs", .what = "neighbours rotated by their position", .from = KERNELS_DEEP, .sizes = {{0}, {64, 128}, {64, 128, 256}}, .type = ROPE_PAIRS, BY_ROW},
    {.name = "rope halves", .what = "halves rotated by their position", .from = KERNELS_DEEP, .sizes = {{0}, {64, 128}, {64, 128, 256}}, .type = ROPE_HALVES, BY_ROW},
    {.name = "add", .what = "a + b", .from = KERNELS_BASIC, .sizes = ELEMENTS, .type = ADD, BINARY},
    {.name = "mul", .what = "a * b", .from = KERNELS_DEEP, .sizes = ELEMENTS, .type = MUL, BINARY},
    {.name = "broadcast", .what = "a row added to each row", .from = KERNELS_DEEP, .sizes = ROW_SIZES, .type = BROADCAST, BY_ROW},
    {.name = NULL},
};
