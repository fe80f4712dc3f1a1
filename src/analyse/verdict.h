/*
 * verdict.h - whether something became slower, said with its spread
 *
 * Two ways of doing the same thing are compared by pairs of runs, taken one after the
 * other on the same machine. Each pair gives one ratio after/before of a time. The
 * middle of the ratios is the answer; how far they lie apart says what it is worth:
 *
 *     improved   every pair was faster by more than the tolerance
 *     regressed  every pair was slower by more than the tolerance
 *     stable     the pairs lie close together, around one
 *     undecided  the pairs disagree, or there are fewer than VERDICT_PAIRS
 */
#pragma once
#include <stddef.h>

enum { VERDICT_PAIRS = 5 }; /* below this nothing is decided */

enum verdict_word { VERDICT_STABLE, VERDICT_IMPROVED, VERDICT_REGRESSED, VERDICT_UNDECIDED, VERDICT_WORD_COUNT };

struct verdict {
    enum verdict_word is;
    double ratio, low, high; /* middle of the pairs, and the span they cover; NAN without a pair */
    size_t pairs;
};

/* Sorts the ratios. */
struct verdict verdict_of(double *ratios, size_t n, double tolerance);

/* The middle one, or the mean of the middle two; NAN of nothing. Sorts the numbers. */
double median_of(double *numbers, size_t n);

extern const char *const verdict_words[VERDICT_WORD_COUNT + 1]; /* ends with NULL */
