#include "analyse/verdict.h"

#include <math.h>
#include <stdlib.h>

const char *const verdict_words[VERDICT_WORD_COUNT + 1] = {
    [VERDICT_STABLE] = "stable",
    [VERDICT_IMPROVED] = "improved",
    [VERDICT_REGRESSED] = "regressed",
    [VERDICT_UNDECIDED] = "undecided",
};

static int ascending(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

double median_of(double *numbers, size_t n)
{
    if (!n)
        return NAN;
    qsort(numbers, n, sizeof *numbers, ascending);
    return n % 2 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}

struct verdict verdict_of(double *ratios, size_t n, double tolerance)
{
    struct verdict v = {.is = VERDICT_UNDECIDED, .ratio = median_of(ratios, n), .low = NAN, .high = NAN, .pairs = n};
    if (!n)
        return v;
    v.low = ratios[0];
    v.high = ratios[n - 1];
    if (n < VERDICT_PAIRS)
        return v;
    if (v.low > 1 + tolerance)
        v.is = VERDICT_REGRESSED;
    else if (v.high < 1 - tolerance)
        v.is = VERDICT_IMPROVED;
    else if (v.high - v.low <= 2 * tolerance)
        v.is = VERDICT_STABLE;
    return v;
}
