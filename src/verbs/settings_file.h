/*
 * settings_file.h - settings kept in a file, checked whole when it is opened
 *
 * The file is JSON, nested like the words of the command line; null leaves a
 * setting as if its key were not there:
 *
 *     { "color": "never",
 *       "report": { "top": 50, "exclude": ["libc*", "ld-linux*"] },
 *       "runs": { "show": { "json": true } } }
 *
 * Every key and value is checked against the table of its verb, whichever verb
 * is about to run: a typo is found on the day it is made. Complaints name the
 * file, the line, and the nearest key there is.
 *
 * Owns: its texts; settings filled from it borrow them.
 */
#pragma once
#include "base/err.h"
#include "base/own.h"
#include "base/reader.h"

struct settings_file;

/* What one key says: a list has any number of texts, everything else one. */
struct file_value {
    const char *key;
    uint64_t line;
    const char *const *texts;
    size_t n;
};

/*
 * Opens `named`; without a name, the file in its usual place:
 * $XDG_CONFIG_HOME/inferom/config.json or ~/.config/inferom/config.json. There it
 * may be missing: *out is NULL then.
 */
bool settings_file_open(const char *named, struct settings_file **out, struct err *e) MUST_CHECK;
bool settings_file_read(struct reader *in, struct settings_file **out, struct err *e) MUST_CHECK;
void settings_file_free(struct settings_file *f); /* NULL is fine */
DEFINE_OWN(settings_file, struct settings_file *)

const char *settings_file_path(const struct settings_file *f);
const struct file_value *settings_file_value(const struct settings_file *f, const char *key); /* or NULL */
