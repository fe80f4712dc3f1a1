#include "capture/host/machine.h"
#include "base/mem.h"
#include "base/own.h"

#include <sys/utsname.h>

enum { CPUINFO_BYTES = 1 << 14 }; /* the first processor is at the beginning */

static void fact(struct capture_writer *into, const char *key, struct view value)
{
    if (value.n)
        capture_fact(into, view_of(key), value);
}

/* What stands behind "key :" on the first line that begins with it; empty when none does. */
static struct view line_of(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, n) != 0 || !strchr(" \t:=", at[n]))
            continue;
        at += n + strspn(at + n, " \t");
        at += *at == ':' || *at == '=';
        at += strspn(at, " \t");
        return (struct view){at, strcspn(at, "\n")};
    }
    return (struct view){0};
}

/* What matters to arithmetic, oldest first, as the kernel of x86 and of arm64 spells it. */
static const char *const simd_words[] = {
    "sse2", "ssse3", "sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16",
    "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
    "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme", NULL,
};

static bool has_word(struct view list, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= list.n; i++) {
        bool begins = i == 0 || list.at[i - 1] == ' ', ends = i + n == list.n || list.at[i + n] == ' ';
        if (begins && ends && !memcmp(list.at + i, word, n))
            return true;
    }
    return false;
}

static void fact_simd(struct view flags, struct capture_writer *into)
{
    char text[256];
    size_t n = 0;
    for (const char *const *w = simd_words; *w; w++)
        if (has_word(flags, *w))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", *w);
    fact(into, "simd", (struct view){text, n});
}

/* x86: "model name : Intel ..."; arm64 has numbers only, and says nothing here. */
static void fact_cpu(const struct host *h, struct capture_writer *into)
{
    own(free) char *text = mem_new(CPUINFO_BYTES);
    if (host_text(h, "/proc/cpuinfo", text, CPUINFO_BYTES) != 0)
        return;
    struct view flags = line_of(text, "flags");
    fact(into, "cpu", line_of(text, "model name"));
    fact_simd(flags.n ? flags : line_of(text, "Features"), into);
}

/* How the clock is governed; that of the first core stands for all. */
static void fact_governor(const struct host *h, struct capture_writer *into)
{
    char word[64];
    if (host_word(h, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", word, sizeof word) == 0)
        fact(into, "governor", view_of(word));
}

static void fact_os(const struct host *h, struct capture_writer *into)
{
    char text[4096];
    if (host_text(h, "/etc/os-release", text, sizeof text) != 0 &&
        host_text(h, "/usr/lib/os-release", text, sizeof text) != 0)
        return;
    struct view name = line_of(text, "PRETTY_NAME");
    if (name.n >= 2 && (name.at[0] == '"' || name.at[0] == '\''))
        name = (struct view){name.at + 1, name.n - 2};
    fact(into, "os", name);
}

static void fact_memory(const struct host *h, struct capture_writer *into)
{
    char text[4096];
    if (host_text(h, "/proc/meminfo", text, sizeof text) == 0)
        fact(into, "memory", line_of(text, "MemTotal"));
}

void machine_facts(const struct host *h, struct capture_writer *into)
{
    char cores[16];
    struct utsname u;
    snprintf(cores, sizeof cores, "%u", host_cpus(h));
    fact_cpu(h, into);
    capture_fact(into, VIEW("cores"), view_of(cores));
    fact_memory(h, into);
    fact_governor(h, into);
    fact_os(h, into);
    if (uname(&u) == 0) {
        char kernel[256];
        snprintf(kernel, sizeof kernel, "%.100s %.100s %.40s", u.sysname, u.release, u.machine);
        capture_fact(into, VIEW("kernel"), view_of(kernel));
        fact(into, "architecture", view_of(u.machine));
    }
}
