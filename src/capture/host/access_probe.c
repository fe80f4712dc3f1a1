#include "base/own.h"
#include "capture/host/probe.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>

/*
 * The kernel hides addresses by writing zeros. Some symbols are at zero in
 * truth (per-CPU data), so one other address is proof and a page of zeros is not
 * quite; a long stretch of them is.
 */
static int find_addresses(const struct host *h, bool *out_shown)
{
    char text[1 << 15];
    int bad = host_text(h, "/proc/kallsyms", text, sizeof text);
    *out_shown = false;
    for (const char *line = bad ? NULL : text; line && !*out_shown; line = strchr(line, '\n')) {
        line += *line == '\n';
        *out_shown = strtoull(line, NULL, 16) != 0;
    }
    return bad;
}

void probe_kernel_symbols(const struct host *h, const struct privilege *p, struct finding *out)
{
    bool is_shown;
    int64_t restrict_level = -1;
    int bad = find_addresses(h, &is_shown);
    if (bad) {
        finding_set(out, STATE_OFF, "/proc/kallsyms: %s; kernel functions will have no names", strerror(bad));
        finding_fix(out, "boot a kernel built with CONFIG_KALLSYMS=y");
        return;
    }
    if (is_shown) {
        finding_set(out, STATE_WORKS, "kernel functions have names");
        return;
    }
    if (host_number(h, "/proc/sys/kernel/kptr_restrict", &restrict_level) == 0 && restrict_level > 0)
        finding_set(out, STATE_OFF, "kernel.kptr_restrict is %lld: kernel functions will have no names", (long long)restrict_level);
    else
        finding_set(out, STATE_OFF, "the kernel hides its addresses from this user: kernel functions will have no names");

    /* With 1, CAP_SYSLOG is enough; with 0, also anybody who may sample the kernel. */
    if (p->uid == 0)
        finding_fix_on_host(out, p, "sysctl kernel.kptr_restrict=1");
    else
        finding_fix_on_host(out, p, "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

static bool any(void *self, const char *path)
{
    (void)self, (void)path;
    return true;
}

/* What brings the debug file of the C library, by a word of os-release; other packages follow the pattern. */
static const struct {
    const char *system, *command;
} debug_packages[] = {
    {"debian", "apt install libc6-dbg  # others are called PACKAGE-dbgsym"},
    {"fedora", "dnf debuginfo-install glibc"},
    {"rhel",   "dnf debuginfo-install glibc"},
    {"suse",   "zypper install glibc-debuginfo"},
    {"",       NULL}, /* always matches */
};

void probe_debug_symbols(const struct host *h, const struct privilege *p, struct finding *out)
{
    const char *urls;
    if (host_any(h, "/usr/lib/debug/.build-id", any, NULL)) {
        finding_set(out, STATE_WORKS, "debug files are installed in /usr/lib/debug");
        return;
    }
    bool has_server = host_env(h, "DEBUGINFOD_URLS", &urls);
    finding_set(out, STATE_LIMITED, "no debug files in /usr/lib/debug%s: stripped libraries show exported names only, "
                                    "without source lines", has_server ? " (debuginfod-find can fetch them)" : "");

    char release[4096] = "";
    size_t i = 0;
    host_text(h, "/etc/os-release", release, sizeof release);
    while (!strstr(release, debug_packages[i].system))
        i++;
    if (debug_packages[i].command)
        finding_fix_as_root(out, p, "%s", debug_packages[i].command);
    else
        finding_fix(out, "install the debug packages of your system; build your own programs with -g");
}

/* Yama's rule, for when only files can be asked. */
static int predict_peek(const struct host *h, const struct privilege *p, enum kin whose)
{
    int64_t scope;
    if (privilege_holds(p, CAP_SYS_PTRACE) && p->seccomp == SECCOMP_OFF)
        return host_number(h, "/proc/sys/kernel/yama/ptrace_scope", &scope) == 0 && scope == 3 ? EPERM : 0;
    if (host_number(h, "/proc/sys/kernel/yama/ptrace_scope", &scope) != 0)
        return 0; /* no Yama: same user is enough */
    return scope > (whose == KIN_CHILD ? 1 : 0) ? EPERM : 0;
}

static int peek(const struct host *h, const struct privilege *p, enum kin whose)
{
    return h->sys ? h->sys->peek(whose) : predict_peek(h, p, whose);
}

static void fix_peek(const struct host *h, const struct privilege *p, struct finding *out)
{
    int64_t scope = -1;
    bool is_yama = host_number(h, "/proc/sys/kernel/yama/ptrace_scope", &scope) == 0 && scope > 0;
    if (is_yama && scope >= 3)
        finding_fix(out, "reboot: kernel.yama.ptrace_scope=3 stays until then (look in /etc/sysctl.d)");
    else if (p->container != CONTAINER_NONE)
        GRANT(out, p, "SYS_PTRACE");
    else if (is_yama)
        finding_fix_on_host(out, p, "sysctl kernel.yama.ptrace_scope=0");
    else
        GRANT(out, p, "SYS_PTRACE");
}

static void blame_peek(const struct host *h, int refused, char *out, size_t size)
{
    int64_t scope;
    if (host_number(h, "/proc/sys/kernel/yama/ptrace_scope", &scope) == 0 && scope > 0)
        snprintf(out, size, "kernel.yama.ptrace_scope is %lld", (long long)scope);
    else
        snprintf(out, size, "process_vm_readv: %s", strerror(refused));
}

/* Samples of a running process need no such right: perf_event asks for less. */
void probe_attach(const struct host *h, const struct privilege *p, struct finding *out)
{
    char cause[120];
    int refused = peek(h, p, KIN_STRANGER);
    if (refused == 0) {
        finding_set(out, STATE_WORKS, "the memory of %s can be read",
                    privilege_holds(p, CAP_SYS_PTRACE) ? "any process" : "your own processes");
        return;
    }
    blame_peek(h, refused, cause, sizeof cause);
    if (peek(h, p, KIN_CHILD) == 0)
        finding_set(out, STATE_LIMITED, "only programs started by inferom can be read, not running ones: %s", cause);
    else
        finding_set(out, STATE_OFF, "no other process can be read: %s", cause);
    fix_peek(h, p, out);
}

void probe_python(const struct host *h, const struct privilege *p, struct finding *out)
{
    char cause[120];
    int refused = peek(h, p, KIN_CHILD);
    if (refused) {
        blame_peek(h, refused, cause, sizeof cause);
        finding_set(out, STATE_OFF, "interpreters cannot be read: %s", cause);
        fix_peek(h, p, out);
        return;
    }
    bool any_process = peek(h, p, KIN_STRANGER) == 0;
    finding_set(out, STATE_WORKS, "%s can be read", any_process ? "running interpreters and those started by inferom"
                                                                : "interpreters started by inferom");
}

/* The smallest program the kernel takes: return 0. Of the kind that a profiler attaches to its events. */
static int try_program(const struct host *h)
{
    const struct bpf_insn code[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    union bpf_attr a = {
        .prog_type = BPF_PROG_TYPE_PERF_EVENT,
        .insn_cnt = 2,
        .insns = (uint64_t)(uintptr_t)code,
        .license = (uint64_t)(uintptr_t)"GPL",
    };
    own(close) int fd = h->sys->bpf(BPF_PROG_LOAD, &a, sizeof a);
    return fd < 0 ? errno : 0;
}

static int bpf_refusal(const struct host *h, const struct privilege *p)
{
    if (h->sys)
        return try_program(h);
    if (privilege_has(p, CAP_SYS_ADMIN) || (privilege_has(p, CAPABILITY_BPF) && privilege_has(p, CAPABILITY_PERFMON)))
        return 0;
    return EPERM;
}

static void explain_bpf(const struct host *h, const struct privilege *p, int refused, struct finding *out)
{
    int64_t closed = 0;
    if (refused == ENOSYS && p->seccomp == SECCOMP_OFF) {
        finding_set(out, STATE_OFF, "this kernel has no bpf()");
        finding_fix(out, "boot a kernel built with CONFIG_BPF_SYSCALL=y");
        return;
    }
    if (refused != EPERM && refused != EACCES && refused != ENOSYS) {
        finding_set(out, STATE_OFF, "loading a program failed: %s", strerror(refused));
        finding_fix_on_host(out, p, "dmesg | grep -i bpf");
        return;
    }
    host_number(h, "/proc/sys/kernel/unprivileged_bpf_disabled", &closed);
    const char *cause = p->seccomp != SECCOMP_OFF ? "a seccomp filter refuses it"
                        : closed                  ? "only for root (kernel.unprivileged_bpf_disabled)"
                                                  : "only for root";
    finding_set(out, STATE_OFF, "%s; sampling does not need it, exact blocked time does", cause);
    GRANT(out, p, "BPF", "PERFMON");
}

void probe_bpf(const struct host *h, const struct privilege *p, struct finding *out)
{
    int refused = bpf_refusal(h, p);
    if (refused) {
        explain_bpf(h, p, refused, out);
    } else if (!host_has(h, "/sys/kernel/btf/vmlinux")) {
        finding_set(out, STATE_LIMITED, "programs load, but the kernel does not describe its structures (no BTF)");
        finding_fix(out, "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y");
    } else if (!host_kernel_since(h, 5, 15)) {
        finding_set(out, STATE_LIMITED, "programs load, but this kernel is older than 5.15: no unwinding inside the kernel");
        finding_fix(out, "boot Linux 5.15 or newer");
    } else {
        finding_set(out, STATE_WORKS, "programs load, and the kernel describes its structures (BTF)");
    }
}

void probe_capabilities(const struct host *h, const struct privilege *p, struct finding *out)
{
    char names[160];
    if (!p->is_known) {
        finding_set(out, STATE_LIMITED, "unknown: /proc/self/status cannot be read");
        finding_fix_as_root(out, p, "mount -t proc proc /proc");
        return;
    }
    privilege_names(p, names, sizeof names);
    if (p->has_user_namespace && p->capabilities)
        finding_set(out, STATE_LIMITED, "%s, but only inside a user namespace: perf_event and bpf do not count them", names);
    else if (privilege_may_sample(p) && privilege_has(p, CAP_SYS_PTRACE))
        finding_set(out, STATE_WORKS, "%s", names);
    else if (privilege_may_sample(p))
        finding_set(out, STATE_LIMITED, "%s: any process can be sampled, only your own can be read", names);
    else
        finding_set(out, STATE_LIMITED, "%s: an ordinary user measures its own processes only", names);

    if (out->state == STATE_WORKS)
        return;
    if (host_kernel_since(h, 5, 8))
        GRANT(out, p, "PERFMON", "BPF", "SYS_PTRACE", "SYSLOG");
    else
        GRANT(out, p, "SYS_ADMIN", "SYS_PTRACE", "SYSLOG");
}

void probe_container(const struct host *h, const struct privilege *p, struct finding *out)
{
    static const char *const filters[SECCOMP_MODE_COUNT] = {"no seccomp filter", "strict seccomp", "a seccomp filter"};
    (void)h;
    const char *where = p->container == CONTAINER_NONE ? "no container" : container_name(p->container);
    const char *namespace = p->has_user_namespace ? ", its own user namespace" : "";
    bool is_free = p->seccomp == SECCOMP_OFF && !p->has_user_namespace;
    finding_set(out, is_free ? STATE_WORKS : STATE_LIMITED, "%s, %s%s%s", where, filters[p->seccomp], namespace,
                is_free ? "" : ": some calls are refused, the lines above say which");
    if (!is_free && p->container != CONTAINER_NONE)
        GRANT(out, p, "PERFMON", "SYS_PTRACE");
}
