/*
 * hard_host DEED: does something that makes the life of a guest hard, and prints what
 * came of it. The line and the exit status are the same with and without a sampler in
 * the process; the time is spent in functions named after what is hard about them.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static char **arguments;

static void burn_for(double seconds)
{
    uint64_t until_ns = cpu_now_ns() + (uint64_t)(seconds * 1e9);
    while (cpu_now_ns() < until_ns)
        BURN(20000, 0xb);
}

/* Waiting is not disturbed: a CPU clock stands still meanwhile. */
static KEPT void between_waits(void) { burn_for(0.002); STAY(); }

static int waits(void)
{
    int interrupted = 0;
    for (int i = 0; i < 300; i++) {
        between_waits();
        struct timespec t = {.tv_nsec = 1000000};
        interrupted += poll(NULL, 0, 1) < 0;
        interrupted += nanosleep(&t, NULL) < 0;
        interrupted += sigtimedwait(&(sigset_t){0}, NULL, &t) < 0 && errno == EINTR;
    }
    printf("interrupted %d times\n", interrupted);
    return 0;
}

/* A profiler of the program's own. */
static volatile sig_atomic_t ticks;
static void count_tick(int number) { (void)number; ticks++; }
static KEPT void profiled(void) { burn_for(0.6); STAY(); }

static int own_profiler(void)
{
    struct sigaction a = {.sa_handler = count_tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 5000}, {0, 5000}};
    sigaction(SIGPROF, &a, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    profiled();
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    printf("%s\n", ticks > 10 ? "ticked" : "did not tick");
    return 0;
}

/* Every signal there is goes back to what it was, and is blocked. */
static KEPT void blocked_and_reset(void) { burn_for(0.6); STAY(); }

static int reset(void)
{
    for (int i = 1; i <= SIGRTMAX; i++)
        sigaction(i, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    blocked_and_reset();
    puts("alive");
    return 0;
}

/* Every real-time signal has a handler, and gets what is sent to it, once. */
static KEPT void handled_all(void) { burn_for(0.4); STAY(); }

static int handlers(void)
{
    int wrong = 0;
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
        struct sigaction now;
        sigaction(i, &(struct sigaction){.sa_handler = count_tick}, NULL);
        sigaction(i, NULL, &now);
        wrong += now.sa_handler != count_tick;
    }
    handled_all();
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
        raise(i);
    printf("%d of %d, %d wrong\n", (int)ticks, SIGRTMAX - SIGRTMIN + 1, wrong);
    return 0;
}

/* A signal that nobody handles ends the program, whichever it is. */
static int ended(void)
{
    burn_for(0.1);
    fflush(stdout);
    for (int i = SIGRTMAX - 7; i > SIGRTMIN; i--) {
        pid_t child = fork();
        if (child == 0) {
            raise(i);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("%d%s", WIFSIGNALED(status) ? WTERMSIG(status) - i : -1, i > SIGRTMIN + 1 ? " " : "\n");
    }
    fflush(stdout);
    raise(SIGRTMAX - 7);
    return 0;
}

/* errno is the program's. */
static KEPT int errno_kept(void)
{
    uint64_t until_ns = cpu_now_ns() + NS_PER_S / 2;
    int changed = 0;
    while (cpu_now_ns() < until_ns) {
        errno = 4711;
        BURN(200000, 0xc);
        changed += errno != 4711;
    }
    STAY();
    return changed;
}

static int keeps_errno(void)
{
    printf("changed %d times\n", errno_kept());
    return 7;
}

/* Threads, processes, programs and libraries that come and go. */
static KEPT void short_thread(void) { burn_for(0.001); STAY(); }
static void *short_run(void *arg) { short_thread(); return arg; }
static void *leaving_run(void *arg) { short_thread(); pthread_exit(arg); }

static int churn(void)
{
    size_t good = 0;
    for (size_t i = 0; i < 1000; i++) {
        pthread_t t;
        void *back = NULL;
        if (pthread_create(&t, NULL, i % 2 ? short_run : leaving_run, &arguments[i % 2]) == 0 && pthread_join(t, &back) == 0)
            good += back == &arguments[i % 2];
    }
    printf("%zu threads\n", good);
    return 0;
}

/* The first thread leaves, the others go on. */
static KEPT void after_the_first(void) { burn_for(2.5); STAY(); }

static void *last_run(void *arg)
{
    pthread_t *first = arg;
    pthread_join(*first, NULL);
    after_the_first();
    puts("the last one");
    exit(6);
}

static int leaves(void)
{
    static pthread_t first;
    pthread_t last;
    first = pthread_self();
    if (pthread_create(&last, NULL, last_run, &first) == 0)
        pthread_exit(NULL);
    return 1;
}

static KEPT void short_child(void) { burn_for(0.002); STAY(); }

static int forks(void)
{
    int good = 0;
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        if (child == 0) {
            short_child();
            _exit(3);
        }
        int status;
        good += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
    }
    printf("%d children\n", good);
    return 0;
}

static KEPT void short_program(void) { burn_for(0.02); STAY(); }

static int programs(void)
{
    int left = arguments[2] ? atoi(arguments[2]) : 20;
    char number[16];
    short_program();
    if (left == 0) {
        puts("the last of them");
        return 5;
    }
    snprintf(number, sizeof number, "%d", left - 1);
    execl(arguments[0], arguments[0], "programs", number, (char *)NULL);
    return 1;
}

static int libraries(void)
{
    int good = 0;
    for (int i = 0; i < 200; i++) {
        void *plug = dlopen(arguments[2], RTLD_NOW), *found = plug ? dlsym(plug, "plug_burn") : NULL;
        void (*burn)(unsigned);
        if (!found)
            continue;
        memcpy(&burn, &found, sizeof burn);
        burn(1000000);
        good += dlclose(plug) == 0;
    }
    printf("%d times\n", good);
    return 0;
}

/* A thread that libc knows nothing of, without thread-local storage of its own. */
static atomic_bool is_over;
static KEPT void stranger(void)
{
    while (!atomic_load(&is_over))
        BURN(100000, 0x5);
    STAY();
}
static int stranger_run(void *arg)
{
    (void)arg;
    stranger();
    syscall(SYS_exit, 0);
    return 0;
}
static KEPT void beside_stranger(void) { burn_for(4); STAY(); }

static int cloned(void)
{
    static _Alignas(64) char stack[1 << 16];
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone(stranger_run, stack + sizeof stack, flags, NULL) < 0)
        return 1;
    beside_stranger();
    atomic_store(&is_over, true);
    puts("two");
    return 0;
}

/* What it did not open it closes, and then runs another. */
static KEPT void after_closing(void) { burn_for(0.4); STAY(); }

static int closes(void)
{
    if (arguments[2]) {
        after_closing();
        puts("closed");
        return 0;
    }
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    execl(arguments[0], arguments[0], "closes", "again", (char *)NULL);
    return 1;
}

/* Stacks that are not where one thinks: one page between two that cannot be read. */
static ucontext_t outside, inside;
static KEPT void on_small_stack(void) { burn_for(0.5); STAY(); }
static void small_run(void) { on_small_stack(); }

static int coroutine(void)
{
    enum { SIZE = 1 << 16, PAGE = 4096 };
    char *room = mmap(NULL, SIZE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + PAGE, SIZE, PROT_READ | PROT_WRITE) < 0 || getcontext(&inside) < 0)
        return 1;
    inside.uc_stack.ss_sp = room + PAGE;
    inside.uc_stack.ss_size = SIZE;
    inside.uc_link = &outside;
    makecontext(&inside, small_run, 0);
    swapcontext(&outside, &inside);
    puts("back");
    return 0;
}

static KEPT void in_handler(void) { burn_for(0.5); STAY(); }
static void burn_in_handler(int number) { (void)number; in_handler(); }

static int alternate(void)
{
    static char other[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = other, .ss_size = sizeof other}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = burn_in_handler, .sa_flags = SA_ONSTACK}, NULL);
    raise(SIGUSR1);
    puts("handled");
    return 0;
}

/* A handler that leaves by longjmp(), again and again, wherever it finds the program. */
static sigjmp_buf jump;
static void leave(int number) { (void)number; siglongjmp(jump, 1); }
static KEPT void jumped_out_of(void) { for (;;) BURN(1000000, 0x9); }

static int jumps(void)
{
    volatile int times = 0;
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = leave}, NULL);
    struct itimerval every = {{0, 0}, {0, 2000}};
    sigsetjmp(jump, 1);
    if (times++ < 300) {
        setitimer(ITIMER_REAL, &every, NULL);
        jumped_out_of();
    }
    puts("done");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} deeds[] = {
    {"waits", waits},         {"own-profiler", own_profiler}, {"reset", reset},         {"handlers", handlers},
    {"ended", ended},         {"errno", keeps_errno},         {"churn", churn},         {"forks", forks},
    {"programs", programs},   {"libraries", libraries},       {"cloned", cloned},       {"closes", closes},
    {"coroutine", coroutine}, {"alternate", alternate},       {"jumps", jumps},         {"leaves", leaves},
};

int main(int argc, char **argv)
{
    arguments = argv;
    for (size_t i = 0; argc > 1 && i < sizeof deeds / sizeof *deeds; i++)
        if (!strcmp(deeds[i].name, argv[1]))
            return deeds[i].run();
    fprintf(stderr, "usage: %s DEED\n", argv[0]);
    return 2;
}
