#include "base/text.h"

/* How many single letters must be added, dropped, changed or swapped to turn one word into the other. */
static size_t distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > 63 || nb > 63)
        return SIZE_MAX;
    size_t rows[3][64]; /* the one being filled, the one before it, the one before that */
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= nb; j++)
        last[j] = j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            size_t best = last[j] < now[j - 1] ? last[j] + 1 : now[j - 1] + 1;
            now[j] = change < best ? change : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

const char *text_nearest(const char *wrong, const char *const *words)
{
    const char *best = NULL;
    size_t best_distance = strlen(wrong) / 3 + 2; /* further away than this is a different word */
    for (; *words; words++) {
        size_t d = distance(wrong, *words);
        if (d < best_distance && d < strlen(*words)) {
            best = *words;
            best_distance = d;
        }
    }
    return best;
}

/* Patterns. */

/* Whether c is in the set behind '['; *end is moved behind its ']', or NULL when there is none. */
static bool in_set(const char *set, char c, const char **end)
{
    bool inverted = *set == '!' || *set == '^';
    const char *p = set + inverted;
    bool found = false;
    do {
        if (!*p) {
            *end = NULL;
            return false;
        }
        unsigned char low = (unsigned char)*p++, high = low;
        if (p[0] == '-' && p[1] && p[1] != ']') {
            high = (unsigned char)p[1];
            p += 2;
        }
        found |= (unsigned char)c >= low && (unsigned char)c <= high;
    } while (*p != ']');
    *end = p + 1;
    return found != inverted;
}

/* One character of the pattern against one of the text. Returns the pattern behind it, or NULL. */
static const char *step(const char *pattern, char c)
{
    const char *end;
    if (*pattern == '[') {
        bool found = in_set(pattern + 1, c, &end);
        if (end)
            return found ? end : NULL;
    }
    if (*pattern == '\\' && pattern[1])
        pattern++;
    else if (*pattern == '?')
        return pattern + 1;
    return *pattern && *pattern == c ? pattern + 1 : NULL;
}

/* Only the last star needs to be remembered: what matched before it cannot be improved. */
bool text_matches(struct view text, const char *pattern)
{
    const char *star = NULL;
    size_t retry = 0;
    for (size_t i = 0; i < text.n;) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = i;
            continue;
        }
        const char *next = step(pattern, text.at[i]);
        if (next) {
            pattern = next;
            i++;
        } else if (star) {
            pattern = star;
            i = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
