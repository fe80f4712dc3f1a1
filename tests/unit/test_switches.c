/*
 * Lives of a thread, told as moments: i(n), o(ut), p(reempted), c(ut into pieces), L(ost records),
 * each with its time. The thread is born running at 1000.
 */
#include "check.h"
#include "capture/cpu/switches.h"
#include <stdlib.h>

static const struct {
    const char *what, *moments, *waits;
    uint64_t running_ns, waiting_ns, unknown_ns;
} cases[] = {
    {"never left",              "c2000",                   "",                   1000, 0,   0},
    {"one wait",                "o1100 i1400 c1500",       "1100+300 ",          200,  300, 0},
    {"in, out, in",             "o1100 i1200 o1300 i1500", "1100+100 1300+200 ", 200,  300, 0},
    {"preempted",               "p1100 i1400",             "1100+300p ",         100,  300, 0},
    {"a wait in pieces",        "o1100 c1600 c2100 i2200", "1100+500 1600+500 2100+100 ", 100, 1100, 0},
    {"still out at the end",    "o1100 c3000",             "1100+1900 ",         100,  1900, 0},
    {"exit while out",          "p1100 i1150 o1200 c1300", "1100+50p 1200+100 ", 150,  150, 0},
    {"an out was lost, unsaid", "i1400 c1500",             "",                   100,  0,   400},
    {"an in was lost, unsaid",  "o1100 o1400 i1500",       "1400+100 ",          100,  100, 300},
    {"losses while waiting",    "o1100 L i1400 c1500",     "",                   200,  0,   300},
    {"losses while running",    "L o1100 i1400",           "1100+300 ",          0,    300, 100},
    {"losses do not linger",    "L o1100 i1200 c1300",     "1100+100 ",          100,  100, 100},
    {"a piece after a loss",    "o1100 L c1200 c1300",     "1200+100 ",          100,  100, 100},
    {"another CPU's clock",     "o1100 i1090 c1200",       "1100+0 ",            200,  0,   0},
    {"far behind",              "o1100 i1200 o900 i1300",  "1100+100 1200+100 ", 100,  200, 0},
};

static void add(char *text, size_t size, const struct wait *w)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%llu+%llu%s ", (unsigned long long)w->start_ns, (unsigned long long)w->length_ns,
             w->is_preempted ? "p" : "");
}

static void live(struct switches *s, const char *moments, char *waits, size_t size)
{
    uint64_t losses = 0;
    switches_begin(s, SWITCHES_RUNNING, false, 1000, losses);
    for (const char *at = moments; *at; at += strspn(at, " ")) {
        char what = *at++;
        char *end;
        uint64_t now_ns = strtoull(at, &end, 10);
        at = end;
        struct wait w;
        bool has_wait = false;
        switch (what) {
        case 'i': has_wait = switches_in(s, now_ns, losses, &w); break;
        case 'c': has_wait = switches_cut(s, now_ns, losses, &w); break;
        case 'L': losses++; break;
        default: switches_out(s, what == 'p', now_ns, losses); break;
        }
        if (has_wait)
            add(waits, size, &w);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct switches s;
        char waits[256] = "";
        printf("%s\n", cases[i].what);
        live(&s, cases[i].moments, waits, sizeof waits);
        CHECK_STR(waits, cases[i].waits);
        CHECK_EQ(s.sum.running_ns, cases[i].running_ns);
        CHECK_EQ(s.sum.waiting_ns, cases[i].waiting_ns);
        CHECK_EQ(s.sum.unknown_ns, cases[i].unknown_ns);
        CHECK_EQ(s.sum.running_ns + s.sum.waiting_ns + s.sum.unknown_ns, s.since_ns - 1000); /* nothing is lost, nothing twice */
    }
    return CHECK_DONE();
}
