/*
 * Entered: alternate screen, no cursor, no line wrapping (a line that is too long is cut by the
 * terminal itself). Left: the same backwards. leave() is called from signal handlers, so it
 * uses write() and tcsetattr() only, which POSIX allows there.
 */
#include "render/screen.h"
#include "base/buf.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static struct termios before;
static volatile sig_atomic_t is_open, was_resized;

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGXCPU};
enum { ENDINGS = sizeof endings / sizeof *endings };
static struct sigaction ended_before[ENDINGS];

/* Everything, or as much as the screen is still ours for. */
static void put(const char *bytes, size_t n)
{
    while (n && is_open) {
        ssize_t done = write(STDOUT_FILENO, bytes, n);
        if (done < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
}

static void enter(void)
{
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    is_open = 1;
    put(ENTER, sizeof ENTER - 1);
}

static void leave(void)
{
    if (!is_open)
        return;
    is_open = 0;
    ssize_t ignored = write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1);
    (void)ignored; /* the terminal may be gone */
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* The terminal first; then whoever would have had the signal without us gets it, when this handler returns. */
static void leave_and_pass_on(int signal_number)
{
    int saved = errno;
    leave();
    for (size_t i = 0; i < ENDINGS; i++)
        if (endings[i] == signal_number)
            sigaction(signal_number, &ended_before[i], NULL);
    raise(signal_number);
    errno = saved;
}

/* `bg` continues us too, but the terminal is not ours then. */
static bool is_in_background(void)
{
    pid_t front = tcgetpgrp(STDIN_FILENO);
    return front > 0 && front != getpgrp();
}

/* Ctrl-Z. Behind raise() somebody has continued us. */
static void leave_for_now(int signal_number)
{
    int saved = errno;
    (void)signal_number;
    leave();
    do
        raise(SIGSTOP);
    while (is_in_background());
    enter();
    was_resized = 1;
    errno = saved;
}

static void note_size(int signal_number)
{
    (void)signal_number;
    was_resized = 1;
}

static void handle(int signal_number, void (*handler)(int), struct sigaction *out_before)
{
    struct sigaction ours = {.sa_handler = handler};
    sigfillset(&ours.sa_mask);
    sigaction(signal_number, NULL, out_before);
    if (out_before->sa_handler != SIG_IGN) /* who ignored it wants it to stay so */
        sigaction(signal_number, &ours, NULL);
}

bool screen_is_possible(struct err *e)
{
    return (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) || err_set(e, ERR_USAGE, "this is not a terminal");
}

bool screen_open(struct err *e)
{
    static bool is_known;
    struct sigaction unused;
    if (!screen_is_possible(e))
        return false;
    if (tcgetattr(STDIN_FILENO, &before) < 0)
        return err_os(e, "the terminal's modes");
    if (!is_known)
        is_known = atexit(screen_close) == 0;
    for (size_t i = 0; i < ENDINGS; i++)
        handle(endings[i], leave_and_pass_on, &ended_before[i]);
    handle(SIGTSTP, leave_for_now, &unused);
    handle(SIGWINCH, note_size, &unused);
    enter();
    return true;
}

void screen_close(void)
{
    if (!is_open)
        return;
    leave();
    for (size_t i = 0; i < ENDINGS; i++)
        sigaction(endings[i], &ended_before[i], NULL);
    signal(SIGTSTP, SIG_DFL);
    signal(SIGWINCH, SIG_DFL);
}

bool screen_is_open(void) { return is_open; }

struct screen_size screen_size(void)
{
    struct winsize w;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 || !w.ws_row || !w.ws_col)
        return (struct screen_size){24, 80};
    return (struct screen_size){w.ws_row, w.ws_col};
}

bool screen_was_resized(void)
{
    bool was = was_resized;
    was_resized = 0;
    return was;
}

/* Each line clears what is left of the old one behind it, so nothing flickers. No newline after the last: it would scroll. */
void screen_show(struct view lines)
{
    unsigned rows = screen_size().rows;
    own(buf) struct buf frame;
    buf_init(&frame, (size_t)1 << 20);
    buf_puts(&frame, "\033[H");
    for (unsigned row = 0; row < rows && lines.n; row++) {
        const char *end = memchr(lines.at, '\n', lines.n);
        size_t n = end ? (size_t)(end - lines.at) : lines.n;
        buf_puts(&frame, row ? "\r\n" : "");
        buf_add(&frame, lines.at, n);
        buf_puts(&frame, "\033[K");
        n += end != NULL;
        lines.at += n;
        lines.n -= n;
    }
    buf_puts(&frame, "\033[J");
    put(frame.data, frame.len);
}

size_t screen_keys(char *out, size_t most, bool *out_gone)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    *out_gone = false;
    if (!is_open || poll(&keys, 1, 0) <= 0)
        return 0;
    ssize_t n = read(STDIN_FILENO, out, most);
    *out_gone = n <= 0 && !(n < 0 && errno == EINTR);
    return n > 0 ? (size_t)n : 0;
}
