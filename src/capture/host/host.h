/*
 * host.h - the machine we are on, or a copy of what it says about itself
 *
 * Everything asked of a machine goes through a struct host: files below its
 * root, and the calls of its system table. The real machine has the root "" and
 * sys_real. A tree copied from elsewhere, or planted by a test, has a folder as
 * its root and no system: then only its files are asked, and abilities are
 * judged by the rules the kernel would apply.
 *
 *     struct host here = host_here();
 *     struct host copy = {.root = "case/tree"};
 *     int64_t level;
 *     if (host_number(&here, "/proc/sys/kernel/perf_event_paranoid", &level) == 0)
 *         ...
 *
 * Owns: nothing. Threads: any. Fails: answers 0, or the errno of the refusal;
 * EBADMSG when the file is there and does not hold what it should.
 */
#pragma once
#include "base/view.h"
#include "capture/host/sys.h"
#include <stdint.h>

struct host {
    const char *root;      /* in front of every path; "" for the machine itself */
    const struct sys *sys; /* NULL: there are only files */
};

struct host host_here(void);

int host_text(const struct host *h, const char *path, char *out, size_t size); /* the first size-1 bytes, as they are */
int host_word(const struct host *h, const char *path, char *out, size_t size); /* the first word of the file */
int host_number(const struct host *h, const char *path, int64_t *out);
int host_access(const struct host *h, const char *path, int mode); /* as access(2) */
bool host_has(const struct host *h, const char *path);

/* Calls `each` for the entries of a folder, until it says true; true when it did. */
bool host_any(const struct host *h, const char *folder, bool (*each)(void *self, const char *path), void *self);

/* A few things many ask for. */
bool host_cpu_list(const struct host *h, char *out, size_t size);               /* online: "0-3,8"; false when nobody says */
unsigned host_cpus(const struct host *h);                                     /* online; 1 when nobody says */
bool host_kernel_since(const struct host *h, unsigned major, unsigned minor); /* false when unknown */
bool host_env(const struct host *h, const char *name, const char **out);      /* set and not empty */
