/*
 * text.h - small questions about text: numbers in, numbers for eyes, nearest word, patterns
 */
#pragma once
#include "base/buf.h"
#include "base/sink.h"
#include <stdint.h>

/* Reading numbers. Each takes all of `v` or says no; nothing is skipped, nothing is clamped. */
bool text_to_uint(struct view v, uint64_t *out);
bool text_to_int(struct view v, int64_t *out);
bool text_to_bytes(struct view v, uint64_t *out);    /* 512, 64K, 1.5MiB, 2G (powers of 1024) */
bool text_to_duration(struct view v, uint64_t *out); /* to ns: 10ms, 1.5s, 2m, 1h; a bare number is seconds */

/*
 * A decimal number ("12", "-0.125", "1.5e3") as value * 10^-decimals, exactly.
 * False when it is no number, or needs more than 18 digits.
 */
bool text_to_decimal(struct view v, int64_t *out_value, unsigned *out_decimals);

/* value * 10^-decimals with `decimals` digits behind the point at most; no trailing zeros. */
void text_decimal(char out[32], int64_t value, unsigned decimals);

/* For people: three significant digits and a unit. */
void text_ns(char out[32], double ns);       /* "1.25 ms" */
void text_bytes(char out[32], double bytes); /* "1.5 MiB" */
void text_count(char out[32], int64_t n);    /* "1 234 567" */

/* The word of the NULL-terminated list that is nearest to `wrong`, or NULL when none is near. */
const char *text_nearest(const char *wrong, const char *const *words);

/* Shell pattern (* ? [a-z]) over bytes; the whole text must match. */
bool text_matches(struct view text, const char *pattern);

/* The length of the UTF-8 character the text begins with; 0 when it begins with none. */
size_t text_utf8_length(struct view text);

/*
 * Names come from other people's programs. Printed, they must not move the
 * cursor or close a tag: control bytes and bytes that are not UTF-8 are shown
 * as \x1b. Returns the columns taken; at most `most` of them (0: no limit), cut
 * with an ellipsis in the middle, since names differ at both ends.
 */
size_t text_safe(struct sink *out, struct view text, size_t most_columns);
size_t text_columns(struct view text); /* what text_safe would take */

/* The same for XML and HTML, inside a tag's quotes or between tags: < > & " and ' are written as entities too. */
size_t text_markup(struct sink *out, struct view text, size_t most_columns);
