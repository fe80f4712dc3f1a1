/*
 * outfile.h - a file that appears whole or not at all
 *
 * Bytes go to a temporary name beside the target; outfile_commit() makes them
 * durable and gives them their name. Whatever ends the work before that (an
 * error, Ctrl-C, a full disk) leaves the old file as it was and no new one.
 *
 *     own(outfile) struct outfile f;
 *     if (!outfile_open(&f, path, e))          // "-" is standard output
 *         return false;
 *     sink_puts(&f.sink, "hello\n");
 *     return outfile_commit(&f, e);
 *
 * A program that is about to be ended by a signal calls outfile_abandon_all():
 * the temporaries of all files being written go, and nothing else happens.
 *
 * Things that are not regular files (pipes, /dev/stdout) are written directly.
 */
#pragma once
#include "base/sink.h"

struct outfile {
    struct sink sink;
    int fd;
    char *path, *temporary; /* NULL: written directly */
};

bool outfile_open(struct outfile *f, const char *path, struct err *e) MUST_CHECK;
bool outfile_commit(struct outfile *f, struct err *e) MUST_CHECK;
void outfile_done(struct outfile *f); /* removes what was not committed */
DEFINE_OWN_IN_PLACE(outfile, struct outfile)

void outfile_abandon_all(void); /* may be called from a signal handler; nothing may be committed after it */

/* Makes the name of a file durable, not only its content; a file system that cannot is not an error. */
void outfile_sync_name(const char *path);
