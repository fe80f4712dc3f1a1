/* Names for code that has no file: the kernel's list, perf-PID.map, jitdump. */
#include "base/buf.h"
#include "check.h"
#include "symbols/symbols.h"

#include <sys/stat.h>

static char path[64];

static void write_file(const char *mode, struct view bytes)
{
    FILE *f = fopen(path, mode);
    CHECK(f && fwrite(bytes.at, 1, bytes.n, f) == bytes.n);
    if (f)
        fclose(f);
}

static void write_text(const char *mode, const char *text) { write_file(mode, view_of(text)); }

static const char *text_of(struct view v)
{
    static char text[4][128];
    static unsigned at;
    at = (at + 1) % 4;
    snprintf(text[at], sizeof text[at], "%.*s", (int)v.n, v.at ? v.at : "");
    return text[at];
}

/* The kernel. */

static void check_kernel(void)
{
    write_text("w", "0000000000000000 A fixed_percpu_data\n"
                    "ffffffff81000000 T _stext\n"
                    "ffffffff81000000 T startup\n"
                    "ffffffff81000100 t helper\n"
                    "ffffffff81000200 W weak_one\n"
                    "ffffffff81000300 D a_table\n"
                    "ffffffff81000400 T behind_it\n"
                    "ffffffffc0201000 t trampoline\t[ftrace]\n"
                    "ffffffffc0201080 t second\t[ftrace]\n");
    static const struct {
        uint64_t at;
        const char *name, *module;
    } cases[] = {
        {0, "", ""},
        {0xffffffff80ffffff, "", ""},
        {0xffffffff81000000, "startup", ""},
        {0xffffffff810000ff, "startup", ""},
        {0xffffffff81000100, "helper", ""},
        {0xffffffff810002ff, "weak_one", ""},
        {0xffffffff81000300, "", ""},
        {0xffffffff810003ff, "", ""},
        {0xffffffff81000400, "behind_it", ""},
        {0xffffffff81010400, "", ""}, /* 64 KiB behind the last one is nobody's */
        {0xffffffffc020107f, "trampoline", "ftrace"},
        {0xffffffffc0201080, "second", "ftrace"},
        {0xffffffffffffffff, "", ""},
    };
    struct err e = {0};
    own(kernel_symbols) struct kernel_symbols *k = NULL;
    CHECK(kernel_symbols_open(&k, path, &e));
    for (size_t i = 0; k && i < sizeof cases / sizeof *cases; i++) {
        struct view module;
        CHECK_STR(text_of(kernel_symbols_at(k, cases[i].at, &module)), cases[i].name);
        CHECK_STR(text_of(module), cases[i].module);
    }
}

static void check_kernel_refused(void)
{
    static const struct {
        const char *in;
        enum err_kind kind;
        const char *text;
    } cases[] = {
        {"0000000000000000 T _stext\n0000000000000000 t helper\n", ERR_DENIED, "the kernel hides the addresses of its functions"},
        {"ffffffff81000000 T _stext\nnonsense\n", ERR_MALFORMED, "line 2 is not 'address type name'"},
        {"ffffffff81000000 T \n", ERR_MALFORMED, "line 1 is not 'address type name'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {0};
        own(kernel_symbols) struct kernel_symbols *k = NULL;
        write_text("w", cases[i].in);
        CHECK(!kernel_symbols_open(&k, path, &e));
        CHECK_EQ(e.kind, cases[i].kind);
        CHECK(strstr(e.text, cases[i].text) != NULL);
        CHECK((e.kind == ERR_DENIED) == (e.hint[0] != '\0'));
    }
    struct err e = {0};
    own(kernel_symbols) struct kernel_symbols *k = NULL;
    CHECK(!kernel_symbols_open(&k, "/no/such/kallsyms", &e) && e.kind == ERR_NOT_FOUND);
}

/* perf-PID.map. */

static void refresh(struct jit_symbols *j)
{
    struct err e = {0};
    CHECK(jit_symbols_refresh(j, &e));
}

static void check_map(void)
{
    struct err e = {0};
    own(jit_symbols) struct jit_symbols *j = NULL;
    write_text("w", "1000 100 first function\n0x1100 0x10 second\r\nnot a line\n1200 0 nothing\nffffffffffffffff 2 round\n2000 10");
    CHECK(jit_symbols_open(&j, path, &e));
    if (!j)
        return;
    CHECK_STR(text_of(jit_symbols_at(j, 0x1000)), "first function");
    CHECK_STR(text_of(jit_symbols_at(j, 0x10ff)), "first function");
    CHECK_STR(text_of(jit_symbols_at(j, 0x1100)), "second");
    CHECK_STR(text_of(jit_symbols_at(j, 0x1110)), "");
    CHECK_STR(text_of(jit_symbols_at(j, 0x2000)), ""); /* its line is not whole yet */

    struct view kept = jit_symbols_at(j, 0x1000);
    write_text("a", "0 late\n1080 10 newer\n1088 4 newest\n");
    refresh(j);
    CHECK_STR(text_of(jit_symbols_at(j, 0x20ff)), "late");
    CHECK_STR(text_of(jit_symbols_at(j, 0x107f)), "first function");
    CHECK_STR(text_of(jit_symbols_at(j, 0x1080)), "newer");
    CHECK_STR(text_of(jit_symbols_at(j, 0x1088)), "newest");
    CHECK_STR(text_of(jit_symbols_at(j, 0x108c)), "newer");
    CHECK_STR(text_of(jit_symbols_at(j, 0x1090)), "first function");

    write_text("w", "1000 10 begun again\n");
    refresh(j);
    CHECK_STR(text_of(jit_symbols_at(j, 0x1000)), "begun again");
    CHECK_STR(text_of(jit_symbols_at(j, 0x1100)), "");
    CHECK_STR(text_of(kept), "first function"); /* what was handed out stays good */
    unlink(path);
    refresh(j);
    CHECK_STR(text_of(jit_symbols_at(j, 0x1000)), "begun again");
}

/* jitdump. */

static void add_number(struct buf *b, uint64_t v, size_t bytes) { buf_add(b, &v, bytes); }

static void add_head(struct buf *b, uint32_t magic, uint32_t version)
{
    add_number(b, magic, 4);
    add_number(b, version, 4);
    add_number(b, 40, 8); /* its size, machine */
    add_number(b, 0, 8);
    add_number(b, 0, 8);
    add_number(b, 0, 8);
}

static void add_record(struct buf *b, uint32_t kind, uint32_t bytes)
{
    add_number(b, kind, 4);
    add_number(b, bytes, 4);
    add_number(b, 12345, 8);
}

static void add_load(struct buf *b, uint64_t at, uint32_t bytes, const char *name)
{
    add_record(b, 0, (uint32_t)(56 + strlen(name) + 1 + bytes));
    add_number(b, 0, 8);
    add_number(b, at, 8);
    add_number(b, at, 8);
    add_number(b, bytes, 8);
    add_number(b, 1, 8);
    buf_add(b, name, strlen(name) + 1);
    for (uint32_t i = 0; i < bytes; i++)
        add_number(b, 0xcc, 1);
}

static void add_move(struct buf *b, uint64_t from, uint64_t to, uint64_t bytes)
{
    add_record(b, 1, 64);
    add_number(b, 0, 8);
    add_number(b, to, 8);
    add_number(b, from, 8);
    add_number(b, to, 8);
    add_number(b, bytes, 8);
    add_number(b, 1, 8);
}

static void check_dump(void)
{
    own(buf) struct buf b;
    buf_init(&b, 8 << 20);
    add_head(&b, 0x4A695444, 1);
    add_load(&b, 0x1000, 0x20, "Foo.bar(I)V");
    add_record(&b, 2, 16 + 100); /* lines: passed over */
    for (int i = 0; i < 100; i++)
        add_number(&b, 7, 1);
    add_load(&b, 0x900000, 3 << 20, "large"); /* its code is longer than what is read at a time */
    add_move(&b, 0x1008, 0x5000, 0x20);
    add_load(&b, 0x1000, 0x10, "reused");

    /* However much of it is there, what is whole is known. */
    for (size_t step = 1; step < 8; step++) {
        struct err e = {0};
        own(jit_symbols) struct jit_symbols *j = NULL;
        write_file("w", (struct view){b.data, 40 + step * 7});
        CHECK(jit_symbols_open(&j, path, &e));
        write_file("w", (struct view){b.data, 200 + step});
        refresh(j);
        write_file("w", buf_view(&b));
        refresh(j);
        CHECK_STR(text_of(jit_symbols_at(j, 0x1000)), "reused");
        CHECK_STR(text_of(jit_symbols_at(j, 0x1010)), "Foo.bar(I)V");
        CHECK_STR(text_of(jit_symbols_at(j, 0x900000 + (3 << 20) - 1)), "large");
        CHECK_STR(text_of(jit_symbols_at(j, 0x501f)), "Foo.bar(I)V");
        CHECK_STR(text_of(jit_symbols_at(j, 0x5020)), "");
    }
}

static void check_dump_refused(void)
{
    static const struct {
        uint32_t magic, version, record_bytes;
        enum err_kind kind;
    } cases[] = {
        {0x4A695444, 2, 16, ERR_UNSUPPORTED},
        {0x4454694A, 1, 16, ERR_UNSUPPORTED},
        {0x4A695444, 1, 15, ERR_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own(buf) struct buf b;
        buf_init(&b, 1000);
        add_head(&b, cases[i].magic, cases[i].version);
        add_record(&b, 3, cases[i].record_bytes);
        write_file("w", buf_view(&b));
        struct err e = {0};
        own(jit_symbols) struct jit_symbols *j = NULL;
        CHECK(!jit_symbols_open(&j, path, &e));
        CHECK_EQ(e.kind, cases[i].kind);
    }
}

static void check_not_a_file(void)
{
    struct err e = {0};
    own(jit_symbols) struct jit_symbols *j = NULL;
    CHECK(!jit_symbols_open(&j, "/no/such.map", &e) && e.kind == ERR_NOT_FOUND);
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    e = (struct err){0};
    CHECK(!jit_symbols_open(&j, path, &e) && e.kind == ERR_MALFORMED);
}

int main(void)
{
    snprintf(path, sizeof path, "test_code_names_%ld", (long)getpid());
    check_kernel();
    check_kernel_refused();
    check_map();
    check_dump();
    check_dump_refused();
    check_not_a_file();
    unlink(path);
    return CHECK_DONE();
}
