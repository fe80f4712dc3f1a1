/*
 * A file that grows: each refresh reads from where the last one stopped. Compilers throw
 * code away and put other code in its place without saying so; the newest name for an
 * address is the one to believe.
 */
#include "base/mem.h"
#include "symbols/jit_pieces.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define WINDOW ((size_t)1 << 20) /* longer than any line or record we care for */
#define NAMES_MOST ((size_t)512 << 20)
#define ROWS_MOST ((size_t)1 << 20) /* before they are settled, to bound memory */

struct jit_symbols {
    char *path;
    bool is_dump;
    uint64_t offset;
    dev_t device;
    ino_t inode;
    struct jit_pieces pieces;
};

void jit_pieces_add(struct jit_pieces *p, uint64_t start, uint64_t bytes, struct view name)
{
    if (!bytes || !name.n || bytes > UINT64_MAX - start)
        return;
    if (name.n > JIT_NAME_MOST)
        name.n = JIT_NAME_MOST;
    uint32_t row = intern(&p->names, name); /* first: it may move the rows */
    struct view kept = p->names.rows[row];
    if (p->n == ROWS_MOST)
        jit_pieces_settle(p);
    GROW(p->rows, p->cap, p->n + 1);
    p->rows[p->n] = (struct name_range){start, start + bytes, kept.at, (uint32_t)kept.n, (uint32_t)p->n};
    p->n++;
}

void jit_pieces_settle(struct jit_pieces *p)
{
    if (!p->n)
        return;
    own(name_ranges) struct name_ranges newer = name_ranges_make(p->rows, p->n);
    name_ranges_cover(&p->ranges, &newer);
    p->n = 0;
}

/* Names that were handed out stay good. */
static void forget(struct jit_symbols *j)
{
    name_ranges_done(&j->pieces.ranges);
    j->pieces.n = 0;
    j->offset = 0;
}

static bool take_window(struct jit_symbols *j, struct jit_input *in, struct err *e)
{
    if (!in->offset)
        j->is_dump = jitdump_is(in->bytes);
    uint64_t used = 0;
    if (!(j->is_dump ? jitdump_parse : perf_map_parse)(&j->pieces, in, &used, e))
        return false;
    if (!used && in->bytes.n == WINDOW)
        return err_set(e, ERR_LIMIT, "byte %llu: a line or record of more than %zu bytes", (unsigned long long)in->offset, WINDOW);
    j->offset += used;
    in->bytes.n = used ? in->bytes.n : 0; /* nothing whole in it: wait for more */
    if (j->pieces.names.texts.held_bytes > NAMES_MOST)
        return err_set(e, ERR_LIMIT, "more than %zu MiB of names", NAMES_MOST >> 20);
    return true;
}

static bool read_on(struct jit_symbols *j, int fd, uint64_t size, struct err *e)
{
    if (j->offset >= size)
        return true;
    const size_t most = size - j->offset < WINDOW ? (size_t)(size - j->offset) : WINDOW;
    own(free) char *window = mem_resize(NULL, most);
    while (j->offset < size) {
        uint64_t left = size - j->offset;
        ssize_t got = pread(fd, window, left < most ? (size_t)left : most, (off_t)j->offset);
        if (got < 0)
            return err_os(e, "reading");
        struct jit_input in = {{window, (size_t)got}, j->offset, left};
        if (got == 0 || !take_window(j, &in, e))
            return got == 0;
        if (!in.bytes.n)
            break;
    }
    return true;
}

bool jit_symbols_refresh(struct jit_symbols *j, struct err *e)
{
    own(close) int fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 && errno == ENOENT && j->offset)
        return true; /* the program is over and has cleaned up; what it said stays true */
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_os(e, "%s", j->path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_MALFORMED, "%s: not a regular file", j->path);
    if (st.st_dev != j->device || st.st_ino != j->inode || (uint64_t)st.st_size < j->offset)
        forget(j); /* another file under that name, or begun again */
    j->device = st.st_dev;
    j->inode = st.st_ino;
    bool ok = read_on(j, fd, (uint64_t)st.st_size, e);
    jit_pieces_settle(&j->pieces);
    return ok || err_in(e, "%s", j->path);
}

bool jit_symbols_open(struct jit_symbols **out, const char *path, struct err *e)
{
    own(jit_symbols) struct jit_symbols *j = mem_new(sizeof *j);
    j->path = mem_text(path, strlen(path));
    intern_init(&j->pieces.names);
    if (!jit_symbols_refresh(j, e))
        return false;
    *out = take(j);
    return true;
}

void jit_symbols_free(struct jit_symbols *j)
{
    if (!j)
        return;
    name_ranges_done(&j->pieces.ranges);
    intern_done(&j->pieces.names);
    free(j->pieces.rows);
    free(j->path);
    free(j);
}

struct view jit_symbols_at(const struct jit_symbols *j, uint64_t address) { return name_ranges_at(&j->pieces.ranges, address); }
