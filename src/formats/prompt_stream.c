#include "formats/prompt_stream.h"

#include <inttypes.h>
#include <poll.h>

enum { LOOK_AGAIN_MS = 250 };

static bool is_stopped(const volatile sig_atomic_t *stop) { return stop && *stop; }

/* A signal ends the waiting, but may come just before it; so nobody waits for long without looking. */
static void wait_for_input(const struct reader *from, const volatile sig_atomic_t *stop)
{
    struct pollfd input = {.fd = from->fd, .events = POLLIN};
    while (from->fd >= 0 && !is_stopped(stop) && poll(&input, 1, LOOK_AGAIN_MS) <= 0)
        ;
}

/* The next line, its end left out. False: there is none, or somebody wants us to stop, or with e set. */
static bool next_line(struct reader *from, const volatile sig_atomic_t *stop, struct view *out, struct err *e)
{
    for (;;) {
        struct view here = reader_here(from);
        const char *end = here.n ? memchr(here.at, '\n', here.n) : NULL;
        if (end || (from->ended && here.n)) {
            *out = end ? view_between(here.at, end) : here;
            reader_skip(from, out->n + (end ? 1 : 0));
            from->line_no++;
            return true;
        }
        if (from->ended)
            return false;
        wait_for_input(from, stop);
        if (is_stopped(stop) || !reader_fill(from, here.n + 1, e))
            return false;
    }
}

static struct view without_return(struct view line) { return view_ends(line, VIEW("\r")) ? (struct view){line.at, line.n - 1} : line; }

static bool is_backslashes(struct view line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.at[i] != '\\')
            return false;
    return line.n > 0;
}

/* Up to the line with one backslash; of those with more, one is taken away. */
static bool read_block(struct reader *from, const volatile sig_atomic_t *stop, struct buf *out, struct err *e)
{
    uint64_t begun = from->line_no;
    struct view line;
    for (bool is_first = true; next_line(from, stop, &line, e); is_first = false) {
        struct view bare = without_return(line);
        if (view_same(bare, VIEW("\\")))
            return true;
        if (!is_first)
            buf_puts(out, "\n");
        size_t escaped = is_backslashes(bare) ? 1 : 0;
        buf_add(out, line.at + escaped, line.n - escaped);
        if (out->full)
            return err_set(e, ERR_LIMIT, "%s: line %" PRIu64 ": this prompt is larger than %zu MiB", from->name, begun, out->most >> 20);
    }
    if (e->kind || is_stopped(stop))
        return false;
    return err_set(e, ERR_MALFORMED, "%s: the input ends inside the prompt that begins in line %" PRIu64, from->name, begun);
}

bool prompt_read(struct reader *from, const volatile sig_atomic_t *stop, struct buf *out, struct err *e)
{
    struct view line;
    buf_clear(out);
    while (next_line(from, stop, &line, e)) {
        line = without_return(line);
        if (view_same(line, VIEW("q")))
            return false;
        if (view_same(line, VIEW("\\")))
            return read_block(from, stop, out, e);
        if (line.n) {
            buf_add(out, line.at, line.n);
            return !out->full || err_set(e, ERR_LIMIT, "%s: line %" PRIu64 ": this prompt is too large", from->name, from->line_no);
        }
    }
    return false;
}

/* Writing. */

void prompt_write(struct sink *out, struct view text)
{
    sink_puts(out, "\\\n");
    for (const char *at = text.at, *end = text.at + text.n;;) {
        const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        struct view line = view_between(at, stop ? stop : end);
        if (is_backslashes(without_return(line)))
            sink_char(out, '\\');
        sink_add(out, line);
        sink_char(out, '\n');
        if (!stop)
            break;
        at = stop + 1;
    }
    sink_puts(out, "\\\n");
}

void prompt_write_end(struct sink *out) { sink_puts(out, "q\n"); }
