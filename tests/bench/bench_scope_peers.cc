/*
 * Scopes of ours and of other libraries, taking turns on the same loop: an empty scope in a function that is called.
 *
 *     bench_scope_peers [ROUNDS]          least CPU time of the turns for one call, without the loop and the call, in nanoseconds
 *
 * run.py builds it together with Tracy's client, where its source is.
 */
#include <inferom.h>

#include <tracy/Tracy.hpp>
#include <tracy/TracyC.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#define KEPT __attribute__((noinline))
#define STAY() __asm__ volatile("" ::: "memory")

static KEPT void bare() { STAY(); }

static KEPT void ours()
{
    INFEROM_SCOPE("ours");
    STAY();
}

static KEPT void tracy_cpp()
{
    ZoneScoped;
    STAY();
}

static KEPT void tracy_c()
{
    TracyCZone(zone, 1);
    STAY();
    TracyCZoneEnd(zone);
}

static const struct way {
    const char *name;
    void (*run)();
    int on;
} ways[] = {
    {"call", bare, 0},
    {"inferom", ours, 1},
    {"tracy_cpp", tracy_cpp, 0},
    {"tracy_c", tracy_c, 0},
};
enum { WAYS = sizeof ways / sizeof *ways, TURNS = 9 };

static double cpu_ns()
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double turn(const way &w, unsigned long rounds)
{
    inferom_enable(w.on);
    double from = cpu_ns();
    for (unsigned long i = 0; i < rounds; i++)
        w.run();
    double took = (cpu_ns() - from) / (double)rounds;
    return took;
}

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], nullptr, 10) : 100000;
    double least[WAYS];
    for (double &l : least)
        l = 1e9;
    for (int t = 0; rounds && t < TURNS; t++)
        for (int k = 0; k < WAYS; k++) {
            double ns = turn(ways[k], rounds);
            least[k] = ns < least[k] ? ns : least[k];
        }
    printf("{");
    for (int k = 0; k < WAYS; k++)
        printf("%s\"%s\": %.3f", k ? ", " : "", ways[k].name, k ? least[k] - least[0] : least[0]);
    printf("}\n");
    fflush(stdout);
    _Exit(0); /* Tracy waits at exit for somebody who reads what it has */
}
