#include "capture/target.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int pidfd_of(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); } /* close-on-exec by itself */

static void hush(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(nowhere, fd);
}

/* In the child. We ignore SIGPIPE; who starts a program expects it to find the signals as they were before us. */
static _Noreturn void become(char *const *command, char *const *env, bool is_quiet, int gate_fd, int said_fd)
{
    char go;
    ssize_t n;
    signal(SIGPIPE, SIG_DFL);
    if (is_quiet)
        hush();
    while ((n = read(gate_fd, &go, 1)) < 0 && errno == EINTR)
        ;
    if (n == 1) {
        execvpe(command[0], command, env);
        int why = errno;
        if (write(said_fd, &why, sizeof why) < 0)
            _exit(126); /* nobody listens: the status is all that is left to say it with */
    }
    _exit(127);
}

static bool make_pipe(int fds[2], struct err *e)
{
    return pipe2(fds, O_CLOEXEC) == 0 || err_os(e, "making a pipe");
}

bool target_launch(struct target *t, char *const *command, const struct environment *env, bool is_quiet, struct err *e)
{
    *t = (struct target){.gate_fd = -1, .said_fd = -1, .ended_fd = -1, .is_ours = true};
    int gate[2] = {-1, -1}, said[2] = {-1, -1};
    if (!make_pipe(gate, e))
        return false;
    if (!make_pipe(said, e)) {
        close(gate[0]);
        close(gate[1]);
        return false;
    }
    t->gate_fd = gate[1];
    t->said_fd = said[0];
    t->pid = fork();
    if (t->pid == 0) {
        close(gate[1]); /* else it would hold its own gate open when we die */
        become(command, env->rows, is_quiet, gate[0], said[1]);
    }
    int why = errno;
    close(gate[0]);
    close(said[1]);
    errno = why;
    if (t->pid < 0)
        return err_os(e, "starting a process");
    t->ended_fd = pidfd_of(t->pid);
    return true;
}

static bool could_not_run(const char *name, int why, struct err *e)
{
    errno = why;
    if (why == ENOENT && !strchr(name, '/'))
        return err_set(e, ERR_NOT_FOUND, "no program called '%s' is in PATH", name);
    return err_os(e, "running %s", name);
}

/* The pipe it speaks through closes by itself when exec succeeds: then it has said nothing. */
bool target_go(struct target *t, const char *name, struct err *e)
{
    int why = 0;
    ssize_t n = write(t->gate_fd, "g", 1);
    close(t->gate_fd);
    t->gate_fd = -1;
    while (n == 1 && (n = read(t->said_fd, &why, sizeof why)) < 0 && errno == EINTR)
        n = 1;
    close(t->said_fd);
    t->said_fd = -1;
    if (n == 0)
        return true;
    while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    t->has_ended = true;
    return could_not_run(name, n == sizeof why ? why : EIO, e);
}

bool target_find(struct target *t, int32_t pid, struct err *e)
{
    *t = (struct target){.pid = pid, .gate_fd = -1, .said_fd = -1, .ended_fd = pidfd_of(pid)};
    if (t->ended_fd < 0 && kill(pid, 0) < 0 && errno == ESRCH)
        return err_set(e, ERR_NOT_FOUND, "there is no process %" PRId32, pid);
    return true;
}

void target_done(struct target *t)
{
    if (t->gate_fd >= 0) {
        close(t->gate_fd); /* the child reads the end of the file, and leaves */
        while (waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (t->said_fd >= 0)
        close(t->said_fd);
    if (t->ended_fd >= 0)
        close(t->ended_fd);
    t->gate_fd = t->said_fd = t->ended_fd = -1;
}

/* A process we did not start is over when nobody answers to its number; a zombie is not running either. */
static bool is_gone(pid_t pid)
{
    char path[32], stat[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
    const char *state = n > 0 ? strrchr(stat, ')') : NULL;
    return !state || state[1] == '\0' || state[2] == 'Z' || state[2] == 'X';
}

static uint64_t ns_of(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000; }

static bool child_has_ended(struct target *t)
{
    struct rusage used;
    if (wait4(t->pid, &t->wait_status, WNOHANG, &used) != t->pid)
        return false;
    t->cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
    return true;
}

bool target_has_ended(struct target *t)
{
    if (!t->has_ended)
        t->has_ended = t->is_ours ? child_has_ended(t) : is_gone(t->pid);
    return t->has_ended;
}

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};

/* Who started us with one of them ignored (nohup, a shell's &) wants it to stay so. */
static sigset_t ending_signals(void)
{
    sigset_t s;
    sigemptyset(&s);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct sigaction now;
        if (sigaction(endings[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&s, endings[i]);
    }
    sigaddset(&s, SIGCHLD);
    return s;
}

void target_hold_signals(void)
{
    sigset_t held = ending_signals();
    sigprocmask(SIG_BLOCK, &held, NULL);
}

void target_wait(struct target *t)
{
    sigset_t watched = ending_signals();
    sigprocmask(SIG_BLOCK, &watched, NULL);
    unsigned asked = 0;
    while (!target_has_ended(t)) {
        int got = sigtimedwait(&watched, NULL, &(struct timespec){.tv_nsec = 100000000});
        if (got > 0 && got != SIGCHLD)
            kill(t->pid, asked++ ? SIGKILL : SIGTERM);
    }
    sigprocmask(SIG_UNBLOCK, &watched, NULL);
}

int target_exit_status(const struct target *t)
{
    if (WIFSIGNALED(t->wait_status))
        return 128 + WTERMSIG(t->wait_status);
    return WEXITSTATUS(t->wait_status);
}
