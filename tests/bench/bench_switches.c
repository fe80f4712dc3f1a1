/*
 * Two threads on one CPU that hand a byte back and forth through two pipes: nothing but switches.
 * Prints how many there were and the CPU time and wall time of one.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static long rounds = 100000;

static double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void hand_over(int from, int to)
{
    char byte;
    if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) {
        perror("handing a byte over");
        exit(1);
    }
}

static void *partner(void *nothing)
{
    for (long i = 0; i < rounds; i++)
        hand_over(there[0], back[1]);
    return nothing;
}

int main(int argc, char **argv)
{
    cpu_set_t ours;
    CPU_ZERO(&ours);
    CPU_SET((size_t)sched_getcpu(), &ours);
    sched_setaffinity(0, sizeof ours, &ours);
    if (argc > 1)
        rounds = strtol(argv[1], NULL, 10);
    pthread_t other;
    if (pipe(there) < 0 || pipe(back) < 0 || pthread_create(&other, NULL, partner, NULL) != 0 || write(there[1], "", 1) != 1)
        return 1;
    double wall_s = clock_s(CLOCK_MONOTONIC), cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i + 1 < rounds; i++)
        hand_over(back[0], there[1]);
    pthread_join(other, NULL);
    wall_s = clock_s(CLOCK_MONOTONIC) - wall_s;
    cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double switches = (double)(used.ru_nvcsw + used.ru_nivcsw);
    printf("{\"switches\": %.0f, \"cpu_ns_each\": %.1f, \"wall_ns_each\": %.1f}\n", switches, 1e9 * cpu_s / switches, 1e9 * wall_s / switches);
    return 0;
}
