#include "cli/terminal.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

volatile sig_atomic_t terminal_stop;

static bool reader_is_gone;

static void end_now(int signal_number)
{
    /* NOLINTNEXTLINE(bugprone-signal-handler): it reads atomics and calls unlink(), which POSIX allows here */
    outfile_abandon_all();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* delivered when this handler returns; the parent sees what ended us */
}

static void raise_stop(int signal_number)
{
    terminal_stop = 1;
    signal(signal_number, end_now);
}

/* Whoever started us with a signal ignored (nohup, a shell's &) wants it to stay so. */
static void handle(void (*handler)(int))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sigaction now, wanted = {.sa_handler = handler};
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &wanted, NULL);
    }
}

/* A standard stream that is closed would lend its number to the next file we open, and be written into. */
static void occupy_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void terminal_start(void)
{
    occupy_standard_streams();
    handle(end_now);
    signal(SIGPIPE, SIG_IGN);
    progress_enable(isatty(STDERR_FILENO));
}

void terminal_ask_before_ending(void) { handle(raise_stop); }

static bool write_output(void *self, struct view v, struct err *e)
{
    (void)self;
    while (v.n) {
        ssize_t n = write(STDOUT_FILENO, v.at, v.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            reader_is_gone = errno == EPIPE;
            terminal_stop |= reader_is_gone;
            return err_os(e, "writing to standard output");
        }
        v.at += n;
        v.n -= (size_t)n;
    }
    return true;
}

void terminal_output(struct sink *out) { sink_to_function(out, write_output, NULL); }

bool terminal_reader_is_gone(void) { return reader_is_gone; }

static unsigned window_width(void)
{
    const char *columns = getenv("COLUMNS");
    uint64_t n;
    if (columns && text_to_uint(view_of(columns), &n) && n > 0 && n < 10000)
        return (unsigned)n;
    struct winsize w;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static bool want_colour(enum colour_choice choice)
{
    if (choice != COLOUR_AUTO)
        return choice == COLOUR_ALWAYS;
    const char *term = getenv("TERM");
    bool is_dumb = term && !strcmp(term, "dumb");
    return isatty(STDOUT_FILENO) && !is_set("NO_COLOR") && !is_dumb;
}

/* Lines are cut to the window only where there is one: a file gets all of them. */
struct look terminal_look(enum colour_choice colour)
{
    bool is_window = isatty(STDOUT_FILENO) || is_set("COLUMNS");
    return (struct look){.width = is_window ? window_width() : 0, .colour = want_colour(colour)};
}

void terminal_complain(const char *verb, const struct err *e)
{
    struct sink out;
    sink_to_fd(&out, STDERR_FILENO, "standard error");
    sink_printf(&out, "inferom%s%s: ", *verb ? " " : "", verb);
    text_safe(&out, view_of(e->text), 0);
    if (e->hint[0]) {
        sink_puts(&out, " (");
        text_safe(&out, view_of(e->hint), 0);
        sink_char(&out, ')');
    }
    sink_char(&out, '\n');
    bool said = sink_flush(&out, NULL);
    (void)said; /* there is nowhere left to complain to */
}
