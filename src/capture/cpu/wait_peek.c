#include "capture/cpu/wait_peek.h"
#include "base/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/uio.h>

#if defined(__x86_64__)
enum { STACK_POINTER = 7, PROGRAM_COUNTER = 16 };
#else
enum { STACK_POINTER = 31, PROGRAM_COUNTER = 32 };
#endif

static bool read_small(const char *proc, int32_t pid, int32_t tid, const char *file, char *out, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%" PRId32 "/task/%" PRId32 "/%s", proc, pid, tid, file);
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
    if (n <= 0)
        return false;
    out[n] = '\0';
    return true;
}

/* "35 0x1 0x2 0x3 0x4 0x5 0x6 SP PC" in a system call, "-1 SP PC" in a fault, "running" when neither. */
static bool parse_call(char *text, long *out_number, uint64_t *out_sp, uint64_t *out_pc)
{
    enum { ARGUMENTS = 6 };
    char *at, *end;
    *out_number = strtol(text, &at, 10);
    if (at == text)
        return false;
    for (int i = 0; *out_number >= 0 && i < ARGUMENTS; i++)
        strtoull(at, &at, 16);
    *out_sp = strtoull(at, &at, 16);
    *out_pc = strtoull(at, &end, 16);
    return end != at;
}

/* A page at a time: what lies behind the end of the stack is not there, and must not cost us the rest. */
static size_t read_stack(int32_t pid, uint64_t from, uint8_t *out, size_t most)
{
    enum { PAGE = 4096, PIECES = PEEK_STACK_BYTES / PAGE + 1 };
    struct iovec remote[PIECES], local = {.iov_base = out, .iov_len = most};
    size_t n = 0;
    for (uint64_t at = from; at < from + most && n < PIECES; n++) {
        uint64_t next = (at / PAGE + 1) * PAGE, end = next < from + most ? next : from + most;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process */
        remote[n] = (struct iovec){.iov_base = (void *)(uintptr_t)at, .iov_len = (size_t)(end - at)};
        at = end;
    }
    ssize_t got = process_vm_readv(pid, &local, 1, remote, n, 0);
    return got > 0 ? (size_t)got : 0;
}

static enum wait_class class_of(const char *proc, int32_t pid, int32_t tid, long number)
{
    char where[128];
    enum wait_class by_place = WAIT_UNKNOWN;
    if (read_small(proc, pid, tid, "wchan", where, sizeof where) && strcmp(where, "0") != 0)
        by_place = wait_rank_class(wait_rank_of((struct wait_name){.name = view_of(where)}));
    if (by_place != WAIT_UNKNOWN && by_place != WAIT_OTHER)
        return by_place;
    if (number >= 0)
        return wait_class_by_call(number);
    return by_place == WAIT_UNKNOWN ? WAIT_UNKNOWN : WAIT_FAULT; /* asleep, and in no call: code that touched a page */
}

bool wait_peek(struct wait_peek *out, const char *proc, int32_t pid, int32_t tid)
{
    char text[256];
    long number;
    uint64_t sp, pc;
    if (!read_small(proc, pid, tid, "syscall", text, sizeof text) || !parse_call(text, &number, &sp, &pc))
        return false;
    out->raw = (struct raw_sample){.pid = pid, .tid = tid, .time_ns = clock_monotonic_ns(), .has_user = true};
    out->raw.registers.at[STACK_POINTER] = sp;
    out->raw.registers.at[PROGRAM_COUNTER] = pc;
    out->raw.stack = (struct unwind_stack){.start = sp, .bytes = out->bytes, .n = read_stack(pid, sp, out->bytes, sizeof out->bytes)};
    out->is = class_of(proc, pid, tid, number);
    return true;
}

bool wait_is_asleep(const char *proc, int32_t pid, int32_t tid)
{
    char text[512];
    if (!read_small(proc, pid, tid, "stat", text, sizeof text))
        return false;
    const char *name_end = strrchr(text, ')'); /* the name before it may hold anything */
    return name_end && name_end[1] == ' ' && name_end[2] != 'R';
}
