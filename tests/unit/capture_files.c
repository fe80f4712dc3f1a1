/*
 * capture_files FOLDER - writes capture files whose content is known
 *
 * The seeds in tests/fuzz/corpus/inferom come from here, and so does the file
 * that tests/e2e/read_inferom.py reads by the word of the documentation.
 */
#include "capture_fixture.h"

static void keep(const char *folder, const char *name, struct view bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    own(fclose) FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes.at, 1, bytes.n, f) == bytes.n);
}

/* The payloads of a file, as tests/fuzz/fuzz_inferom.c takes them. */
static void payloads(struct view file, struct buf *out)
{
    own(reader) struct reader in;
    reader_over(&in, "file", file);
    own(chunk_reader) struct chunk_reader r;
    struct err e = {0};
    struct chunk c;
    CHECK(chunk_reader_init(&r, &in, &e));
    while (chunk_next(&r, &c, &e)) {
        uint8_t head[] = {(uint8_t)c.type, (uint8_t)c.payload.n, (uint8_t)(c.payload.n >> 8)};
        buf_add(out, head, sizeof head);
        buf_add(out, c.payload.at, c.payload.n);
    }
}

static void write_seeds(const char *folder)
{
    own(profile) struct profile *p = told_profile();
    own(buf) struct buf plain, packed, list;
    buf_init(&plain, 1 << 20);
    buf_init(&packed, 1 << 20);
    buf_init(&list, 1 << 20);
    write_bytes(p, CHUNK_PLAIN, &plain);
    write_bytes(p, CHUNK_PACKED, &packed);
    payloads(buf_view(&plain), &list);
    keep(folder, "plain.inferom", buf_view(&plain));
    keep(folder, "packed.inferom", buf_view(&packed));
    keep(folder, "payloads", buf_view(&list));
    keep(folder, "cut.inferom", (struct view){plain.data, plain.len * 3 / 5});
    plain.data[plain.len / 3] ^= 0x20;
    keep(folder, "flipped.inferom", buf_view(&plain));
    plain.data[1] ^= 1;
    keep(folder, "headless.inferom", buf_view(&plain));
}

/* The example of docs/formats/inferom.md. */
static void write_example(const char *folder)
{
    struct builder *b = builder_new();
    set_id cpu = builder_set(b, VIEW("cpu"), &(struct measure_spec){VIEW("cpu"), UNIT_NS, VIEW(""), 0}, 1);
    stack_id in_main = builder_push(b, STACK_ROOT, builder_frame_named(b, VIEW("main")));
    stack_id in_decode = builder_push(b, in_main, builder_frame_named(b, VIEW("decode")));
    builder_sample(b, cpu, 5000, CONTEXT_NONE, in_decode, (int64_t[]){1000});
    builder_sample(b, cpu, 6000, CONTEXT_NONE, in_main, (int64_t[]){1000});
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 20);
    write_bytes(p, CHUNK_PLAIN, &bytes);
    keep(folder, "example.inferom", buf_view(&bytes));
}

/* Tables of which only the latest counts: of two subjects, one of them told twice and a third time without its end. */
static void write_latest(const char *folder)
{
    own(buf) struct buf bytes, list;
    buf_init(&bytes, 1 << 20);
    buf_init(&list, 1 << 20);
    struct sink sink;
    sink_to_buf(&sink, &bytes);
    own(chunk_writer) struct chunk_writer w;
    chunk_writer_init(&w, &sink, 7, CHUNK_PLAIN);
    chunk_put(&w, CHUNK_STRINGS, 3, VIEW("\1\3\4main\4mean\2ps"));
    chunk_put(&w, CHUNK_FUNCTIONS, 1, VIEW("\1\1\1\0\0\0"));
    chunk_put(&w, CHUNK_FRAMES, 1, VIEW("\1\1\1\0\0\4"));
    chunk_put(&w, CHUNK_STACKS, 1, VIEW("\1\1\1\1"));
    chunk_put(&w, CHUNK_PROCESSES, 1, VIEW("\1\1\20\0\1"));
    chunk_put(&w, CHUNK_THREADS, 1, VIEW("\1\1\1\20\1"));
    chunk_put(&w, CHUNK_SAMPLES, 0, VIEW("\0\6scopes\1\5calls\0\0\0\0\0\0\0"));
    chunk_put(&w, CHUNK_LATEST, 1, VIEW("\1\1\1\1" "\0\1\1\1\4\1\2\0\10\3"));
    chunk_put(&w, CHUNK_LATEST, 1, VIEW("\2\2\1\1" "\0\1\1\1\12\0"));
    chunk_put(&w, CHUNK_LATEST, 1, VIEW("\1\3\0\1" "\0\1\1\1\6\1\2\0\12\3"));
    chunk_put(&w, CHUNK_LATEST, 1, VIEW("\1\3\1\1" "\0\1\1\1\20\0"));
    chunk_put(&w, CHUNK_LATEST, 1, VIEW("\1\4\0\1" "\0\1\1\1\40\0"));
    chunk_put_end(&w);
    CHECK(sink_flush(&sink, NULL));
    keep(folder, "latest.inferom", buf_view(&bytes));
    payloads(buf_view(&bytes), &list);
    keep(folder, "latest-payloads", buf_view(&list));
}

static void write_many(const char *folder)
{
    struct story s = {.names = builder_new()};
    tell_many(&s, 70000, 0); /* more than fits into one chunk */
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(s.names, &p, NULL));
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 28);
    write_bytes(p, CHUNK_PLAIN, &bytes);
    keep(folder, "many.inferom", buf_view(&bytes));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: capture_files FOLDER [--many]\n");
        return 2;
    }
    write_seeds(argv[1]);
    write_example(argv[1]);
    write_latest(argv[1]);
    if (argc == 3)
        write_many(argv[1]);
    return CHECK_DONE();
}
