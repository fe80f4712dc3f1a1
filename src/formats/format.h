/*
 * format.h - how profiles come in from other tools and go back out
 *
 * A format is one file that defines one `const struct format format_NAME`, and
 * one word NAME in this folder's meson.build. Nothing else in the tree changes:
 * `inferom convert`, `--help`, completion and the round-trip tests walk the list.
 */
#pragma once
#include "base/reader.h"
#include "base/sink.h"
#include "model/builder.h"
#include "model/profile.h"

#define FORMAT_HEAD 4096 /* how many first bytes sniff() is shown, at most */

struct format {
    const char *name;   /* what a person types: "folded" */
    const char *suffix; /* what a file is called: ".folded" */
    const char *what;   /* one line for --help */

    /* How sure are you, 0..100, that these first bytes are yours? File names are not asked. */
    int (*sniff)(struct view head);

    /* NULL when the direction makes no sense for this format. Errors name the line or offset. */
    bool (*read)(struct builder *into, struct reader *in, struct err *e);
    bool (*write)(const struct profile *p, struct sink *out, struct err *e);
};

const struct format *format_named(const char *name);      /* or NULL */
const struct format *format_for_content(struct view head); /* best sniff, or NULL */
const struct format *format_for_path(const char *path);    /* by suffix, for output only; or NULL */
const struct format *format_at(size_t i);                  /* in list order; NULL past the end */

/* What a reader is about to give; nothing is taken from it. The format can be read. */
bool format_detect(struct reader *in, const struct format **out, struct err *e) MUST_CHECK;

/* Opens a file ("-": standard input), finds out what it is, reads it. Errors begin with the path. */
bool profile_open(const char *path, struct profile **out, struct err *e) MUST_CHECK;
