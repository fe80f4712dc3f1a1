/*
 * ability.h - what this machine and this user can measure, and what would help
 *
 * Each ability has a probe that answers works, limited or off, with the reason
 * and the exact thing to type. Where it can, a probe does the deed itself on
 * this very process (opens an event, loads a two-instruction program) and looks
 * at files only to explain a refusal: the kernel's answer counts, not our idea
 * of its rules.
 *
 *     struct host here = host_here();
 *     struct finding found[ABILITY_COUNT];
 *     abilities_find(&here, found);
 *     if (found[ABILITY_CPU_SAMPLING].state == STATE_OFF)
 *         puts(found[ABILITY_CPU_SAMPLING].fix);
 *
 * A new ability is one word in the enum, one row in ability.c and one probe.
 *
 * Owns:     nothing; findings hold their own text.
 * Threads:  any.
 * Fails:    never: what cannot be found out is itself a finding.
 * Effects:  none on the machine; takes milliseconds, seconds at most (sys.h).
 */
#pragma once
#include "base/err.h"
#include "capture/host/privilege.h"

enum state { STATE_WORKS, STATE_LIMITED, STATE_OFF, STATE_COUNT };

extern const char *const state_names[STATE_COUNT]; /* "works", "limited", "off" */

enum ability {
    ABILITY_CPU_SAMPLING,
    ABILITY_CPU_TIMERS,
    ABILITY_CPU_COUNTERS,
    ABILITY_SAMPLE_RATE,
    ABILITY_RING_MEMORY,
    ABILITY_OPEN_FILES,
    ABILITY_KERNEL_SYMBOLS,
    ABILITY_DEBUG_SYMBOLS,
    ABILITY_ATTACH,
    ABILITY_PYTHON,
    ABILITY_BPF,
    ABILITY_CAPABILITIES,
    ABILITY_CONTAINER,
    ABILITY_NVIDIA,
    ABILITY_NVIDIA_KERNELS,
    ABILITY_AMD,
    ABILITY_DISK,
    ABILITY_TEMPORARY,
    ABILITY_CLOCK,
    ABILITY_FREQUENCY,
    ABILITY_QUOTA,
    ABILITY_LOAD,
    ABILITY_COUNT
};

struct finding {
    bool is_asked; /* false: only a running machine could say, and we were given files */
    enum state state;
    char why[320];
    char fix[320]; /* "" when there is nothing to do */
};

const char *ability_name(enum ability a); /* "cpu sampling" */

void abilities_find(const struct host *h, struct finding out[ABILITY_COUNT]);
