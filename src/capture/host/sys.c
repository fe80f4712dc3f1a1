#include "capture/host/sys.h"
#include "base/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

/* Some filters kill whoever makes a call instead of refusing it. A child finds out, with arguments that do nothing. */
static bool is_deadly(long call)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_DUMPABLE, 0); /* a death foreseen needs no core file */
        syscall(call, 0, 0, 0, 0, 0);
        _exit(0);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

/* An engine opens hundreds of events; what did not kill once will not later: a process cannot gain a filter by itself. */
static int real_perf_event_open(struct perf_event_attr *a, pid_t pid, int cpu, int group, unsigned long flags)
{
    static atomic_bool is_safe;
    if (!is_safe && is_deadly(SYS_perf_event_open)) {
        errno = EPERM;
        return -1;
    }
    is_safe = true;
    return (int)syscall(SYS_perf_event_open, a, pid, cpu, group, flags);
}

static int real_bpf(int command, union bpf_attr *a, unsigned bytes)
{
    if (is_deadly(SYS_bpf)) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_bpf, command, a, bytes);
}

static int real_cpu_timer(void)
{
    if (is_deadly(SYS_timer_create))
        return EPERM;
    struct sigevent quiet = {.sigev_notify = SIGEV_NONE};
    timer_t t;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &quiet, &t) < 0)
        return errno;
    timer_delete(t);
    return 0;
}

/* A fork has a copy of our memory at the same addresses, so any variable of ours is a place to read. */
static int read_from(pid_t pid)
{
    static const char there = 'x';
    char here = 0;
    struct iovec to = {&here, 1}, from = {(void *)(uintptr_t)&there, 1};
    return process_vm_readv(pid, &to, 1, &from, 1, 0) == 1 ? 0 : errno;
}

/* Someone to be read. Ends with its maker, even one that a filter killed before it could ask for that. */
static pid_t fork_sleeper(void)
{
    pid_t maker = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == maker)
        poll(NULL, 0, SYS_PATIENCE_MS);
    _exit(0);
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* The answer of a child, as its exit status: 0 or an errno. A program with file capabilities hides its memory; a child need not. */
static int ask_child(int (*ask)(pid_t), pid_t about)
{
    int status;
    pid_t pid = fork();
    if (pid < 0)
        return errno;
    if (pid == 0) {
        prctl(PR_SET_DUMPABLE, 1);
        _exit(ask(about));
    }
    if (waitpid(pid, &status, 0) != pid)
        return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM; /* killed by a filter */
}

static int read_own_child(pid_t unused)
{
    (void)unused;
    pid_t sleeper = fork_sleeper();
    if (sleeper < 0)
        return errno;
    int refused = read_from(sleeper);
    end_child(sleeper);
    return refused;
}

/* The reader and the one it reads are brothers: same user, but no ancestor. */
static int read_stranger(pid_t unused)
{
    (void)unused;
    pid_t sleeper = fork_sleeper();
    if (sleeper < 0)
        return errno;
    int refused = ask_child(read_from, sleeper);
    end_child(sleeper);
    return refused;
}

static int real_peek(enum kin whose) { return ask_child(whose == KIN_CHILD ? read_own_child : read_stranger, 0); }

/* In the child: "+" when the library loads, else the loader's words. */
_Noreturn static void load_and_tell(const char *library, int tell)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    const char *said = dlopen(library, RTLD_LAZY | RTLD_LOCAL) ? "+" : dlerror();
    if (!said)
        said = "the loader gave no reason";
    ssize_t told = write(tell, said, strlen(said));
    _exit(told < 0 ? 1 : 0);
}

static bool hear(int from, char *why, size_t size)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    if (poll(&wait, 1, SYS_PATIENCE_MS) <= 0) {
        snprintf(why, size, "no answer within %d s while loading", SYS_PATIENCE_MS / 1000);
        return false;
    }
    ssize_t n = read(from, why, size - 1);
    why[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        snprintf(why, size, "loading it ended the process");
    return !strcmp(why, "+");
}

static bool real_loads(const char *library, char *why, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) {
        snprintf(why, size, "%s", strerror(errno));
        return false;
    }
    own(close) int from = ends[0];
    pid_t pid = fork();
    if (pid == 0)
        load_and_tell(library, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        snprintf(why, size, "%s", strerror(errno));
        return false;
    }
    bool loaded = hear(from, why, size);
    end_child(pid);
    return loaded;
}

const struct sys sys_real = {
    .perf_event_open = real_perf_event_open,
    .bpf = real_bpf,
    .statvfs = statvfs,
    .access = access,
    .getenv = getenv,
    .cpu_timer = real_cpu_timer,
    .peek = real_peek,
    .loads = real_loads,
};
