/*
 * fixed_point.h - numbers with 18 digits behind the point, for exact sums
 *
 * Other tools print times and weights as decimal text. Added up as doubles they
 * drift; as whole numbers of 10^-18 they do not. What a text says beyond the
 * 18th digit is rounded there.
 */
#pragma once
#include "base/view.h"
#include <stdbool.h>
#include <stdint.h>

#define FIXED_DECIMALS 18u

__extension__ typedef __int128 fixed; /* times 10^18 */

#define FIXED_LARGEST ((fixed)10000000000000000000u * 1000000000000000000) /* 10^19: two of them still add up */

/* A JSON number. False when it is 10^19 or more. */
bool fixed_from_text(struct view number, fixed *out);

/* How many digits behind the point it needs. */
unsigned fixed_decimals(fixed n);

/* n * 10^decimals as a whole number, halves rounded up; decimals may be 0..18. */
fixed fixed_rounded(fixed n, unsigned decimals);
