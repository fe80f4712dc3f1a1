/*
 * maps_line.h - one line of /proc/PID/maps
 *
 *     7f10a2c28000-7f10a2d9d000 r-xp 00028000 fe:01 1234      /usr/lib/libc.so.6
 *
 * The path is a part of the line that was given. Threads: any. Fails: false, for what is no such line.
 */
#pragma once
#include "base/err.h"
#include "base/view.h"
#include <stdint.h>

/* What somebody says about one map: the kernel as it is made, or a line of the list. */
struct map_news {
    uint64_t start, length, file_offset;
    uint32_t device_major, device_minor;
    uint64_t inode;
    struct view path;     /* as /proc/PID/maps spells it; "//anon" and "[...]" are no files */
    struct view build_id; /* binary; may be empty */
    bool is_code;
    bool is_shared, has_access; /* only a line says it: others see what is written; it may be read, written or executed */
};

bool maps_line_parse(struct view line, struct map_news *out) MUST_CHECK;
