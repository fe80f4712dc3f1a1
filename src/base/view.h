/*
 * view.h - some bytes somebody else owns
 *
 * Names come from other people's files: any byte may occur in them, NUL
 * included, so text travels as pointer and length until it is printed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct view {
    const char *at;
    size_t n;
};

#define VIEW(literal) ((struct view){"" literal, sizeof(literal) - 1})

static inline struct view view_of(const char *s) { return (struct view){s, s ? strlen(s) : 0}; }

static inline struct view view_between(const char *from, const char *to)
{
    return (struct view){from, (size_t)(to - from)};
}

static inline bool view_same(struct view a, struct view b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

static inline bool view_starts(struct view v, struct view with)
{
    return v.n >= with.n && (with.n == 0 || memcmp(v.at, with.at, with.n) == 0);
}

static inline bool view_ends(struct view v, struct view with)
{
    return v.n >= with.n && (with.n == 0 || memcmp(v.at + v.n - with.n, with.at, with.n) == 0);
}

/* Bytewise order, shorter first among equals: the same on every machine and in every locale. */
static inline int view_compare(struct view a, struct view b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* What stands behind the last slash: the file of a path. */
static inline struct view view_last_part(struct view path)
{
    const char *slash = path.n ? memrchr(path.at, '/', path.n) : NULL;
    return slash ? view_between(slash + 1, path.at + path.n) : path;
}
