#include "base/text.h"

#include <ctype.h>
#include <math.h>

bool text_to_uint(struct view v, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < v.n; i++) {
        unsigned digit = (unsigned)(unsigned char)v.at[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(n, UINT64_C(10), &n) || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    if (!v.n)
        return false;
    *out = n;
    return true;
}

bool text_to_int(struct view v, int64_t *out)
{
    bool negative = v.n && v.at[0] == '-';
    uint64_t n;
    if (!text_to_uint((struct view){v.at + negative, v.n - negative}, &n) || n > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

/* Digits with at most one point; collects them as one whole number. */
static bool collect_digits(struct view v, int64_t *out_value, unsigned *out_decimals)
{
    int64_t n = 0;
    unsigned decimals = 0, digits = 0;
    bool behind_point = false;
    for (size_t i = 0; i < v.n; i++) {
        if (v.at[i] == '.' && !behind_point) {
            behind_point = true;
            continue;
        }
        unsigned digit = (unsigned)(unsigned char)v.at[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(n, INT64_C(10), &n) || __builtin_add_overflow(n, (int64_t)digit, &n))
            return false;
        decimals += behind_point;
        digits++;
    }
    *out_value = n;
    *out_decimals = decimals;
    return digits > 0;
}

/* Zeros at the end of a fraction say nothing and would cost precision. */
static struct view without_trailing_zeros(struct view v)
{
    if (!v.n || !memchr(v.at, '.', v.n))
        return v;
    while (v.n > 1 && v.at[v.n - 1] == '0')
        v.n--;
    return v;
}

bool text_to_decimal(struct view v, int64_t *out_value, unsigned *out_decimals)
{
    bool negative = v.n && v.at[0] == '-';
    struct view rest = {v.at + negative, v.n - negative};
    size_t mantissa = 0;
    while (mantissa < rest.n && rest.at[mantissa] != 'e' && rest.at[mantissa] != 'E')
        mantissa++;

    int64_t exponent = 0;
    if (mantissa < rest.n) {
        struct view digits = {rest.at + mantissa + 1, rest.n - mantissa - 1};
        if (digits.n && digits.at[0] == '+')
            digits = (struct view){digits.at + 1, digits.n - 1};
        if (!text_to_int(digits, &exponent) || exponent > 18 || exponent < -18)
            return false;
    }

    int64_t n;
    unsigned decimals;
    if (!collect_digits(without_trailing_zeros((struct view){rest.at, mantissa}), &n, &decimals))
        return false;
    for (; exponent < 0; exponent++)
        decimals++;
    for (; exponent > 0; exponent--) {
        if (decimals)
            decimals--;
        else if (__builtin_mul_overflow(n, INT64_C(10), &n))
            return false;
    }
    for (; decimals && n % 10 == 0; decimals--)
        n /= 10;
    if (decimals > 18)
        return false;
    *out_value = negative ? -n : n;
    *out_decimals = decimals;
    return true;
}

struct suffix {
    const char *word;
    double factor;
};

static const struct suffix byte_suffixes[] = {
    {"", 1},        {"B", 1},
    {"K", 1024.0},  {"KB", 1024.0},  {"KiB", 1024.0},
    {"M", 0x1p20},  {"MB", 0x1p20},  {"MiB", 0x1p20},
    {"G", 0x1p30},  {"GB", 0x1p30},  {"GiB", 0x1p30},
    {"T", 0x1p40},  {"TB", 0x1p40},  {"TiB", 0x1p40},
    {NULL, 0},
};

static const struct suffix time_suffixes[] = {
    {"", 1e9}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0},
};

static bool to_scaled(struct view v, const struct suffix *suffixes, uint64_t *out)
{
    size_t digits = 0;
    while (digits < v.n && (isdigit((unsigned char)v.at[digits]) || v.at[digits] == '.'))
        digits++;
    int64_t n;
    unsigned decimals;
    if (!digits || !text_to_decimal((struct view){v.at, digits}, &n, &decimals))
        return false;
    struct view word = {v.at + digits, v.n - digits};
    const struct suffix *s = suffixes;
    while (s->word && (strlen(s->word) != word.n || strncasecmp(s->word, word.at, word.n) != 0))
        s++;
    double scaled = s->word ? (double)n / pow(10, decimals) * s->factor : -1;
    if (scaled < 0 || scaled >= 0x1p63)
        return false;
    *out = (uint64_t)llround(scaled);
    return true;
}

bool text_to_bytes(struct view v, uint64_t *out) { return to_scaled(v, byte_suffixes, out); }
bool text_to_duration(struct view v, uint64_t *out) { return to_scaled(v, time_suffixes, out); }

/* For people. */

void text_decimal(char out[32], int64_t value, unsigned decimals)
{
    uint64_t n = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%0*llu", (int)decimals + 1, (unsigned long long)n);
    int whole = len - (int)decimals;
    int used = snprintf(out, 32, "%s%.*s", value < 0 ? "-" : "", whole, digits);
    while (len > whole && digits[len - 1] == '0')
        len--;
    if (len > whole)
        snprintf(out + used, 32 - (size_t)used, ".%.*s", len - whole, digits + whole);
}

/* Three digits that mean something: 1.23, 12.3, 123; whole numbers of the smallest unit stay whole. */
static void three_digits(char out[32], double n, const char *unit, bool smallest)
{
    double size = fabs(n);
    int decimals = size >= 99.95 || (smallest && size == floor(size)) ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(out, 32, "%.*f %s", decimals, n, unit);
}

static void scaled_text(char out[32], double n, const char *const *units, double step)
{
    const char *const *unit = units;
    while (fabs(n) >= step * 0.9995 && unit[1]) {
        n /= step;
        unit++;
    }
    three_digits(out, n, *unit, unit == units);
}

void text_ns(char out[32], double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    scaled_text(out, ns, units, 1000);
}

void text_bytes(char out[32], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};
    scaled_text(out, bytes, units, 1024);
}

void text_count(char out[32], int64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)(n < 0 ? 0 - (uint64_t)n : (uint64_t)n));
    char *to = out;
    if (n < 0)
        *to++ = '-';
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ' ';
        *to++ = digits[i];
    }
    *to = '\0';
}
