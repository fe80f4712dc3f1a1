/*
 * fx-fork: three children, each burning burn_a, burn_b and burn_c as fx-burn's
 * main thread does, all for the same CPU time. The parent only waits.
 *
 * Each child tells its truth twice: its own thread clock, through memory shared
 * with the parent, and the kernel's accounting, through wait4().
 */
#include "truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_COUNT = 3 };

/* A burner holds pointers to names. They stay good in the parent: fork() moves nothing. */
struct child {
    struct burner burner;
    pid_t pid;
    uint64_t cpu_ns; /* from wait4 */
};

static KEPT void child_run(struct child *c, uint64_t budget_ns)
{
    burner_init(&c->burner, mix, MIX_COUNT, budget_ns);
    for (const struct burn *f; (f = burner_begin(&c->burner)) != NULL; burner_end(&c->burner))
        f->run(c->burner.rounds);
    burner_done(&c->burner);
}

static uint64_t timeval_ns(struct timeval t) { return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * 1000; }

static void child_wait(struct child *c)
{
    int status;
    struct rusage used;
    while (wait4(c->pid, &status, 0, &used) < 0)
        if (errno != EINTR)
            die("waiting for a child", errno);
    if (status != 0) {
        fprintf(stderr, "fx-fork: child %d ended with wait status %#x\n", (int)c->pid, (unsigned)status);
        exit(1);
    }
    c->cpu_ns = timeval_ns(used.ru_utime) + timeval_ns(used.ru_stime);
}

int main(int argc, char **argv)
{
    uint64_t start_ns = wall_now_ns();
    double seconds = 2;
    const struct setting settings[] = {
        {"seconds", "S", "CPU seconds of each child, or a little more to keep the shares exact", &seconds, 0.01, 86400},
    };
    settings_read(settings, 1, "three children, each burning 60/30/10 %", argc, argv);

    struct child *children = mmap(NULL, CHILD_COUNT * sizeof *children, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (children == MAP_FAILED)
        die("sharing memory with the children", errno);

    for (size_t i = 0; i < CHILD_COUNT; i++) {
        pid_t pid = fork();
        if (pid < 0)
            die("starting a child", errno);
        if (pid == 0) {
            child_run(&children[i], (uint64_t)(seconds * 1e9));
            _exit(0);
        }
        children[i].pid = pid;
    }
    for (size_t i = 0; i < CHILD_COUNT; i++)
        child_wait(&children[i]);

    printf("{\"fixture\": \"fx-fork\", \"pid\": %d, \"wall_ns\": %" PRIu64 ", \"children\": [", (int)getpid(),
           wall_now_ns() - start_ns);
    for (size_t i = 0; i < CHILD_COUNT; i++) {
        printf("%s{\"pid\": %d, \"cpu_ns\": %" PRIu64 ", \"threads\": [", i ? ", " : "", (int)children[i].pid,
               children[i].cpu_ns);
        burner_print(&children[i].burner);
        printf("]}");
    }
    printf("]}\n");
    return truth_told();
}
