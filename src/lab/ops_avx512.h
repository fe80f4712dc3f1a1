/*
 * ops_avx512.h - what processors with AVX-512 may have or not, and what it shares with AVX2; for ops_avx512.c
 */
#pragma once
#include "lab/ops.h"

/* AVX2: rows times a vector. */
void avx2_matvec_f32(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n);
void avx2_matvec_f16(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n);
void avx2_matvec_bf16(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n);

/* VNNI: four products of bytes added up in 32 bits, by one instruction. */
void avx512_matvec_q8_0(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n);
void avx512_matvec_q4_0(float *y, const void *rows, const struct activations *x, size_t n_rows, size_t n);
void avx512_matmul_int8(const struct matmul_int8 *m, struct matmul_room *room);

/* BF16: two products added up in f32. */
void avx512_matmul_bf16(const struct matmul_bf16 *m, struct matmul_room *room);
