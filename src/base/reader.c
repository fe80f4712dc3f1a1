#include "base/reader.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define FIRST_WINDOW ((size_t)256 << 10)
#define LARGEST_WINDOW ((size_t)256 << 20)

bool reader_open(struct reader *r, const char *path, struct err *e)
{
    bool from_stdin = !strcmp(path, "-");
    *r = (struct reader){.name = from_stdin ? "standard input" : path, .fd = -1, .most_window = LARGEST_WINDOW};
    int fd = from_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_os(e, "%s", r->name);
    struct stat st;
    if (fstat(fd, &st) < 0)
        st.st_mode = 0;
    if (S_ISDIR(st.st_mode)) {
        close(fd);
        return err_set(e, ERR_USAGE, "%s: this is a directory, not a file", path);
    }
    r->fd = fd;
    r->progress = progress_begin(r->name, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
    return true;
}

void reader_over(struct reader *r, const char *name, struct view bytes)
{
    *r = (struct reader){.name = name, .fd = -1, .ended = true, .most_window = LARGEST_WINDOW};
    r->window = (char *)(uintptr_t)bytes.at; /* never written: an ended reader does not refill */
    r->end = bytes.n;
}

void reader_done(struct reader *r)
{
    if (r->cap)
        free(r->window);
    if (r->fd >= 0)
        close(r->fd);
    progress_end(&r->progress);
    *r = (struct reader){.fd = -1, .ended = true};
}

/* Moves what is left to the front and makes place behind it. */
static void make_room(struct reader *r, size_t want)
{
    size_t left = r->end - r->at;
    if (r->at && left)
        memmove(r->window, r->window + r->at, left);
    r->offset += r->at;
    r->at = 0;
    r->end = left;
    if (want < FIRST_WINDOW)
        want = FIRST_WINDOW;
    if (want > r->cap)
        r->window = mem_grow(r->window, &r->cap, want, 1);
}

bool reader_fill(struct reader *r, size_t want, struct err *e)
{
    if (r->ended || r->end - r->at >= want)
        return true;
    if (want > r->most_window)
        return err_set(e, ERR_LIMIT, "a single piece of more than %zu MiB", r->most_window >> 20);
    make_room(r, want);
    progress_at(&r->progress, r->offset);
    while (!r->ended && r->end < want) {
        ssize_t n = read(r->fd, r->window + r->end, r->cap - r->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_os(e, "reading");
        r->ended = n == 0;
        r->end += (size_t)n;
    }
    return true;
}

bool reader_line(struct reader *r, struct view *out_line, struct err *e)
{
    size_t searched = 0;
    const char *eol;
    for (;;) {
        struct view here = reader_here(r);
        eol = here.n > searched ? memchr(here.at + searched, '\n', here.n - searched) : NULL;
        if (eol || r->ended)
            break;
        searched = here.n;
        /* Ask for twice what did not suffice, so that a long line is searched once, not squared. */
        if (!reader_fill(r, here.n < FIRST_WINDOW ? FIRST_WINDOW : here.n * 2, e))
            return err_in(e, "line %llu", (unsigned long long)r->line_no + 1);
    }
    struct view here = reader_here(r);
    if (!here.n)
        return false;
    struct view line = {here.at, eol ? (size_t)(eol - here.at) : here.n};
    reader_skip(r, eol ? line.n + 1 : line.n);
    r->line_no++;
    if (line.n && line.at[line.n - 1] == '\r')
        line.n--;
    *out_line = line;
    return true;
}
