/*
 * inject.h - a library of ours, put into a process that runs already
 *
 * One of its threads, at a moment when it holds no lock of the loader or the allocator, is asked to
 * dlopen() the library and to call a function of it (remote_thread.h, remote_space.h). All others go
 * on meanwhile. When no such moment comes within two seconds the process is left as it was.
 *
 *     struct inject_answer said;
 *     if (!inject(pid, "/usr/lib/inferom/libinferom_heap.so", "inferom_heap_inject", "/proc/77/fd/200", &said, e)) ...
 *
 * The library stays in the process for good; whether it does anything is its own business.
 *
 * Threads: any; it works on one of its own, so that the kernel lets go of everything when that ends.
 * Fails:   with a sentence; the process is alive and does what it did.
 */
#pragma once
#include "base/err.h"
#include "inferom/heap_inject.h"
#include <sys/types.h>

bool inject(pid_t pid, const char *library, const char *function, const char *argument, struct inject_answer *out, struct err *e) MUST_CHECK;
