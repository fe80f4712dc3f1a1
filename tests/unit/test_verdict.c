#include "analyse/verdict.h"
#include "check.h"

#include <math.h>

static const struct {
    const char *what;
    double ratios[7];
    size_t n;
    double ratio, low, high;
    enum verdict_word is;
} cases[] = {
    {"always slower",               {1.05, 1.02, 1.04, 1.03, 1.06},             5, 1.04, 1.02, 1.06, VERDICT_REGRESSED},
    {"always faster",               {0.95, 0.90, 0.97, 0.96, 0.98},             5, 0.96, 0.90, 0.98, VERDICT_IMPROVED},
    {"close to one",                {1.001, 0.999, 1.000, 1.002, 0.998},        5, 1.000, 0.998, 1.002, VERDICT_STABLE},
    {"slower, but by how much",     {1.005, 1.30, 1.10, 1.12, 1.11},            5, 1.11, 1.005, 1.30, VERDICT_UNDECIDED},
    {"pairs that disagree",         {0.90, 1.10, 1.00, 0.95, 1.05},             5, 1.00, 0.90, 1.10, VERDICT_UNDECIDED},
    {"four pairs decide nothing",   {2, 2, 2, 2},                               4, 2, 2, 2, VERDICT_UNDECIDED},
    {"the middle of an even number", {1.04, 1.02, 1.08, 1.06, 1.10, 1.12},      6, 1.07, 1.02, 1.12, VERDICT_REGRESSED},
    {"a single pair",               {1.5},                                      1, 1.5, 1.5, 1.5, VERDICT_UNDECIDED},
};

static int near(double a, double b) { return fabs(a - b) < 1e-12; }

static void check_case(size_t i)
{
    double ratios[7];
    memcpy(ratios, cases[i].ratios, sizeof ratios);
    struct verdict v = verdict_of(ratios, cases[i].n, 0.01);
    printf("%s\n", cases[i].what);
    CHECK(near(v.ratio, cases[i].ratio));
    CHECK(near(v.low, cases[i].low) && near(v.high, cases[i].high));
    CHECK_EQ(v.pairs, cases[i].n);
    CHECK_STR(verdict_words[v.is], verdict_words[cases[i].is]);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(i);
    struct verdict none = verdict_of(NULL, 0, 0.01);
    CHECK(isnan(none.ratio) && isnan(none.low) && isnan(none.high) && none.is == VERDICT_UNDECIDED);
    return CHECK_DONE();
}
