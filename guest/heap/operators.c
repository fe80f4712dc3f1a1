/*
 * libinferom_heap_new.so: C++'s new and delete, for programs whose allocator has its own.
 *
 * libstdc++'s operators call malloc() and free(), which are seen anyway. Those of jemalloc, mimalloc and tcmalloc go straight to their own
 * insides; so beside these this library is preloaded too, and tells the agent what passes. It is a library of its own, and only there where it is
 * needed: in a program that loads its C++ later and out of sight, ours would be found first and have nobody to pass to.
 *
 * When the operators turn out to be another file's than malloc() is, they are libstdc++'s after all: then nothing is told.
 */
#include "operators.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef void *new_function(size_t, size_t, const void *);
typedef void delete_function(void *, size_t, size_t);

enum { NEW_FIRST, NEW_COUNT = 8, DELETE_COUNT = 12 };

static const char *const new_names[NEW_COUNT] = {
    "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t",
};
static const char *const delete_names[DELETE_COUNT] = {
    "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_ZdlPvSt11align_val_t", "_ZdaPvSt11align_val_t", "_ZdlPvmSt11align_val_t", "_ZdaPvmSt11align_val_t",
    "_ZdlPvRKSt9nothrow_t", "_ZdaPvRKSt9nothrow_t", "_ZdlPvSt11align_val_tRKSt9nothrow_t", "_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

static new_function *real_new[NEW_COUNT];
static delete_function *real_delete[DELETE_COUNT];
static bool is_theirs; /* the allocator's own */
static _Atomic bool is_found;

static const char *file_of(void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

static void find(void)
{
    if (atomic_load_explicit(&is_found, memory_order_acquire))
        return;
    void *p = NULL;
    for (size_t i = 0; i < NEW_COUNT; i++) {
        p = dlsym(RTLD_NEXT, new_names[i]);
        memcpy(&real_new[i], &p, sizeof p);
    }
    for (size_t i = 0; i < DELETE_COUNT; i++) {
        p = dlsym(RTLD_NEXT, delete_names[i]);
        memcpy(&real_delete[i], &p, sizeof p);
    }
    memcpy(&p, &real_new[NEW_FIRST], sizeof p);
    is_theirs = !strcmp(file_of(p), file_of(dlsym(RTLD_NEXT, "malloc")));
    atomic_store_explicit(&is_found, true, memory_order_release);
}

__attribute__((constructor)) static void start(void) { find(); }

/* Arguments that an operator does not take are in registers that it does not look at. */
#define HERE_NOW()                                                                                                         \
    (uint64_t)__builtin_return_address(0), (uint64_t)__builtin_dwarf_cfa(), *(uint64_t *)__builtin_frame_address(0)

#define NEW(i, name)                                                          \
    void *name(size_t n, size_t a, const void *b);                            \
    EXPORT void *name(size_t n, size_t a, const void *b)                      \
    {                                                                         \
        find();                                                               \
        void *p = real_new[i](n, a, b);                                       \
        if (is_theirs && p)                                                   \
            inferom_heap_allocated(p, n, HERE_NOW());                         \
        return p;                                                             \
    }

#define DELETE(i, name)                                                       \
    void name(void *p, size_t a, size_t b);                                   \
    EXPORT void name(void *p, size_t a, size_t b)                             \
    {                                                                         \
        find();                                                               \
        if (is_theirs && p)                                                   \
            inferom_heap_freed(p, (uint64_t)__builtin_dwarf_cfa());           \
        real_delete[i](p, a, b);                                              \
    }

NEW(0, _Znwm)
NEW(1, _Znam)
NEW(2, _ZnwmRKSt9nothrow_t)
NEW(3, _ZnamRKSt9nothrow_t)
NEW(4, _ZnwmSt11align_val_t)
NEW(5, _ZnamSt11align_val_t)
NEW(6, _ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(7, _ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(0, _ZdlPv)
DELETE(1, _ZdaPv)
DELETE(2, _ZdlPvm)
DELETE(3, _ZdaPvm)
DELETE(4, _ZdlPvSt11align_val_t)
DELETE(5, _ZdaPvSt11align_val_t)
DELETE(6, _ZdlPvmSt11align_val_t)
DELETE(7, _ZdaPvmSt11align_val_t)
DELETE(8, _ZdlPvRKSt9nothrow_t)
DELETE(9, _ZdaPvRKSt9nothrow_t)
DELETE(10, _ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(11, _ZdaPvSt11align_val_tRKSt9nothrow_t)
