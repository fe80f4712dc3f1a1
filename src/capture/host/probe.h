/*
 * probe.h - the probes behind ability.h; for this folder only
 *
 * A probe fills one finding. finding_set() says state and reason in one line,
 * one of the finding_fix functions behind it says what to do.
 */
#pragma once
#include "capture/host/ability.h"

typedef void probe(const struct host *h, const struct privilege *p, struct finding *out);

/* perf_probe.c: samples and counters from the kernel */
probe probe_cpu_sampling, probe_cpu_timers, probe_cpu_counters, probe_sample_rate, probe_ring_memory, probe_open_files;

/* access_probe.c: symbols, other processes, BPF, and what holds us back */
probe probe_kernel_symbols, probe_debug_symbols, probe_attach, probe_python, probe_bpf, probe_capabilities, probe_container;

/* gpu_probe.c: cards, drivers and their libraries */
probe probe_nvidia, probe_nvidia_kernels, probe_amd;

/* quiet_probe.c: room to write, and a machine still enough to measure on */
probe probe_disk, probe_temporary, probe_clock, probe_frequency, probe_quota, probe_load;

void finding_set(struct finding *f, enum state state, const char *why, ...) PRINTF_LIKE(3, 4); /* clears the fix */
void finding_fix(struct finding *f, const char *fix, ...) PRINTF_LIKE(2, 3);

/* With "sudo" in front where it takes one; _on_host for settings of the kernel, which no container can change. */
void finding_fix_as_root(struct finding *f, const struct privilege *p, const char *command, ...) PRINTF_LIKE(3, 4);
void finding_fix_on_host(struct finding *f, const struct privilege *p, const char *command, ...) PRINTF_LIKE(3, 4);

/* What gives us these capabilities at the next start. */
void finding_fix_grant(struct finding *f, const struct privilege *p, const char *const *capabilities);

#define GRANT(f, p, ...) finding_fix_grant(f, p, (const char *const[]){__VA_ARGS__, NULL})
