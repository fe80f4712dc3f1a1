#include "base/outfile.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdatomic.h>
#include <sys/stat.h>

/*
 * The temporaries there are now, for the signal handler. Only what fits is
 * removed by it; a program that writes more files at once than this is killed
 * less tidily, and still leaves every old file as it was.
 */
static _Atomic(char *) temporaries[16];

static void swap_temporary(char *from, char *to)
{
    for (size_t i = 0; i < sizeof temporaries / sizeof *temporaries; i++) {
        char *expected = from;
        if (atomic_compare_exchange_strong(&temporaries[i], &expected, to))
            return;
    }
}

void outfile_abandon_all(void)
{
    for (size_t i = 0; i < sizeof temporaries / sizeof *temporaries; i++) {
        const char *path = atomic_load(&temporaries[i]);
        if (path)
            unlink(path);
    }
}

static void forget_temporary(struct outfile *f)
{
    if (f->temporary)
        swap_temporary(f->temporary, NULL);
    free(take(f->temporary));
}

static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool open_directly(struct outfile *f, const char *path, struct err *e)
{
    bool to_stdout = !strcmp(path, "-");
    f->fd = to_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_WRONLY | O_CLOEXEC);
    if (f->fd < 0)
        return err_os(e, "%s", path);
    sink_to_fd(&f->sink, f->fd, to_stdout ? "standard output" : f->path);
    return true;
}

/* A profile tells where a program spends its time and what its parts are called: for its owner's eyes. */
static bool open_beside(struct outfile *f, struct err *e)
{
    if (asprintf(&f->temporary, "%s.part-%ld-XXXXXX", f->path, (long)getpid()) < 0)
        f->temporary = NULL;
    f->fd = f->temporary ? mkostemp(f->temporary, O_CLOEXEC) : -1;
    if (f->fd < 0) {
        err_os(e, "creating %s", f->path);
        free(take(f->temporary));
        return false;
    }
    swap_temporary(NULL, f->temporary);
    sink_to_fd(&f->sink, f->fd, f->path);
    return true;
}

bool outfile_open(struct outfile *f, const char *path, struct err *e)
{
    f->fd = -1;
    f->temporary = NULL;
    f->path = mem_text(path, strlen(path));
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        outfile_done(f);
        return err_set(e, ERR_USAGE, "%s: this is a directory, not a file", path);
    }
    bool direct = !strcmp(path, "-") || is_special(path);
    if (direct ? open_directly(f, path, e) : open_beside(f, e))
        return true;
    outfile_done(f);
    return false;
}

/* Without this a power cut right after a rename may bring the old name back. */
void outfile_sync_name(const char *path)
{
    own(free) char *copy = mem_text(path, strlen(path));
    own(close) int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0)
        (void)fsync(dir); /* some file systems cannot; the rename itself stands */
}

bool outfile_commit(struct outfile *f, struct err *e)
{
    if (!sink_flush(&f->sink, e))
        return false;
    if (!f->temporary)
        return true;
    if (fsync(f->fd) < 0)
        return err_os(e, "%s: writing", f->path);
    if (rename(f->temporary, f->path) < 0)
        return err_os(e, "naming %s", f->path);
    forget_temporary(f);
    outfile_sync_name(f->path);
    return true;
}

void outfile_done(struct outfile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->temporary)
        unlink(f->temporary);
    forget_temporary(f);
    free(take(f->path));
    f->fd = -1;
}
