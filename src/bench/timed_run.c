#include "bench/timed_run.h"
#include "base/clock.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LOOK_MS = 100, LAST_WORDS_MS = 3000 };

static uint64_t ns_of(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000; }

/* In the child, which is the leader of a group. Status 127 is how shells say that there was nothing to run. */
static _Noreturn void become(char *const *command, int output_fd)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    dup2(nowhere, STDIN_FILENO);
    dup2(output_fd >= 0 ? output_fd : nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp(command[0], command);
    _exit(127);
}

struct running {
    pid_t pid;
    int output_fd, ended_fd;
    struct buf *output;
};

static void running_done(struct running *r)
{
    own_close(&r->output_fd);
    own_close(&r->ended_fd);
}
DEFINE_OWN_IN_PLACE(running, struct running)

static bool start(struct running *r, char *const *command, struct err *e)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_os(e, "making a pipe");
    r->pid = fork();
    if (r->pid == 0)
        become(command, r->output ? fds[1] : -1);
    close(fds[1]);
    r->output_fd = fds[0];
    if (r->pid < 0)
        return err_os(e, "starting a process");
    setpgid(r->pid, r->pid); /* whoever comes first */
    r->ended_fd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    return true;
}

/* What it printed so far; at its end the pipe is not looked at any more. */
static void take_output(struct running *r)
{
    char room[4096];
    ssize_t n = read(r->output_fd, room, sizeof room);
    if (n > 0 && r->output)
        buf_add(r->output, room, (size_t)n);
    if (n == 0 || (n < 0 && errno != EINTR)) {
        close(r->output_fd);
        r->output_fd = -1;
    }
}

/* Something happened, or LOOK_MS are over; where there is no descriptor for the end, it is looked for more often. */
static void wait_a_little(struct running *r)
{
    struct pollfd fds[] = {{.fd = r->output_fd, .events = POLLIN}, {.fd = r->ended_fd, .events = POLLIN}};
    int n = poll(fds, 2, r->ended_fd >= 0 ? LOOK_MS : 1);
    if (n > 0 && fds[0].revents)
        take_output(r);
}

static void end_group(pid_t leader, int signal_number)
{
    kill(-leader, signal_number);
}

/* Until it has ended: by itself, or because we were asked to stop. */
static void wait_for_end(struct running *r, const volatile sig_atomic_t *stop, int *out_status, struct rusage *out_used)
{
    uint64_t asked_ns = 0;
    while (wait4(r->pid, out_status, WNOHANG, out_used) == 0) {
        wait_a_little(r);
        if (*stop && !asked_ns) {
            asked_ns = clock_monotonic_ns();
            end_group(r->pid, SIGTERM);
        } else if (asked_ns && clock_monotonic_ns() - asked_ns > LAST_WORDS_MS * UINT64_C(1000000)) {
            end_group(r->pid, SIGKILL);
        }
    }
}

static bool judge_end(const char *name, int status, const volatile sig_atomic_t *stop, struct err *e)
{
    if (*stop)
        return err_set(e, ERR_INTERRUPTED, "stopped");
    if (WIFSIGNALED(status))
        return err_set(e, ERR_IO, "%s was ended by signal %d", name, WTERMSIG(status));
    if (WEXITSTATUS(status) == 127)
        return err_set(e, ERR_NOT_FOUND, "%s cannot be run", name);
    return WEXITSTATUS(status) == 0 || err_set(e, ERR_IO, "%s ended with status %d", name, WEXITSTATUS(status));
}

bool timed_run(struct timed_run *out, char *const *command, struct buf *output, const volatile sig_atomic_t *stop,
               struct err *e)
{
    own(running) struct running r = {.output_fd = -1, .ended_fd = -1, .output = output};
    uint64_t start_ns = clock_monotonic_ns();
    int status = 0;
    struct rusage used = {0};
    if (!start(&r, command, e))
        return false;
    wait_for_end(&r, stop, &status, &used);
    out->wall_ns = clock_monotonic_ns() - start_ns;
    out->cpu_ns = ns_of(used.ru_utime) + ns_of(used.ru_stime);
    while (r.output && r.output_fd >= 0)
        take_output(&r);
    return judge_end(command[0], status, stop, e);
}
