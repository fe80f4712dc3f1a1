/* What /proc says about the memory of a process: texts as kernels write them, and as they never should. */
#include "check.h"
#include "base/buf.h"
#include "capture/host/process_status.h"
#include "capture/memory/memory_process.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

/* status */

static const struct {
    const char *what, *text;
    bool is_status;
    double rss_kib, anon_kib, file_kib, shared_kib, swap_kib, peak_kib; /* -1: unknown */
} statuses[] = {
    {"a program", "Name:\tx\nState:\tS\nVmPeak:\t    9 kB\nVmSize:\t    8 kB\nVmHWM:\t    7 kB\nVmRSS:\t    6 kB\nRssAnon:\t    1 kB\nRssFile:\t    2 kB\n"
                  "RssShmem:\t    3 kB\nVmSwap:\t    5 kB\nThreads:\t1\n", true, 6, 1, 2, 3, 5, 7},
    {"a zombie, or a kernel thread", "Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n", true, -1, -1, -1, -1, -1, -1},
    {"an old kernel", "Name:\tx\nVmHWM:\t  7 kB\nVmRSS:\t  6 kB\nVmSwap:\t  0 kB\n", true, 6, -1, -1, -1, 0, 7},
    {"a name that looks like a line", "Name:\tVmRSS: 9 kB\\nVmRSS: 9 kB\nVmRSS:\t6 kB\n", true, 6, -1, -1, -1, -1, -1},
    {"cut in the middle of a line", "Name:\tx\nVmRSS:\t  123", false, 0, 0, 0, 0, 0, 0},
    {"no number", "Name:\tx\nVmRSS:\t  many kB\n", false, 0, 0, 0, 0, 0, 0},
    {"below nothing", "Name:\tx\nVmRSS:\t  -4 kB\n", false, 0, 0, 0, 0, 0, 0},
    {"past 64 bits", "Name:\tx\nVmRSS:\t 99999999999999999999999 kB\n", false, 0, 0, 0, 0, 0, 0},
    {"another unit", "Name:\tx\nVmRSS:\t  4 MB\n", false, 0, 0, 0, 0, 0, 0},
    {"something else", "VmRSS:\t 4 kB\n", false, 0, 0, 0, 0, 0, 0},
    {"nothing", "", false, 0, 0, 0, 0, 0, 0},
};

static bool is_kib(double bytes, double kib) { return kib < 0 ? isnan(bytes) : bytes == 1024 * kib; }

static void test_status(void)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct process_status s = {0};
        printf("status: %s\n", statuses[i].what);
        CHECK_EQ(process_status_parse(view_of(statuses[i].text), &s), statuses[i].is_status);
        if (!statuses[i].is_status)
            continue;
        CHECK(is_kib(s.rss_bytes, statuses[i].rss_kib) && is_kib(s.anon_bytes, statuses[i].anon_kib));
        CHECK(is_kib(s.file_bytes, statuses[i].file_kib) && is_kib(s.shared_bytes, statuses[i].shared_kib));
        CHECK(is_kib(s.swap_bytes, statuses[i].swap_kib) && is_kib(s.peak_bytes, statuses[i].peak_kib));
    }
}

static const struct {
    const char *text;
    double kib; /* -1: it is not there */
} rollups[] = {
    {"55d0-7fff ---p 00000000 00:00 0  [rollup]\nRss:   884 kB\nPss:   385 kB\nPss_Dirty:  92 kB\n", 385},
    {"55d0-7fff ---p 00000000 00:00 0  [rollup]\nRss:   884 kB\n", -1},
    {"Pss: \n", -1},
    {"", -1},
};

static void test_pss(void)
{
    for (size_t i = 0; i < sizeof rollups / sizeof *rollups; i++) {
        double bytes = -1024;
        CHECK_EQ(process_pss_parse(view_of(rollups[i].text), &bytes), rollups[i].kib >= 0);
        CHECK(bytes == 1024 * rollups[i].kib);
    }
}

static void test_ourselves(void)
{
    struct host here = host_here();
    struct process_status s, again;
    double pss;
    CHECK_EQ(process_status_read(&here, 0, &s), 0);
    CHECK_EQ(process_status_read(&here, getpid(), &again), 0);
    CHECK(s.rss_bytes > 0 && s.rss_bytes <= again.peak_bytes && s.size_bytes >= s.rss_bytes);
    CHECK(process_status_read(&here, INT32_MAX, &s) != 0);
    if (process_pss_read(&here, getpid(), &pss) == 0)
        CHECK(pss > 0 && pss <= again.peak_bytes);
}

/* kinds */

static const struct {
    const char *line, *kind; /* NULL: nobody's memory */
} kinds[] = {
    {"1000-2000 r-xp 00000000 fe:01 12   /usr/lib/a.so", "file"},
    {"1000-2000 r--s 00000000 fe:01 12   /models/a.gguf (deleted)", "file"},
    {"1000-2000 rw-p 00000000 00:00 0 ", "anon"},
    {"1000-2000 rw-s 00000000 00:00 0 ", "shared"},
    {"1000-2000 rw-p 00000000 00:00 0   [anon:weights]", "anon"},
    {"1000-2000 rw-p 00000000 00:00 0   [heap]", "brk"},
    {"1000-2000 rw-p 00000000 00:00 0   [stack]", "stack"},
    {"1000-2000 rw-s 00000000 00:01 7   /memfd:x (deleted)", "shared"},
    {"1000-2000 rw-s 00000000 00:1a 7   /dev/shm/x", "shared"},
    {"1000-2000 rw-s 00000000 00:01 7   /SYSV00000000 (deleted)", "shared"},
    {"1000-2000 rw-p 00000000 00:0f 7   /anon_hugepage (deleted)", "huge"},
    {"1000-2000 r-xp 00000000 00:00 0   [vdso]", NULL},
    {"1000-2000 r--p 00000000 00:00 0   [vvar]", NULL},
    {"1000-2000 ---p 00000000 00:00 0 ", NULL},
};

static void test_kinds(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct map_news m;
        enum map_kind kind;
        printf("%s\n", kinds[i].line);
        CHECK(maps_line_parse(view_of(kinds[i].line), &m));
        bool is = map_kind_of(&m, &kind);
        CHECK_STR(is ? map_kind_names[kind] : "none", kinds[i].kind ? kinds[i].kind : "none");
    }
    CHECK(map_is_weights(VIEW("/m/a.gguf"), 4096) && map_is_weights(VIEW("/m/model-00001-of-2.safetensors"), 4096));
    CHECK(map_is_weights(VIEW("/m/pytorch_model.bin"), 2 * MIB) && !map_is_weights(VIEW("/m/icon.bin"), 4096));
    CHECK(!map_is_weights(VIEW("/usr/lib/libc.so.6"), 2 * MIB) && !map_is_weights(VIEW(""), 2 * MIB));
}

/* pages */

static void test_words(void)
{
    const uint64_t present = UINT64_C(1) << 63, swapped = UINT64_C(1) << 62, file = UINT64_C(1) << 61;
    const uint64_t words[] = {present, present | file, swapped, 0, file, present | file | 5, UINT64_MAX};
    struct page_count c = {0};
    pages_add_words(words, sizeof words / sizeof *words, 4096, &c);
    CHECK_EQ(c.private, 1 * 4096);
    CHECK_EQ(c.file, 3 * 4096);
}

/* A kernel that answers something else than was asked is not believed. */
static const struct {
    const char *what;
    struct page_region regions[3];
    size_t n;
    uint64_t private, file, at;
} answers[] = {
    {"two kinds", {{0x1000, 0x3000, 0}, {0x3000, 0x4000, 4}}, 2, 0x2000, 0x1000, 0x4000},
    {"a hole",    {{0x2000, 0x3000, 4}, {0x8000, 0x9000, 4}}, 2, 0, 0x2000, 0x9000},
    {"nothing",   {{0}}, 0, 0, 0, 0x1000},
    {"outside",   {{0x1000, 0x20000, 0}}, 1, 0, 0, 0x1000},
    {"before",    {{0, 0x2000, 0}}, 1, 0, 0, 0x1000},
    {"backwards", {{0x3000, 0x2000, 0}}, 1, 0, 0, 0x1000},
    {"twice",     {{0x1000, 0x3000, 0}, {0x2000, 0x4000, 0}}, 2, 0x2000, 0, 0x3000},
    {"wraps",     {{0x1000, UINT64_MAX, 0}, {0x1000, 0x2000, 0}}, 2, 0, 0, 0x1000},
};

static void test_regions(void)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct page_count c = {0};
        printf("pages: %s\n", answers[i].what);
        CHECK_EQ(pages_add_regions(answers[i].regions, answers[i].n, 0x1000, 0x10000, &c), answers[i].at);
        CHECK_EQ(c.private, answers[i].private);
        CHECK_EQ(c.file, answers[i].file);
    }
}

static struct page_count count_all(struct pages *p, uint64_t at, uint64_t end)
{
    struct page_count c = {0};
    struct err e = {0};
    while (at < end && pages_count(p, &at, end, &c, &e))
        ;
    CHECK_STR(e.text, "");
    return c;
}

/* Every third page of ours is touched; read only, a page is the one of zeros, which is nobody's. */
static void test_counting(void)
{
    enum { PAGES = 3000, LENGTH = PAGES * 4096 };
    long page = sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != 4096 || at == MAP_FAILED || madvise(at, LENGTH, MADV_NOHUGEPAGE) < 0)
        return;
    for (size_t i = 0; i < PAGES; i += 3) {
        at[i * 4096] = 1;
        CHECK_EQ(((volatile char *)at)[(i + 1) * 4096], 0);
    }
    struct host here = host_here();
    struct err e = {0};
    struct pages p;
    if (!pages_open(&p, &here, getpid(), &e)) {
        printf("not here: %s\n", e.text);
        return;
    }
    struct page_count c = count_all(&p, (uintptr_t)at, (uintptr_t)at + LENGTH);
    printf("counted by %s\n", p.has_scan ? "the kernel" : "words");
    CHECK_EQ(c.file, 0);
    CHECK_EQ(c.private, (p.has_scan ? 1 : 2) * (int64_t)LENGTH / 3);
    p.has_scan = false; /* words cannot tell the page of zeros */
    CHECK_EQ(count_all(&p, (uintptr_t)at, (uintptr_t)at + LENGTH).private, 2 * (int64_t)LENGTH / 3);
    pages_done(&p);
    munmap(at, LENGTH);
}

/* holdings */

static bool take_text(struct holdings *h, const char *text)
{
    own(reader) struct reader r;
    reader_over(&r, "maps", view_of(text));
    return holdings_take(h, &r, NULL);
}

static struct holding *holding_of(struct holdings *h, const char *kind, const char *path, uint64_t region)
{
    for (size_t i = 0; i < h->n; i++) {
        struct holding *row = &h->rows[i];
        if (!strcmp(map_kind_names[row->kind], kind) && !strcmp(row->path ? row->path : "", path) && row->region == region)
            return row;
    }
    return NULL;
}

static void test_summing_up(void)
{
    static const char text[] = "00400000-00500000 r-xp 00000000 fe:01 1    /bin/x\n"
                               "00500000-00600000 rw-p 00100000 fe:01 1    /bin/x\n"
                               "00600000-00700000 rw-p 00000000 00:00 0    [heap]\n"
                               "10000000-20000000 r--s 00000000 fe:01 2    /m/a.gguf\n"
                               "20000000-20001000 r--s 00000000 fe:01 3    /m/tiny.gguf\n"
                               "30000000-38000000 rw-p 00000000 00:00 0 \n"
                               "38000000-40000000 rw-p 00000000 00:00 0    [anon:x]\n" /* touches: the same region */
                               "50000000-50010000 rw-p 00000000 00:00 0 \n"
                               "60000000-60010000 rw-p 00000000 00:00 0 \n"
                               "70000000-80000000 ---p 00000000 00:00 0 \n"
                               "not a line at all\n";
    struct holdings h = {0};
    CHECK(take_text(&h, text));
    const struct holding *weights = holding_of(&h, "file", "/m/a.gguf", 0), *tiny = holding_of(&h, "file", "/m/tiny.gguf", 0);
    const struct holding *region = holding_of(&h, "anon", "", 0x30000000), *rest = holding_of(&h, "anon", "", 0);
    const struct holding *files = holding_of(&h, "file", "", 0), *brk = holding_of(&h, "brk", "", 0);
    CHECK(weights && weights->is_weights && weights->mapped_bytes == 0x10000000);
    CHECK(tiny && tiny->is_weights && tiny->mapped_bytes == 0x1000); /* weights have a name of their own, whatever their size */
    CHECK(region && !region->is_rest && region->mapped_bytes == 0x10000000);
    CHECK(rest && rest->is_rest && rest->mapped_bytes == 0x20000);
    CHECK(files && files->is_rest && files->mapped_bytes == 0x200000);
    CHECK(brk && brk->mapped_bytes == 0x100000);
    CHECK_EQ(h.n, 6);
    CHECK_EQ(h.n_stretches, 9);
    for (size_t i = 1; i < h.n; i++)
        CHECK(h.rows[i - 1].mapped_bytes >= h.rows[i].mapped_bytes);
    for (size_t i = 0; i < h.n_stretches; i++)
        CHECK(h.stretches[i].holding < h.n && (!i || h.stretches[i - 1].holding <= h.stretches[i].holding));
    holdings_done(&h);
}

/* A region that grows downwards, as mmap() makes them, keeps its name; what is gone says so once. */
static void test_heirs(void)
{
    struct holdings h = {0};
    CHECK(take_text(&h, "30000000-38000000 rw-p 00000000 00:00 0 \n10000000-20000000 r--s 00000000 fe:01 2    /m/a.gguf\n"));
    for (size_t i = 0; i < h.n; i++)
        h.rows[i].has_mapped = true;
    h.rows[0].mapped = (series_id){7}; /* the file */
    h.rows[1].mapped = (series_id){8};
    CHECK(take_text(&h, "28000000-38000000 rw-p 00000000 00:00 0 \n"));
    const struct holding *region = holding_of(&h, "anon", "", 0x30000000), *gone = holding_of(&h, "file", "/m/a.gguf", 0);
    CHECK(region && region->mapped.i == 8 && region->mapped_bytes == 0x10000000);
    CHECK(gone && gone->mapped.i == 7 && gone->mapped_bytes == 0);
    CHECK(take_text(&h, "28000000-38000000 rw-p 00000000 00:00 0 \n"));
    CHECK(!holding_of(&h, "file", "/m/a.gguf", 0));
    CHECK(!take_text(&h, "")); /* it has ended: what we know stays */
    CHECK_EQ(h.n, 1);
    holdings_done(&h);
}

/* More regions than have names: the largest do, the others are the rest. */
static void test_crowd(void)
{
    enum { REGIONS = 3000 };
    own(buf) struct buf text;
    buf_init(&text, 1 << 20);
    for (unsigned i = 0; i < REGIONS; i++)
        buf_printf(&text, "%llx-%llx rw-p 00000000 00:00 0 \n", 0x100000000ULL * (i + 1), 0x100000000ULL * (i + 1) + (i + 1) * 0x10000ULL);
    struct holdings h = {0};
    CHECK(take_text(&h, text.data));
    uint64_t sum = 0, all = 0;
    for (size_t i = 0; i < h.n; i++)
        sum += h.rows[i].mapped_bytes;
    for (unsigned i = 0; i < REGIONS; i++)
        all += (i + 1) * 0x10000ULL;
    CHECK_EQ(h.n, HOLDINGS_OWN + 1);
    CHECK_EQ(sum, all);
    CHECK(h.rows[0].is_rest && h.rows[1].mapped_bytes == REGIONS * 0x10000ULL);
    holdings_done(&h);
}

static void test_touched(void)
{
    static const char smaps[] = "10000000-18000000 r--s 00000000 fe:01 2    /m/a.gguf\nSize: 131072 kB\nReferenced:  40 kB\nVmFlags: rd\n"
                                "18000000-20000000 r--s 08000000 fe:01 2    /m/a.gguf\nReferenced:  2 kB\n"
                                "30000000-38000000 rw-p 00000000 00:00 0 \nReferenced:  999 kB\n"
                                "Referenced:  many kB\n";
    struct holdings h = {0};
    struct touched t = {0};
    CHECK(take_text(&h, "10000000-20000000 r--s 00000000 fe:01 2    /m/a.gguf\n30000000-38000000 rw-p 00000000 00:00 0 \n"));
    own(reader) struct reader r;
    reader_over(&r, "smaps", view_of(smaps));
    CHECK(touched_take(&h, &r, NULL));
    CHECK_EQ(holding_of(&h, "file", "/m/a.gguf", 0)->touched_bytes, 42 * 1024);
    CHECK_EQ(holding_of(&h, "anon", "", 0x30000000)->touched_bytes, 0);
    CHECK(touched_is_due(&t, &h, 5));
    CHECK(take_text(&h, "30000000-38000000 rw-p 00000000 00:00 0 \n"));
    CHECK(!touched_is_due(&t, &h, 5)); /* no weights: nobody is held up */
    holdings_done(&h);
}

/* A process whose maps may not be read: what is known is written, what is not is missing, and somebody says why. */

struct heard {
    size_t readings, of_mappings;
    struct capture_writer *from;
};

static void hear(void *self, series_id series, uint64_t time_ns, double value)
{
    struct heard *h = self;
    const struct profile *names = builder_view(capture_names(h->from));
    struct view name = profile_string(names, profile_series(names, series)->name);
    h->readings++;
    h->of_mappings += view_same(name, VIEW("memory.mapped")) || view_same(name, VIEW("memory.resident"));
    CHECK(time_ns == 1000 && value > 0);
}

static void plant(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void test_not_seen(void)
{
    char root[] = "/tmp/test_process_memory-XXXXXX", proc[64], folder[80];
    CHECK(mkdtemp(root) != NULL);
    snprintf(proc, sizeof proc, "%s/proc", root);
    snprintf(folder, sizeof folder, "%s/7", proc);
    CHECK(mkdir(proc, 0700) == 0 && mkdir(folder, 0700) == 0);
    plant(folder, "status", "Name:\tx\nVmSize:\t9 kB\nVmRSS:\t6 kB\nRssAnon:\t4 kB\n");

    struct host host = {.root = root};
    struct err e = {0};
    own(capture_writer) struct capture_writer *w = NULL;
    CHECK(capture_open(&w, NULL, 0, &e));
    struct heard heard = {.from = w};
    capture_watch(w, (struct capture_onlooker){.self = &heard, .reading = hear});
    struct memory_watch watch = {.host = &host, .into = w};
    struct memory_process p;
    memory_process_init(&p, 7, true);
    CHECK(memory_process_look(&p, &watch, 1000));
    memory_process_pass(&p, &watch, UINT64_MAX);
    CHECK_EQ(heard.readings, 2); /* rss and anon: the others are not in the file */
    CHECK_EQ(heard.of_mappings, 0);
    CHECK(strstr(p.why_not, "what is mapped") && strstr(p.why_not, "maps"));
    memory_process_done(&p);

    char path[96];
    snprintf(path, sizeof path, "%s/status", folder);
    CHECK(unlink(path) == 0);
    memory_process_init(&p, 7, true);
    CHECK(!memory_process_look(&p, &watch, 2000)); /* it has ended */
    memory_process_done(&p);
    CHECK(rmdir(folder) == 0 && rmdir(proc) == 0 && rmdir(root) == 0);
}

int main(void)
{
    test_status();
    test_pss();
    test_ourselves();
    test_kinds();
    test_words();
    test_regions();
    test_counting();
    test_summing_up();
    test_heirs();
    test_crowd();
    test_touched();
    test_not_seen();
    return CHECK_DONE();
}
