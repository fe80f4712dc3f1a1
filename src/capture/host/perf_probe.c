/*
 * Sampling is tried with two events on ourselves: one that also sees the kernel,
 * and, when that is refused, one for user code only. Without a system to ask,
 * predict() applies the kernel's rules to its files, and both ways meet in the
 * same explanation.
 *
 *     kernel.perf_event_paranoid    without CAP_PERFMON
 *       -1, 0, 1                    own processes, user and kernel code
 *        2                          own processes, user code
 *        3, 4 (Debian, Ubuntu)      nothing
 */
#include "base/own.h"
#include "capture/host/probe.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static int predict(const struct host *h, const struct privilege *p, bool want_kernel)
{
    int64_t paranoid;
    int bad = host_number(h, PARANOID, &paranoid);
    if (bad == ENOENT)
        return ENOSYS;
    if (privilege_may_sample(p))
        return 0;
    if (bad)
        return bad;
    if (p->seccomp != SECCOMP_OFF)
        return EPERM; /* every container's standard filter does; a kinder one shows only on the machine itself */
    return paranoid > (want_kernel ? 1 : 2) ? EACCES : 0;
}

static int try_event(const struct host *h, uint32_t type, uint64_t config, bool want_kernel)
{
    struct perf_event_attr a = {
        .type = type,
        .size = sizeof a,
        .config = config,
        .disabled = 1,
        .exclude_kernel = !want_kernel,
        .exclude_hv = 1,
    };
    own(close) int fd = h->sys->perf_event_open(&a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? errno : 0;
}

static int refusal(const struct host *h, const struct privilege *p, bool want_kernel)
{
    return h->sys ? try_event(h, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, want_kernel)
                  : predict(h, p, want_kernel);
}

/* In a container nobody can set a sysctl, but a capability opens both doors. */
static void fix_paranoid(const struct privilege *p, struct finding *out)
{
    if (p->container != CONTAINER_NONE)
        GRANT(out, p, "PERFMON");
    else
        finding_fix_on_host(out, p, "sysctl kernel.perf_event_paranoid=1");
}

static void explain_denial(const struct host *h, const struct privilege *p, int refused, struct finding *out)
{
    int64_t paranoid = 0;
    bool is_known = host_number(h, PARANOID, &paranoid) == 0;
    if (p->seccomp != SECCOMP_OFF) {
        finding_set(out, STATE_OFF, "a seccomp filter refuses perf_event_open (%s)", strerror(refused));
        if (p->container == CONTAINER_NONE)
            finding_fix(out, "start the shell or service without its filter (systemd: SystemCallFilter=)");
        else
            GRANT(out, p, "PERFMON");
    } else if (is_known && paranoid > 2) {
        finding_set(out, STATE_OFF, "kernel.perf_event_paranoid is %lld: only root may sample", (long long)paranoid);
        fix_paranoid(p, out);
    } else {
        finding_set(out, STATE_OFF, "perf_event_open is refused (%s), probably by a security module", strerror(refused));
        finding_fix_on_host(out, p, "dmesg | grep -i -e denied -e lockdown");
    }
}

static void explain_off(const struct host *h, const struct privilege *p, int refused, struct finding *out)
{
    switch (refused) {
    case EACCES: case EPERM:
        explain_denial(h, p, refused, out);
        break;
    case ENOSYS:
        if (p->seccomp != SECCOMP_OFF && host_has(h, PARANOID)) {
            explain_denial(h, p, refused, out);
            break;
        }
        finding_set(out, STATE_OFF, "this kernel has no perf_event_open; programs are sampled by timers instead");
        finding_fix(out, "boot a kernel built with CONFIG_PERF_EVENTS=y");
        break;
    case EMFILE: case ENFILE:
        finding_set(out, STATE_OFF, "no file descriptor is left (%s)", strerror(refused));
        finding_fix(out, "ulimit -n 65536");
        break;
    case EBADMSG:
        finding_set(out, STATE_OFF, PARANOID " does not hold a number");
        finding_fix_on_host(out, p, "sysctl kernel.perf_event_paranoid=1");
        break;
    default:
        finding_set(out, STATE_OFF, "perf_event_open failed: %s", strerror(refused));
        finding_fix_on_host(out, p, "dmesg | grep -i perf");
    }
}

void probe_cpu_sampling(const struct host *h, const struct privilege *p, struct finding *out)
{
    int64_t paranoid = 0;
    bool is_known = host_number(h, PARANOID, &paranoid) == 0;
    int with_kernel = refusal(h, p, true);
    if (with_kernel == 0) {
        finding_set(out, STATE_WORKS, "perf_event samples user and kernel code%s",
                    privilege_may_sample(p) ? ", of any process" : " of your own processes");
        return;
    }
    int refused = refusal(h, p, false);
    if (refused) {
        explain_off(h, p, refused, out);
        return;
    }
    if (is_known && paranoid > 1)
        finding_set(out, STATE_LIMITED, "user code of your own processes, no kernel code: kernel.perf_event_paranoid is %lld",
                    (long long)paranoid);
    else
        finding_set(out, STATE_LIMITED, "user code of your own processes, no kernel code (%s)", strerror(with_kernel));
    fix_paranoid(p, out);
}

void probe_cpu_timers(const struct host *h, const struct privilege *p, struct finding *out)
{
    (void)p;
    int refused = h->sys ? h->sys->cpu_timer() : 0;
    if (refused) {
        finding_set(out, STATE_OFF, "a thread may not have a timer on its CPU clock: %s", strerror(refused));
        finding_fix(out, refused == EAGAIN ? "ulimit -i 65536" : "run outside the sandbox");
        return;
    }
    finding_set(out, STATE_WORKS, "programs started by inferom can sample themselves where perf_event is refused, "
                                  "at the kernel's tick at most (often 250 Hz)");
}

/* The kernel lists its CPU counters under one of these names. */
static bool is_cpu_pmu(void *self, const char *path)
{
    (void)self;
    const char *name = strrchr(path, '/') + 1;
    return !strcmp(name, "cpu") || !strncmp(name, "cpu_", 4) || !strncmp(name, "armv8", 5);
}

static int counter_refusal(const struct host *h, const struct privilege *p)
{
    if (h->sys)
        return try_event(h, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
    if (!host_any(h, "/sys/bus/event_source/devices", is_cpu_pmu, NULL))
        return ENOENT;
    return predict(h, p, false);
}

void probe_cpu_counters(const struct host *h, const struct privilege *p, struct finding *out)
{
    int refused = counter_refusal(h, p);
    if (refused == 0) {
        finding_set(out, STATE_WORKS, "cycles, instructions and cache misses can be counted");
    } else if (refused == ENOENT || refused == EOPNOTSUPP || refused == ENODEV) {
        finding_set(out, STATE_LIMITED, "no PMU: cpu-clock is used, without cycles, instructions or cache misses, "
                                        "and a sample costs more");
        finding_fix(out, "run on bare metal, or give the virtual machine a PMU (QEMU: -cpu host,pmu=on)");
    } else {
        explain_off(h, p, refused, out);
    }
}

void probe_sample_rate(const struct host *h, const struct privilege *p, struct finding *out)
{
    static const char path[] = "/proc/sys/kernel/perf_event_max_sample_rate";
    enum { DEFAULT_HZ = 1000 };
    int64_t most_hz;
    int bad = host_number(h, path, &most_hz);
    if (bad) {
        finding_set(out, STATE_LIMITED, "unknown: %s: %s", path, strerror(bad));
    } else if (most_hz >= DEFAULT_HZ) {
        finding_set(out, STATE_WORKS, "up to %lld Hz", (long long)most_hz);
    } else {
        finding_set(out, STATE_LIMITED, "%lld Hz at most: the kernel lowered kernel.perf_event_max_sample_rate because samples "
                                        "took too long, so expect overhead", (long long)most_hz);
        finding_fix_on_host(out, p, "sysctl kernel.perf_event_max_sample_rate=100000");
    }
}

/* "Max open files   1024   524288   files"; "unlimited" is UINT64_MAX. */
static bool read_limit(const struct host *h, const char *name, uint64_t *out_soft, uint64_t *out_hard)
{
    char limits[4096], soft[32], hard[32];
    if (host_text(h, "/proc/self/limits", limits, sizeof limits) != 0)
        return false;
    const char *line = strstr(limits, name);
    if (!line || sscanf(line + strlen(name), "%31s %31s", soft, hard) != 2)
        return false;
    *out_soft = strcmp(soft, "unlimited") ? strtoull(soft, NULL, 10) : UINT64_MAX;
    *out_hard = strcmp(hard, "unlimited") ? strtoull(hard, NULL, 10) : UINT64_MAX;
    return true;
}

/* One ring per CPU: 512 KiB of records and a page of bookkeeping. Locked memory pays what the allowance does not. */
enum { RING_KIB = 516 };

void probe_ring_memory(const struct host *h, const struct privilege *p, struct finding *out)
{
    int64_t allowed_kib, paranoid = 2;
    int bad = host_number(h, "/proc/sys/kernel/perf_event_mlock_kb", &allowed_kib);
    if (bad) {
        finding_set(out, STATE_LIMITED, "unknown: /proc/sys/kernel/perf_event_mlock_kb: %s", strerror(bad));
        return;
    }
    uint64_t soft = 0, hard = 0, cpus = host_cpus(h), allowance = allowed_kib > 0 ? (uint64_t)allowed_kib : 0;
    bool is_free = privilege_has(p, CAP_IPC_LOCK) || (host_number(h, PARANOID, &paranoid) == 0 && paranoid < 0);
    bool has_room = allowance >= RING_KIB ||
                    (read_limit(h, "Max locked memory", &soft, &hard) && soft / 1024 / cpus >= RING_KIB - allowance);
    if (is_free || has_room) {
        finding_set(out, STATE_WORKS, "%s", is_free ? "no limit for this user" : "enough for one recording at a time");
        return;
    }
    finding_set(out, STATE_LIMITED, "kernel.perf_event_mlock_kb is %lld, a ring takes %d: small rings lose samples under load",
                (long long)allowed_kib, RING_KIB);
    finding_fix_on_host(out, p, "sysctl kernel.perf_event_mlock_kb=2048");
}

void probe_open_files(const struct host *h, const struct privilege *p, struct finding *out)
{
    uint64_t soft, hard, need = 256 + 8 * (uint64_t)host_cpus(h); /* a few events per CPU, the files of the target */
    if (!read_limit(h, "Max open files", &soft, &hard)) {
        finding_set(out, STATE_LIMITED, "unknown: /proc/self/limits does not say");
        return;
    }
    if (soft >= need) {
        finding_set(out, STATE_WORKS, "enough for every CPU");
        return;
    }
    finding_set(out, STATE_LIMITED, "%llu allowed, %llu are needed for all %u CPUs", (unsigned long long)soft,
                (unsigned long long)need, host_cpus(h));
    if (hard >= need)
        finding_fix(out, "ulimit -n %llu", (unsigned long long)need);
    else
        finding_fix_as_root(out, p, "sh -c \"echo '* - nofile 65536' > /etc/security/limits.d/nofile.conf\"  # then log in again");
}
