/*
 * capture_file.h - a capture file (docs/formats/inferom.md), written in one go by a guest
 *
 * The program's own writer (src/model/capture_writer.h) is not for guests: it would bring zstd, and a
 * library that others link should need nothing but libc. What is here writes the same format, without packing. Rows
 * are collected table by table and written at the end in the order of the format, so that every prefix makes sense.
 *
 *     struct capture c = {0};
 *     uint32_t name = capture_string(&c, "decode");
 *     ...
 *     int error = capture_save(&c, path);      // a negative errno; nothing is left of a file that failed
 *     capture_done(&c);
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum capture_type {
    CAPTURE_INDEX = 1, CAPTURE_STRINGS, CAPTURE_MAPPINGS, CAPTURE_FUNCTIONS, CAPTURE_FRAMES, CAPTURE_STACKS, CAPTURE_PROCESSES,
    CAPTURE_THREADS, CAPTURE_LABELS, CAPTURE_CONTEXTS, CAPTURE_SAMPLES, CAPTURE_SPANS, CAPTURE_SPAN_CHANGES, CAPTURE_READINGS,
    CAPTURE_FACTS, CAPTURE_LOSSES, CAPTURE_CLOCK, CAPTURE_TYPES
};

struct bytes {
    uint8_t *at;
    size_t n, cap;
    bool failed; /* no memory */
};

void bytes_done(struct bytes *b);
void put_raw(struct bytes *b, const void *from, size_t n);
void put_varint(struct bytes *b, uint64_t v);
void put_signed(struct bytes *b, int64_t v);
void put_text(struct bytes *b, const char *text);
void put_double(struct bytes *b, double v);

/* Rows of one table, in pieces that fit into a chunk. */
struct piece {
    struct bytes rows;
    uint32_t first, n;
};

struct capture {
    struct {
        struct piece *pieces;
        size_t n, cap;
        uint32_t rows;
    } tables[CAPTURE_TYPES];
    bool failed;
};

/* Where to put the next row of a table with ids; its id is in *out_id. */
struct bytes *capture_row(struct capture *c, enum capture_type type, uint32_t *out_id);
/* Where to put a whole payload of one of the other types. */
struct bytes *capture_payload(struct capture *c, enum capture_type type, uint32_t rows);

uint32_t capture_string(struct capture *c, const char *text); /* the same text twice is two rows; readers make one of them */

int capture_save(struct capture *c, const char *path);
void capture_done(struct capture *c);
