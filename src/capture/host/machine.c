#include "capture/host/machine.h"
#include "base/mem.h"
#include "base/own.h"

#include <sys/utsname.h>

enum { CPUINFO_BYTES = 1 << 14 }; /* the first processor is at the beginning */

/* x86: "model name : Intel ..."; arm64 has numbers only, and says nothing here. */
static void fact_cpu(const struct host *h, struct capture_writer *into)
{
    own(free) char *text = mem_new(CPUINFO_BYTES);
    if (host_text(h, "/proc/cpuinfo", text, CPUINFO_BYTES) != 0)
        return;
    const char *at = strstr(text, "model name");
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return;
    at += 1 + strspn(at + 1, " \t");
    capture_fact(into, VIEW("cpu"), (struct view){at, strcspn(at, "\n")});
}

static void fact_memory(const struct host *h, struct capture_writer *into)
{
    char text[4096];
    if (host_text(h, "/proc/meminfo", text, sizeof text) != 0)
        return;
    const char *at = strstr(text, "MemTotal:");
    if (!at)
        return;
    at += strlen("MemTotal:");
    at += strspn(at, " ");
    capture_fact(into, VIEW("memory"), (struct view){at, strcspn(at, "\n")});
}

void machine_facts(const struct host *h, struct capture_writer *into)
{
    char cores[16];
    struct utsname u;
    snprintf(cores, sizeof cores, "%u", host_cpus(h));
    fact_cpu(h, into);
    capture_fact(into, VIEW("cores"), view_of(cores));
    fact_memory(h, into);
    if (uname(&u) == 0) {
        char kernel[256];
        snprintf(kernel, sizeof kernel, "%.100s %.100s %.40s", u.sysname, u.release, u.machine);
        capture_fact(into, VIEW("kernel"), view_of(kernel));
    }
}
