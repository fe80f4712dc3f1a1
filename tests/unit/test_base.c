#include "base/arena.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/intern.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/reader.h"
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char dir[] = "/tmp/inferom-test-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void check_errors(void)
{
    struct err e = {0};
    CHECK(!err_set(&e, ERR_MALFORMED, "no count after %s", "the stack"));
    CHECK(!err_hint(&e, "add one"));
    CHECK(!err_in(&e, "line %d", 7));
    CHECK(!err_in(&e, "run.folded"));
    CHECK_STR(e.text, "run.folded: line 7: no count after the stack");
    CHECK_STR(e.hint, "add one");
    CHECK_EQ(err_exit_status(e.kind), 6);
    CHECK_EQ(err_http_status(e.kind), 422);
    CHECK(strlen(err_meaning(e.kind)) > 0);
    errno = ENOENT;
    CHECK(!err_os(&e, "opening %s", "x"));
    CHECK_EQ(e.kind, ERR_NOT_FOUND);
    CHECK_STR(e.text, "opening x: No such file or directory");
    CHECK_STR(e.hint, "");
    static const struct { int os; enum err_kind kind; } kinds[] = {
        {EACCES, ERR_DENIED}, {EROFS, ERR_DENIED}, {ENOSYS, ERR_UNSUPPORTED}, {ENOSPC, ERR_IO}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        errno = kinds[i].os;
        CHECK(!err_os(&e, "x"));
        CHECK_EQ(e.kind, kinds[i].kind);
    }
    char long_name[2000];
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    CHECK(!err_in(&e, "%s", long_name));
    CHECK_EQ(strlen(e.text), sizeof e.text - 1);
    CHECK(!err_set(NULL, ERR_IO, "x") && !err_os(NULL, "x") && !err_in(NULL, "x") && !err_hint(NULL, "x"));
}

static void check_buf(void)
{
    own(buf) struct buf b;
    buf_init(&b, 10);
    CHECK_STR(b.data, "");
    buf_puts(&b, "abc");
    buf_printf(&b, "%d", 42);
    CHECK_STR(b.data, "abc42");
    buf_puts(&b, "123456");
    CHECK(b.full);
    CHECK_STR(b.data, "abc42");
    buf_puts(&b, "x"); /* once full, always full: nothing is left out in the middle */
    CHECK_STR(b.data, "abc42");
    buf_clear(&b);
    CHECK(!b.full && b.len == 0);
    CHECK(buf_room(&b, 10) && !buf_room(&b, 1));
}

static void check_arena_and_intern(void)
{
    own(arena) struct arena a = {0};
    char *last = NULL;
    for (int i = 0; i < 10000; i++) {
        char *p = arena_new(&a, (size_t)i % 70);
        CHECK(((uintptr_t)p & 15) == 0);
        if (i % 70)
            p[i % 70 - 1] = 'x';
        last = p;
    }
    CHECK(last && a.held_bytes > 10000 * 30);
    CHECK(arena_new(&a, 5 << 20));

    struct interner in;
    intern_init(&in);
    CHECK_EQ(intern(&in, VIEW("")), 0);
    uint32_t first = intern(&in, VIEW("a\0b"));
    for (int i = 0; i < 100000; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        CHECK_EQ(intern(&in, view_of(name)), first + 1 + (uint32_t)i);
    }
    CHECK_EQ(intern(&in, VIEW("a\0b")), first);
    CHECK_EQ(intern(&in, VIEW("n77")), first + 78);
    CHECK_EQ(in.n, 100002);
    intern_done(&in);
}

/* Keys that a weak hash would put in one place: only their high bits differ. */
static bool same_number(const void *table, uint32_t row, const void *key)
{
    return ((const uint64_t *)table)[row] == *(const uint64_t *)key;
}

static void check_hostile_keys(void)
{
    enum { N = 50000 };
    static uint64_t keys[N];
    struct idmap m;
    idmap_init(&m);
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = (uint64_t)i << 40;
        uint64_t h = idmap_hash(&m, &keys[i], sizeof keys[i]);
        CHECK(idmap_find(&m, h, same_number, keys, &keys[i]) == IDMAP_NONE);
        idmap_add(&m, h, i);
    }
    size_t farthest = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint64_t h = idmap_hash(&m, &keys[i], sizeof keys[i]);
        CHECK_EQ(idmap_find(&m, h, same_number, keys, &keys[i]), i);
        size_t home = idmap_tag(h) & m.mask, at = home;
        while (m.slots[at].row != i)
            at = (at + 1) & m.mask;
        size_t away = (at - home) & m.mask;
        farthest = away > farthest ? away : farthest;
    }
    CHECK(farthest < 200);
    idmap_done(&m);
}

static void write_file(const char *path, struct view bytes)
{
    own(close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(write(fd, bytes.at, bytes.n) == (ssize_t)bytes.n);
}

static void check_reader(void)
{
    const char *path = in_dir("lines");
    own(buf) struct buf text;
    buf_init(&text, 4 << 20);
    buf_puts(&text, "first\r\n\n");
    for (int i = 0; i < 1000000; i++)
        buf_puts(&text, "x");
    buf_puts(&text, "\nlast");
    write_file(path, buf_view(&text));

    own(reader) struct reader r;
    struct err e = {0};
    CHECK(reader_open(&r, path, &e));
    static const size_t lengths[] = {5, 0, 1000000, 4};
    struct view line;
    for (size_t i = 0; i < 4; i++) {
        CHECK(reader_line(&r, &line, &e));
        CHECK_EQ(line.n, lengths[i]);
        CHECK_EQ(r.line_no, i + 1);
    }
    CHECK(!reader_line(&r, &line, &e) && !e.kind);
    CHECK_EQ(reader_offset(&r), text.len);

    own(reader) struct reader bounded;
    CHECK(reader_open(&bounded, path, &e));
    bounded.most_window = 300 << 10;
    CHECK(reader_line(&bounded, &line, &e) && reader_line(&bounded, &line, &e));
    CHECK(!reader_line(&bounded, &line, &e));
    CHECK_EQ(e.kind, ERR_LIMIT);
    CHECK(strstr(e.text, "line 3: ") == e.text);

    struct reader none;
    CHECK(!reader_open(&none, in_dir("nothing"), &e));
    CHECK_EQ(e.kind, ERR_NOT_FOUND);
    CHECK(!reader_open(&none, dir, &e));
    CHECK_EQ(e.kind, ERR_USAGE);
}

static bool refuse(void *self, struct view bytes, struct err *e)
{
    *(size_t *)self += bytes.n;
    return err_set(e, ERR_IO, "full");
}

static void check_sink(void)
{
    own(buf) struct buf b;
    buf_init(&b, 1 << 20);
    struct sink s;
    struct err e = {0};
    sink_to_buf(&s, &b);
    for (int i = 0; i < 20000; i++)
        sink_printf(&s, "%d\n", i % 10);
    char large[40000];
    memset(large, 'y', sizeof large);
    sink_add(&s, (struct view){large, sizeof large});
    sink_printf(&s, "%.300s", large);
    CHECK(sink_flush(&s, &e));
    CHECK_EQ(b.len, 20000 * 2 + 40000 + 300);
    CHECK_EQ(s.written, b.len);

    struct buf tiny;
    buf_init(&tiny, 3);
    sink_to_buf(&s, &tiny);
    sink_puts(&s, "four");
    CHECK(!sink_flush(&s, &e));
    CHECK_EQ(e.kind, ERR_LIMIT);
    buf_done(&tiny);

    size_t seen = 0;
    sink_to_function(&s, refuse, &seen);
    sink_puts(&s, "abc");
    CHECK(!sink_flush(&s, &e) && !sink_flush(&s, &e));
    sink_puts(&s, "not sent: the first failure stands");
    CHECK(!sink_flush(&s, &e));
    CHECK_EQ(seen, 3);

    own(close) int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    sink_to_fd(&s, full, "the disk");
    sink_puts(&s, "abc");
    CHECK(!sink_flush(&s, &e));
    CHECK_STR(e.text, "the disk: writing: No space left on device");
}

static size_t files_in_dir(void)
{
    DIR *d = opendir(dir);
    size_t n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void check_outfile(void)
{
    const char *path = in_dir("out");
    size_t before = files_in_dir();
    struct err e = {0};
    {
        own(outfile) struct outfile f;
        CHECK(outfile_open(&f, path, &e));
        sink_puts(&f.sink, "half");
    } /* abandoned: as if it had never been */
    CHECK(access(path, F_OK) != 0);
    CHECK_EQ(files_in_dir(), before);

    own(outfile) struct outfile f;
    CHECK(outfile_open(&f, path, &e));
    sink_puts(&f.sink, "whole");
    CHECK(outfile_commit(&f, &e));
    struct stat st;
    CHECK(stat(path, &st) == 0 && st.st_size == 5 && (st.st_mode & 0777) == 0600);
    CHECK_EQ(files_in_dir(), before + 1);

    /* What a signal handler does: all that is being written goes, what is whole stays. */
    own(outfile) struct outfile one, two;
    CHECK(outfile_open(&one, path, &e) && outfile_open(&two, in_dir("two"), &e));
    CHECK_EQ(files_in_dir(), before + 3);
    outfile_abandon_all();
    CHECK_EQ(files_in_dir(), before + 1);
    CHECK(access(in_dir("out"), F_OK) == 0);

    struct outfile bad;
    CHECK(!outfile_open(&bad, dir, &e));
    CHECK_EQ(e.kind, ERR_USAGE);
    CHECK(!outfile_open(&bad, "/nowhere/at/all", &e));
    CHECK_EQ(e.kind, ERR_NOT_FOUND);

    own(outfile) struct outfile device;
    CHECK(outfile_open(&device, "/dev/full", &e));
    sink_puts(&device.sink, "x");
    CHECK(!outfile_commit(&device, &e));
    CHECK_EQ(e.kind, ERR_IO);
}

static void check_clock_log_progress(void)
{
    uint64_t a = clock_monotonic_ns(), b = clock_monotonic_ns();
    CHECK(b >= a);
    int64_t first = clock_wall_offset_ns(), second = clock_wall_offset_ns();
    CHECK(llabs(first - second) < INT64_C(1000000000));

    own(close) int keep = dup(STDERR_FILENO);
    const char *path = in_dir("stderr");
    own(close) int log = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(log, STDERR_FILENO);
    log_info("not shown");
    log_set_level(LOG_INFO);
    log_info("shown %d", 1);
    log_set_level(LOG_WARN);
    struct progress p = progress_begin("work", 10);
    progress_at(&p, 5); /* nobody switched it on */
    progress_enable(true);
    p = progress_begin("work", 10);
    progress_at(&p, 5); /* too soon to be of interest */
    p.begun_ns -= UINT64_C(1000000000);
    progress_at(&p, 5);
    p.total = 0;
    p.drawn_ns = 0;
    progress_at(&p, 7);
    progress_end(&p);
    progress_end(&p);
    progress_enable(false);
    dup2(keep, STDERR_FILENO);
    char text[256] = "";
    CHECK(pread(log, text, sizeof text - 1, 0) > 0);
    CHECK_STR(text, "inferom: info: shown 1\n\r\033[Kwork   50 %  1 s\r\033[Kwork  7  1 s\r\033[K");
}

int main(void)
{
    CHECK(mkdtemp(dir) != NULL);
    check_errors();
    check_buf();
    check_arena_and_intern();
    check_hostile_keys();
    check_reader();
    check_sink();
    check_outfile();
    check_clock_log_progress();
    char command[160];
    snprintf(command, sizeof command, "rm -r %s", dir);
    CHECK_EQ(system(command), 0);
    return CHECK_DONE();
}
