/*
 * The table that a program prints about itself. Names come from anywhere: what a terminal would
 * obey is shown as text.
 */
#include "results.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_WIDTH = 44, CELL = 24 };

/* Like snprintf(): counts what does not fit. */
struct page {
    char *at;
    size_t room, length;
};

static __attribute__((format(printf, 2, 3))) void say(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool fits = p->length < p->room;
    int n = vsnprintf(fits ? p->at + p->length : NULL, fits ? p->room - p->length : 0, format, args);
    va_end(args);
    p->length += n > 0 ? (size_t)n : 0;
}

/* How many bytes of a UTF-8 character begin here; 0: none that is whole and can be shown. */
static size_t character_at(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    if (n == 1)
        return s[0] >= 0x20 && s[0] != 0x7f;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool is_control = n == 2 && s[0] == 0xc2 && s[1] < 0xa0;
    bool is_bad = n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
                             (s[0] == 0xe2 && s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae)); /* which turn the line around */
    bool is_out = n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90));
    return is_control || is_bad || is_out ? 0 : n;
}

static void say_name(struct page *p, const char *name)
{
    size_t width = 0;
    const unsigned char *s = (const unsigned char *)name;
    for (size_t n; *s && width < NAME_WIDTH - 4; s += n ? n : 1) {
        n = character_at(s);
        if (n)
            say(p, "%.*s", (int)n, (const char *)s);
        else
            say(p, "\\x%02x", *s);
        width += n ? 1 : 4;
    }
    if (*s)
        say(p, "...");
    width += *s ? 3 : 0;
    say(p, "%*s", (int)(width < NAME_WIDTH ? NAME_WIDTH - width : 0), "");
}

static const char *time_text(char out[CELL], double ns)
{
    static const struct {
        double from, unit;
        const char *name;
    } units[] = {{1e9, 1e9, "s"}, {1e6, 1e6, "ms"}, {1e3, 1e3, "us"}, {0, 1, "ns"}};
    size_t i = 0;
    if (isnan(ns)) {
        snprintf(out, CELL, "-");
        return out;
    }
    while (i < 3 && ns < units[i].from)
        i++;
    double v = ns / units[i].unit;
    snprintf(out, CELL, "%.*f %s", v >= 100 ? 0 : v >= 10 ? 1 : 2, v, units[i].name);
    return out;
}

static const char *count_text(char out[CELL], int64_t n)
{
    snprintf(out, CELL, n < 0 ? "-" : "%lld", (long long)n);
    return out;
}

static void say_row(struct page *p, const inferom_row *row, double whole)
{
    char cell[CELL];
    const double times[] = {row->total_ns, row->self_ns};
    const double lengths[] = {row->min_ns, row->mean_ns, row->max_ns, row->p50_ns, row->p90_ns, row->p99_ns, row->deviation_ns};
    say_name(p, row->name);
    say(p, " %12llu", (unsigned long long)row->calls);
    for (size_t i = 0; i < 2; i++)
        say(p, " %9s", time_text(cell, times[i]));
    say(p, " %5.1f %%", whole > 0 ? 100 * row->self_ns / whole : 0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        say(p, " %9s", time_text(cell, lengths[i]));
    say(p, " %10s", count_text(cell, row->allocations));
    say(p, " %12s\n", count_text(cell, row->bytes));
}

static void say_metrics(struct page *p)
{
    bool is_first = true;
    for (inferom_site *s = sites(); s; s = s->next) {
        struct metric_sum sum;
        if ((s->kind != SITE_COUNTER && s->kind != SITE_GAUGE) || s->same != s || !metric_sum_of(s, &sum))
            continue;
        if (is_first)
            say(p, "\n%-*s %12s %12s %12s %12s %12s\n", NAME_WIDTH, "Counter or gauge", "Times", "Value", "Least", "Mean", "Most");
        is_first = false;
        say_name(p, site_name(s));
        say(p, " %12llu %12.6g %12.6g %12.6g %12.6g\n", (unsigned long long)sum.times, sum.value, sum.least, sum.mean, sum.most);
    }
}

static void say_missing(struct page *p, const struct results *r, const inferom_row *rows, size_t n)
{
    unsigned long long left_out = 0, cut = 0, calls = 0, untimed = 0;
    for (size_t i = 0; i < n; i++) {
        left_out += rows[i].left_out;
        cut += rows[i].cut;
        calls += rows[i].calls;
        untimed += rows[i].calls - rows[i].cut - rows[i].timed;
    }
    if (untimed)
        say(p, "\n%llu of %llu calls were counted and not timed: they are shorter than 2 us (INFEROM_SCOPES_TIMING=every times all)\n", untimed, calls);
    if (left_out)
        say(p, "\nleft out: %llu calls of warm-up, and what was inside them\n", left_out);
    if (cut)
        say(p, "\ncut: %llu calls were left by longjmp; how long they took is not known\n", cut);
    if (r->lost_scopes)
        say(p, "\nlost: %llu calls, too deep or too many different ones\n", (unsigned long long)r->lost_scopes);
    if (r->lost_events)
        say(p, "\nlost: %llu phases, requests or readings, more than there is room for\n", (unsigned long long)r->lost_events);
    if (r->misused)
        say(p, "\n%llu ends of scopes that were not open on their thread\n", (unsigned long long)r->misused);
}

static void write_table(struct page *p, const struct results *r, const inferom_row *rows, size_t n)
{
    double whole = 0;
    for (size_t i = 0; i < n; i++)
        whole += rows[i].self_ns;
    char cell[CELL];
    say(p, "%zu scope%s on %zu thread%s, %s in all\n\n", n, n == 1 ? "" : "s", r->threads, r->threads == 1 ? "" : "s",
        time_text(cell, whole));
    say(p, "%-*s %12s %9s %9s %7s %9s %9s %9s %9s %9s %9s %9s %10s %12s\n", NAME_WIDTH, "Scope", "Calls", "Total", "Self", "",
        "Min", "Mean", "Max", "P50", "P90", "P99", "Deviation", "Allocs", "Bytes");
    for (size_t i = 0; i < n; i++)
        say_row(p, &rows[i], whole);
    say_metrics(p);
    say_missing(p, r, rows, n);
}

size_t inferom_report(char *text, size_t bytes)
{
    struct results r;
    struct page p = {text, text ? bytes : 0, 0};
    size_t n = 0;
    if (p.room)
        text[0] = 0;
    if (results_take(&r) < 0)
        return 0;
    inferom_row *rows = rows_of(&r, INFEROM_BY_SELF, &n);
    if (rows)
        write_table(&p, &r, rows, n);
    free(rows);
    results_free(&r);
    return p.length;
}

static int print(int fd)
{
    size_t room = inferom_report(NULL, 0) + 4096; /* others go on meanwhile */
    char *text = malloc(room);
    if (!text)
        return -ENOMEM;
    size_t n = inferom_report(text, room), at = 0;
    n = n < room ? n : room - 1;
    while (at < n) {
        ssize_t wrote = write(fd, text + at, n - at);
        if (wrote < 0 && errno != EINTR) {
            int error = errno;
            free(text);
            return -error;
        }
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    free(text);
    return 0;
}

int inferom_print(int fd)
{
    heap_looks_away();
    int error = print(fd);
    heap_looks_again();
    return error;
}
