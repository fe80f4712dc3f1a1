/* Every building block that works on vectors, at every level that runs here, against its definition in double precision. */
#include "lab/ops.h"
#include "numbers.h"

enum { N_SIZES = 22 };
static const size_t sizes[N_SIZES] = {0,  1,  2,  3,  7,   8,   15,  16,  17,  31,  32,
                                      33, 47, 63, 65, 100, 127, 128, 129, 257, 511, 1000};

static const float odd_numbers[] = {0.0f, -0.0f, 1e-40f, -1e-40f, 88.7f, 88.73f, -87.3f, -88.0f, -103.0f, -104.5f, 200.0f, -200.0f,
                                    1e30f, -1e30f, INFINITY, -INFINITY, NAN, 3.0f, -3.0f, 0.5f, -0.5f, 20.0f, -20.0f};
enum { N_ODD = sizeof odd_numbers / sizeof *odd_numbers };

/* One in, one out. */

static double want_exp(double x) { return exp(x); }
static double want_silu(double x) { return x / (1 + exp(-x)); }
static double want_gelu(double x) { return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

struct unary {
    const char *name;
    void (*run)(float *, const float *, size_t);
    double (*want)(double);
    double low, high;
};

static void check_unary(const struct ops *o, const struct unary *u, size_t n, size_t shift)
{
    struct numbers x = numbers_random(n, shift, u->low, u->high), y = numbers_new(n, shift);
    u->run(y.at, x.at, n);
    for (size_t i = 0; i < n; i++)
        CHECK_NUMBER(y.at[i], u->want(x.at[i]), 1e-5, 1e-6, "%s %s(%g), %zu of %zu", o->name, u->name, x.at[i], i, n);
    u->run(x.at, x.at, n); /* in place */
    for (size_t i = 0; i < n; i++)
        CHECK(x.at[i] == y.at[i]);
    numbers_free(x);
    numbers_free(y);
}

/* Beyond what an f32 can hold the answer is infinity; below its least normal number a few units of 1e-45 do not matter. */
static void check_unary_odd(const struct ops *o, const struct unary *u)
{
    float y[N_ODD];
    u->run(y, odd_numbers, N_ODD);
    for (size_t i = 0; i < N_ODD; i++)
        CHECK_NUMBER(y[i], (float)u->want(odd_numbers[i]), 2e-5, 1e-37, "%s %s(%g)", o->name, u->name, odd_numbers[i]);
}

static void check_unaries(const struct ops *o)
{
    const struct unary all[] = {
        {"exp", o->exp, want_exp, -20, 20}, {"silu", o->silu, want_silu, -12, 12}, {"gelu", o->gelu, want_gelu, -6, 6}};
    for (size_t u = 0; u < 3; u++) {
        for (size_t i = 0; i < N_SIZES; i++)
            check_unary(o, &all[u], sizes[i], i % 3);
        if (u == 0 || !strcmp(o->name, "scalar"))
            check_unary_odd(o, &all[u]);
    }
    /* exp over its whole range, closely. */
    for (double x = -103; x < 88.7; x += 0.0137) {
        float in = (float)x, out;
        o->exp(&out, &in, 1);
        CHECK_NUMBER(out, exp(in), 3e-7, 1e-37, "%s exp(%g)", o->name, x);
    }
}

/* gelu and silu far out: exactly x above, nothing below, NaN for NaN. */
static void check_gates_far_out(const struct ops *o)
{
    const float x[] = {50, 1e4f, 1e30f, INFINITY, -50, -1e4f, -1e30f, NAN};
    float g[8], s[8];
    o->gelu(g, x, 8);
    o->silu(s, x, 8);
    for (size_t i = 0; i < 4; i++)
        CHECK(g[i] == x[i] && s[i] == x[i]);
    for (size_t i = 4; i < 7; i++)
        CHECK(fabsf(g[i]) < 1e-15f && fabsf(s[i]) < 1e-15f);
    CHECK(isnan(g[7]) && isnan(s[7]));
}

/* Two in, one out. */

static void check_binary(const struct ops *o, size_t n, size_t shift)
{
    struct numbers a = numbers_random(n, shift, -4, 4), b = numbers_random(n, 0, -4, 4), y = numbers_new(n, shift);
    o->add(y.at, a.at, b.at, n);
    for (size_t i = 0; i < n; i++)
        CHECK(y.at[i] == a.at[i] + b.at[i]);
    o->mul(y.at, a.at, b.at, n);
    for (size_t i = 0; i < n; i++)
        CHECK(y.at[i] == a.at[i] * b.at[i]);
    o->scale(y.at, a.at, 0.3f, n);
    for (size_t i = 0; i < n; i++)
        CHECK(y.at[i] == a.at[i] * 0.3f);
    memcpy(y.at, b.at, n * sizeof *y.at);
    o->add_scaled(y.at, a.at, 0.3f, n);
    for (size_t i = 0; i < n; i++)
        CHECK_NUMBER(y.at[i], b.at[i] + (double)0.3f * a.at[i], 1e-6, 1, "%s add_scaled %zu of %zu", o->name, i, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a.at[i] * b.at[i];
    CHECK_NUMBER(o->dot(a.at, b.at, n), sum, 1e-5, sqrt((double)n) * 4, "%s dot of %zu", o->name, n);
    numbers_free(a);
    numbers_free(b);
    numbers_free(y);
}

static void check_mix(const struct ops *o, size_t n)
{
    enum { ROWS = 5 };
    struct numbers rows = numbers_random(ROWS * n, 0, -4, 4), by = numbers_random(ROWS, 1, -1, 1), y = numbers_random(n, 1, -4, 4);
    struct numbers before = numbers_new(n, 0);
    memcpy(before.at, y.at, n * sizeof *y.at);
    o->mix(y.at, rows.at, by.at, ROWS, n);
    for (size_t i = 0; i < n; i++) {
        double want = before.at[i];
        for (size_t r = 0; r < ROWS; r++)
            want += (double)by.at[r] * rows.at[r * n + i];
        CHECK_NUMBER(y.at[i], want, 1e-6, 8, "%s mix %zu of %zu", o->name, i, n);
    }
    o->mix(y.at, rows.at, by.at, 0, n);
    numbers_free(rows);
    numbers_free(by);
    numbers_free(y);
    numbers_free(before);
}

static void check_broadcast(const struct ops *o, size_t n)
{
    enum { ROWS = 3 };
    struct numbers x = numbers_random(ROWS * n, 0, -4, 4), row = numbers_random(n, 1, -4, 4), y = numbers_new(ROWS * n, 0);
    o->add_row(y.at, x.at, row.at, ROWS, n);
    for (size_t i = 0; i < ROWS * n; i++)
        CHECK(y.at[i] == x.at[i] + row.at[i % n]);
    numbers_free(x);
    numbers_free(row);
    numbers_free(y);
}

/* Rows. */

static void check_softmax(const struct ops *o, size_t n, double level)
{
    struct numbers x = numbers_random(n, 1, level - 8, level + 8), y = numbers_new(n, 0);
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, x.at[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(x.at[i] - most);
    o->softmax(y.at, x.at, n);
    for (size_t i = 0; i < n; i++)
        CHECK_NUMBER(y.at[i], exp(x.at[i] - most) / sum, 1e-5, 1e-7, "%s softmax %zu of %zu", o->name, i, n);
    numbers_free(x);
    numbers_free(y);
}

/* What is masked out has no weight; a row in which nothing is left has no answer; NaN is not swallowed. */
static void check_softmax_odd(const struct ops *o)
{
    float masked[40], nothing[20], broken[40], y[40];
    for (size_t i = 0; i < 40; i++) {
        masked[i] = i % 2 ? -INFINITY : 1;
        broken[i] = i == 21 ? NAN : 1;
    }
    for (size_t i = 0; i < 20; i++)
        nothing[i] = -INFINITY;
    o->softmax(y, masked, 40);
    for (size_t i = 0; i < 40; i++)
        CHECK_NUMBER(y[i], i % 2 ? 0 : 0.05, 1e-6, 0, "%s masked softmax %zu", o->name, i);
    o->softmax(y, nothing, 20);
    CHECK(isnan(y[0]) && isnan(y[19]));
    o->softmax(y, broken, 40);
    CHECK(isnan(y[0]) && isnan(y[39]));
}

static void check_norms(const struct ops *o, size_t n)
{
    struct numbers x = numbers_random(n, 1, -2, 3), w = numbers_random(n, 0, 0.5, 1.5), b = numbers_random(n, 0, -1, 1), y = numbers_new(n, 0);
    double sum = 0, squares = 0, spread = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x.at[i];
        squares += (double)x.at[i] * x.at[i];
    }
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        spread += (x.at[i] - mean) * (x.at[i] - mean);
    double rms = 1 / sqrt(squares / (double)n + 1e-5), deviation = 1 / sqrt(spread / (double)n + 1e-5);
    o->rmsnorm(y.at, x.at, w.at, n, 1e-5f);
    for (size_t i = 0; i < n; i++)
        CHECK_NUMBER(y.at[i], x.at[i] * rms * w.at[i], 1e-5, 1e-2, "%s rmsnorm %zu of %zu", o->name, i, n);
    o->layernorm(y.at, x.at, w.at, b.at, n, 1e-5f);
    for (size_t i = 0; i < n; i++)
        CHECK_NUMBER(y.at[i], (x.at[i] - mean) * deviation * w.at[i] + b.at[i], 1e-4, 1, "%s layernorm %zu of %zu", o->name, i, n);
    numbers_free(x);
    numbers_free(w);
    numbers_free(b);
    numbers_free(y);
}

static void check_rope(const struct ops *o, size_t half)
{
    size_t n = 2 * half;
    struct numbers x = numbers_random(n, 1, -2, 2), c = numbers_new(half, 0), s = numbers_new(half, 0), y = numbers_new(n, 0);
    rope_angles(c.at, s.at, n, 17, 10000);
    o->rope_pairs(y.at, x.at, c.at, s.at, n);
    for (size_t i = 0; i < half; i++) {
        double angle = 17 * pow(10000, -2.0 * (double)i / (double)n), u = x.at[2 * i], v = x.at[2 * i + 1];
        CHECK_NUMBER(y.at[2 * i], u * cos(angle) - v * sin(angle), 1e-5, 0.1, "%s rope_pairs %zu of %zu", o->name, 2 * i, n);
        CHECK_NUMBER(y.at[2 * i + 1], u * sin(angle) + v * cos(angle), 1e-5, 0.1, "%s rope_pairs %zu of %zu", o->name, 2 * i + 1, n);
    }
    o->rope_halves(y.at, x.at, c.at, s.at, n);
    for (size_t i = 0; i < half; i++) {
        double angle = 17 * pow(10000, -2.0 * (double)i / (double)n), u = x.at[i], v = x.at[i + half];
        CHECK_NUMBER(y.at[i], u * cos(angle) - v * sin(angle), 1e-5, 0.1, "%s rope_halves %zu of %zu", o->name, i, n);
        CHECK_NUMBER(y.at[i + half], u * sin(angle) + v * cos(angle), 1e-5, 0.1, "%s rope_halves %zu of %zu", o->name, i + half, n);
    }
    o->rope_halves(x.at, x.at, c.at, s.at, n); /* in place */
    for (size_t i = 0; i < n; i++)
        CHECK(x.at[i] == y.at[i]);
    numbers_free(x);
    numbers_free(c);
    numbers_free(s);
    numbers_free(y);
}

static void check_level(const struct ops *o)
{
    printf("%s: %s\n", o->name, o->what);
    check_unaries(o);
    check_gates_far_out(o);
    check_softmax_odd(o);
    for (size_t i = 0; i < N_SIZES; i++) {
        check_binary(o, sizes[i], i % 2);
        check_rope(o, sizes[i]);
        if (!sizes[i])
            continue;
        check_broadcast(o, sizes[i]);
        check_mix(o, sizes[i]);
        check_softmax(o, sizes[i], 0);
        check_softmax(o, sizes[i], 3000);
        check_norms(o, sizes[i]);
    }
}

int main(void)
{
    const struct ops *o;
    size_t n = 0;
    for (; (o = ops_at(n)); n++) {
        check_level(o);
        CHECK(ops_named(o->name) == o);
        if (!ops_at(n + 1))
            CHECK(ops_best() == o);
    }
    CHECK(n >= 1);
    CHECK(!ops_named("abacus"));
    return CHECK_DONE();
}
