/*
 * Names by address: from hand-made files whose every symbol is a case, and from this very
 * program, which carries a chain of inlined calls with known lines. What nm and addr2line
 * say about whole programs is in test_symbols.py.
 */
#include "base/mem.h"
#include "check.h"
#include "inlined.h"
#include "symbols/debug_info.h"
#include "symbols/demangle.h"
#include "symbols/elf_file.h"
#include "symbols/source_path.h"
#include "symbols/symbol_index.h"
#include "symbols/symbols.h"
#include "tiny_elf.h"

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <zlib.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

static struct err last_error;

static const char *text_of(struct view v)
{
    static char text[8][512];
    static unsigned at;
    at = (at + 1) % 8;
    snprintf(text[at], sizeof text[at], "%.*s", (int)v.n, v.at ? v.at : "");
    return text[at];
}

static struct image *open_bytes(struct view bytes, struct view build_id)
{
    struct image *i = NULL;
    last_error = (struct err){0};
    return image_open(&i, &(struct image_file){.bytes = bytes, .build_id = build_id}, &last_error) ? i : NULL;
}

static struct image *open_path(const char *root, const char *path, struct view build_id)
{
    struct image *i = NULL;
    last_error = (struct err){0};
    return image_open(&i, &(struct image_file){.path = path, .root = root, .build_id = build_id}, &last_error) ? i : NULL;
}

static const char *name_at(struct image *i, uint64_t address)
{
    struct place places[PLACES_MOST];
    size_t n = image_places(i, address, places);
    CHECK(n >= 1 && n <= PLACES_MOST);
    return text_of(places[n - 1].name);
}

/* Which symbol an address belongs to. */

#define T ROW_TEXT
#define FUNCTION STT_FUNC, STB_GLOBAL, T

static const struct tiny_symbol symbols[] = {
    {"main", FUNCTION, 0x1100, 0x20},
    {"__alias", FUNCTION, 0x1120, 0x10},
    {"alias", STT_FUNC, STB_WEAK, T, 0x1120, 0x10},
    {"another", FUNCTION, 0x1120, 0x8},
    {"local", STT_FUNC, STB_LOCAL, T, 0x1120, 0x10},
    {"outside", FUNCTION, 0x1140, 0x30},
    {"inside", FUNCTION, 0x1150, 0x8},
    {"label_in_it", STT_NOTYPE, STB_LOCAL, T, 0x1158, 0},
    {"memcpy@@GLIBC_2.14", STT_GNU_IFUNC, STB_GLOBAL, T, 0x1180, 0x10},
    {"assembly", STT_NOTYPE, STB_GLOBAL, T, 0x11a0, 0},
    {"$x", STT_NOTYPE, STB_LOCAL, T, 0x11a8, 0},
    {"last", STT_FUNC, STB_GLOBAL, T, 0x11c0, 0},
    {"a_number", STT_OBJECT, STB_GLOBAL, ROW_DATA, TINY_DATA, 8},
    {"elsewhere", STT_FUNC, STB_GLOBAL, SHN_UNDEF, 0x1130, 0x10},
    {NULL},
};

static void check_symbols(void)
{
    static const struct {
        const char *what;
        uint64_t at;
        const char *name;
    } cases[] = {
        {"before everything", 0x10ff, ""},
        {"first byte", 0x1100, "main"},
        {"last byte", 0x111f, "main"},
        {"aliases: fewest underscores, then the alphabet", 0x1120, "alias"},
        {"last byte of the alias", 0x112f, "alias"},
        {"one past: no symbol covers it, and one that is not defined here does not count", 0x1130, ""},
        {"a function around another", 0x1140, "outside"},
        {"a function in another", 0x1150, "inside"},
        {"last byte of it", 0x1157, "inside"},
        {"behind it; labels in functions do not count", 0x1158, "outside"},
        {"end of the outer one", 0x116f, "outside"},
        {"a resolver, and without its version", 0x1180, "memcpy"},
        {"one past it", 0x1190, ""},
        {"assembly without a size", 0x11a0, "assembly"},
        {"reaches to the next, over mapping symbols", 0x11bf, "assembly"},
        {"a function without a size", 0x11c0, "last"},
        {"reaches to the end of its section", 0x11ff, "last"},
        {"and no further", 0x1200, ""},
        {"data is not code", TINY_DATA, ""},
    };
    for (int is_dynamic = 0; is_dynamic < 2; is_dynamic++) {
        own(buf) struct buf bytes;
        tiny_elf(&bytes, &(struct tiny){.symbols = symbols, .is_dynamic = is_dynamic});
        own(image) struct image *i = open_bytes(buf_view(&bytes), VIEW(""));
        CHECK(i);
        for (size_t k = 0; i && k < sizeof cases / sizeof *cases; k++) {
            printf("%s\n", cases[k].what);
            CHECK_STR(name_at(i, cases[k].at), cases[k].name);
        }
    }
}

/* Random pieces against the slow and obvious way. */
static void check_ranges(void)
{
    enum { PIECES = 60, SPACE = 200 };
    static char names[PIECES][4];
    uint64_t dice = 7;
    for (int round = 0; round < 200; round++) {
        struct name_range pieces[2][PIECES];
        int seen[SPACE];
        memset(seen, -1, sizeof seen);
        struct name_ranges made[2];
        for (unsigned half = 0; half < 2; half++) {
            unsigned n = PIECES / 2;
            for (unsigned k = 0; k < n; k++) {
                unsigned id = half * n + k;
                snprintf(names[id], sizeof names[id], "%u", id);
                dice = dice * UINT64_C(6364136223846793005) + 1;
                uint64_t start = dice >> 33 & 127, end = start + (dice >> 50 & 31);
                pieces[half][k] = (struct name_range){start, end, names[id], (uint32_t)strlen(names[id]), k};
                for (uint64_t at = start; at < end; at++)
                    seen[at] = (int)id;
            }
            made[half] = name_ranges_make(pieces[half], n);
        }
        name_ranges_cover(&made[0], &made[1]);
        for (uint64_t at = 0; at < SPACE; at++)
            CHECK_STR(text_of(name_ranges_at(&made[0], at)), seen[at] < 0 ? "" : names[seen[at]]);
        for (size_t k = 1; k < made[0].n; k++)
            CHECK(made[0].rows[k - 1].end <= made[0].rows[k].start);
        name_ranges_done(&made[0]);
        name_ranges_done(&made[1]);
    }
}

/* The file as a whole. */

static void check_file(void)
{
    own(buf) struct buf bytes;
    tiny_elf(&bytes, &(struct tiny){.symbols = symbols, .build_id = VIEW("\x12\x34\xab"), .extra_name = ".eh_frame", .extra = VIEW("rules")});
    own(image) struct image *i = open_bytes(buf_view(&bytes), VIEW("\x12\x34\xab"));
    CHECK(i);
    uint64_t at = 99;
    CHECK(view_same(image_build_id(i), VIEW("\x12\x34\xab")));
    CHECK_EQ(image_machine(i), EM_X86_64);
    CHECK_STR(text_of(image_section(i, ".eh_frame", NULL)), "rules");
    CHECK_EQ(image_section(i, ".text", &at).n, TINY_CODE_BYTES);
    CHECK_EQ(at, TINY_CODE);
    CHECK_EQ(image_section(i, ".nothing", &at).n, 0);
    CHECK(image_held_bytes(i) > bytes.len);

    CHECK(image_virtual_address(i, TINY_OFFSET + 5, &at) && at == TINY_CODE + 5);
    CHECK(image_virtual_address(i, 0, &at) && at == TINY_CODE - TINY_OFFSET); /* the page's beginning */
    CHECK(!image_virtual_address(i, TINY_OFFSET + TINY_CODE_BYTES, &at));

    own(image) struct image *other = open_bytes(buf_view(&bytes), VIEW("\x12\x34\xac"));
    CHECK(!other && last_error.kind == ERR_MALFORMED);
    CHECK_STR(last_error.text, "this is another file than the process runs: its build id is 1234ab, not 1234ac");
}

static void check_refused(void)
{
    own(buf) struct buf good;
    tiny_elf(&good, &(struct tiny){.symbols = symbols});
    static const struct {
        const char *what;
        size_t at;
        char byte;
        enum err_kind kind;
        const char *text;
    } cases[] = {
        {"another magic", 1, 'F', ERR_MALFORMED, "not an ELF file"},
        {"32 bits", EI_CLASS, ELFCLASS32, ERR_UNSUPPORTED, "an ELF file for 32 bits; only 64 are read"},
        {"big endian", EI_DATA, ELFDATA2MSB, ERR_UNSUPPORTED, "a big-endian ELF file; only little-endian ones are read"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        own(free) char *bytes = mem_text(good.data, good.len);
        bytes[cases[k].at] = cases[k].byte;
        printf("%s\n", cases[k].what);
        own(image) struct image *i = open_bytes((struct view){bytes, good.len}, VIEW(""));
        CHECK(!i);
        CHECK_EQ(last_error.kind, cases[k].kind);
        CHECK_STR(last_error.text, cases[k].text);
    }
    for (size_t n = 0; n < good.len; n++) { /* cut short anywhere: an answer or a refusal, never a fault */
        own(image) struct image *i = open_bytes((struct view){good.data, n}, VIEW(""));
        CHECK(!i == (n < sizeof(Elf64_Ehdr)));
        if (i)
            name_at(i, 0x1100);
    }
}

/* Files on disk, and what was stripped from them. */

static char folder[64];

static const char *path_in(const char *name)
{
    static char path[4][256];
    static unsigned at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s%s", folder, name);
    return path[at];
}

static void write_file(const char *name, struct view bytes)
{
    FILE *f = fopen(path_in(name), "wb");
    CHECK(f && fwrite(bytes.at, 1, bytes.n, f) == bytes.n);
    if (f)
        fclose(f);
}

static void check_opening(void)
{
    own(image) struct image *none = open_path(NULL, "/no/such/file", VIEW(""));
    CHECK(!none && last_error.kind == ERR_NOT_FOUND);
    CHECK(mkfifo(path_in("/pipe"), 0600) == 0);
    own(image) struct image *pipe = open_path(folder, "/pipe", VIEW("")); /* and does not wait for a writer */
    CHECK(!pipe && last_error.kind == ERR_MALFORMED);
    write_file("/short", VIEW("\177ELF"));
    own(image) struct image *brief = open_path(folder, "/short", VIEW(""));
    CHECK(!brief && last_error.kind == ERR_MALFORMED);

    own(buf) struct buf bytes;
    tiny_elf(&bytes, &(struct tiny){.symbols = symbols, .build_id = VIEW("abcd")});
    write_file("/program", buf_view(&bytes));
    CHECK(symlink("/program", path_in("/link")) == 0); /* absolute: the root is the folder, not ours */
    own(image) struct image *linked = open_path(folder, "/link", VIEW("abcd"));
    CHECK(linked);
    own(image) struct image *replaced = open_path(folder, "/program", VIEW("abce"));
    CHECK(!replaced && last_error.kind == ERR_MALFORMED);
    CHECK(strstr(last_error.text, "/program: this is another file") != NULL);
}

static struct view link_to(struct buf *out, const char *name, uint32_t checksum)
{
    buf_init(out, 1000);
    buf_add(out, name, strlen(name) + 1);
    buf_add(out, "\0\0\0", -out->len & 3);
    buf_add(out, &checksum, sizeof checksum);
    return buf_view(out);
}

/* A file without symbols, and a debug file with them in one of the places where they may be. */
static void check_debug_files(void)
{
    enum { BY_LINK, BY_ID };
    static const struct {
        const char *what, *at;
        struct view id, debug_id;
        int wrong_checksum;
        const char *name;
    } cases[] = {
        {"beside", "/bin/p.debug", {"", 0}, {"", 0}, 0, "main"},
        {"in .debug", "/bin/.debug/p.debug", {"", 0}, {"", 0}, 0, "main"},
        {"below /usr/lib/debug", "/usr/lib/debug/bin/p.debug", {"", 0}, {"", 0}, 0, "main"},
        {"another checksum", "/bin/p.debug", {"", 0}, {"", 0}, 1, ""},
        {"same build id, checksum not asked for", "/bin/p.debug", {"id12", 4}, {"id12", 4}, 1, "main"},
        {"another build id", "/bin/p.debug", {"id12", 4}, {"id13", 4}, 0, ""},
        {"by build id", "/usr/lib/debug/.build-id/69/643132.debug", {"id12", 4}, {"id12", 4}, 0, "main"},
        {"by build id, but the file has another", "/usr/lib/debug/.build-id/69/643132.debug", {"id12", 4}, {"id99", 4}, 0, ""},
    };
    static const char *const folders[] = {"/bin", "/bin/.debug", "/usr", "/usr/lib", "/usr/lib/debug", "/usr/lib/debug/bin",
                                          "/usr/lib/debug/.build-id", "/usr/lib/debug/.build-id/69"};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++)
        CHECK(mkdir(path_in(folders[k]), 0700) == 0);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        own(buf) struct buf debug;
        own(buf) struct buf link;
        own(buf) struct buf stripped;
        tiny_elf(&debug, &(struct tiny){.symbols = symbols, .build_id = cases[k].debug_id});
        uint32_t checksum = (uint32_t)crc32_z(0, (const Bytef *)debug.data, debug.len) + (uint32_t)cases[k].wrong_checksum;
        tiny_elf(&stripped, &(struct tiny){.build_id = cases[k].id, .is_dynamic = true, .extra_name = ".gnu_debuglink",
                                           .extra = link_to(&link, "p.debug", checksum)});
        write_file("/bin/p", buf_view(&stripped));
        write_file(cases[k].at, buf_view(&debug));
        printf("%s\n", cases[k].what);
        own(image) struct image *i = open_path(folder, "/bin/p", VIEW(""));
        CHECK(i);
        if (i)
            CHECK_STR(name_at(i, 0x1100), cases[k].name);
        unlink(path_in(cases[k].at));
    }
}

#ifdef HAVE_LZMA
static void check_symbols_inside(void)
{
    own(buf) struct buf inside;
    own(buf) struct buf file;
    tiny_elf(&inside, &(struct tiny){.symbols = symbols});
    uint8_t packed[8192];
    size_t n = 0;
    CHECK(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, (const uint8_t *)inside.data, inside.len, packed, &n, sizeof packed) == LZMA_OK);
    tiny_elf(&file, &(struct tiny){.is_dynamic = true, .extra_name = ".gnu_debugdata", .extra = {(const char *)packed, n}});
    own(image) struct image *i = open_bytes(buf_view(&file), VIEW(""));
    CHECK(i);
    if (i)
        CHECK_STR(name_at(i, 0x1150), "inside");
}
#endif

/* This program's own DWARF. */

static int add_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static __attribute__((noinline)) void check_inlined(void)
{
    own(image) struct image *i = open_path("/proc/self/root", "/proc/self/exe", VIEW(""));
    if (!i)
        i = open_path(NULL, "/proc/self/exe", VIEW(""));
    uintptr_t base = 0;
    dl_iterate_phdr(add_base, &base);
    CHECK_EQ(inlined_outer(1), (1 + 1) * 3 - 7);
    CHECK(i);
    if (!i)
        return;
    static const char *const names[] = {"inlined_inner", "inlined_middle", "inlined_outer"};
    const unsigned lines[] = {inlined_inner_line, inlined_middle_line, inlined_outer_line};
    struct place p[PLACES_MOST];
    size_t n = image_places(i, (uintptr_t)inlined_mark - base, p);
    CHECK_EQ(n, 3);
    for (size_t k = 0; n == 3 && k < n; k++) {
        CHECK_STR(text_of(p[k].name), names[k]);
        CHECK_EQ(p[k].line, lines[k]);
        CHECK(view_ends(p[k].file, VIEW("/tests/unit/inlined.c")));
        CHECK(view_same(p[k].file, p[k].function_file));
    }
    CHECK_EQ(p[n - 1].function_line, inlined_outer_begin);
    size_t held = image_held_bytes(i);
    for (int k = 0; k < 1000; k++)
        image_places(i, (uintptr_t)inlined_mark - base, p);
    CHECK_EQ(image_held_bytes(i), held);
}

/* With no memory to keep a unit in, each question about another unit reads it again; the answers stay. */
static void check_dropped(void)
{
    uintptr_t base = 0;
    dl_iterate_phdr(add_base, &base);
    own(elf_file) struct elf_file *f = NULL;
    struct name_table names;
    struct err e = {0};
    name_table_init(&names);
    CHECK(elf_file_open(&f, NULL, "/proc/self/exe", &e));
    own(debug_info) struct debug_info *d = f ? debug_info_open(f, &names, 1) : NULL;
    CHECK(d);
    for (int k = 0; d && k < 3; k++) {
        struct place p[PLACES_MOST];
        CHECK_EQ(debug_info_places(d, (uintptr_t)inlined_mark - base, p), 3);
        CHECK_STR(text_of(p[0].name), "inlined_inner");
        CHECK_EQ(p[1].line, inlined_middle_line);
        CHECK(debug_info_places(d, (uintptr_t)check_inlined - base, p) > 0);
        CHECK_STR(text_of(p[0].name), "check_inlined");
        CHECK(view_ends(p[0].file, VIEW("/tests/unit/test_symbols.c")));
    }
    debug_info_free(take(d)); /* its texts are in the table */
    name_table_done(&names);
}

/* Words. */

static void check_demangling(void)
{
    static const struct {
        const char *mangled, *plain;
    } cases[] = {
        {"main", NULL},
        {"_Z__", NULL},
        {"_ZN5llama6decodeEi", "llama::decode(int)"},
        {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"},
        {"_ZL4stepPKfi.constprop.0", "step(float const*, int) [clone .constprop.0]"},
        {"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str"},
        {"_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
         "<alloc::string::String as core::fmt::Display>::fmt"},
        {"_RNvC6_123foo3bar", "123foo::bar"},
        {"_RNvMs_Cs4Cv8Wi1oAIB_3fooNtB4_3Bar3baz", "<foo::Bar>::baz"},
        {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        own(buf) struct buf out;
        buf_init(&out, DEMANGLED_MOST);
        bool is_mangled = demangle(cases[k].mangled, &out);
        printf("%s\n", cases[k].mangled);
#ifdef HAVE_DEMANGLER
        CHECK_STR(is_mangled ? out.data : "-", cases[k].plain ? cases[k].plain : "-");
#else
        CHECK(!is_mangled);
#endif
    }
}

/* Longer than libiberty takes by itself: templates of templates come to that. */
static void check_long_name(void)
{
    own(buf) struct buf name;
    own(buf) struct buf out;
    buf_init(&name, 1 << 16);
    buf_init(&out, DEMANGLED_MOST);
    buf_puts(&name, "_Z1f");
    for (int k = 0; k < 250; k++)
        buf_printf(&name, "N15abcdefghij%05d1bE", k);
    CHECK(name.len > 5000 && demangle(name.data, &out));
    CHECK_EQ(out.len, strlen("f()") + 250 * strlen("abcdefghij00000::b, ") - strlen(", "));
}

/* f(pair<int, int>, pair of two of those, pair of two of those, ...): 35 times, and it fills the world. */
static void check_endless_names(void)
{
    own(buf) struct buf name;
    own(buf) struct buf out;
    buf_init(&name, 1 << 16);
    buf_init(&out, DEMANGLED_MOST);
    buf_puts(&name, "_Z1fSt4pairIiiE");
    for (int k = 0; k < 35; k++) {
        char last = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[k];
        buf_printf(&name, "S_IS%c_S%c_E", last, last);
    }
    CHECK(!demangle(name.data, &out));
    CHECK_EQ(out.len, 0);

    buf_clear(&name); /* a pointer to a pointer to ...: the library goes down once for each */
    buf_puts(&name, "_Z1f");
    for (int k = 0; k < 8000; k++)
        buf_puts(&name, "P");
    buf_puts(&name, "i");
    demangle(name.data, &out);
}

static void check_paths(void)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"/a/b.c", "/a/b.c"}, {"/a/./b.c", "/a/b.c"}, {"/a//b/../c.c", "/a/c.c"}, {"/../a.c", "/a.c"}, {"/a/../../b.c", "/b.c"},
        {"../a.c", "../a.c"}, {"a/../../b.c", "../b.c"}, {"./a.c", "a.c"}, {"", ""}, {"/", "/"}, {"a/b/..", "a"}, {"../../x", "../../x"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char path[64];
        snprintf(path, sizeof path, "%s", cases[k].in);
        path[source_path_tidy(path, strlen(path))] = '\0';
        CHECK_STR(path, cases[k].out);
    }
}

static void clean_up(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
}

int main(void)
{
    snprintf(folder, sizeof folder, "test_symbols_XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    check_symbols();
    check_ranges();
    check_file();
    check_refused();
    check_opening();
    check_debug_files();
#ifdef HAVE_LZMA
    check_symbols_inside();
#endif
    check_inlined();
    check_dropped();
    check_demangling();
#ifdef HAVE_DEMANGLER
    check_long_name();
#endif
    check_endless_names();
    check_paths();
    clean_up();
    return CHECK_DONE();
}
