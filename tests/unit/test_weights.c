#include "lab/weights.h"
#include "numbers.h"

static const struct {
    float f32;
    uint16_t f16, bf16;
} known[] = {
    {0.0f, 0x0000, 0x0000},          {-0.0f, 0x8000, 0x8000},        {1.0f, 0x3c00, 0x3f80},
    {-2.0f, 0xc000, 0xc000},         {65504.0f, 0x7bff, 0x4780},     {65519.0f, 0x7bff, 0x4780},
    {65520.0f, 0x7c00, 0x4780},      {INFINITY, 0x7c00, 0x7f80},     {-INFINITY, 0xfc00, 0xff80},
    {0x1p-14f, 0x0400, 0x3880},      {0x1p-24f, 0x0001, 0x3380},     {0x1p-25f, 0x0000, 0x3300},
    {0x1.8p-25f, 0x0001, 0x3340},    {0x1.002p0f, 0x3c00, 0x3f80},   {0x1.006p0f, 0x3c02, 0x3f80},
    {0x1.01p0f, 0x3c04, 0x3f80},     {0x1.03p0f, 0x3c0c, 0x3f82},    {3.0e38f, 0x7c00, 0x7f62},
};

static void check_known(size_t i)
{
    CHECK_EQ(f32_to_f16(known[i].f32), known[i].f16);
    CHECK_EQ(f32_to_bf16(known[i].f32), known[i].bf16);
}

/* Every half there is comes back as itself; NaN stays NaN. */
static void check_all_halves(void)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float f = f16_to_f32((uint16_t)h), b = bf16_to_f32((uint16_t)h);
        CHECK(isnan(f) ? isnan(f16_to_f32(f32_to_f16(f))) : f32_to_f16(f) == h);
        CHECK(isnan(b) ? isnan(bf16_to_f32(f32_to_bf16(b))) : f32_to_bf16(b) == h);
    }
}

/* What was packed comes back within half a step of its block. */
static void check_round_trip(enum weight_type t, double step)
{
    enum { N = 4 * WEIGHT_BLOCK };
    struct numbers x = numbers_random(N, 0, -3, 3), back = numbers_new(N, 0);
    uint8_t *packed = malloc(weight_bytes(t, N));
    for (size_t i = 0; i < WEIGHT_BLOCK; i++)
        x.at[i] = 0; /* a block of zeros has a scale of zero */
    weight_pack(t, packed, x.at, N);
    weight_unpack(t, back.at, packed, N);
    for (size_t i = 0; i < N; i++)
        CHECK_NUMBER(back.at[i], x.at[i], step, 3, "%s %zu", weight_type_names[t], i);
    free(packed);
    numbers_free(x);
    numbers_free(back);
}

static void check_q4_0_layout(void)
{
    struct block_q4_0 b = {.scale = 0x3c00};
    float out[WEIGHT_BLOCK];
    for (unsigned i = 0; i < 16; i++)
        b.at[i] = (uint8_t)(i | (15 - i) << 4);
    weight_unpack(WEIGHT_Q4_0, out, &b, WEIGHT_BLOCK);
    for (int i = 0; i < 16; i++) {
        CHECK_EQ(out[i], i - 8);
        CHECK_EQ(out[i + 16], 7 - i);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        check_known(i);
    check_all_halves();
    CHECK(isnan(f16_to_f32(f32_to_f16(NAN))) && isnan(bf16_to_f32(f32_to_bf16(NAN))));
    static const double steps[WEIGHT_TYPE_COUNT] = {0, 0x1p-11, 0x1p-8, 0.51 / 127, 0.51 / 4};
    for (enum weight_type t = 0; t < WEIGHT_TYPE_COUNT; t++)
        check_round_trip(t, steps[t]);
    check_q4_0_layout();
    CHECK_EQ(weight_bytes(WEIGHT_Q8_0, 64), 68);
    CHECK_EQ(weight_bytes(WEIGHT_Q4_0, 64), 36);
    return CHECK_DONE();
}
