#include "formats/fixed_point.h"
#include "base/text.h"

#define ENOUGH_DIGITS 37 /* a 38th might not fit */

static fixed power_of_ten(unsigned n)
{
    fixed p = 1;
    while (n--)
        p *= 10;
    return p;
}

/* The digits as one whole number; *out_exponent is how many places the point is right of its end. */
static fixed collect_digits(struct view v, int64_t *out_exponent)
{
    fixed n = 0;
    int64_t exponent = 0;
    unsigned digits = 0;
    bool behind_point = false;
    for (size_t i = 0; i < v.n; i++) {
        if (v.at[i] == '.') {
            behind_point = true;
            continue;
        }
        bool kept = digits < ENOUGH_DIGITS;
        if (kept)
            n = n * 10 + (v.at[i] - '0');
        digits += kept && n;
        exponent += (kept ? 0 : 1) - (behind_point ? 1 : 0);
    }
    *out_exponent = exponent;
    return n;
}

/* Whatever an exponent of more than five digits means, it is not a number of ours. */
static int64_t read_exponent(struct view v)
{
    struct view digits = v.n && v.at[0] == '+' ? (struct view){v.at + 1, v.n - 1} : v;
    int64_t n;
    if (text_to_int(digits, &n) && n > -99999 && n < 99999)
        return n;
    return digits.n && digits.at[0] == '-' ? -99999 : 99999;
}

static bool shifted(fixed n, int64_t places, fixed *out)
{
    for (; places > 0 && n; places--) {
        if (n > FIXED_LARGEST / 10)
            return false;
        n *= 10;
    }
    if (places < -ENOUGH_DIGITS) {
        n = 0;
    } else if (places < 0) {
        fixed p = power_of_ten((unsigned)-places);
        n = n / p + (n % p >= p - p / 2);
    }
    *out = n;
    return n < FIXED_LARGEST;
}

bool fixed_from_text(struct view number, fixed *out)
{
    bool negative = number.n && number.at[0] == '-';
    struct view v = {number.at + negative, number.n - negative};
    size_t mantissa = 0;
    while (mantissa < v.n && v.at[mantissa] != 'e' && v.at[mantissa] != 'E')
        mantissa++;
    int64_t exponent;
    fixed n = collect_digits((struct view){v.at, mantissa}, &exponent);
    if (mantissa < v.n)
        exponent += read_exponent((struct view){v.at + mantissa + 1, v.n - mantissa - 1});
    if (!shifted(n, exponent + FIXED_DECIMALS, &n))
        return false;
    *out = negative ? -n : n;
    return true;
}

unsigned fixed_decimals(fixed n)
{
    if (n % power_of_ten(FIXED_DECIMALS) == 0) /* nearly all are whole */
        return 0;
    unsigned decimals = FIXED_DECIMALS;
    while (decimals && n % 10 == 0) {
        n /= 10;
        decimals--;
    }
    return decimals;
}

fixed fixed_rounded(fixed n, unsigned decimals)
{
    fixed p = power_of_ten(FIXED_DECIMALS - decimals);
    fixed whole = n / p, rest = n % p;
    if (rest < 0) { /* towards minus infinity first, so that halves go up on both sides of zero */
        whole--;
        rest += p;
    }
    return whole + (rest >= p - p / 2);
}
