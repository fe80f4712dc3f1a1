/*
 * own.h - who frees what, said where the variable is born
 *
 *     own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
 *     own(free) char *line = NULL;
 *     own(profile) struct profile *p = NULL;
 *     ...
 *     return take(p);          // ownership leaves with the caller; nothing is freed here
 *
 * A type joins with one line next to its free function:
 *
 *     DEFINE_OWN(profile, struct profile *)        calls profile_free(p)
 *     DEFINE_OWN_IN_PLACE(buf, struct buf)         calls buf_done(&b)
 */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define own(what) __attribute__((cleanup(own_##what)))

#define take(p)                        \
    __extension__({                    \
        __typeof__(p) *slot_ = &(p);   \
        __typeof__(p) value_ = *slot_; \
        *slot_ = NULL;                 \
        value_;                        \
    })

#define DEFINE_OWN(what, type) \
    static inline void own_##what(type *slot) { what##_free(*slot); }

#define DEFINE_OWN_IN_PLACE(what, type) \
    static inline void own_##what(type *slot) { what##_done(slot); }

static inline void own_free(void *slot)
{
    void *p;
    memcpy(&p, slot, sizeof p);
    free(p);
}

static inline void own_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void own_fclose(FILE **f)
{
    if (*f)
        fclose(*f);
}
