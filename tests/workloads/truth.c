#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * A slice lasts between 1 and 4 ms, drawn anew each time. With slices of one
 * length the functions would take turns in a fixed rhythm, and a sampler whose
 * period fits the rhythm would meet the same function every time: exact truth,
 * hopeless workload. Against the half microsecond of a clock reading even the
 * shortest slice is long.
 */
static const double slice_least_ns = 1e6, slice_span_ns = 3e6;

/* How far a function may exceed its share of the budget before the budget grows: a tenth of a point. */
static const double overrun_most_ratio = 0.001;

/* Below this a slice would be mostly clock reading; a budget may be overdrawn by as much. */
static const double slice_floor_ns = 10e3;

/* Nobody knows yet how long a round takes: short enough to be wrong by any factor. */
static const uint64_t first_rounds = 10000;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) < 0)
        die("reading a clock", errno);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t cpu_now_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
uint64_t wall_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }

/* Burning. */

void burner_init(struct burner *b, const struct burn *burns, size_t count, uint64_t budget_ns)
{
    *b = (struct burner){.burn_count = count, .asked_ns = budget_ns, .budget_ns = budget_ns, .random = 88172645463325252u};
    memcpy(b->burns, burns, count * sizeof *burns);
}

static double left_ns(const struct burner *b, const struct burn *f)
{
    return (double)b->budget_ns * f->want_ratio - (double)f->cpu_ns;
}

/* The one furthest behind, measured by its own budget; the earlier row on a tie. NULL when all have had theirs. */
static struct burn *most_behind(struct burner *b)
{
    struct burn *chosen = NULL;
    double chosen_ratio = 0;
    for (size_t i = 0; i < b->burn_count; i++) {
        double ratio = left_ns(b, &b->burns[i]) / b->burns[i].want_ratio;
        if (ratio > chosen_ratio) {
            chosen = &b->burns[i];
            chosen_ratio = ratio;
        }
    }
    return chosen;
}

static double draw_slice_ns(struct burner *b)
{
    b->random ^= b->random << 13;
    b->random ^= b->random >> 7;
    b->random ^= b->random << 17;
    return slice_least_ns + slice_span_ns * (double)(b->random >> 11) * 0x1p-53;
}

const struct burn *burner_begin(struct burner *b)
{
    b->open = most_behind(b);
    if (!b->open)
        return NULL;

    double slice_ns = draw_slice_ns(b);
    if (slice_ns > left_ns(b, b->open))
        slice_ns = left_ns(b, b->open);
    if (slice_ns < slice_floor_ns)
        slice_ns = slice_floor_ns;
    b->rounds = b->spent_ns ? (uint64_t)(slice_ns * (double)b->spent_rounds / (double)b->spent_ns) + 1
                            : first_rounds;
    b->opened_ns = cpu_now_ns();
    return b->open;
}

void burner_end(struct burner *b)
{
    uint64_t took_ns = cpu_now_ns() - b->opened_ns;
    b->open->cpu_ns += took_ns;
    b->spent_ns += took_ns;
    b->spent_rounds += b->rounds;
    if (-left_ns(b, b->open) > (double)b->budget_ns * overrun_most_ratio)
        burner_extend(b, (double)b->open->cpu_ns / b->open->want_ratio);
    b->open = NULL;
}

void burner_extend(struct burner *b, double budget_ns)
{
    double most_ns = (double)b->asked_ns * BUDGET_GROWTH_MOST;
    if (budget_ns > most_ns)
        budget_ns = most_ns;
    if (budget_ns > (double)b->budget_ns)
        b->budget_ns = (uint64_t)budget_ns;
}

void burner_done(struct burner *b)
{
    b->tid = gettid();
    int error = pthread_getname_np(pthread_self(), b->thread_name, sizeof b->thread_name);
    if (error)
        die("asking for the thread's name", error);
    b->thread_cpu_ns = cpu_now_ns();
}

static KEPT void burn_a(uint64_t rounds) { BURN(rounds, 0xa); }
static KEPT void burn_b(uint64_t rounds) { BURN(rounds, 0xb); }
static KEPT void burn_c(uint64_t rounds) { BURN(rounds, 0xc); }

const struct burn mix[MIX_COUNT] = {
    {"burn_a", burn_a, 0.6},
    {"burn_b", burn_b, 0.3},
    {"burn_c", burn_c, 0.1},
};

/* JSON. */

static void print_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

void burner_print(const struct burner *b)
{
    printf("{\"tid\": %d, \"name\": ", (int)b->tid);
    print_text(b->thread_name);
    printf(", \"cpu_ns\": %" PRIu64 ", \"functions\": [", b->thread_cpu_ns);
    for (size_t i = 0; i < b->burn_count; i++) {
        const struct burn *f = &b->burns[i];
        printf("%s{\"name\": ", i ? ", " : "");
        print_text(f->name);
        printf(", \"cpu_ns\": %" PRIu64 ", \"share\": %.6f}", f->cpu_ns,
               (double)f->cpu_ns / (double)b->thread_cpu_ns);
    }
    printf("]}");
}

/* Options. */

static const char *program(void) { return program_invocation_short_name; }

static void print_help(const struct setting *settings, size_t count, const char *what)
{
    printf("%s - %s\n\n", program(), what);
    for (size_t i = 0; i < count; i++) {
        const struct setting *s = &settings[i];
        printf("  --%s %s\n      %s; %g to %g, default %g\n", s->name, s->unit, s->what, s->least, s->most, *s->value);
    }
    printf("  --json\n      print the truth as one JSON object; always so\n");
}

static _Noreturn void refuse(const char *word, const char *why)
{
    fprintf(stderr, "%s: '%s' %s; --help lists what there is\n", program(), word, why);
    exit(2);
}

/* "--seconds" and "--seconds=2" name the setting; "--second" and "--secondss" do not. */
static const struct setting *setting_named(const struct setting *settings, size_t count, const char *word)
{
    size_t n = strcspn(word, "=");
    for (size_t i = 0; i < count; i++)
        if (n > 2 && strlen(settings[i].name) == n - 2 && memcmp(word, "--", 2) == 0 &&
            memcmp(word + 2, settings[i].name, n - 2) == 0)
            return &settings[i];
    return NULL;
}

static void setting_take(const struct setting *s, const char *text)
{
    char *end;
    double v = strtod(text, &end);
    bool is_number = end != text && *end == '\0';
    if (!is_number || !(v >= s->least && v <= s->most) || (s->is_whole && v != (double)(int64_t)v)) {
        fprintf(stderr, "%s: --%s '%s': a %snumber from %g to %g is needed\n", program(), s->name, text,
                s->is_whole ? "whole " : "", s->least, s->most);
        exit(2);
    }
    *s->value = v;
}

void settings_read(const struct setting *settings, size_t count, const char *what, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0) {
            print_help(settings, count, what);
            exit(truth_told());
        }
        if (strcmp(word, "--json") == 0)
            continue;
        const struct setting *s = setting_named(settings, count, word);
        if (!s)
            refuse(word, "is not an option");
        const char *value = strchr(word, '=');
        if (!value && i + 1 == argc)
            refuse(word, "needs a value");
        setting_take(s, value ? value + 1 : argv[++i]);
    }
}

/* Endings. */

_Noreturn void die(const char *doing, int error)
{
    fprintf(stderr, "%s: %s: %s\n", program(), doing, strerror(error));
    exit(1);
}

int truth_told(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "%s: writing the truth to stdout failed\n", program());
    return 1;
}
