#include "capture/host/host.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

enum { PATH_BYTES = 4096 };

struct host host_here(void) { return (struct host){.root = "", .sys = &sys_real}; }

static int path_below(const struct host *h, const char *path, char out[PATH_BYTES])
{
    int n = snprintf(out, PATH_BYTES, "%s%s", h->root, path);
    return n < 0 || n >= PATH_BYTES ? ENAMETOOLONG : 0;
}

int host_text(const struct host *h, const char *path, char *out, size_t size)
{
    char full[PATH_BYTES];
    int bad = path_below(h, path, full);
    if (bad)
        return bad;
    own(close) int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a planted pipe must not hold us */
    if (fd < 0)
        return errno;

    size_t n = 0;
    while (n < size - 1) {
        ssize_t got = read(fd, out + n, size - 1 - n);
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    for (size_t i = 0; i < n; i++)
        if (out[i] == '\0') /* the environment of a process is separated by these */
            out[i] = '\n';
    out[n] = '\0';
    return 0;
}

int host_word(const struct host *h, const char *path, char *out, size_t size)
{
    int bad = host_text(h, path, out, size);
    if (bad)
        return bad;
    size_t from = strspn(out, " \t\n"), n = strcspn(out + from, " \t\n");
    memmove(out, out + from, n);
    out[n] = '\0';
    return n ? 0 : EBADMSG;
}

int host_number(const struct host *h, const char *path, int64_t *out)
{
    char word[64];
    int bad = host_word(h, path, word, sizeof word);
    if (bad)
        return bad;
    return text_to_int(view_of(word), out) ? 0 : EBADMSG;
}

int host_access(const struct host *h, const char *path, int mode)
{
    char full[PATH_BYTES];
    int bad = path_below(h, path, full);
    if (bad)
        return bad;
    return access(full, mode) == 0 ? 0 : errno;
}

bool host_has(const struct host *h, const char *path) { return host_access(h, path, F_OK) == 0; }

bool host_any(const struct host *h, const char *folder, bool (*each)(void *self, const char *path), void *self)
{
    char path[PATH_BYTES];
    if (path_below(h, folder, path) != 0)
        return false;
    DIR *d = opendir(path);
    if (!d)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(d));) {
        if (entry->d_name[0] == '.')
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        found = n > 0 && n < PATH_BYTES && each(self, path);
    }
    closedir(d);
    return found;
}

/* "cpu0 ...", "cpu1 ...", behind the line of all together. */
static void cpus_of_stat(const struct host *h, char *out, size_t size)
{
    enum { STAT_BYTES = 1 << 18 }; /* a line per CPU, of a hundred bytes and more */
    own(free) char *stat = mem_new(STAT_BYTES);
    size_t used = 0;
    out[0] = '\0';
    if (host_text(h, "/proc/stat", stat, STAT_BYTES) != 0)
        return;
    for (const char *line = strstr(stat, "\ncpu"); line && used + 12 < size; line = strstr(line + 1, "\ncpu")) {
        unsigned n;
        if (sscanf(line, "\ncpu%u ", &n) == 1)
            used += (size_t)snprintf(out + used, size - used, "%s%u", used ? "," : "", n);
    }
}

bool host_cpu_list(const struct host *h, char *out, size_t size)
{
    if (host_word(h, "/sys/devices/system/cpu/online", out, size) != 0)
        cpus_of_stat(h, out, size); /* a container or chroot without /sys */
    return out[0] != '\0';
}

unsigned host_cpus(const struct host *h)
{
    char list[4096];
    if (!host_cpu_list(h, list, sizeof list))
        return 1;
    unsigned count = 0;
    for (char *rest = NULL, *part = strtok_r(list, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        unsigned first, last;
        int n = sscanf(part, "%u-%u", &first, &last);
        if (n == 1)
            count++;
        else if (n == 2 && last >= first && last - first < 65536)
            count += last - first + 1;
    }
    return count ? count : 1;
}

bool host_kernel_since(const struct host *h, unsigned major, unsigned minor)
{
    char release[128];
    unsigned has_major, has_minor;
    if (host_word(h, "/proc/sys/kernel/osrelease", release, sizeof release) != 0 ||
        sscanf(release, "%u.%u", &has_major, &has_minor) != 2)
        return false;
    return has_major > major || (has_major == major && has_minor >= minor);
}

bool host_env(const struct host *h, const char *name, const char **out)
{
    const char *value = h->sys ? h->sys->getenv(name) : NULL;
    if (!value || !*value)
        return false;
    *out = value;
    return true;
}
