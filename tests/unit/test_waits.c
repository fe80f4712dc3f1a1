/*
 * What becomes of waits, told as moments of one thread: i(n), o(ut), p(reempted), t(ick), L(osing switches),
 * s(tack with it), x (exit), e(nd); times in microseconds. The thread and its process do not exist, so nobody
 * can look at them from outside. Samples come out as start+value, what for, and stack.
 */
#include "capture/cpu/waits.h"
#include "check.h"
#include "model/capture_reader.h"

#include <fcntl.h>
#include <stdlib.h>

#define FILE_NAME "test_waits.inferom"
#define KALLSYMS "test_waits.kallsyms"
#define US UINT64_C(1000)

enum { PID = 0x7ffffff0, TID = 0x7ffffff1 };

static const struct {
    const char *what, *moments, *samples;
    uint64_t waiting_us, unknown_us, stackless_us;
} cases[] = {
    {"never waits",             "e5000",                        "", 0, 0, 0},
    {"one wait",                "s o100 i1100 e5000",           "100+1000 lock futex_wait; ", 1000, 0, 0},
    {"without its stack",       "o100 i1100 e5000",             "100+1000 unknown [no stack]; ", 1000, 0, 1000},
    {"the stack is not reused", "s o100 i1100 o2000 i4000 e5000",
     "100+1000 lock futex_wait; 2000+2000 unknown [no stack]; ", 3000, 0, 2000},
    {"preempted",               "s p100 i1100 e5000",           "100+1000 waiting for a CPU futex_wait; ", 1000, 0, 0},
    {"still out at the end",    "s o100 e5000",                 "100+4900 lock futex_wait; ", 4900, 0, 0},
    {"exits while out",         "s o100 x600 e5000",            "100+500 lock futex_wait; ", 500, 0, 0},
    {"in pieces",               "s o100 t900000 t1000200 t1500000 i2000300 e2000300",
     "100+1000100 lock futex_wait; 1000200+1000100 lock futex_wait; ", 2000200, 0, 0},
    {"short ones, added up",    "s o100 i160 s o200 i260 s o300 i360 e5000",
     "200+100 lock futex_wait; 5000+80 unknown [short waits]; ", 180, 0, 0},
    {"short, a stack lost",     "s o100 i160 o200 i260 s o300 i390 e5000",
     "300+200 lock futex_wait; 5000+10 unknown [short waits]; ", 210, 0, 0},
    {"short, of both kinds",    "s o100 i160 s p200 i260 e5000",
     "5000+60 unknown [short waits]; 5000+60 waiting for a CPU [short waits]; ", 120, 0, 0},
    {"a loss in between",       "s o100 L i1100 e5000",         "", 0, 1000, 0},
};

static void tell(struct waits *w, char what, uint64_t now_ns)
{
    uint64_t kernel[] = {0xffffffff81000010, 0xffffffff81001010};
    switch (what) {
    case 's': waits_stack(w, &(struct raw_sample){.pid = PID, .tid = TID, .time_ns = now_ns, .kernel = kernel, .n_kernel = 2}); break;
    case 'o': waits_out(w, PID, TID, now_ns, false); break;
    case 'p': waits_out(w, PID, TID, now_ns, true); break;
    case 'i': waits_in(w, PID, TID, now_ns); break;
    case 't': waits_tick(w, now_ns); break;
    case 'L': waits_lost_switches(w, 5); break;
    case 'x': waits_exit(w, TID, now_ns); break;
    default: waits_end(w, now_ns); break;
    }
}

static void show_sample(const struct profile *p, const struct sample_set *s, size_t i, char *out, size_t size)
{
    const struct context *c = profile_context(p, s->contexts[i]);
    const struct label *wait = profile_label(p, c->labels, VIEW("wait"));
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%llu+%llu %s %s; ", (unsigned long long)(s->time_ns[i] / US), (unsigned long long)s->values[0][i] / US,
             wait ? profile_string(p, wait->text).at : "(none)", profile_frame_name(p, profile_stack(p, s->stacks[i])->frame).at);
}

static void show_samples(char *out, size_t size)
{
    own(profile) struct profile *p = NULL;
    own(reader) struct reader in;
    struct builder *into = builder_new();
    struct capture_report report;
    struct err e = {0};
    CHECK(reader_open(&in, FILE_NAME, &e) && capture_read(into, &in, &report, &e) && builder_finish(into, &p, &e));
    if (!p)
        return;
    const struct sample_set *s = profile_set(p, (set_id){0});
    for (size_t i = 0; i < s->n; i++)
        show_sample(p, s, i, out, size);
}

static struct waits_count live(const char *moments)
{
    struct err e = {0};
    own(capture_writer) struct capture_writer *writer = NULL;
    CHECK(capture_open(&writer, FILE_NAME, 1, &e));
    own(processes) struct processes *ps = processes_new(&(struct processes_plan){
        .into = writer, .most_depth = 16, .proc = "/nowhere", .kallsyms = KALLSYMS,
    });
    own(waits) struct waits *w = waits_new(&(struct waits_plan){.into = writer, .ps = ps, .proc = "/nowhere", .want_kernel_frames = true});
    waits_found(w, PID, TID, 0);
    waits_begin(w, 0);
    for (const char *at = moments; *at; at += strspn(at, " ")) {
        char *end;
        char what = *at;
        uint64_t now_ns = strtoull(at + 1, &end, 10) * US;
        at = end > at + 1 ? end : at + 1;
        tell(w, what, now_ns);
    }
    processes_settle(ps, UINT64_MAX);
    CHECK(capture_close(writer, &e));
    return waits_counts(w);
}

int main(void)
{
    FILE *f = fopen(KALLSYMS, "w");
    fputs("ffffffff81000000 T __schedule\nffffffff81001000 T futex_wait\nffffffff81002000 T other\n", f);
    fclose(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char samples[1024] = "";
        printf("%s\n", cases[i].what);
        struct waits_count c = live(cases[i].moments);
        show_samples(samples, sizeof samples);
        CHECK_STR(samples, cases[i].samples);
        CHECK_EQ(c.sum.waiting_ns / US, cases[i].waiting_us);
        CHECK_EQ(c.sum.unknown_ns / US, cases[i].unknown_us);
        CHECK_EQ(c.stackless_ns / US, cases[i].stackless_us);
    }
    unlink(FILE_NAME);
    unlink(KALLSYMS);
    return CHECK_DONE();
}
