#include "capture/host/privilege.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>

/* The line "Name:\tvalue" of /proc/self/status; NULL when there is none. */
static const char *status_field(const char *status, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, n) && line[n] == ':')
            return line + n + 1;
    }
    return NULL;
}

static void read_status(const struct host *h, struct privilege *p)
{
    char status[8192];
    if (host_text(h, "/proc/self/status", status, sizeof status) != 0)
        return;
    const char *uid = status_field(status, "Uid");
    const char *capabilities = status_field(status, "CapEff");
    const char *seccomp = status_field(status, "Seccomp");
    p->is_known = uid && capabilities;
    if (!p->is_known)
        return;
    p->uid = strtoll(uid, NULL, 10);
    p->capabilities = strtoull(capabilities, NULL, 16);
    long mode = seccomp ? strtol(seccomp, NULL, 10) : 0;
    p->seccomp = mode > 0 && mode < SECCOMP_MODE_COUNT ? (enum seccomp)mode : SECCOMP_OFF;
}

/* The first namespace maps every id to itself; any other line is somebody's namespace. */
static bool in_user_namespace(const struct host *h)
{
    char map[256];
    long long inside, outside, count;
    if (host_text(h, "/proc/self/uid_map", map, sizeof map) != 0 ||
        sscanf(map, "%lld %lld %lld", &inside, &outside, &count) != 3)
        return false;
    return inside != 0 || outside != 0 || count != 4294967295;
}

/* Tell-tale files. A pod is also a Docker or containerd container, so pods come first. */
static const struct clue {
    enum container is;
    const char *path, *holds; /* NULL: that it exists is enough */
} clues[] = {
    {CONTAINER_KUBERNETES, "/var/run/secrets/kubernetes.io", NULL},
    {CONTAINER_KUBERNETES, "/proc/self/cgroup", "kubepods"},
    {CONTAINER_PODMAN, "/run/.containerenv", NULL},
    {CONTAINER_PODMAN, "/run/systemd/container", "podman"},
    {CONTAINER_PODMAN, "/proc/self/cgroup", "libpod"},
    {CONTAINER_DOCKER, "/.dockerenv", NULL},
    {CONTAINER_DOCKER, "/proc/self/cgroup", "/docker"},
    {CONTAINER_LXC, "/run/systemd/container", "lxc"},
    {CONTAINER_LXC, "/proc/1/environ", "container=lxc"},
    {CONTAINER_LXC, "/proc/self/cgroup", "/lxc"},
    {CONTAINER_OTHER, "/run/systemd/container", NULL},
    {CONTAINER_OTHER, "/proc/1/environ", "container="},
    {CONTAINER_OTHER, "/proc/self/cgroup", "containerd"},
};

static bool clue_fits(const struct host *h, const struct clue *c)
{
    char text[8192];
    if (!c->holds)
        return host_has(h, c->path);
    return host_text(h, c->path, text, sizeof text) == 0 && strstr(text, c->holds);
}

/*
 * A machine made from a container's image still has its tell-tale files. There
 * the second process is a thread of the kernel, which no container shows unless
 * it shares the host's processes; one that does has a filter or a namespace.
 */
static bool is_first_system(const struct host *h, const struct privilege *p)
{
    char name[64];
    return p->seccomp == SECCOMP_OFF && !p->has_user_namespace && host_word(h, "/proc/2/comm", name, sizeof name) == 0 &&
           !strcmp(name, "kthreadd");
}

static enum container find_container(const struct host *h, const struct privilege *p)
{
    if (is_first_system(h, p))
        return CONTAINER_NONE;
    for (size_t i = 0; i < sizeof clues / sizeof *clues; i++)
        if (clue_fits(h, &clues[i]))
            return clues[i].is;
    return CONTAINER_NONE;
}

struct privilege privilege_read(const struct host *h)
{
    struct privilege p = {.uid = -1};
    read_status(h, &p);
    p.has_user_namespace = in_user_namespace(h);
    p.container = find_container(h, &p);
    return p;
}

bool privilege_holds(const struct privilege *p, unsigned capability)
{
    return p->capabilities >> capability & 1;
}

bool privilege_has(const struct privilege *p, unsigned capability)
{
    return !p->has_user_namespace && privilege_holds(p, capability);
}

bool privilege_may_sample(const struct privilege *p)
{
    return privilege_has(p, CAPABILITY_PERFMON) || privilege_has(p, CAP_SYS_ADMIN);
}

/* before [as_root] first CAP between CAP after; as_root where we are somebody else, since capabilities go to root */
static const struct {
    const char *name, *before, *as_root, *first, *between, *after;
} containers[CONTAINER_COUNT] = {
    [CONTAINER_NONE] = {"none", "sudo setcap ", "", "CAP_", ",CAP_", "+ep \"$(command -v inferom)\""},
    [CONTAINER_KUBERNETES] = {"Kubernetes", "in the pod: securityContext: {", "runAsUser: 0, ", "capabilities: {add: [", ", ", "]}}"},
    [CONTAINER_PODMAN] = {"Podman", "podman run ", "--user 0 ", "--cap-add ", " --cap-add ", " IMAGE"},
    [CONTAINER_DOCKER] = {"Docker", "docker run ", "--user 0 ", "--cap-add ", " --cap-add ", " IMAGE"},
    [CONTAINER_LXC] = {"LXC", "on the host: lxc config set NAME security.privileged true", "", "  # gives root ", ", ", ""},
    [CONTAINER_OTHER] = {"a container", "on the host: start the container with ", "root and ", "", " and ", ""},
};

const char *container_name(enum container c) { return containers[c].name; }

void privilege_grant(const struct privilege *p, const char *const *capabilities, char *out, size_t size)
{
    enum container c = p->container;
    size_t n = (size_t)snprintf(out, size, "%s%s", containers[c].before, p->uid ? containers[c].as_root : "");
    for (size_t i = 0; capabilities[i] && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? containers[c].between : containers[c].first, capabilities[i]);
    if (n < size)
        snprintf(out + n, size - n, "%s", containers[c].after);
}

const char *privilege_sudo(const struct privilege *p, bool is_for_host)
{
    if (is_for_host && p->container != CONTAINER_NONE && !privilege_has(p, CAP_SYS_ADMIN))
        return "on the host: sudo ";
    return p->uid == 0 && !p->has_user_namespace ? "" : "sudo ";
}

/* Those that matter for measuring. */
static const struct {
    unsigned bit;
    const char *name;
} known[] = {
    {CAPABILITY_PERFMON, "PERFMON"},
    {CAPABILITY_BPF, "BPF"},
    {CAP_SYS_PTRACE, "SYS_PTRACE"},
    {CAP_SYSLOG, "SYSLOG"},
    {CAP_IPC_LOCK, "IPC_LOCK"},
    {CAP_SYS_ADMIN, "SYS_ADMIN"},
};

void privilege_names(const struct privilege *p, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known && n < size; i++)
        if (privilege_holds(p, known[i].bit))
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", known[i].name);
    if (n == 0)
        snprintf(out, size, "none");
}
