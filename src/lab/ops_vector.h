/*
 * ops_vector.h - the building blocks for vectors of any width; included by the file of each SIMD level
 *
 * A level first says what a vector is (V, LANES) and how it does the small things (v_load, v_fma, ...); everything
 * below is then the same for all of them. What a level does in a way of its own (quantised products, which live from
 * special instructions) is in its own file.
 *
 * The end of a row that does not fill a vector is loaded in part; the rest of the register is zero, or what the
 * operation does not mind.
 */
#if !defined LANES || !defined TILE_ROWS || !defined TILE_VECTORS || !defined FEW
#error "a level includes this, after saying what a vector is"
#endif

#define FULL(n) ((n) / LANES * LANES) /* as far as whole vectors go */

/* Sums of products. */

static float dot(const float *a, const float *b, size_t n)
{
    V s0 = v_zero(), s1 = v_zero(), s2 = v_zero(), s3 = v_zero();
    size_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        s0 = v_fma(v_load(a + i), v_load(b + i), s0);
        s1 = v_fma(v_load(a + i + LANES), v_load(b + i + LANES), s1);
        s2 = v_fma(v_load(a + i + 2 * LANES), v_load(b + i + 2 * LANES), s2);
        s3 = v_fma(v_load(a + i + 3 * LANES), v_load(b + i + 3 * LANES), s3);
    }
    for (; i + LANES <= n; i += LANES)
        s0 = v_fma(v_load(a + i), v_load(b + i), s0);
    if (i < n)
        s1 = v_fma(v_load_part(a + i, n - i), v_load_part(b + i, n - i), s1);
    return v_sum(v_add(v_add(s0, s1), v_add(s2, s3)));
}

/*
 * One row after the other: then all weights are one stream, front to back, which is what the processor's own
 * fetching ahead does best. (Four rows at a time, four streams, reach half of it; prefetches of ours cost a fifth.)
 * Eight sums are under way, so that multiply-and-adds do not wait for each other.
 */
#define MATVEC(name, T, w_load, w_load_part)                                                                       \
    static inline float name##_row(const T *w, const float *x, size_t n)                                           \
    {                                                                                                              \
        enum { SUMS = 8 };                                                                                         \
        V s[SUMS];                                                                                                 \
        size_t i = 0;                                                                                              \
        UNROLLED for (size_t j = 0; j < SUMS; j++) s[j] = v_zero();                                                \
        for (; i + SUMS * LANES <= n; i += SUMS * LANES)                                                           \
            UNROLLED for (size_t j = 0; j < SUMS; j++)                                                             \
                s[j] = v_fma(w_load(w + i + j * LANES), v_load(x + i + j * LANES), s[j]);                          \
        for (; i + LANES <= n; i += LANES)                                                                         \
            s[0] = v_fma(w_load(w + i), v_load(x + i), s[0]);                                                      \
        if (i < n)                                                                                                 \
            s[1] = v_fma(w_load_part(w + i, n - i), v_load_part(x + i, n - i), s[1]);                              \
        UNROLLED for (size_t j = SUMS / 2; j; j /= 2)                                                              \
            UNROLLED for (size_t k = 0; k < j; k++) s[k] = v_add(s[k], s[k + j]);                                  \
        return v_sum(s[0]);                                                                                        \
    }                                                                                                              \
    static void name(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n)             \
    {                                                                                                              \
        const T *w = rows;                                                                                         \
        for (size_t r = 0; r < n_rows; r++)                                                                        \
            y[r] = name##_row(w + r * n, x->f32, n);                                                               \
    }

#ifndef HAS_OTHER_ROWS /* the level has these from elsewhere */
MATVEC(matvec_f32, float, v_load, v_load_part)
MATVEC(matvec_f16, uint16_t, v_load_f16, v_load_f16_part)
MATVEC(matvec_bf16, uint16_t, v_load_bf16, v_load_bf16_part)
#endif

/* A tile of C: TILE_ROWS x (TILE_VECTORS * LANES), all of it in registers. */
static void tile_f32(size_t depth, const void *a_panel, const void *b_panel, void *c_tile, size_t c_stride, bool add,
                     const int32_t *start)
{
    const float *a = a_panel, *b = b_panel;
    float *c = c_tile;
    V s[TILE_ROWS][TILE_VECTORS];
    (void)start;
    UNROLLED for (size_t i = 0; i < TILE_ROWS; i++)
    {
        __builtin_prefetch(c + i * c_stride, 1);
        UNROLLED for (size_t j = 0; j < TILE_VECTORS; j++) s[i][j] = v_zero();
    }
    for (size_t k = 0; k < depth; k++, a += TILE_ROWS, b += TILE_VECTORS * LANES) {
        V of_b[TILE_VECTORS];
        UNROLLED for (size_t j = 0; j < TILE_VECTORS; j++) of_b[j] = v_load(b + j * LANES);
        UNROLLED for (size_t i = 0; i < TILE_ROWS; i++)
        {
            V of_a = v_set(a[i]);
            UNROLLED for (size_t j = 0; j < TILE_VECTORS; j++) s[i][j] = v_fma(of_a, of_b[j], s[i][j]);
        }
    }
    UNROLLED for (size_t i = 0; i < TILE_ROWS; i++)
        UNROLLED for (size_t j = 0; j < TILE_VECTORS; j++)
        {
            float *at = c + i * c_stride + j * LANES;
            v_store(at, add ? v_add(v_load(at), s[i][j]) : s[i][j]);
        }
}

static const struct tile f32_tile = {TILE_ROWS, (size_t)TILE_VECTORS * LANES, tile_f32};

/* Four rows of B and some rows of A: FEW of them where there are as many, else one. */

#define FEW_TILE(name, ROWS_OF_A)                                                                                   \
    static void name(float *c, size_t c_stride, const float *b, size_t b_stride, const float *a, size_t a_stride,   \
                     size_t k, size_t columns)                                                                      \
    {                                                                                                               \
        V s[ROWS_OF_A][MATMUL_FEW_ROWS];                                                                            \
        UNROLLED for (size_t i = 0; i < ROWS_OF_A; i++)                                                             \
            UNROLLED for (size_t j = 0; j < MATMUL_FEW_ROWS; j++) s[i][j] = v_zero();                               \
        size_t p = 0;                                                                                               \
        for (; p < FULL(k); p += LANES) {                                                                           \
            V of_b[MATMUL_FEW_ROWS];                                                                                \
            UNROLLED for (size_t j = 0; j < MATMUL_FEW_ROWS; j++) of_b[j] = v_load(b + j * b_stride + p);           \
            UNROLLED for (size_t i = 0; i < ROWS_OF_A; i++)                                                         \
            {                                                                                                       \
                V of_a = v_load(a + i * a_stride + p);                                                              \
                UNROLLED for (size_t j = 0; j < MATMUL_FEW_ROWS; j++) s[i][j] = v_fma(of_a, of_b[j], s[i][j]);      \
            }                                                                                                       \
        }                                                                                                           \
        for (size_t i = 0; p < k && i < ROWS_OF_A; i++)                                                             \
            for (size_t j = 0; j < MATMUL_FEW_ROWS; j++)                                                            \
                s[i][j] = v_fma(v_load_part(a + i * a_stride + p, k - p), v_load_part(b + j * b_stride + p, k - p), s[i][j]); \
        for (size_t i = 0; i < ROWS_OF_A; i++)                                                                      \
            for (size_t j = 0; j < columns; j++)                                                                    \
                c[i * c_stride + j] = v_sum(s[i][j]);                                                               \
    }

FEW_TILE(few_tile, FEW)
FEW_TILE(few_tile_one, 1)

/* Four rows of B as f32; those beyond the last are zero. f32 rows that are all there stay where they are. */
static const float *few_rows_of_b(const struct matmul *m, const struct ops *level, float *room, size_t row, size_t count, size_t *stride)
{
    const char *b = (const char *)m->b + weight_bytes(m->b_type, row * m->b_stride);
    if (m->b_type == WEIGHT_F32 && count == MATMUL_FEW_ROWS) {
        *stride = m->b_stride;
        return (const float *)(const void *)b;
    }
    *stride = m->k;
    for (size_t j = 0; j < count; j++)
        level->unpack[m->b_type](room + j * m->k, b + weight_bytes(m->b_type, j * m->b_stride), m->k);
    memset(room + count * m->k, 0, (MATMUL_FEW_ROWS - count) * m->k * sizeof *room);
    return room;
}

static void matmul_few(const struct matmul *m, const struct ops *level, struct matmul_room *room)
{
    for (size_t row = 0; row < m->n; row += MATMUL_FEW_ROWS) {
        size_t count = m->n - row < MATMUL_FEW_ROWS ? m->n - row : MATMUL_FEW_ROWS, stride, i = 0;
        const float *b = few_rows_of_b(m, level, matmul_few_room(room), row, count, &stride);
        for (; i + FEW <= m->m; i += FEW)
            few_tile(m->c + i * m->c_stride + row, m->c_stride, b, stride, m->a + i * m->a_stride, m->a_stride, m->k, count);
        for (; i < m->m; i++)
            few_tile_one(m->c + i * m->c_stride + row, m->c_stride, b, stride, m->a + i * m->a_stride, m->a_stride, m->k, count);
    }
}

/* Other forms. */

#define UNPACK(name, w_load, w_load_part)                             \
    static void name(float *y, const void *row, size_t n)             \
    {                                                                 \
        const uint16_t *w = row;                                      \
        size_t i = 0;                                                 \
        for (; i < FULL(n); i += LANES)                               \
            v_store(y + i, w_load(w + i));                            \
        if (i < n)                                                    \
            v_store_part(y + i, w_load_part(w + i, n - i), n - i);    \
    }
UNPACK(unpack_f16, v_load_f16, v_load_f16_part)
UNPACK(unpack_bf16, v_load_bf16, v_load_bf16_part)

static void unpack_f32(float *y, const void *row, size_t n) { memcpy(y, row, n * sizeof *y); }

/* Element by element. */

/*
 * exp(x) = 2^n exp(r), with n whole and r within half of ln 2; exp(r) by a polynomial of degree six, right to one or
 * two units in the last place. What is beyond f32 is first brought to where the answer is infinity, or zero, anyway.
 * The order of operands in v_min and v_max lets NaN through.
 */
static inline V v_exp(V x)
{
    x = v_min(v_set(89.0f), v_max(v_set(-104.5f), x));
    V n = v_round(v_mul(x, v_set(1.44269504088896341f)));
    V r = v_fnma(n, v_set(0.693359375f), x);
    r = v_fnma(n, v_set(-2.12194440e-4f), r);
    V p = v_set(1.9875691500e-4f);
    p = v_fma(p, r, v_set(1.3981999507e-3f));
    p = v_fma(p, r, v_set(8.3334519073e-3f));
    p = v_fma(p, r, v_set(4.1665795894e-2f));
    p = v_fma(p, r, v_set(1.6666665459e-1f));
    p = v_fma(p, r, v_set(5.0000001201e-1f));
    p = v_fma(p, v_mul(r, r), v_add(r, v_set(1)));
    return v_times_power_of_two(p, n);
}

static inline V v_silu(V x) { return v_div(x, v_add(v_set(1), v_exp(v_sub(v_zero(), x)))); }

/* In the form x / (1 + exp(-2u)): see ops_scalar.c. */
static inline V v_gelu(V x)
{
    const float twice = 2 * 0.79788456080286535588f; /* sqrt(2/pi) */
    V cube = v_mul(v_mul(x, x), x);
    V u = v_fma(cube, v_set(0.044715f), x);
    return v_div(x, v_add(v_set(1), v_exp(v_mul(u, v_set(-twice)))));
}

#define UNARY(name, of)                                                      \
    static void name(float *y, const float *x, size_t n)                     \
    {                                                                        \
        size_t i = 0;                                                        \
        for (; i < FULL(n); i += LANES)                                      \
            v_store(y + i, of(v_load(x + i)));                               \
        if (i < n)                                                           \
            v_store_part(y + i, of(v_load_part(x + i, n - i)), n - i);       \
    }
UNARY(exponential, v_exp)
UNARY(gelu, v_gelu)
UNARY(silu, v_silu)

#define BINARY(name, of)                                                                                  \
    static void name(float *y, const float *a, const float *b, size_t n)                                  \
    {                                                                                                     \
        size_t i = 0;                                                                                     \
        for (; i < FULL(n); i += LANES)                                                                   \
            v_store(y + i, of(v_load(a + i), v_load(b + i)));                                             \
        if (i < n)                                                                                        \
            v_store_part(y + i, of(v_load_part(a + i, n - i), v_load_part(b + i, n - i)), n - i);         \
    }
BINARY(add, v_add)
BINARY(mul, v_mul)

static void scale(float *y, const float *x, float by, size_t n)
{
    V factor = v_set(by);
    size_t i = 0;
    for (; i < FULL(n); i += LANES)
        v_store(y + i, v_mul(v_load(x + i), factor));
    if (i < n)
        v_store_part(y + i, v_mul(v_load_part(x + i, n - i), factor), n - i);
}

static void add_scaled(float *y, const float *x, float by, size_t n)
{
    V factor = v_set(by);
    size_t i = 0;
    for (; i < FULL(n); i += LANES)
        v_store(y + i, v_fma(v_load(x + i), factor, v_load(y + i)));
    if (i < n)
        v_store_part(y + i, v_fma(v_load_part(x + i, n - i), factor, v_load_part(y + i, n - i)), n - i);
}

/* As many columns as registers hold stay there while all rows go by. */
static void mix(float *y, const float *rows, const float *by, size_t n_rows, size_t n)
{
    enum { AT_ONCE = 4 };
    size_t i = 0;
    for (; i + AT_ONCE * LANES <= n; i += AT_ONCE * LANES) {
        V s[AT_ONCE];
        UNROLLED for (size_t j = 0; j < AT_ONCE; j++) s[j] = v_load(y + i + j * LANES);
        for (size_t r = 0; r < n_rows; r++) {
            V factor = v_set(by[r]);
            UNROLLED for (size_t j = 0; j < AT_ONCE; j++) s[j] = v_fma(v_load(rows + r * n + i + j * LANES), factor, s[j]);
        }
        UNROLLED for (size_t j = 0; j < AT_ONCE; j++) v_store(y + i + j * LANES, s[j]);
    }
    for (; i + LANES <= n; i += LANES) {
        V s = v_load(y + i);
        for (size_t r = 0; r < n_rows; r++)
            s = v_fma(v_load(rows + r * n + i), v_set(by[r]), s);
        v_store(y + i, s);
    }
    if (i == n)
        return;
    V s = v_load_part(y + i, n - i);
    for (size_t r = 0; r < n_rows; r++)
        s = v_fma(v_load_part(rows + r * n + i, n - i), v_set(by[r]), s);
    v_store_part(y + i, s, n - i);
}

static void add_row(float *y, const float *x, const float *row, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++)
        add(y + r * n, x + r * n, row, n);
}

/* Row by row. */

static float largest(const float *x, size_t n)
{
    V most = v_set(-INFINITY);
    size_t i = 0;
    for (; i < FULL(n); i += LANES)
        most = v_max(most, v_load(x + i));
    if (i < n)
        most = v_max(most, v_load_part_or(x + i, n - i, most));
    return v_most(most);
}

static void softmax(float *y, const float *x, size_t n)
{
    V most = v_set(largest(x, n)), sum = v_zero(), none = v_set(-INFINITY);
    size_t i = 0;
    for (; i < FULL(n); i += LANES) {
        V e = v_exp(v_sub(v_load(x + i), most));
        v_store(y + i, e);
        sum = v_add(sum, e);
    }
    if (i < n) {
        V e = v_exp(v_sub(v_load_part_or(x + i, n - i, none), most));
        v_store_part(y + i, e, n - i);
        sum = v_add(sum, e);
    }
    scale(y, y, 1 / v_sum(sum), n);
}

static void rmsnorm(float *y, const float *x, const float *weight, size_t n, float eps)
{
    V by = v_set(1 / sqrtf(dot(x, x, n) / (float)n + eps));
    size_t i = 0;
    for (; i < FULL(n); i += LANES)
        v_store(y + i, v_mul(v_mul(v_load(x + i), by), v_load(weight + i)));
    if (i < n)
        v_store_part(y + i, v_mul(v_mul(v_load_part(x + i, n - i), by), v_load_part(weight + i, n - i)), n - i);
}

static float mean_of(const float *x, size_t n)
{
    V sum = v_zero();
    size_t i = 0;
    for (; i < FULL(n); i += LANES)
        sum = v_add(sum, v_load(x + i));
    if (i < n)
        sum = v_add(sum, v_load_part(x + i, n - i));
    return v_sum(sum) / (float)n;
}

static float variance_of(const float *x, size_t n, V mean)
{
    V sum = v_zero();
    size_t i = 0;
    for (; i < FULL(n); i += LANES) {
        V d = v_sub(v_load(x + i), mean);
        sum = v_fma(d, d, sum);
    }
    if (i < n) {
        V d = v_sub(v_load_part_or(x + i, n - i, mean), mean);
        sum = v_fma(d, d, sum);
    }
    return v_sum(sum) / (float)n;
}

static void layernorm(float *y, const float *x, const float *weight, const float *bias, size_t n, float eps)
{
    V mean = v_set(mean_of(x, n)), by = v_set(1 / sqrtf(variance_of(x, n, mean) + eps));
    size_t i = 0;
    for (; i < FULL(n); i += LANES) {
        V v = v_mul(v_sub(v_load(x + i), mean), by);
        v_store(y + i, v_fma(v, v_load(weight + i), v_load(bias + i)));
    }
    if (i < n) {
        V v = v_mul(v_sub(v_load_part(x + i, n - i), mean), by);
        v_store_part(y + i, v_fma(v, v_load_part(weight + i, n - i), v_load_part(bias + i, n - i)), n - i);
    }
}

/* Neighbours: x times its cosine, minus and plus by turns its neighbour times its sine. */
static void rope_pairs(float *y, const float *x, const float *cosine, const float *sine, size_t n)
{
    size_t i = 0;
    for (; i < FULL(n); i += LANES) {
        V v = v_load(x + i);
        v_store(y + i, v_fma_by_turns(v, v_load_twice(cosine + i / 2), v_mul(v_swap_pairs(v), v_load_twice(sine + i / 2))));
    }
    for (; i < n; i += 2) {
        float u = x[i], v = x[i + 1], c = cosine[i / 2], s = sine[i / 2];
        y[i] = u * c - v * s;
        y[i + 1] = u * s + v * c;
    }
}

static void rope_halves(float *y, const float *x, const float *cosine, const float *sine, size_t n)
{
    size_t half = n / 2, i = 0;
    for (; i < FULL(half); i += LANES) {
        V u = v_load(x + i), v = v_load(x + half + i), c = v_load(cosine + i), s = v_load(sine + i);
        v_store(y + i, v_fnma(v, s, v_mul(u, c)));
        v_store(y + half + i, v_fma(u, s, v_mul(v, c)));
    }
    size_t left = half - i;
    if (left) {
        V u = v_load_part(x + i, left), v = v_load_part(x + half + i, left);
        V c = v_load_part(cosine + i, left), s = v_load_part(sine + i, left);
        v_store_part(y + i, v_fnma(v, s, v_mul(u, c)), left);
        v_store_part(y + half + i, v_fma(u, s, v_mul(v, c)), left);
    }
}

/* The rows of `struct ops` that are made here, but for .matvec. */
#define OPS_OF_THIS_LEVEL                                                                  \
    .dot = dot,                                                                            \
    .matmul = matmul,                                                                      \
    .quantise = quantise,                                                                  \
    .unpack = {unpack_f32, unpack_f16, unpack_bf16, unpack_q8_0, unpack_q4_0},             \
    .exp = exponential,                                                                    \
    .gelu = gelu,                                                                          \
    .silu = silu,                                                                          \
    .add = add,                                                                            \
    .mul = mul,                                                                            \
    .scale = scale,                                                                        \
    .add_scaled = add_scaled,                                                              \
    .mix = mix,                                                                            \
    .add_row = add_row,                                                                    \
    .softmax = softmax,                                                                    \
    .rmsnorm = rmsnorm,                                                                    \
    .layernorm = layernorm,                                                                \
    .rope_pairs = rope_pairs,                                                              \
    .rope_halves = rope_halves
