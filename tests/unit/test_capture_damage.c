/*
 * A thousand files with one byte wrong each: everything that byte did not belong
 * to comes back, and what did not is said. And files written to deceive.
 */
#include "capture_fixture.h"
#include "model/packing.h"

#include <xxhash.h>

#define FLIPS 1000
#define SAMPLES 6000
#define CHAPTER 400

struct place {
    uint64_t from, to;
    enum chunk_type type;
    size_t rows;
};

struct map {
    struct place places[512];
    size_t n;
};

static void record(struct buf *out)
{
    char path[64];
    snprintf(path, sizeof path, "test_damage_%ld.inferom", (long)getpid());
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, path, 0, NULL));
    struct story s = {.names = capture_names(w), .writer = w};
    tell_everything(&s);
    tell_many(&s, SAMPLES, CHAPTER);
    CHECK(capture_close(w, NULL));
    own(fclose) FILE *f = fopen(path, "rb");
    buf_init(out, 1 << 24);
    char *all = buf_room(out, capture_written_bytes(w));
    CHECK_EQ(fread(all, 1, out->len, f), out->len);
    unlink(path);
}

/* The number of samples stands behind the definition of their set. */
static size_t samples_in(struct view payload)
{
    struct cursor c = cursor_over(payload);
    cursor_varint(&c);
    cursor_text(&c);
    for (uint64_t m = cursor_varint(&c); m; m--) {
        cursor_text(&c);
        cursor_varint(&c);
        cursor_text(&c);
        cursor_varint(&c);
    }
    cursor_varint(&c);
    cursor_signed(&c);
    return (size_t)cursor_varint(&c);
}

static void draw_map(struct view bytes, struct map *out)
{
    own(reader) struct reader in;
    reader_over(&in, "map", bytes);
    own(chunk_reader) struct chunk_reader r;
    struct err e = {0};
    CHECK(chunk_reader_init(&r, &in, &e));
    struct chunk c;
    for (out->n = 0; chunk_next(&r, &c, &e); out->n++)
        out->places[out->n] = (struct place){c.offset, c.offset + c.stored_bytes, c.type,
                                             c.type == CHUNK_SAMPLES ? samples_in(c.payload) : 0};
}

static const struct place *place_of(const struct map *m, uint64_t offset)
{
    for (size_t i = 0; i < m->n; i++)
        if (offset >= m->places[i].from && offset < m->places[i].to)
            return &m->places[i];
    return NULL;
}

/* Which sample chunks were hit, and nothing else, decides how many samples there are. */
static void check_flip(struct view bytes, const struct map *map, size_t total, uint64_t at)
{
    struct capture_report report;
    struct err e = {0};
    own(profile) struct profile *p = read_bytes(bytes, &report, &e);
    const struct place *hit = place_of(map, at);
    CHECK(p != NULL);
    CHECK_EQ(count_samples(p) + report.lost_samples, total - (hit ? hit->rows : 0));
    CHECK(p && profile_damages(p) > 0);
    CHECK(report.is_closed);
    CHECK_EQ(report.damaged_places, 1);
    if (hit && hit->type != CHUNK_STACKS && hit->type != CHUNK_CONTEXTS)
        CHECK_EQ(report.lost_samples, 0);
    if (hit && hit->type != CHUNK_INDEX)
        CHECK_EQ(report.lost_chunks, 1);
    if (check_failures)
        printf("... with the byte at offset %llu wrong, in %s\n", (unsigned long long)at, hit ? chunk_type_names[hit->type] : "no chunk");
}

static void check_flips(void)
{
    own(buf) struct buf bytes;
    static struct map map;
    record(&bytes);
    draw_map(buf_view(&bytes), &map);
    own(profile) struct profile *whole = read_bytes(buf_view(&bytes), NULL, NULL);
    size_t total = count_samples(whole);
    CHECK_EQ(total, SAMPLES + 4);
    uint64_t random = 20261115;
    for (int i = 0; i < FLIPS && !check_failures; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(random >> 20) % bytes.len;
        char wrong = (char)(1 + (random >> 12) % 255);
        bytes.data[at] ^= wrong;
        check_flip(buf_view(&bytes), &map, total, at);
        bytes.data[at] ^= wrong;
    }
    printf("%d files with one byte wrong, %zu bytes in %zu chunks each\n", FLIPS, bytes.len, map.n);
}

static void check_many_holes(void)
{
    own(buf) struct buf bytes;
    static struct map map;
    record(&bytes);
    draw_map(buf_view(&bytes), &map);
    size_t left = 0, holes = 0;
    for (size_t i = 0; i < map.n; i++) {
        bool dig = map.places[i].type == CHUNK_SAMPLES && i % 3;
        if (dig)
            bytes.data[map.places[i].from + 3] ^= 1;
        left += dig ? 0 : map.places[i].rows;
        holes += dig;
    }
    struct capture_report report;
    own(profile) struct profile *p = read_bytes(buf_view(&bytes), &report, NULL);
    CHECK_EQ(count_samples(p), left);
    CHECK_EQ(report.lost_chunks, holes);
    CHECK(holes > 3);
}

/* What is lost keeps its place under another name; it is never mistaken for something else. */
static void check_lost_names(void)
{
    own(profile) struct profile *p = told_profile();
    own(buf) struct buf bytes;
    buf_init(&bytes, 1 << 20);
    write_bytes(p, CHUNK_PACKED, &bytes);
    static struct map map;
    draw_map(buf_view(&bytes), &map);
    static const struct {
        enum chunk_type lost;
        const char *shown;
        size_t samples;
    } cases[] = {
        {CHUNK_STRINGS,   "[lost name ",     4},
        {CHUNK_MAPPINGS,  "[lost module ",   4},
        {CHUNK_FUNCTIONS, "[lost function ", 4},
        {CHUNK_FRAMES,    "[lost frame ",    4},
        {CHUNK_STACKS,    "their stacks were in a damaged part of the file", 1}, /* the one at the root */
        {CHUNK_CONTEXTS,  "their threads were in a damaged part of the file", 2},
        {CHUNK_LABELS,    "[lost labels ",   4},
        {CHUNK_THREADS,   "0/0 '' -1 ",      4},
        {CHUNK_PROCESSES, "-1/0 '' 4124 ",   4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct place *at = map.places;
        while (at->type != cases[i].lost)
            at++;
        bytes.data[at->from + 50] ^= 0x55;
        struct err e = {0};
        own(profile) struct profile *left = read_bytes(buf_view(&bytes), NULL, &e);
        own(buf) struct buf text;
        dump(&text, left);
        printf("%s\n", chunk_type_names[cases[i].lost]);
        CHECK_EQ(count_samples(left), cases[i].samples);
        CHECK(strstr(text.data, cases[i].shown) != NULL);
        bytes.data[at->from + 50] ^= 0x55;
    }
}

/* A name that is itself a piece of a capture file must not be taken for one when the search begins. */
static void check_decoys(void)
{
    own(profile) struct profile *inner = told_profile();
    own(buf) struct buf decoy, bytes;
    buf_init(&decoy, 1 << 20);
    buf_init(&bytes, 1 << 20);
    write_bytes(inner, CHUNK_PLAIN, &decoy);
    struct builder *b = builder_new();
    builder_frame_named(b, buf_view(&decoy));
    builder_fact(b, VIEW("whole"), VIEW("yes"));
    own(profile) struct profile *p = NULL;
    CHECK(builder_finish(b, &p, NULL));
    write_bytes(p, CHUNK_PLAIN, &bytes);
    bytes.data[CHUNK_FILE_HEAD + 2] ^= 1; /* the chunk with the decoy is not found any more */
    own(profile) struct profile *left = read_bytes(buf_view(&bytes), NULL, NULL);
    CHECK_EQ(count_samples(left), 0);
    CHECK(left && profile_fact_named(left, VIEW("whole")) && !profile_fact_named(left, VIEW("command")));
}

struct forged {
    struct buf bytes;
    struct sink sink;
    struct chunk_writer w;
};

static void forge(struct forged *f)
{
    buf_init(&f->bytes, 1 << 26);
    sink_to_buf(&f->sink, &f->bytes);
    chunk_writer_init(&f->w, &f->sink, 7, CHUNK_PACKED);
}

static struct profile *read_forged(struct forged *f, struct capture_report *report, struct err *e)
{
    CHECK(sink_flush(&f->sink, NULL));
    chunk_writer_done(&f->w);
    struct profile *p = read_bytes(buf_view(&f->bytes), report, e);
    buf_done(&f->bytes);
    return p;
}

/* Whole chunks with payloads that lie. Each is passed over with a note; none does harm. */
static void check_lies(void)
{
    static const struct {
        const char *what;
        enum chunk_type type;
        struct view payload;
    } lies[] = {
        {"more strings than bytes",   CHUNK_STRINGS,   {"\1\xff\xff\x03" "a", 5}},
        {"a text past the end",       CHUNK_STRINGS,   {"\1\1\x7f" "a", 4}},
        {"row 0",                     CHUNK_STRINGS,   {"\0\1\1a", 4}},
        {"ids past 2^32",             CHUNK_STRINGS,   {"\xff\xff\xff\xff\x0f\1\1a", 8}},
        {"a number without end",      CHUNK_STRINGS,   {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 12}},
        {"a caller after its callee", CHUNK_STACKS,    {"\1\1\5\0", 4}},
        {"its own caller",            CHUNK_STACKS,    {"\1\1\0\0", 4}},
        {"no measure",                CHUNK_SAMPLES,   {"\0\3cpu\0\0\0\0\0", 9}},
        {"nine measures",             CHUNK_SAMPLES,   {"\0\3cpu\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 42}},
        {"a hundred decimals",        CHUNK_SAMPLES,   {"\0\3cpu\1\3cpu\0\0\x64\0\0\0\0", 16}},
        {"a measure shown that is not there", CHUNK_SAMPLES, {"\0\3cpu\1\3cpu\0\0\0\4\0\0\0", 16}},
        {"a span before the first",   CHUNK_SPANS,     {"\1\1\0\0\0\0\0\x10\0\0", 10}},
        {"readings that are not there", CHUNK_READINGS, {"\1r\0\0\0\2\0\0", 8}},
        {"an empty payload",          CHUNK_CLOCK,     {"", 0}},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct forged f;
        struct capture_report report;
        forge(&f);
        chunk_put(&f.w, lies[i].type, 1, lies[i].payload);
        chunk_put(&f.w, CHUNK_FACTS, 1, VIEW("\1\1k\1v"));
        chunk_put_end(&f.w);
        own(profile) struct profile *p = read_forged(&f, &report, NULL);
        printf("%s\n", lies[i].what);
        CHECK(p && profile_facts(p) == 1);
        CHECK(p && profile_damages(p) == 1 && strstr(profile_damage(p, 0).at, "makes no sense"));
        CHECK_EQ(count_samples(p), 0);
    }
}

/* References to rows nobody ever defined: stand-ins and counted losses. */
static void check_unknown_references(void)
{
    struct forged f;
    struct capture_report report;
    forge(&f);
    chunk_put(&f.w, CHUNK_STACKS, 1, VIEW("\x09\1\2\x55"));              /* stack 9: caller 7, frame 85 */
    chunk_put(&f.w, CHUNK_SAMPLES, 2, VIEW("\0\3cpu\1\3cpu\0\0\0\0\0\2\0\x09\x08\2\2")); /* stacks 9 and 8 */
    chunk_put(&f.w, CHUNK_LOSSES, 1, VIEW("\1\5\4full\x08"));           /* of set 5, unknown */
    chunk_put_end(&f.w);
    own(profile) struct profile *p = read_forged(&f, &report, NULL);
    CHECK_EQ(count_samples(p), 1);
    CHECK_EQ(report.lost_samples, 1);
    own(buf) struct buf text;
    dump(&text, p);
    CHECK(strstr(text.data, "'[lost frame 85]' ") && strstr(text.data, "'[lost callers]' "));
    CHECK(strstr(text.data, "8 samples of a set that is lost itself were not recorded: full"));
}

/* A few kilobytes that would become gigabytes of rows. */
static void check_bomb(void)
{
    struct forged f;
    struct err e = {0};
    own(buf) struct buf payload;
    buf_init(&payload, 1 << 20);
    buf_add(&payload, "\0\3cpu\1\3cpu\0\0\0\0\0", 15);
    put_varint(&payload, CHUNK_ROWS_MOST);
    put_varint(&payload, 0);
    memset(buf_room(&payload, 2 * CHUNK_ROWS_MOST), 0, 2 * CHUNK_ROWS_MOST);
    forge(&f);
    for (int i = 0; i < 300; i++)
        chunk_put(&f.w, CHUNK_SAMPLES, CHUNK_ROWS_MOST, buf_view(&payload));
    printf("a bomb of %zu bytes\n", (size_t)f.w.offset);
    CHECK(!read_forged(&f, NULL, &e));
    CHECK(e.kind == ERR_LIMIT && strstr(e.text, "no recording looks like that"));
}

/* Label sets of four million labels each: few rows, and much in them. */
static void check_label_bomb(void)
{
    struct forged f;
    struct err e = {0};
    own(buf) struct buf payload;
    buf_init(&payload, CHUNK_BYTES_MOST);
    const size_t labels = (CHUNK_BYTES_MOST - 64) / 4;
    forge(&f);
    for (uint32_t i = 1; i <= 8; i++) {
        buf_clear(&payload);
        put_varint(&payload, i);
        put_varint(&payload, 1);
        put_varint(&payload, labels - i);
        memset(buf_room(&payload, 4 * labels), 0, 4 * labels);
        chunk_put(&f.w, CHUNK_LABELS, 1, buf_view(&payload));
    }
    CHECK(!read_forged(&f, NULL, &e));
    CHECK(e.kind == ERR_LIMIT);
}

/* Heads by the thousand, each true, each claiming all that follows: quadratic, for whoever looks at all of it. */
static void check_claims(void)
{
    enum { HEADS = 100000 };
    struct forged f;
    forge(&f);
    f.w.packing = CHUNK_PLAIN;
    chunk_put(&f.w, CHUNK_FACTS, 1, VIEW("\1\1k\1v"));
    CHECK(sink_flush(&f.sink, NULL));
    char head[CHUNK_HEAD];
    memcpy(head, f.bytes.data + CHUNK_FILE_HEAD, sizeof head);
    for (uint32_t i = HEADS; i; i--) {
        store_uint((uint8_t *)head + 24, (uint64_t)i * 40, 4);
        store_uint((uint8_t *)head + 40, XXH64(head, 40, 0), 8);
        sink_add(&f.sink, (struct view){head, sizeof head});
    }
    struct capture_report report;
    own(profile) struct profile *p = read_forged(&f, &report, NULL);
    CHECK(p && profile_facts(p) == 1);
    CHECK_EQ(report.damaged_bytes, HEADS * CHUNK_HEAD);
}

static void check_not_ours(void)
{
    struct err e = {0};
    char noise[4096];
    memset(noise, 'x', sizeof noise);
    CHECK(!read_bytes((struct view){noise, sizeof noise}, NULL, &e));
    CHECK(e.kind == ERR_MALFORMED);
    CHECK_STR(e.text, "nothing in it can be read as a capture file");
    CHECK_EQ(chunk_sniff((struct view){noise, sizeof noise}), 0);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    check_flips();
    check_many_holes();
    check_lost_names();
    check_decoys();
    check_lies();
    check_unknown_references();
    check_bomb();
    check_label_bomb();
    check_claims();
    check_not_ours();
    return CHECK_DONE();
}
