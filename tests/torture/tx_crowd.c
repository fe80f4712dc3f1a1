/*
 * tx-crowd: many of something at once. Burns a fixed amount of work, so that it
 * prints the same line however busy the machine is and whoever is watching:
 *
 *     tx-crowd threads 256        a crowd that lives together
 *     tx-crowd stay 64            the same, working and resting until SIGTERM
 *     tx-crowd churn 2000         one thread after the other
 *     tx-crowd forks 1000         children that burn a little and leave with a status
 *     tx-crowd spawns 200         children that become another program
 *     tx-crowd execs 200          one process that becomes itself again and again
 *     tx-crowd loads 500          a library that comes, works and goes
 *     tx-crowd maps 10000         code mapped ten thousand times over
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORK = 300000, LITTLE_WORK = 60000, MARK = 0xc, STATUSES = 100, LONG_ONE_IN = 16 };

static KEPT void crowd_burn(uint64_t rounds) { BURN(rounds, MARK); }

/* A few frames between a thread's start and its work, as there are in life. */
static KEPT void crowd_work(unsigned depth, uint64_t rounds)
{
    if (depth)
        crowd_work(depth - 1, rounds);
    else
        crowd_burn(rounds);
    STAY();
}

/*
 * Most of a crowd that comes and goes lives for a tenth of a millisecond, less than any sampling
 * period: their time must be accounted for, samples are not to be had. Some live longer.
 */
static uint64_t work_of(long i) { return i % LONG_ONE_IN ? LITTLE_WORK : 16 * WORK; }

/* Threads. */

static pthread_barrier_t all_here;

static void *neighbour(void *unused)
{
    pthread_barrier_wait(&all_here);
    crowd_work(8, 8 * WORK);
    return unused;
}

static void *passer_by(void *number)
{
    crowd_work(8, work_of((long)(intptr_t)number));
    return number;
}

static pthread_t start_thread(void *(*run)(void *), long number)
{
    pthread_t one;
    int error = pthread_create(&one, NULL, run, (void *)(intptr_t)number);
    if (error)
        die("starting a thread", error);
    return one;
}

static long threads(long n)
{
    pthread_t *all = calloc((size_t)n, sizeof *all);
    if (!all || pthread_barrier_init(&all_here, NULL, (unsigned)n))
        die("making room for the threads", ENOMEM);
    for (long i = 0; i < n; i++)
        all[i] = start_thread(neighbour, i);
    for (long i = 0; i < n; i++)
        pthread_join(all[i], NULL);
    free(all);
    return n;
}

/* Work and rest: a crowd that never ends should leave the machine to others now and then. */
static atomic_bool is_over;

static void *lodger(void *unused)
{
    while (!atomic_load(&is_over)) {
        crowd_work(8, 8 * WORK);
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    return unused;
}

static long stay(long n)
{
    pthread_t *all = calloc((size_t)n, sizeof *all);
    if (!all)
        die("making room for the threads", ENOMEM);
    sigset_t end;
    int got;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, NULL);
    for (long i = 0; i < n; i++)
        all[i] = start_thread(lodger, i);
    sigwait(&end, &got);
    atomic_store(&is_over, true);
    for (long i = 0; i < n; i++)
        pthread_join(all[i], NULL);
    free(all);
    return n;
}

static long churn(long n)
{
    for (long i = 0; i < n; i++)
        pthread_join(start_thread(passer_by, i), NULL);
    return n;
}

/* Processes. */

static bool came_back(pid_t pid, int status)
{
    int how;
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            die("waiting for a child", errno);
    return WIFEXITED(how) && WEXITSTATUS(how) == status;
}

static long forks(long n)
{
    long well = 0;
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            crowd_work(8, work_of(i));
            _exit((int)(i % STATUSES));
        }
        if (pid < 0)
            die("forking", errno);
        well += came_back(pid, (int)(i % STATUSES));
    }
    return well;
}

static char self[PATH_MAX];

static long spawns(long n)
{
    long well = 0;
    for (long i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            execl(self, self, i % LONG_ONE_IN ? "little" : "much", "1", (char *)NULL);
            _exit(99);
        }
        if (pid < 0)
            die("forking", errno);
        well += came_back(pid, 0);
    }
    return well;
}

/* How many are left travels in the argument, how many there were in the environment. */
static long execs(long left)
{
    char text[24];
    const char *began = getenv("TX_EXECS");
    crowd_work(8, work_of(left));
    snprintf(text, sizeof text, "%ld", left);
    if (!began)
        setenv("TX_EXECS", text, 1);
    if (left == 0)
        return strtol(began, NULL, 10);
    snprintf(text, sizeof text, "%ld", left - 1);
    execl(self, self, "execs", text, (char *)NULL);
    die("becoming itself", errno);
}

/* What a child becomes; it says nothing. */
static long little(long n)
{
    crowd_work(8, work_of(n));
    return n;
}

static long much(long n)
{
    crowd_work(8, work_of(n - 1));
    return n;
}

/* Code that comes and goes. The library lies beside this program. */

static long loads(long n)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%.*s/libtx-plug.so", (int)(strrchr(self, '/') - self), self);
    long well = 0;
    for (long i = 0; i < n; i++) {
        void *plug = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void (*work)(uint64_t) = NULL;
        if (plug)
            *(void **)&work = dlsym(plug, "plug_work");
        if (!work) {
            fprintf(stderr, "tx-crowd: %s\n", dlerror());
            exit(1);
        }
        work(work_of(i));
        well += dlclose(plug) == 0;
    }
    return well;
}

/* The same page again and again: neighbours never fit end to end, so the kernel keeps every map apart. */
static long maps(long n)
{
    int fd = open(self, O_RDONLY | O_CLOEXEC);
    long page = sysconf(_SC_PAGESIZE), well = 0;
    if (fd < 0)
        die("opening itself", errno);
    for (long i = 0; i < n; i++) {
        if (mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED)
            well++;
        crowd_work(8, LITTLE_WORK / 10);
    }
    close(fd);
    crowd_work(8, 100 * WORK);
    return well;
}

static const struct {
    const char *name;
    long (*run)(long n); /* how many went well */
} modes[] = {
    {"threads", threads}, {"stay", stay},   {"churn", churn}, {"forks", forks},   {"spawns", spawns},
    {"execs", execs},     {"loads", loads}, {"maps", maps},   {"little", little}, {"much", much},
};

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    for (size_t i = 0; n > 0 && argc == 3 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[1], modes[i].name) != 0)
            continue;
        long well = modes[i].run(count);
        if (modes[i].run != little && modes[i].run != much)
            printf("%s: %ld went well\n", argv[1], well);
        return truth_told();
    }
    fprintf(stderr, "usage: tx-crowd threads|stay|churn|forks|spawns|execs|loads|maps N\n");
    return 2;
}
