/*
 * err.h - what went wrong, in words a person can act on
 *
 * A function that can fail takes a `struct err *` as its last argument and
 * returns bool. The helpers here all return false, so a failure is one line:
 *
 *     if (hdr.version > NEWEST)
 *         return err_set(e, ERR_UNSUPPORTED, "version %u, we read up to %u", hdr.version, NEWEST);
 *
 * Layers above add where they were, never what happened a second time:
 *
 *     if (!format_read(f, b, in, e))
 *         return err_in(e, "%s", path);            // "run.folded: line 7: no count"
 *
 * What would help goes into the hint; the doors print it behind the sentence:
 *
 *     err_hint(e, "did you mean '--%s'?", nearest);
 *
 * The struct lives on the caller's stack and nothing here allocates. Passing
 * NULL is allowed and means "the answer yes or no is enough for me".
 */
#pragma once
#include <stdbool.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

enum err_kind {
    ERR_NONE,
#define ERROR(name, exit, http, meaning) ERR_##name,
#include "base/errors.def"
#undef ERROR
    ERR_KIND_COUNT
};

struct err {
    enum err_kind kind;
    char text[480];
    char hint[240]; /* "" when nobody knows what would help */
};

bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool err_os(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);   /* kind and reason from errno */
bool err_in(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);   /* "context: " in front */
bool err_hint(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3); /* what to do about it */

/* They always say false; a compiler that sees one call at a time is told so. */
static inline bool err_false(bool failed) { return failed && false; }
#define err_set(...) err_false(err_set(__VA_ARGS__))
#define err_os(...) err_false(err_os(__VA_ARGS__))
#define err_in(...) err_false(err_in(__VA_ARGS__))
#define err_hint(...) err_false(err_hint(__VA_ARGS__))

int err_exit_status(enum err_kind kind);
int err_http_status(enum err_kind kind);
const char *err_meaning(enum err_kind kind);
