/*
 * tx-heap MODE THREADS TIMES [PLUG]: programs that are hard on whoever counts their allocations.
 *
 *     forks     threads allocate while the first one forks; the child allocates and leaves by exit(), handlers and all
 *     spawns    the same with vfork() and exec, and posix_spawn()
 *     loads     the same with dlopen() and dlclose(): the library allocates when it comes and when it goes
 *     signals   a thread is interrupted thousands of times a second; where that is allowed the handler allocates, also on a stack of its own
 *     churn     threads come and go, with destructors that allocate when everything else is taken down
 *     jumps     longjmp() over frames that allocate, and out of signal handlers
 *     exits     children that leave by _exit() while their threads allocate
 *     deep      allocations at the bottom of 32 and of 1,000 calls, on small stacks
 *
 * It prints one line that says what was done, the same on every machine, and ends with status 0.
 */
#include "truth.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WINDOW = 64, THREADS_MOST = 64 };

extern char **environ;

static _Atomic bool is_over;
static pthread_t threads[THREADS_MOST];
static uint64_t n_threads, times;
static const char *plug_path = "";

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* Every way to allocate, in a sliding window; what is in a block stays there. */
static void one_round(void **window, uint64_t *random)
{
    uint64_t r = next(random);
    void **slot = &window[r % WINDOW];
    size_t n = r >> 8 & 1023;
    void *aligned = NULL;
    switch (r >> 20 & 15) {
    case 0: *slot = realloc(*slot, n + 1); break;
    case 1: free(*slot), *slot = calloc(3, n); break;
    case 2: free(*slot), *slot = posix_memalign(&aligned, 64, n + 1) ? NULL : aligned; break;
    case 3: free(*slot), *slot = aligned_alloc(32, (n + 32) & ~(size_t)31); break;
    case 4: free(*slot), *slot = strdup("a text that is copied"); break;
    default: free(*slot), *slot = malloc(n + 1); break;
    }
    if (*slot)
        *(volatile char *)*slot = 1;
}

static void *allocate(void *arg)
{
    void *window[WINDOW] = {0};
    uint64_t random = (uint64_t)(uintptr_t)arg * UINT64_C(0x9e3779b97f4a7c15) + 1;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed))
        one_round(window, &random);
    for (size_t i = 0; i < WINDOW; i++)
        free(window[i]);
    return NULL;
}

static void start_thread(pthread_t *out, const pthread_attr_t *how, void *(*run)(void *), void *arg)
{
    int error = pthread_create(out, how, run, arg);
    if (error)
        die("starting a thread", error);
}

static void start_threads(void)
{
    for (uint64_t i = 0; i < n_threads; i++)
        start_thread(&threads[i], NULL, allocate, (void *)(uintptr_t)(i + 1));
}

static void end_threads(void)
{
    atomic_store(&is_over, true);
    for (uint64_t i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

static void expect_end(pid_t pid, int want)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != want) {
        fprintf(stderr, "a child ended with %x\n", status);
        exit(1);
    }
}

/* The compiler knows what malloc() is, and that nobody looks at a block that is freed at once. */
static void allocate_once(size_t n)
{
    void *volatile p = malloc(n);
    free(p);
}

static void at_the_end(void) { allocate_once(100); }

static void forks(void)
{
    atexit(at_the_end);
    start_threads();
    for (uint64_t i = 0; i < times; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            void *window[WINDOW] = {0};
            uint64_t random = i + 1;
            for (int k = 0; k < 100; k++)
                one_round(window, &random);
            exit(5);
        }
        expect_end(pid, 5);
    }
    end_threads();
}

static void spawns(void)
{
    char name[] = "true";
    char *const words[] = {name, NULL};
    start_threads();
    for (uint64_t i = 0; i < times; i++) {
        pid_t pid;
        if (i % 2) {
            pid = vfork(); /* NOLINT: that is what is tried */
            if (pid == 0) {
                execvp(words[0], words);
                _exit(1);
            }
        } else if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) != 0) {
            die("spawning", 0);
        }
        expect_end(pid, 0);
    }
    end_threads();
}

static void loads(void)
{
    start_threads();
    for (uint64_t i = 0; i < times; i++) {
        void *plug = dlopen(plug_path, RTLD_NOW | RTLD_LOCAL);
        if (!plug) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        void *found = dlsym(plug, "plug_work");
        void (*work)(uint64_t);
        memcpy(&work, &found, sizeof work);
        work(100);
        dlclose(plug);
    }
    end_threads();
}

/* The second signal comes only where no allocation can be interrupted: nobody's allocator allows that. */
static _Atomic uint64_t ticks, calls;

static void on_tick(int number)
{
    (void)number;
    atomic_fetch_add(&ticks, 1);
}

static void on_call(int number)
{
    (void)number;
    allocate_once(atomic_fetch_add(&calls, 1) % 300);
}

static void signals(void)
{
    static char other_stack[1 << 16];
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    sigaltstack(&stack, NULL);
    sigaction(SIGPROF, &(struct sigaction){.sa_handler = on_tick, .sa_flags = SA_RESTART}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_call}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = on_call, .sa_flags = SA_ONSTACK}, NULL);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_PROF, &often, NULL);
    start_threads();
    for (uint64_t i = 0; i < 20 * times; i++)
        raise(i % 2 ? SIGUSR1 : SIGUSR2);
    end_threads();
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

static pthread_key_t key;

static void last_words(void *p)
{
    static _Thread_local int again;
    free(p);
    if (again++ < 2)
        pthread_setspecific(key, malloc(33));
}

static void *short_life(void *arg)
{
    void *window[WINDOW] = {0};
    uint64_t random = (uint64_t)(uintptr_t)arg + 1;
    pthread_setspecific(key, malloc(77));
    for (int i = 0; i < 100; i++)
        one_round(window, &random);
    for (size_t i = 0; i < WINDOW; i++)
        free(window[i]);
    return NULL;
}

static void churn(void)
{
    pthread_key_create(&key, last_words);
    uint64_t at_once = n_threads ? n_threads : 1;
    for (uint64_t i = 0; i < times; i++) {
        for (uint64_t k = 0; k < at_once; k++)
            start_thread(&threads[k], NULL, short_life, (void *)(uintptr_t)(i * at_once + k));
        for (uint64_t k = 0; k < at_once; k++)
            pthread_join(threads[k], NULL);
    }
}

static jmp_buf back;
static sigjmp_buf back_from_signal;

static KEPT void jump_down(int depth)
{
    void *volatile p = malloc((size_t)depth + 1);
    if (depth == 0 && p)
        longjmp(back, 1);
    if (depth > 0)
        jump_down(depth - 1);
    free(p);
}

static void on_jump(int number)
{
    (void)number;
    allocate_once(50);
    siglongjmp(back_from_signal, 1);
}

static void jumps(void)
{
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_jump}, NULL);
    start_threads();
    for (volatile uint64_t i = 0; i < times; i++) {
        if (!setjmp(back))
            jump_down(20);
        if (!sigsetjmp(back_from_signal, 1))
            raise(SIGUSR1);
    }
    end_threads();
}

static void exits(void)
{
    for (uint64_t i = 0; i < times / 5 + 1; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            start_threads();
            allocate_once(10);
            usleep(1000);
            _exit(6);
        }
        expect_end(pid, 6);
    }
}

static KEPT void *at_depth(uint64_t depth)
{
    void *p = depth ? at_depth(depth - 1) : malloc(64);
    STAY();
    return p;
}

static void *deep_thread(void *arg)
{
    for (uint64_t i = 0; i < times; i++)
        for (uint64_t depth = 0; depth <= 1000; depth = depth ? depth * 32 : 1)
            free(at_depth(depth));
    free(at_depth(1000));
    return arg;
}

static void deep(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 << 10);
    uint64_t at_once = n_threads ? n_threads : 1;
    for (uint64_t i = 0; i < at_once; i++)
        start_thread(&threads[i], &small, deep_thread, NULL);
    for (uint64_t i = 0; i < at_once; i++)
        pthread_join(threads[i], NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"forks", forks}, {"spawns", spawns}, {"loads", loads}, {"signals", signals},
    {"churn", churn}, {"jumps", jumps},   {"exits", exits}, {"deep", deep},
};

int main(int argc, char **argv)
{
    n_threads = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    times = argc > 3 ? strtoull(argv[3], NULL, 10) : 10;
    plug_path = argc > 4 ? argv[4] : "";
    for (size_t i = 0; argc > 1 && n_threads <= THREADS_MOST && i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            printf("%s: %" PRIu64 " threads, %" PRIu64 " times\n", argv[1], n_threads, times);
            return truth_told();
        }
    fprintf(stderr, "tx-heap MODE THREADS TIMES [PLUG]\n");
    return 2;
}
