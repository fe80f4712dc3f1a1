#include "lab/tensor_type.h"

#include <stddef.h>

static const struct tensor_type types[] = {
    {"f32", 0, 1, 4},       {"f16", 1, 1, 2},       {"q4_0", 2, 32, 18},     {"q4_1", 3, 32, 20},
    {"q5_0", 6, 32, 22},    {"q5_1", 7, 32, 24},    {"q8_0", 8, 32, 34},     {"q8_1", 9, 32, 36},
    {"q2_k", 10, 256, 84},  {"q3_k", 11, 256, 110}, {"q4_k", 12, 256, 144},  {"q5_k", 13, 256, 176},
    {"q6_k", 14, 256, 210}, {"q8_k", 15, 256, 292}, {"iq2_xxs", 16, 256, 66}, {"iq2_xs", 17, 256, 74},
    {"iq3_xxs", 18, 256, 98}, {"iq1_s", 19, 256, 50}, {"iq4_nl", 20, 32, 18}, {"iq3_s", 21, 256, 110},
    {"iq2_s", 22, 256, 82}, {"iq4_xs", 23, 256, 136}, {"i8", 24, 1, 1},      {"i16", 25, 1, 2},
    {"i32", 26, 1, 4},      {"i64", 27, 1, 8},      {"f64", 28, 1, 8},       {"iq1_m", 29, 256, 56},
    {"bf16", 30, 1, 2},     {"tq1_0", 34, 256, 54}, {"tq2_0", 35, 256, 66},  {"mxfp4", 39, 32, 17},
};

const struct tensor_type *tensor_type_numbered(uint32_t number)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

bool tensor_size(const struct tensor_type *t, const uint64_t *dims, uint32_t n_dims, uint64_t *out_elements, uint64_t *out_bytes)
{
    uint64_t elements = 1, bytes;
    if (!n_dims || n_dims > TENSOR_DIMS_MOST)
        return false;
    for (uint32_t i = 0; i < n_dims; i++)
        if (!dims[i] || __builtin_mul_overflow(elements, dims[i], &elements))
            return false;
    if (dims[0] % t->block_elements || __builtin_mul_overflow(elements / t->block_elements, t->block_bytes, &bytes))
        return false;
    *out_elements = elements;
    *out_bytes = bytes;
    return true;
}
