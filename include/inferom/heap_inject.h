/*
 * heap_inject.h - what the heap agent says when it was put into a process that runs already
 *
 *     void inferom_heap_inject(const char *path_of_region, struct inject_answer *out);
 */
#pragma once
#include <stdint.h>

enum inject_code {
    INJECT_NOT_CALLED,
    INJECT_ON,        /* it counts from now on; or did already, for the same recorder, and has looked for new libraries */
    INJECT_TAKEN,     /* somebody records this process, or did: once is enough */
    INJECT_OTHER_MALLOC, /* the executable has an allocator inside */
    INJECT_NO_REGION, /* the recorder's memory cannot be opened from there */
    INJECT_CODE_COUNT
};

struct inject_answer {
    uint32_t code;
    uint32_t modules, slots; /* looked at; pointers to functions that lead to us now */
};
