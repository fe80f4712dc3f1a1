/*
 * libinferom_sampler.so: preloaded into a target by the recorder (docs/internals/timers.md).
 *
 * Without a region to write to, or with one of another version, all of this is
 * three calls that pass everything through.
 */
#include "sampler.h"
#include "common/bare_calls.h"

#include <stdlib.h>
#include <unistd.h>

extern void *__libc_stack_end __attribute__((weak)); /* where the kernel put the stack pointer of the new program */

/* Timers are not inherited. The slots of the parent stay the parent's. */
static void child_begins(void)
{
    uint32_t parent_pid = sampler.pid;
    uint32_t mine = (uint32_t)(uintptr_t)pthread_getspecific(sampler.key);
    sampler.pid = (uint32_t)getpid();
    pthread_setspecific(sampler.key, NULL);
    thread_begin(mine && mine <= sampler.slots ? locals[mine - 1].stack_end : UINTPTR_MAX, WIRE_BY_FORK, parent_pid);
}

__attribute__((constructor)) static void sampler_start(void)
{
    timer_resolve();
    if (!region_map())
        return;
    sampler.pid = (uint32_t)getpid();
    if (pthread_key_create(&sampler.key, thread_end) != 0 || pthread_atfork(NULL, NULL, child_begins) != 0)
        return;
    if (!signal_choose())
        return;
    sampler.is_on = true;
    uintptr_t end = &__libc_stack_end ? (uintptr_t)__libc_stack_end + 64 : UINTPTR_MAX;
    thread_begin(end, WIRE_BY_EXEC, 0);
}

/* How much CPU time the last thread had used. Its timer ticks on: there may be more to come. */
__attribute__((destructor)) static void sampler_end(void)
{
    uint32_t mine = sampler.is_on ? (uint32_t)(uintptr_t)pthread_getspecific(sampler.key) : 0;
    if (mine && mine <= sampler.slots && sampler.slot[mine - 1].pid == sampler.pid)
        atomic_store_explicit(&sampler.slot[mine - 1].cpu_ns, bare_clock_ns(CLOCK_THREAD_CPUTIME_ID), memory_order_relaxed);
}
