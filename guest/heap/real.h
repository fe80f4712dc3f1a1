/*
 * real.h - the functions we stand in for
 *
 * Looked up once, at the first call of any of them, which may be before our constructor. dlsym() itself
 * allocates; what it gets meanwhile comes from early.c. A function the system does not have stays NULL.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct real {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*brk)(void *);
    void *(*sbrk)(intptr_t);
    int (*dlclose)(void *);
};

extern struct real real;

void real_adopt(void); /* those that the program itself would find first: for us, who came last */
bool real_find(void); /* false: it is being found right now, by this thread or another */
