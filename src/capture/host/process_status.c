#include "capture/host/process_status.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct line {
    struct view key;
    size_t at; /* of its number in struct process_status */
} lines[] = {
#define LINE(key, field) {VIEW(key ":"), offsetof(struct process_status, field)}
    LINE("VmSize", size_bytes), LINE("VmHWM", peak_bytes),    LINE("VmRSS", rss_bytes),     LINE("RssAnon", anon_bytes),
    LINE("RssFile", file_bytes), LINE("RssShmem", shared_bytes), LINE("VmSwap", swap_bytes),
#undef LINE
};
enum { LINES = sizeof lines / sizeof *lines };

/* "\t    1740 kB": the unit has been this one for ever. */
static bool read_kib(struct view v, double *out)
{
    uint64_t kib;
    while (v.n && (*v.at == ' ' || *v.at == '\t'))
        v = (struct view){v.at + 1, v.n - 1};
    if (!view_ends(v, VIEW(" kB")) || !text_to_uint((struct view){v.at, v.n - 3}, &kib))
        return false;
    *out = (double)kib * 1024;
    return true;
}

static struct view behind(struct view line, struct view key) { return (struct view){line.at + key.n, line.n - key.n}; }

bool process_kib_line(struct view line, struct view key, double *out_bytes)
{
    return view_starts(line, key) && read_kib(behind(line, key), out_bytes);
}

static bool take_line(struct view line, struct process_status *out)
{
    double bytes;
    for (size_t i = 0; i < LINES; i++) {
        if (!view_starts(line, lines[i].key))
            continue;
        if (!read_kib(behind(line, lines[i].key), &bytes))
            return false;
        memcpy((char *)out + lines[i].at, &bytes, sizeof bytes);
        return true;
    }
    return true; /* about something else */
}

static struct view next_line(struct view *text)
{
    const char *end = memchr(text->at, '\n', text->n);
    struct view line = view_between(text->at, end ? end : text->at + text->n);
    size_t used = line.n + (end != NULL);
    *text = (struct view){text->at + used, text->n - used};
    return line;
}

/* A name stands in the first line, with its newlines escaped: nothing in it can pass for another line. */
bool process_status_parse(struct view text, struct process_status *out)
{
    struct process_status s = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!view_starts(text, VIEW("Name:")))
        return false;
    while (text.n)
        if (!take_line(next_line(&text), &s))
            return false;
    *out = s;
    return true;
}

/* The first line is like one of maps; then a line for each number. */
bool process_pss_parse(struct view text, double *out_bytes)
{
    while (text.n) {
        struct view line = next_line(&text), key = VIEW("Pss:");
        if (view_starts(line, key))
            return read_kib(behind(line, key), out_bytes);
    }
    return false;
}

static int read_text(const struct host *h, int32_t pid, const char *name, char *out, size_t size)
{
    char path[48];
    if (pid)
        snprintf(path, sizeof path, "/proc/%" PRId32 "/%s", pid, name);
    else
        snprintf(path, sizeof path, "/proc/self/%s", name);
    return host_text(h, path, out, size);
}

int process_status_read(const struct host *h, int32_t pid, struct process_status *out)
{
    char text[16384]; /* a user may be in very many groups, and they stand in front */
    int bad = read_text(h, pid, "status", text, sizeof text);
    return bad ? bad : process_status_parse(view_of(text), out) ? 0 : EBADMSG;
}

int process_pss_read(const struct host *h, int32_t pid, double *out_bytes)
{
    char text[4096];
    int bad = read_text(h, pid, "smaps_rollup", text, sizeof text);
    return bad ? bad : process_pss_parse(view_of(text), out_bytes) ? 0 : EBADMSG;
}
