#include "capture/host/probe.h"

#include <stdarg.h>
#include <stdio.h>

const char *const state_names[STATE_COUNT] = {"works", "limited", "off"};

static const struct row {
    const char *name;
    probe *probe;
    bool needs_system; /* files alone cannot tell */
} rows[ABILITY_COUNT] = {
    [ABILITY_CPU_SAMPLING]   = {"cpu sampling",    probe_cpu_sampling},
    [ABILITY_CPU_TIMERS]     = {"cpu timers",      probe_cpu_timers},
    [ABILITY_CPU_COUNTERS]   = {"cpu counters",    probe_cpu_counters},
    [ABILITY_SAMPLE_RATE]    = {"sample rate",     probe_sample_rate},
    [ABILITY_RING_MEMORY]    = {"ring memory",     probe_ring_memory},
    [ABILITY_OPEN_FILES]     = {"open files",      probe_open_files},
    [ABILITY_KERNEL_SYMBOLS] = {"kernel symbols",  probe_kernel_symbols},
    [ABILITY_DEBUG_SYMBOLS]  = {"debug symbols",   probe_debug_symbols},
    [ABILITY_ATTACH]         = {"attach",          probe_attach},
    [ABILITY_PYTHON]         = {"python frames",   probe_python},
    [ABILITY_BPF]            = {"bpf",             probe_bpf},
    [ABILITY_CAPABILITIES]   = {"capabilities",    probe_capabilities},
    [ABILITY_CONTAINER]      = {"container",       probe_container},
    [ABILITY_NVIDIA]         = {"nvidia gpu",      probe_nvidia},
    [ABILITY_NVIDIA_KERNELS] = {"nvidia kernels",  probe_nvidia_kernels},
    [ABILITY_AMD]            = {"amd gpu",         probe_amd},
    [ABILITY_DISK]           = {"disk space",      probe_disk,      .needs_system = true},
    [ABILITY_TEMPORARY]      = {"temporary files", probe_temporary, .needs_system = true},
    [ABILITY_CLOCK]          = {"clock",           probe_clock},
    [ABILITY_FREQUENCY]      = {"cpu frequency",   probe_frequency},
    [ABILITY_QUOTA]          = {"cpu quota",       probe_quota},
    [ABILITY_LOAD]           = {"load",            probe_load},
};

const char *ability_name(enum ability a) { return rows[a].name; }

void abilities_find(const struct host *h, struct finding out[ABILITY_COUNT])
{
    struct privilege p = privilege_read(h);
    for (size_t i = 0; i < ABILITY_COUNT; i++) {
        out[i] = (struct finding){.is_asked = h->sys || !rows[i].needs_system};
        if (out[i].is_asked)
            rows[i].probe(h, &p, &out[i]);
    }
}

void finding_set(struct finding *f, enum state state, const char *why, ...)
{
    va_list ap;
    va_start(ap, why);
    vsnprintf(f->why, sizeof f->why, why, ap);
    va_end(ap);
    f->state = state;
    f->fix[0] = '\0';
}

static void write_fix(struct finding *f, const char *before, const char *fix, va_list ap)
{
    size_t n = strlen(before);
    memcpy(f->fix, before, n + 1);
    vsnprintf(f->fix + n, sizeof f->fix - n, fix, ap);
}

void finding_fix(struct finding *f, const char *fix, ...)
{
    va_list ap;
    va_start(ap, fix);
    write_fix(f, "", fix, ap);
    va_end(ap);
}

void finding_fix_as_root(struct finding *f, const struct privilege *p, const char *command, ...)
{
    va_list ap;
    va_start(ap, command);
    write_fix(f, privilege_sudo(p, false), command, ap);
    va_end(ap);
}

void finding_fix_on_host(struct finding *f, const struct privilege *p, const char *command, ...)
{
    va_list ap;
    va_start(ap, command);
    write_fix(f, privilege_sudo(p, true), command, ap);
    va_end(ap);
}

void finding_fix_grant(struct finding *f, const struct privilege *p, const char *const *capabilities)
{
    privilege_grant(p, capabilities, f->fix, sizeof f->fix);
}
