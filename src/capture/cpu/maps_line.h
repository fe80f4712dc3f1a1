/*
 * maps_line.h - one line of /proc/PID/maps
 *
 *     7f10a2c28000-7f10a2d9d000 r-xp 00028000 fe:01 1234      /usr/lib/libc.so.6
 *
 * The path is a part of the line that was given. Threads: any. Fails: false, for what is no such line.
 */
#pragma once
#include "capture/cpu/processes.h"

bool maps_line_parse(struct view line, struct map_news *out) MUST_CHECK;
