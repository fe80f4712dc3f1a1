/*
 * find_memory.h - the memory that the recorder shares, found by what it left in the environment
 *
 * It is found twice over. The descriptor is the sure way, and survives a change of user; but shells, Python's subprocess and
 * daemons close what they did not open, or put something else at the same number: then the recorder's own descriptor is
 * opened through /proc; that is the only way where nothing is to be inherited (fd_variable NULL). `map` looks whether it is
 * what was expected, and maps it.
 */
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static inline bool memory_find(const char *fd_variable, const char *path_variable, bool (*map)(int fd))
{
    const char *number = fd_variable ? getenv(fd_variable) : NULL, *path = getenv(path_variable);
    char *end = NULL;
    long fd = number ? strtol(number, &end, 10) : -1;
    if (number && *number && *end == 0 && fd >= 0 && fd < 1 << 20 && map((int)fd))
        return true;
    if (!path || path[0] != '/')
        return false;
    int opened = open(path, O_RDWR | O_CLOEXEC);
    bool ok = opened >= 0 && map(opened);
    if (opened >= 0)
        close(opened);
    return ok;
}
