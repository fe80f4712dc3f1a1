#include "base/own.h"
#include "base/text.h"
#include "capture/host/probe.h"

#include <errno.h>
#include <sys/statvfs.h>

enum { LOW_MIB = 1024, LEAST_MIB = 64 };

/* State of one folder; `out` keeps the worst of those seen. */
static void judge_folder(const struct host *h, const char *folder, const char *what, struct finding *out)
{
    struct statvfs fs;
    struct finding f = {.is_asked = true};
    char free_text[32];
    if (h->sys->statvfs(folder, &fs) < 0) {
        finding_set(&f, STATE_OFF, "%s: %s", what, strerror(errno));
        finding_fix(&f, "cd to a folder that exists");
    } else {
        uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
        text_bytes(free_text, (double)free_bytes);
        bool is_writable = !(fs.f_flag & ST_RDONLY) && h->sys->access(folder, W_OK | X_OK) == 0;
        enum state state = !is_writable || free_bytes >> 20 < LEAST_MIB ? STATE_OFF
                           : free_bytes >> 20 < LOW_MIB                 ? STATE_LIMITED
                                                                        : STATE_WORKS;
        finding_set(&f, state, "%s free in %s%s", free_text, what, is_writable ? "" : ", which this user may not write");
        if (!is_writable)
            finding_fix(&f, "cd to a folder of your own, or name one with --output");
        else if (state != STATE_WORKS)
            finding_fix(&f, "du -xh --max-depth=2 %s | sort -h | tail  # shows what to remove", folder);
    }
    if (!*out->why || f.state > out->state)
        *out = f;
}

void probe_disk(const struct host *h, const struct privilege *p, struct finding *out)
{
    (void)p;
    judge_folder(h, ".", "the current folder", out);
    if (h->sys->access("runs", F_OK) == 0)
        judge_folder(h, "runs", "runs/", out);
}

void probe_temporary(const struct host *h, const struct privilege *p, struct finding *out)
{
    (void)p;
    const char *folder = "/tmp";
    bool is_chosen = host_env(h, "TMPDIR", &folder);
    judge_folder(h, folder, folder, out);
    if (out->state == STATE_OFF)
        finding_fix(out, is_chosen ? "unset TMPDIR" : "export TMPDIR=\"$HOME\"");
}

/* Clocks a program reads without entering the kernel; elsewhere every time stamp is a system call. */
static const char *const fast_clocks[] = {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", NULL};

void probe_clock(const struct host *h, const struct privilege *p, struct finding *out)
{
    static const char folder[] = "/sys/devices/system/clocksource/clocksource0";
    char path[128], current[64], available[256] = "";
    snprintf(path, sizeof path, "%s/current_clocksource", folder);
    int bad = host_word(h, path, current, sizeof current);
    if (bad) {
        finding_set(out, STATE_LIMITED, "unknown: %s: %s", path, strerror(bad));
        return;
    }
    for (const char *const *c = fast_clocks; *c; c++)
        if (!strcmp(current, *c)) {
            finding_set(out, STATE_WORKS, "%s: a time stamp takes tens of nanoseconds", current);
            return;
        }
    snprintf(path, sizeof path, "%s/available_clocksource", folder);
    host_text(h, path, available, sizeof available);
    finding_set(out, STATE_LIMITED, "%s: every time stamp is a system call, so scopes and traces cost more", current);
    if (strstr(available, "tsc"))
        finding_fix_on_host(out, p, "sh -c 'echo tsc > %s/current_clocksource'", folder);
    else
        finding_fix(out, "boot with tsc=reliable, if the machine's time stamp counter can be trusted");
}

void probe_frequency(const struct host *h, const struct privilege *p, struct finding *out)
{
    char governor[64];
    if (host_word(h, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor) != 0) {
        finding_set(out, STATE_WORKS, "not governed by this system");
        return;
    }
    if (!strcmp(governor, "performance")) {
        finding_set(out, STATE_WORKS, "governor is performance");
        return;
    }
    finding_set(out, STATE_LIMITED, "governor is %s: the clock follows the load, so two runs compare badly", governor);
    finding_fix_on_host(out, p, "sh -c 'echo performance | tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor'");
}

/* Our own group is "0::/path"; inside a container the path is "/" and the group lies at the root of the mount. */
static void own_group(const struct host *h, char *out, size_t size)
{
    char text[4096];
    const char *line = NULL;
    if (host_text(h, "/proc/self/cgroup", text, sizeof text) == 0)
        line = strstr(text, "0::/");
    int n = line ? (int)strcspn(line + 4, "\n") : 0;
    snprintf(out, size, "/sys/fs/cgroup/%.*s/cpu.max", n > 1024 ? 1024 : n, line ? line + 4 : "");
}

void probe_quota(const struct host *h, const struct privilege *p, struct finding *out)
{
    (void)p;
    char path[1200], text[64];
    unsigned long long quota_us, period_us;
    own_group(h, path, sizeof path);
    if (host_text(h, path, text, sizeof text) != 0 || sscanf(text, "%llu %llu", &quota_us, &period_us) != 2 || !period_us) {
        finding_set(out, STATE_WORKS, "no limit on CPU time");
        return;
    }
    finding_set(out, STATE_LIMITED, "%.3g CPUs of %u: work stops until the next period when they are used up, which looks like waiting",
                (double)quota_us / (double)period_us, host_cpus(h));
    finding_fix(out, "start without a CPU limit (docker run --cpus, Kubernetes limits.cpu, systemd CPUQuota=)");
}

void probe_load(const struct host *h, const struct privilege *p, struct finding *out)
{
    (void)p;
    char word[64], *end;
    unsigned cpus = host_cpus(h);
    int bad = host_word(h, "/proc/loadavg", word, sizeof word);
    double load = bad ? 0 : strtod(word, &end);
    if (bad || *end) {
        finding_set(out, STATE_LIMITED, "unknown: /proc/loadavg: %s", strerror(bad ? bad : EBADMSG));
        return;
    }
    bool is_quiet = load <= 0.5 * cpus;
    finding_set(out, is_quiet ? STATE_WORKS : STATE_LIMITED, "%.2f over the last minute, on %u CPU%s%s", load, cpus,
                cpus == 1 ? "" : "s", is_quiet ? "" : ": other work disturbs the measurement");
    if (!is_quiet)
        finding_fix(out, "ps -eo pcpu,pid,user,comm --sort=-pcpu | head  # shows who is busy");
}
