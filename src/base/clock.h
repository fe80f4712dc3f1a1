/*
 * clock.h - one axis for everything
 *
 * All times inside are CLOCK_MONOTONIC nanoseconds. What time of day that was
 * is one recorded number: wall = monotonic + offset.
 */
#pragma once
#include <stdint.h>

uint64_t clock_monotonic_ns(void);
uint64_t clock_thread_cpu_ns(void); /* that the calling thread has used: what something cost, however busy the machine */
int64_t clock_wall_offset_ns(void); /* measured now; the closest of a few readings */
