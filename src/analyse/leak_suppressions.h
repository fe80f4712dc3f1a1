/*
 * leak_suppressions.h - leaks that are known and not worth a word
 *
 * A text file, one rule per line, as the sanitizers of gcc and clang take them:
 *
 *     # model weights stay until the end, on purpose
 *     leak:load_weights
 *     leak:libcuda.so
 *     leak:^main$
 *
 * A leak is suppressed when a function's name, a source file's path or a module's path anywhere on its stack has the
 * pattern in it. In a pattern * stands for any text, ^ in front and $ behind hold it to the beginning and the end;
 * every other character is itself. Empty lines and lines that begin with # say nothing.
 *
 * Owns: its rules.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/reader.h"
#include "model/profile.h"

struct leak_rule {
    char *text;    /* as it was written, behind "leak:" */
    char *pattern; /* for text_matches() */
};

struct leak_suppressions {
    struct leak_rule *rules;
    size_t n, cap;
};

/* The rules of one more file. Errors name the file and the line. */
bool leak_suppressions_open(struct leak_suppressions *s, const char *path, struct err *e) MUST_CHECK;
bool leak_suppressions_read(struct leak_suppressions *s, struct reader *in, struct err *e) MUST_CHECK;
void leak_suppressions_done(struct leak_suppressions *s);
DEFINE_OWN_IN_PLACE(leak_suppressions, struct leak_suppressions)

/* The first rule that speaks of this function; s->n: none. */
size_t leak_suppressions_find(const struct leak_suppressions *s, const struct profile *p, func_id function);
