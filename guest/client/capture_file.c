#include "capture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* All of it in this file: nothing to link, nothing that others see. */
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PIECE_ROWS = 1 << 15, PIECE_BYTES = 1 << 20, FILE_HEAD = 32, CHUNK_HEAD = 48, TRAILER = 32 };

/* Bytes. */

void bytes_done(struct bytes *b) { free(b->at); }

void put_raw(struct bytes *b, const void *from, size_t n)
{
    if (b->n + n > b->cap && !b->failed) {
        size_t cap = 2 * (b->n + n) + 64;
        uint8_t *more = realloc(b->at, cap);
        b->failed = !more;
        b->at = more ? more : b->at;
        b->cap = more ? cap : b->cap;
    }
    if (b->failed)
        return;
    if (n)
        memcpy(b->at + b->n, from, n);
    b->n += n;
}

void put_varint(struct bytes *b, uint64_t v)
{
    uint8_t packed[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        packed[n++] = (uint8_t)(v | 0x80);
    packed[n++] = (uint8_t)v;
    put_raw(b, packed, n);
}

void put_signed(struct bytes *b, int64_t v) { put_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63)); }

void put_text(struct bytes *b, const char *text)
{
    size_t n = strnlen(text, 1 << 20);
    put_varint(b, n);
    put_raw(b, text, n);
}

static void put_fixed(struct bytes *b, uint64_t v, size_t n)
{
    uint8_t at[8];
    for (size_t i = 0; i < n; i++)
        at[i] = (uint8_t)(v >> 8 * i);
    put_raw(b, at, n);
}

void put_double(struct bytes *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_fixed(b, bits, 8);
}

/* Tables. */

static struct piece *piece_new(struct capture *c, enum capture_type type)
{
    if (!c->tables[type].pieces || c->tables[type].n == c->tables[type].cap) {
        size_t cap = 2 * c->tables[type].cap + 4;
        struct piece *more = realloc(c->tables[type].pieces, cap * sizeof *more);
        if (!more) {
            c->failed = true;
            return NULL;
        }
        c->tables[type].pieces = more;
        c->tables[type].cap = cap;
    }
    struct piece *p = &c->tables[type].pieces[c->tables[type].n++];
    *p = (struct piece){.first = c->tables[type].rows + 1};
    return p;
}

struct bytes *capture_row(struct capture *c, enum capture_type type, uint32_t *out_id)
{
    static struct bytes nowhere = {.failed = true};
    size_t n = c->tables[type].n;
    struct piece *p = n ? &c->tables[type].pieces[n - 1] : NULL;
    if (!p || p->n == PIECE_ROWS || p->rows.n > PIECE_BYTES)
        p = piece_new(c, type);
    *out_id = ++c->tables[type].rows;
    if (!p)
        return &nowhere;
    p->n++;
    return &p->rows;
}

struct bytes *capture_payload(struct capture *c, enum capture_type type, uint32_t rows)
{
    static struct bytes nowhere = {.failed = true};
    struct piece *p = piece_new(c, type);
    if (!p)
        return &nowhere;
    p->first = 0;
    p->n = rows;
    return &p->rows;
}

uint32_t capture_string(struct capture *c, const char *text)
{
    uint32_t id = 0;
    if (text && *text)
        put_text(capture_row(c, CAPTURE_STRINGS, &id), text);
    return id;
}

void capture_done(struct capture *c)
{
    for (size_t t = 0; t < CAPTURE_TYPES; t++) {
        for (size_t i = 0; i < c->tables[t].n; i++)
            bytes_done(&c->tables[t].pieces[i].rows);
        free(c->tables[t].pieces);
    }
}

/* The file. */

struct image {
    struct bytes out, index;
    uint64_t file_id;
    uint32_t chunks;
};

/* The checksum of what was put since `from` goes behind it. */
static uint64_t checksum(const struct bytes *b, size_t from)
{
    static const uint8_t nothing[1];
    return b->failed || !b->at ? XXH64(nothing, 0, 0) : XXH64(b->at + from, b->n - from, 0);
}

static void seal(struct bytes *b, size_t from) { put_fixed(b, checksum(b, from), 8); }

static void put_chunk(struct image *f, enum capture_type type, uint32_t rows, const struct bytes *head, const struct bytes *payload)
{
    struct bytes whole = {0};
    size_t from = f->out.n;
    if (head)
        put_raw(&whole, head->at, head->n);
    put_raw(&whole, payload->at, payload->n);
    f->out.failed |= whole.failed || payload->failed;
    put_raw(&f->out, "\x8aIFMCHNK", 8);
    put_fixed(&f->out, f->file_id, 8);
    put_fixed(&f->out, type, 2);
    put_fixed(&f->out, 0, 2);
    put_fixed(&f->out, f->chunks, 4);
    put_fixed(&f->out, whole.n, 4);
    put_fixed(&f->out, whole.n, 4);
    put_fixed(&f->out, checksum(&whole, 0), 8);
    seal(&f->out, from);
    put_raw(&f->out, whole.at, whole.n);
    put_varint(&f->index, type);
    put_varint(&f->index, rows);
    put_varint(&f->index, whole.n);
    f->chunks++;
    bytes_done(&whole);
}

static void put_piece(struct image *f, enum capture_type type, const struct piece *p)
{
    struct bytes head = {0};
    put_varint(&head, p->first);
    put_varint(&head, p->n);
    put_chunk(f, type, p->n, p->first ? &head : NULL, &p->rows);
    bytes_done(&head);
}

static uint64_t random_id(void)
{
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) == (ssize_t)sizeof id)
        return id;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ((uint64_t)t.tv_sec * 1000000007u + (uint64_t)t.tv_nsec) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)getpid();
}

static void build(struct image *f, const struct capture *c)
{
    f->file_id = random_id();
    put_raw(&f->out, "\x89INFEROM\r\n\x1a\n", 12);
    put_fixed(&f->out, 1, 2);
    put_fixed(&f->out, 0, 2);
    put_fixed(&f->out, f->file_id, 8);
    seal(&f->out, 0);
    for (size_t t = CAPTURE_STRINGS; t < CAPTURE_TYPES; t++)
        for (size_t i = 0; i < c->tables[t].n; i++)
            put_piece(f, (enum capture_type)t, &c->tables[t].pieces[i]);
    uint64_t index_at = f->out.n;
    struct bytes index = {0};
    put_varint(&index, f->chunks);
    put_varint(&index, f->chunks);
    put_raw(&index, f->index.at, f->index.n);
    put_chunk(f, CAPTURE_INDEX, f->chunks, NULL, &index);
    bytes_done(&index);
    size_t trailer = f->out.n;
    put_raw(&f->out, "\x8aIFMDONE", 8);
    put_fixed(&f->out, f->file_id, 8);
    put_fixed(&f->out, index_at, 8);
    seal(&f->out, trailer);
}

static int write_all(int fd, const struct bytes *b)
{
    for (size_t at = 0; at < b->n;) {
        ssize_t n = write(fd, b->at + at, b->n - at);
        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int write_and_close(int fd, const struct bytes *b)
{
    int error = write_all(fd, b);
    if (close(fd) < 0 && !error)
        error = -errno;
    return error;
}

/* A pipe, a terminal, a device: it stays what it is, and is written to. */
static int save_into(const struct bytes *b, const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? -errno : write_and_close(fd, b);
}

/* Beside its place, and then put there whole: whoever looks sees the old file or the new one. */
static int save(const struct bytes *b, const char *path)
{
    char beside[4096];
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return save_into(b, path);
    if ((size_t)snprintf(beside, sizeof beside, "%s.%d.tmp", path, (int)getpid()) >= sizeof beside)
        return -ENAMETOOLONG;
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    int error = write_and_close(fd, b);
    if (!error && rename(beside, path) < 0)
        error = -errno;
    if (error)
        unlink(beside);
    return error;
}

int capture_save(struct capture *c, const char *path)
{
    struct image f = {0};
    build(&f, c);
    bool failed = c->failed || f.out.failed || f.index.failed;
    int error = failed ? -ENOMEM : save(&f.out, path);
    bytes_done(&f.out);
    bytes_done(&f.index);
    return error;
}
