/*
 * Each row is a machine with one thing wrong. It starts as a healthy host (the
 * files of `healthy`), gets the row's files on top, and is asked about one
 * ability: once by its files alone, or, with a liar, through a system that
 * answers as told.
 */
#include "capture/host/ability.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define USER_STATUS(seccomp) "/proc/self/status=Name:\tx\nUid:\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t" seccomp "\n"
#define ROOT_STATUS(seccomp) "/proc/self/status=Name:\tx\nUid:\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t" seccomp "\n"
#define DOCKER_ROOT "/proc/self/status=Name:\tx\nUid:\t0\t0\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n"
#define PARANOID(n) "/proc/sys/kernel/perf_event_paranoid=" n "\n"
#define KPTR(n) "/proc/sys/kernel/kptr_restrict=" n "\n"
#define HIDDEN "/proc/kallsyms=0000000000000000 T _text\n0000000000000000 T start\n"
#define YAMA(n) "/proc/sys/kernel/yama/ptrace_scope=" n "\n"
#define CARD(vendor) "/sys/bus/pci/devices/0000:01:00.0/vendor=" vendor "\n", "/sys/bus/pci/devices/0000:01:00.0/class=0x030200\n"
#define LIMITS(files, memory) \
    "/proc/self/limits=Max open files            " files "                 524288               files\n" \
    "Max locked memory         " memory "               65536                bytes\n"

/* A path alone is a file that is not there. */
static const char *const healthy[] = {
    USER_STATUS("0"),
    "/proc/self/uid_map=         0          0 4294967295\n",
    "/proc/self/cgroup=0::/user.slice\n",
    LIMITS("4096", "8388608"),
    PARANOID("1"),
    KPTR("0"),
    "/proc/kallsyms=0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\n",
    "/proc/sys/kernel/perf_event_max_sample_rate=100000\n",
    "/proc/sys/kernel/perf_event_mlock_kb=516\n",
    "/proc/sys/kernel/osrelease=6.1.0-18-amd64\n",
    "/proc/sys/kernel/unprivileged_bpf_disabled=2\n",
    "/proc/loadavg=0.10 0.20 0.30 1/100 4242\n",
    "/sys/bus/event_source/devices/cpu/type=4\n",
    "/sys/devices/system/cpu/online=0-3\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource=tsc\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor=performance\n",
    "/sys/kernel/btf/vmlinux=x",
    "/usr/lib/debug/.build-id/ab/cdef.debug=x",
    "/etc/os-release=ID=debian\n",
    NULL,
};

/* A system that says yes to everything; rows swap one answer. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
static int opens(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }
static int refuse(int os) { return errno = os, -1; }

static int yes_event(struct perf_event_attr *a, pid_t p, int c, int g, unsigned long f) { return opens(); }
static int event_EACCES(struct perf_event_attr *a, pid_t p, int c, int g, unsigned long f) { return refuse(EACCES); }
static int event_ENOSYS(struct perf_event_attr *a, pid_t p, int c, int g, unsigned long f) { return refuse(ENOSYS); }
static int event_EMFILE(struct perf_event_attr *a, pid_t p, int c, int g, unsigned long f) { return refuse(EMFILE); }
static int event_ENOENT(struct perf_event_attr *a, pid_t p, int c, int g, unsigned long f) { return refuse(ENOENT); }
static int yes_bpf(int c, union bpf_attr *a, unsigned n) { return opens(); }
static int bpf_EPERM(int c, union bpf_attr *a, unsigned n) { return refuse(EPERM); }
static int bpf_ENOSYS(int c, union bpf_attr *a, unsigned n) { return refuse(ENOSYS); }
static int yes_timer(void) { return 0; }
static int timer_EPERM(void) { return EPERM; }
static int yes_peek(enum kin k) { return 0; }
static int peek_children(enum kin k) { return k == KIN_CHILD ? 0 : EPERM; }
static int peek_ENOSYS(enum kin k) { return ENOSYS; }
static bool yes_loads(const char *l, char *why, size_t n) { return true; }
static bool no_loads(const char *l, char *why, size_t n) { return snprintf(why, n, "%s: cannot open shared object file", l), false; }
static char *no_env(const char *name) { return NULL; }
static int yes_access(const char *path, int mode) { return 0; }
static int access_EACCES(const char *path, int mode) { return mode == F_OK ? 0 : refuse(EACCES); }
static int disk(struct statvfs *out, unsigned long mib) { return *out = (struct statvfs){.f_bavail = mib, .f_frsize = 1 << 20}, 0; }
static int disk_big(const char *p, struct statvfs *out) { return disk(out, 50000); }
static int disk_low(const char *p, struct statvfs *out) { return disk(out, 500); }
static int disk_full(const char *p, struct statvfs *out) { return disk(out, 10); }
static int disk_low_runs(const char *p, struct statvfs *out) { return disk(out, strcmp(p, "runs") ? 50000 : 500); }
static int disk_gone(const char *p, struct statvfs *out) { return refuse(ENOENT); }

#define AGREEABLE .perf_event_open = yes_event, .bpf = yes_bpf, .statvfs = disk_big, .access = yes_access, .getenv = no_env, \
                  .cpu_timer = yes_timer, .peek = yes_peek, .loads = yes_loads
#pragma GCC diagnostic ignored "-Woverride-init" /* a liar is the agreeable system with one answer overridden */
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
#define SAYS(...) (&(const struct sys){AGREEABLE, __VA_ARGS__})
#define AGREES (&(const struct sys){AGREEABLE})

static const struct row {
    const char *what;
    enum ability ability;
    const char *files[6];
    const struct sys *sys; /* NULL: files only */
    enum state state;
    const char *why, *fix; /* pieces of the answer; NULL: there is no fix */
} rows[] = {
    /* cpu sampling, by the files */
    {"paranoid -1", ABILITY_CPU_SAMPLING, {PARANOID("-1")}, NULL, STATE_WORKS, "user and kernel code", NULL},
    {"paranoid 0", ABILITY_CPU_SAMPLING, {PARANOID("0")}, NULL, STATE_WORKS, "user and kernel code", NULL},
    {"paranoid 1", ABILITY_CPU_SAMPLING, {PARANOID("1")}, NULL, STATE_WORKS, "of your own processes", NULL},
    {"paranoid 2", ABILITY_CPU_SAMPLING, {PARANOID("2")}, NULL, STATE_LIMITED, "no kernel code: kernel.perf_event_paranoid is 2", "sudo sysctl kernel.perf_event_paranoid=1"},
    {"paranoid 3", ABILITY_CPU_SAMPLING, {PARANOID("3")}, NULL, STATE_OFF, "perf_event_paranoid is 3: only root", "sudo sysctl kernel.perf_event_paranoid=1"},
    {"paranoid 4", ABILITY_CPU_SAMPLING, {PARANOID("4")}, NULL, STATE_OFF, "perf_event_paranoid is 4: only root", "sudo sysctl kernel.perf_event_paranoid=1"},
    {"paranoid 4, root", ABILITY_CPU_SAMPLING, {PARANOID("4"), ROOT_STATUS("0")}, NULL, STATE_WORKS, "of any process", NULL},
    {"paranoid 4, root of a user namespace", ABILITY_CPU_SAMPLING, {PARANOID("4"), ROOT_STATUS("0"), "/proc/self/uid_map=0 1000 1\n"}, NULL, STATE_OFF, "only root", "sudo sysctl"},
    {"paranoid is garbage", ABILITY_CPU_SAMPLING, {PARANOID("banana")}, NULL, STATE_OFF, "does not hold a number", "sysctl"},
    {"paranoid is empty", ABILITY_CPU_SAMPLING, {"/proc/sys/kernel/perf_event_paranoid="}, NULL, STATE_OFF, "does not hold a number", "sysctl"},
    {"no perf events in the kernel", ABILITY_CPU_SAMPLING, {"/proc/sys/kernel/perf_event_paranoid"}, NULL, STATE_OFF, "no perf_event_open", "CONFIG_PERF_EVENTS"},
    {"status is garbage", ABILITY_CPU_SAMPLING, {"/proc/self/status=\xff\xfe", PARANOID("4")}, NULL, STATE_OFF, "only root", "sudo sysctl"},

    /* cpu sampling, by the system's answer */
    {"all is well", ABILITY_CPU_SAMPLING, {NULL}, AGREES, STATE_WORKS, "user and kernel code", NULL},
    {"refused, paranoid 4", ABILITY_CPU_SAMPLING, {PARANOID("4")}, SAYS(.perf_event_open = event_EACCES), STATE_OFF, "is 4", "sudo sysctl kernel.perf_event_paranoid=1"},
    {"refused, nobody knows why", ABILITY_CPU_SAMPLING, {NULL}, SAYS(.perf_event_open = event_EACCES), STATE_OFF, "security module", "sudo dmesg"},
    {"refused by a filter outside containers", ABILITY_CPU_SAMPLING, {USER_STATUS("2")}, SAYS(.perf_event_open = event_EACCES), STATE_OFF, "seccomp filter", "SystemCallFilter="},
    {"refused in Docker", ABILITY_CPU_SAMPLING, {DOCKER_ROOT, "/.dockerenv="}, SAYS(.perf_event_open = event_EACCES), STATE_OFF, "seccomp filter", "docker run --cap-add PERFMON IMAGE"},
    {"refused in Docker, not root", ABILITY_CPU_SAMPLING, {USER_STATUS("2"), "/.dockerenv="}, SAYS(.perf_event_open = event_EACCES), STATE_OFF, "seccomp filter", "docker run --user 0 --cap-add PERFMON IMAGE"},
    {"a filter plays dead", ABILITY_CPU_SAMPLING, {DOCKER_ROOT, "/.dockerenv="}, SAYS(.perf_event_open = event_ENOSYS), STATE_OFF, "seccomp filter", "docker run"},
    {"no such call", ABILITY_CPU_SAMPLING, {NULL}, SAYS(.perf_event_open = event_ENOSYS), STATE_OFF, "no perf_event_open", "CONFIG_PERF_EVENTS"},
    {"no descriptor left", ABILITY_CPU_SAMPLING, {NULL}, SAYS(.perf_event_open = event_EMFILE), STATE_OFF, "Too many open files", "ulimit -n"},

    {"timers", ABILITY_CPU_TIMERS, {NULL}, AGREES, STATE_WORKS, "sample themselves", NULL},
    {"timers refused", ABILITY_CPU_TIMERS, {NULL}, SAYS(.cpu_timer = timer_EPERM), STATE_OFF, "not permitted", "sandbox"},

    {"a PMU", ABILITY_CPU_COUNTERS, {NULL}, NULL, STATE_WORKS, "cycles", NULL},
    {"no PMU listed", ABILITY_CPU_COUNTERS, {"/sys/bus/event_source/devices/cpu/type"}, NULL, STATE_LIMITED, "no PMU: cpu-clock", "pmu=on"},
    {"no PMU", ABILITY_CPU_COUNTERS, {NULL}, SAYS(.perf_event_open = event_ENOENT), STATE_LIMITED, "no PMU: cpu-clock", "pmu=on"},
    {"counters refused", ABILITY_CPU_COUNTERS, {PARANOID("4")}, SAYS(.perf_event_open = event_EACCES), STATE_OFF, "is 4", "sysctl"},

    {"rate lowered by the kernel", ABILITY_SAMPLE_RATE, {"/proc/sys/kernel/perf_event_max_sample_rate=250\n"}, NULL, STATE_LIMITED, "250 Hz at most", "max_sample_rate=100000"},
    {"rate unknown", ABILITY_SAMPLE_RATE, {"/proc/sys/kernel/perf_event_max_sample_rate"}, NULL, STATE_LIMITED, "unknown", NULL},
    {"rings fit", ABILITY_RING_MEMORY, {NULL}, NULL, STATE_WORKS, "enough", NULL},
    {"rings too small", ABILITY_RING_MEMORY, {"/proc/sys/kernel/perf_event_mlock_kb=64\n", LIMITS("4096", "65536")}, NULL, STATE_LIMITED, "mlock_kb is 64", "sudo sysctl kernel.perf_event_mlock_kb=2048"},
    {"locked memory pays for rings", ABILITY_RING_MEMORY, {"/proc/sys/kernel/perf_event_mlock_kb=64\n", LIMITS("4096", "unlimited")}, NULL, STATE_WORKS, "enough", NULL},
    {"mlock is negative", ABILITY_RING_MEMORY, {"/proc/sys/kernel/perf_event_mlock_kb=-5\n", LIMITS("4096", "0")}, NULL, STATE_LIMITED, "mlock_kb is -5", "sysctl"},
    {"few open files", ABILITY_OPEN_FILES, {LIMITS("64", "0")}, NULL, STATE_LIMITED, "64 allowed, 288 are needed for all 4", "ulimit -n 288"},
    {"limits are garbage", ABILITY_OPEN_FILES, {"/proc/self/limits=\n"}, NULL, STATE_LIMITED, "unknown", NULL},

    /* symbols */
    {"kernel addresses", ABILITY_KERNEL_SYMBOLS, {NULL}, NULL, STATE_WORKS, "names", NULL},
    {"kptr 0, hidden", ABILITY_KERNEL_SYMBOLS, {KPTR("0"), HIDDEN}, NULL, STATE_OFF, "hides its addresses", "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
    {"kptr 1", ABILITY_KERNEL_SYMBOLS, {KPTR("1"), HIDDEN}, NULL, STATE_OFF, "kptr_restrict is 1", "sudo sysctl kernel.kptr_restrict=0"},
    {"kptr 2, root", ABILITY_KERNEL_SYMBOLS, {KPTR("2"), HIDDEN, ROOT_STATUS("0")}, NULL, STATE_OFF, "kptr_restrict is 2", "sysctl kernel.kptr_restrict=1"},
    {"kptr 2 in Docker", ABILITY_KERNEL_SYMBOLS, {KPTR("2"), HIDDEN, DOCKER_ROOT, "/.dockerenv="}, NULL, STATE_OFF, "kptr_restrict is 2", "on the host: sudo sysctl"},
    {"no kallsyms", ABILITY_KERNEL_SYMBOLS, {"/proc/kallsyms"}, NULL, STATE_OFF, "No such file", "CONFIG_KALLSYMS"},
    {"no debug files", ABILITY_DEBUG_SYMBOLS, {"/usr/lib/debug/.build-id/ab/cdef.debug"}, NULL, STATE_LIMITED, "no debug files", "sudo apt install libc6-dbg"},
    {"no debug files, Fedora", ABILITY_DEBUG_SYMBOLS, {"/usr/lib/debug/.build-id/ab/cdef.debug", "/etc/os-release=ID=fedora\n"}, NULL, STATE_LIMITED, "no debug files", "sudo dnf debuginfo-install"},
    {"no debug files, no known system", ABILITY_DEBUG_SYMBOLS, {"/usr/lib/debug/.build-id/ab/cdef.debug", "/etc/os-release"}, NULL, STATE_LIMITED, "no debug files", "-g"},

    /* other processes */
    {"no Yama", ABILITY_ATTACH, {NULL}, NULL, STATE_WORKS, "your own processes", NULL},
    {"Yama 0", ABILITY_ATTACH, {YAMA("0")}, NULL, STATE_WORKS, "your own processes", NULL},
    {"Yama 1", ABILITY_ATTACH, {YAMA("1")}, NULL, STATE_LIMITED, "ptrace_scope is 1", "sudo sysctl kernel.yama.ptrace_scope=0"},
    {"Yama 2", ABILITY_ATTACH, {YAMA("2")}, NULL, STATE_OFF, "ptrace_scope is 2", "sudo sysctl kernel.yama.ptrace_scope=0"},
    {"Yama 3", ABILITY_ATTACH, {YAMA("3")}, NULL, STATE_OFF, "ptrace_scope is 3", "reboot"},
    {"Yama 1, root", ABILITY_ATTACH, {YAMA("1"), ROOT_STATUS("0")}, NULL, STATE_WORKS, "any process", NULL},
    {"Yama 3, root", ABILITY_ATTACH, {YAMA("3"), ROOT_STATUS("0")}, NULL, STATE_OFF, "ptrace_scope is 3", "reboot"},
    {"Yama is garbage", ABILITY_ATTACH, {YAMA("x")}, NULL, STATE_WORKS, "your own processes", NULL},
    {"only children, by the call", ABILITY_ATTACH, {YAMA("1")}, SAYS(.peek = peek_children), STATE_LIMITED, "started by inferom", "ptrace_scope=0"},
    {"no process_vm_readv", ABILITY_ATTACH, {NULL}, SAYS(.peek = peek_ENOSYS), STATE_OFF, "not implemented", "sudo setcap CAP_SYS_PTRACE+ep"},
    {"Python of our own making", ABILITY_PYTHON, {YAMA("1")}, NULL, STATE_WORKS, "started by inferom", NULL},
    {"Python out of reach", ABILITY_PYTHON, {YAMA("2")}, NULL, STATE_OFF, "ptrace_scope is 2", "ptrace_scope=0"},

    {"bpf for root", ABILITY_BPF, {ROOT_STATUS("0")}, NULL, STATE_WORKS, "BTF", NULL},
    {"bpf, no BTF", ABILITY_BPF, {ROOT_STATUS("0"), "/sys/kernel/btf/vmlinux"}, NULL, STATE_LIMITED, "no BTF", "CONFIG_DEBUG_INFO_BTF"},
    {"bpf, old kernel", ABILITY_BPF, {ROOT_STATUS("0"), "/proc/sys/kernel/osrelease=5.10.0\n"}, NULL, STATE_LIMITED, "older than 5.15", "boot"},
    {"bpf for a user", ABILITY_BPF, {NULL}, SAYS(.bpf = bpf_EPERM), STATE_OFF, "unprivileged_bpf_disabled", "setcap CAP_BPF,CAP_PERFMON+ep"},
    {"bpf in Kubernetes", ABILITY_BPF, {"/proc/self/cgroup=0::/kubepods/pod1\n", DOCKER_ROOT}, SAYS(.bpf = bpf_EPERM), STATE_OFF, "seccomp", "capabilities: {add: [BPF, PERFMON]}"},
    {"no bpf", ABILITY_BPF, {NULL}, SAYS(.bpf = bpf_ENOSYS), STATE_OFF, "no bpf()", "CONFIG_BPF_SYSCALL"},

    {"capabilities of root", ABILITY_CAPABILITIES, {ROOT_STATUS("0")}, NULL, STATE_WORKS, "PERFMON, BPF", NULL},
    {"capabilities of a user", ABILITY_CAPABILITIES, {NULL}, NULL, STATE_LIMITED, "none", "setcap CAP_PERFMON"},
    {"PERFMON alone", ABILITY_CAPABILITIES, {"/proc/self/status=Uid:\t1000\nCapEff:\t0000004000000000\n"}, NULL, STATE_LIMITED, "PERFMON: any process can be sampled, only your own", "CAP_SYS_PTRACE"},
    {"capabilities on an old kernel", ABILITY_CAPABILITIES, {"/proc/sys/kernel/osrelease=4.19.0\n"}, NULL, STATE_LIMITED, "none", "setcap CAP_SYS_ADMIN"},
    {"capabilities of a namespace", ABILITY_CAPABILITIES, {ROOT_STATUS("0"), "/proc/self/uid_map=0 1000 1\n"}, NULL, STATE_LIMITED, "only inside a user namespace", "setcap"},
    {"no /proc/self/status", ABILITY_CAPABILITIES, {"/proc/self/status"}, NULL, STATE_LIMITED, "unknown", "mount"},

    /* containers */
    {"no container", ABILITY_CONTAINER, {NULL}, NULL, STATE_WORKS, "no container", NULL},
    {"Docker", ABILITY_CONTAINER, {DOCKER_ROOT, "/.dockerenv="}, NULL, STATE_LIMITED, "Docker, a seccomp filter", "docker run --cap-add PERFMON --cap-add SYS_PTRACE"},
    {"Docker, unconfined", ABILITY_CONTAINER, {"/.dockerenv="}, NULL, STATE_WORKS, "Docker, no seccomp", NULL},
    {"a machine made from a Docker image", ABILITY_CONTAINER, {"/.dockerenv=", "/proc/2/comm=kthreadd\n"}, NULL, STATE_WORKS, "no container", NULL},
    {"Docker that sees the host's processes", ABILITY_CONTAINER, {"/.dockerenv=", "/proc/2/comm=kthreadd\n", DOCKER_ROOT}, NULL, STATE_LIMITED, "Docker", "docker"},
    {"Podman", ABILITY_CONTAINER, {"/run/.containerenv=", USER_STATUS("2")}, NULL, STATE_LIMITED, "Podman", "podman run --user 0 --cap-add PERFMON"},
    {"LXC", ABILITY_CONTAINER, {"/proc/1/environ=container=lxc", "/proc/self/uid_map=0 100000 65536\n"}, NULL, STATE_LIMITED, "LXC, no seccomp filter, its own user namespace", "lxc config"},
    {"Kubernetes over Docker", ABILITY_CONTAINER, {"/.dockerenv=", "/var/run/secrets/kubernetes.io/x=", USER_STATUS("2")}, NULL, STATE_LIMITED, "Kubernetes", "runAsUser: 0, capabilities: {add: [PERFMON, SYS_PTRACE]}"},
    {"some container", ABILITY_CONTAINER, {"/run/systemd/container=nspawn\n", USER_STATUS("2")}, NULL, STATE_LIMITED, "a container", "start the container with"},
    {"a filter without a container", ABILITY_CONTAINER, {USER_STATUS("2")}, NULL, STATE_LIMITED, "no container, a seccomp filter", NULL},

    /* GPUs */
    {"no card", ABILITY_NVIDIA, {NULL}, NULL, STATE_OFF, "no NVIDIA card", "lspci -d 10de:"},
    {"a card of somebody else", ABILITY_NVIDIA, {CARD("0x8086")}, NULL, STATE_OFF, "no NVIDIA card", "lspci"},
    {"a card, no driver", ABILITY_NVIDIA, {CARD("0x10de")}, NULL, STATE_OFF, "driver is not running", "sudo modprobe nvidia"},
    {"a card outside the container", ABILITY_NVIDIA, {CARD("0x10de"), "/.dockerenv="}, NULL, STATE_OFF, "does not see it", "docker run --gpus all"},
    {"driver, no library", ABILITY_NVIDIA, {"/dev/nvidiactl="}, SAYS(.loads = no_loads), STATE_OFF, "libnvidia-ml.so.1: cannot open", "sudo apt install libnvidia-ml1"},
    {"driver, no library in Docker", ABILITY_NVIDIA, {"/dev/nvidiactl=", "/.dockerenv="}, SAYS(.loads = no_loads), STATE_OFF, "libnvidia-ml", "NVIDIA_DRIVER_CAPABILITIES"},
    {"driver and library", ABILITY_NVIDIA, {"/dev/nvidiactl="}, AGREES, STATE_WORKS, "libnvidia-ml.so.1", NULL},
    {"library by its file", ABILITY_NVIDIA, {"/dev/nvidiactl=", "/usr/lib64/libnvidia-ml.so.1="}, NULL, STATE_WORKS, "libnvidia-ml.so.1", NULL},
    {"kernels without a driver", ABILITY_NVIDIA_KERNELS, {NULL}, AGREES, STATE_OFF, "needs a working NVIDIA driver", NULL},
    {"kernels, no CUDA", ABILITY_NVIDIA_KERNELS, {"/dev/nvidiactl="}, NULL, STATE_OFF, "libcuda.so.1", "apt install libcuda1"},
    {"kernels, no CUPTI", ABILITY_NVIDIA_KERNELS, {"/dev/nvidiactl=", "/usr/lib/libcuda.so.1="}, NULL, STATE_LIMITED, "no libcupti", "pip install nvidia-cuda-cupti"},
    {"kernels", ABILITY_NVIDIA_KERNELS, {"/dev/nvidiactl="}, AGREES, STATE_WORKS, "libcupti.so.13", NULL},
    {"no AMD card", ABILITY_AMD, {NULL}, NULL, STATE_OFF, "no AMD card", "lspci -d 1002:"},
    {"AMD, no library", ABILITY_AMD, {"/dev/kfd="}, SAYS(.loads = no_loads), STATE_LIMITED, "from /sys", "librocm-smi64"},
    {"AMD, with the library the fix installs", ABILITY_AMD, {"/dev/kfd=", "/usr/lib/x86_64-linux-gnu/librocm_smi64.so.1="}, NULL, STATE_WORKS, "librocm_smi64.so.1", NULL},
    {"AMD", ABILITY_AMD, {"/dev/kfd="}, AGREES, STATE_WORKS, "libamd_smi.so", NULL},

    /* room and quiet */
    {"room on the disk", ABILITY_DISK, {NULL}, AGREES, STATE_WORKS, "48.8 GiB free", NULL},
    {"little room", ABILITY_DISK, {NULL}, SAYS(.statvfs = disk_low), STATE_LIMITED, "500 MiB free", "du -xh"},
    {"little room for runs", ABILITY_DISK, {NULL}, SAYS(.statvfs = disk_low_runs), STATE_LIMITED, "free in runs/", "du -xh --max-depth=2 runs"},
    {"no room", ABILITY_DISK, {NULL}, SAYS(.statvfs = disk_full), STATE_OFF, "10.0 MiB free", "du -xh"},
    {"not ours to write", ABILITY_DISK, {NULL}, SAYS(.access = access_EACCES), STATE_OFF, "may not write", "--output"},
    {"a folder that was removed", ABILITY_DISK, {NULL}, SAYS(.statvfs = disk_gone), STATE_OFF, "No such file", "cd"},
    {"temporary files", ABILITY_TEMPORARY, {NULL}, SAYS(.access = access_EACCES), STATE_OFF, "/tmp", "export TMPDIR"},
    {"slow clock", ABILITY_CLOCK, {"/sys/devices/system/clocksource/clocksource0/current_clocksource=hpet\n", "/sys/devices/system/clocksource/clocksource0/available_clocksource=tsc hpet\n"}, NULL, STATE_LIMITED, "hpet", "echo tsc"},
    {"slow clock and no other", ABILITY_CLOCK, {"/sys/devices/system/clocksource/clocksource0/current_clocksource=acpi_pm\n"}, NULL, STATE_LIMITED, "acpi_pm", "tsc=reliable"},
    {"powersave", ABILITY_FREQUENCY, {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor=powersave\n"}, NULL, STATE_LIMITED, "powersave", "sudo sh -c 'echo performance"},
    {"no governor", ABILITY_FREQUENCY, {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"}, NULL, STATE_WORKS, "not governed", NULL},
    {"half a CPU", ABILITY_QUOTA, {"/sys/fs/cgroup/user.slice/cpu.max=50000 100000\n"}, NULL, STATE_LIMITED, "0.5 CPUs of 4", "--cpus"},
    {"no quota", ABILITY_QUOTA, {"/sys/fs/cgroup/user.slice/cpu.max=max 100000\n"}, NULL, STATE_WORKS, "no limit", NULL},
    {"a period of nothing", ABILITY_QUOTA, {"/sys/fs/cgroup/user.slice/cpu.max=1 0\n"}, NULL, STATE_WORKS, "no limit", NULL},
    {"busy", ABILITY_LOAD, {"/proc/loadavg=3.50 1 1 1/1 1\n"}, NULL, STATE_LIMITED, "3.50 over the last minute, on 4 CPUs", "ps -eo"},
    {"load is garbage", ABILITY_LOAD, {"/proc/loadavg=much\n"}, NULL, STATE_LIMITED, "unknown", NULL},
};

static char root[64];

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
}

/* "path=content" makes a file; "path" alone takes it away, with the folder it leaves empty. */
static void plant(const char *file)
{
    char path[512];
    const char *content = strchr(file, '=');
    int n = content ? (int)(content - file) : (int)strlen(file);
    snprintf(path, sizeof path, "%s%.*s", root, n, file);
    if (!content) {
        unlink(path);
        *strrchr(path, '/') = '\0';
        while (rmdir(path) == 0)
            *strrchr(path, '/') = '\0';
        return;
    }
    make_folders(path);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (f) {
        fputs(content + 1, f);
        fclose(f);
    }
}

/* As it was before the row. */
static void restore(const char *file)
{
    size_t n = strcspn(file, "=");
    for (const char *const *f = healthy; *f; f++)
        if (strcspn(*f, "=") == n && !strncmp(*f, file, n)) {
            plant(*f);
            return;
        }
    char path[256];
    snprintf(path, sizeof path, "%.*s", (int)n, file);
    plant(path);
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)at;
    return remove(path);
}

static void check_row(const struct row *r)
{
    struct finding found[ABILITY_COUNT];
    int before = check_failures;
    for (const char *const *f = r->files; *f; f++)
        plant(*f);

    abilities_find(&(struct host){.root = root, .sys = r->sys}, found);
    for (const char *const *f = r->files; *f; f++)
        restore(*f);

    const struct finding *f = &found[r->ability];
    CHECK(f->is_asked);
    CHECK_STR(state_names[f->state], state_names[r->state]);
    CHECK(strstr(f->why, r->why));
    CHECK(r->fix ? strstr(f->fix, r->fix) != NULL : !*f->fix);
    if (check_failures > before)
        printf("    in \"%s\": %s: %s; fix: %s\n", r->what, ability_name(r->ability), f->why, f->fix);
}

/* The real calls: whatever they answer here, they answer, leave nothing open, and each finding is a whole sentence. */
static void check_this_machine(void)
{
    struct host here = host_here();
    struct finding found[ABILITY_COUNT];
    int next = dup(0);
    close(next);
    abilities_find(&here, found);
    int then = dup(0);
    close(then);
    CHECK_EQ(then, next);
    for (enum ability a = 0; a < ABILITY_COUNT; a++) {
        CHECK(found[a].is_asked && *found[a].why);
        CHECK(strlen(found[a].why) < sizeof found[a].why - 1 && strlen(found[a].fix) < sizeof found[a].fix - 1);
    }
    char why[160] = "";
    CHECK(sys_real.loads("libm.so.6", why, sizeof why));
    CHECK(!sys_real.loads("libno-such-thing.so.1", why, sizeof why));
    CHECK(strstr(why, "libno-such-thing.so.1"));
}

/* Which CPUs there are is in /sys; a container without it is asked for its /proc/stat, and one without both has no answer. */
static void check_cpu_list(void)
{
    static const struct {
        const char *online, *stat, *list;
        unsigned count;
    } lists[] = {
        {"=0-3,8\n", "=cpu  1 2 3\ncpu0 1 2\nintr 5\n", "0-3,8", 5},
        {"", "=cpu  9 9 9 9\ncpu0 1 2 3 4\ncpu1 1 2 3 4\ncpu5 1 2 3 4\nintr 1 cpu7 2\nctxt 3\n", "0,1,5", 3},
        {"=\n", "=cpu  9 9\ncpu0 1 2\ncpufreq 5\n", "0", 1},
        {"", "=cpu  9 9 9 9\nintr 1\n", "", 1},
        {"", "", "", 1},
    };
    struct host h = {.root = root};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char file[512], list[64] = "?";
        snprintf(file, sizeof file, "/sys/devices/system/cpu/online%s", lists[i].online);
        plant(file);
        snprintf(file, sizeof file, "/proc/stat%s", lists[i].stat);
        plant(file);
        CHECK_EQ(host_cpu_list(&h, list, sizeof list), lists[i].list[0] != '\0');
        CHECK_STR(list, lists[i].list);
        CHECK_EQ(host_cpus(&h), lists[i].count);
    }
    restore("/sys/devices/system/cpu/online");
    restore("/proc/stat");
}

/* Files that are not there at all: still an answer for every line. */
static void check_empty_machine(void)
{
    struct finding found[ABILITY_COUNT];
    abilities_find(&(struct host){.root = "/nonexistent"}, found);
    for (enum ability a = 0; a < ABILITY_COUNT; a++)
        CHECK(!found[a].is_asked || *found[a].why);
    CHECK_EQ(found[ABILITY_CPU_SAMPLING].state, STATE_OFF);
}

int main(void)
{
    snprintf(root, sizeof root, "/tmp/test_ability.XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    for (const char *const *f = healthy; *f; f++)
        plant(*f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
    check_cpu_list();
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    check_this_machine();
    check_empty_machine();
    printf("%zu planted machines\n", sizeof rows / sizeof *rows);
    return CHECK_DONE();
}
