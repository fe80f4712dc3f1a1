/*
 * bare_calls.h - system calls with nothing of libc around them
 *
 * A tick may come between any two instructions of the target: inside malloc, while
 * errno is being read, on a thread that shares its thread-local storage with another
 * because somebody called clone() by hand. So the handler calls no function of libc,
 * and these leave errno alone: a failure comes back as a negative number.
 */
#pragma once
#include <linux/time_types.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
static inline long bare_call(long number, long a, long b, long c, long d)
{
    register long r10 __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long bare_call(long number, long a, long b, long c, long d)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}
#else
/* cppcheck-suppress preprocessorErrorDirective ; it tries configurations that nobody builds */
#error "the sampler knows the system calls of x86-64 and arm64"
#endif

static inline uint64_t bare_clock_ns(clockid_t clock)
{
    struct __kernel_timespec t = {0};
    if (bare_call(SYS_clock_gettime, clock, (long)&t, 0, 0) < 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Can these eight bytes be read? The kernel copies the set before it looks at the
 * first argument, which is wrong on purpose: EFAULT or EINVAL, and nothing happens.
 * Unlike process_vm_readv() it takes no lock of the address space, and no container
 * refuses it.
 */
static inline int bare_can_read(uintptr_t address)
{
    return bare_call(SYS_rt_sigprocmask, -1, (long)address, 0, 8) == -22;
}
