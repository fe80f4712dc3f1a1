/*
 * ops_levels.h - the levels of ops.h, each in a file of its own; for ops.c only
 *
 * Each function says NULL where the processor, or the compiler's target, does not have the level.
 */
#pragma once
#include "lab/ops.h"

const struct ops *ops_scalar(void);
const struct ops *ops_avx2(void);
const struct ops *ops_avx512(void);
const struct ops *ops_neon(void);
