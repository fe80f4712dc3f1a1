/*
 * privilege.h - what this process may do, and who stands in its way
 *
 * Read once from /proc/self and a few tell-tale files; every ability that is
 * limited or off explains itself with these words.
 *
 * A capability inside a user namespace is worth little: perf_event_open and bpf
 * ask for it in the first namespace. privilege_has() answers for that one,
 * privilege_holds() for the namespace we are in (ptrace asks there).
 *
 * Owns: nothing. Threads: read-only after privilege_read(). Fails: never; what
 * cannot be read is taken as "no special right".
 */
#pragma once
#include "capture/host/host.h"

enum container {
    CONTAINER_NONE,
    CONTAINER_KUBERNETES,
    CONTAINER_PODMAN,
    CONTAINER_DOCKER,
    CONTAINER_LXC,
    CONTAINER_OTHER,
    CONTAINER_COUNT
};

enum seccomp { SECCOMP_OFF, SECCOMP_STRICT, SECCOMP_FILTER, SECCOMP_MODE_COUNT };

struct privilege {
    bool is_known; /* /proc/self/status could be read */
    int64_t uid;
    uint64_t capabilities; /* effective; bit n is CAP n of linux/capability.h */
    enum seccomp seccomp;
    bool has_user_namespace; /* not the first one */
    enum container container;
};

struct privilege privilege_read(const struct host *h);

/* Linux 5.8; older headers do not know them. */
#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF 39

bool privilege_has(const struct privilege *p, unsigned capability);   /* in the first user namespace */
bool privilege_holds(const struct privilege *p, unsigned capability); /* in ours */
bool privilege_may_sample(const struct privilege *p);                 /* CAP_PERFMON, or its elder CAP_SYS_ADMIN */

const char *container_name(enum container c); /* "Docker"; "none" */

/*
 * What to type so that the next start has these capabilities (NULL-terminated):
 * an option of the container's own command, a piece of a manifest, or setcap.
 */
void privilege_grant(const struct privilege *p, const char *const *capabilities, char *out, size_t size);

/* What stands in front of a command for root; `is_for_host`: it changes the kernel, which a container cannot. */
const char *privilege_sudo(const struct privilege *p, bool is_for_host); /* "", "sudo ", "on the host: sudo " */

/* The capabilities that matter for measuring, by name: "PERFMON, BPF"; "none". */
void privilege_names(const struct privilege *p, char *out, size_t size);
