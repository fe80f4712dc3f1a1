/*
 * spin.h - a load whose work can be counted
 *
 * Two threads do arithmetic in registers, at the bottom of a stack of SPIN_FRAMES
 * frames. A unit of work takes the same CPU time again and again, whatever else the
 * machine is doing: no memory is shared, no lock, no cache line. So what a unit costs more
 * under a profiler is what the profiler costs.
 */
#pragma once
#include "base/err.h"
#include <stdint.h>

enum { SPIN_THREADS = 2, SPIN_FRAMES = 13 };

/* Both threads do this many units. Fails when there can be no threads. */
bool spin(uint64_t units, struct err *e) MUST_CHECK;

/* How many units one thread does in this much CPU time, as measured now, in some milliseconds. At least 1. */
uint64_t spin_units(uint64_t cpu_ns);
