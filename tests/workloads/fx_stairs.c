/*
 * fx-stairs: memory that grows in steps, and what the kernel says about each of them.
 *
 * Every step takes `--mib` more and then stands still for `--hold` seconds: the first steps take
 * anonymous memory, the last but one memory that could be shared, the last pages of a file.
 * While it stands still no page comes or goes, so what is in /proc/self/status at the end of a
 * step is what anybody must have seen during it.
 */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STEPS_MOST = 64 };

struct step {
    const char *kind;
    uint64_t from_ns, to_ns; /* it stood still */
    uint64_t rss, anon, file, shared, swap, peak, pss; /* bytes */
};
static struct step steps[STEPS_MOST];

static char text[8192];

static void read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

static uint64_t field(const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

static void read_status(struct step *s)
{
    read_file("/proc/self/status");
    s->rss = field("VmRSS:");
    s->anon = field("RssAnon:");
    s->file = field("RssFile:");
    s->shared = field("RssShmem:");
    s->swap = field("VmSwap:");
    s->peak = field("VmHWM:");
    read_file("/proc/self/smaps_rollup");
    s->pss = field("\nPss:");
}

static int new_file(size_t bytes)
{
    char path[] = "/tmp/fx-stairs-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        die("making a file", errno);
    unlink(path);
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(fd, steps, sizeof steps < bytes - done ? sizeof steps : bytes - done);
        if (n <= 0)
            die("writing a file", errno);
        done += (size_t)n;
    }
    return fd;
}

static KEPT void touch(volatile char *at, size_t bytes, bool is_written)
{
    for (size_t i = 0; i < bytes; i += 4096) {
        if (is_written)
            at[i] = 1;
        else
            (void)at[i];
    }
    STAY();
}

static void climb(struct step *s, size_t i, size_t n, size_t bytes, int file)
{
    bool is_file = i + 1 == n, is_shared = i + 2 == n;
    s->kind = is_file ? "file" : is_shared ? "shared" : "anon";
    void *at = is_file ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0)
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | (is_shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
    if (at == MAP_FAILED)
        die("mapping memory", errno);
    touch(at, bytes, !is_file);
}

static void hold(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

int main(int argc, char **argv)
{
    double n = 5, mib = 8, seconds = 1;
    const struct setting settings[] = {
        {"steps", "N", "steps", &n, 3, STEPS_MOST, true},
        {"mib", "MIB", "each of them", &mib, 1, 4096, true},
        {"hold", "S", "seconds to stand still on each", &seconds, 0.01, 3600, false},
    };
    settings_read(settings, 3, "takes memory in steps", argc, argv);
    size_t bytes = (size_t)mib << 20, count = (size_t)n;
    int file = new_file(bytes);
    read_status(&steps[0]); /* whatever that touches has been touched from now on */
    for (size_t i = 0; i < count; i++) {
        climb(&steps[i], i, count, bytes, file);
        read_status(&steps[i]);
        steps[i].from_ns = wall_now_ns();
        hold(seconds);
        steps[i].to_ns = wall_now_ns();
        read_status(&steps[i]);
    }
    printf("{\"fixture\": \"fx-stairs\", \"pid\": %d, \"step_bytes\": %zu, \"steps\": [", (int)getpid(), bytes);
    for (size_t i = 0; i < count; i++) {
        const struct step *s = &steps[i];
        printf("%s{\"kind\": \"%s\", \"from_ns\": %" PRIu64 ", \"to_ns\": %" PRIu64 ", \"rss\": %" PRIu64 ", \"anon\": %" PRIu64
               ", \"file\": %" PRIu64 ", \"shared\": %" PRIu64 ", \"swap\": %" PRIu64 ", \"peak\": %" PRIu64 ", \"pss\": %" PRIu64 "}",
               i ? ", " : "", s->kind, s->from_ns, s->to_ns, s->rss, s->anon, s->file, s->shared, s->swap, s->peak, s->pss);
    }
    printf("]}\n");
    return truth_told();
}
