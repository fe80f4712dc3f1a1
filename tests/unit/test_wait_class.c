/* Stacks as text, leaf first, kernel part and user part; user frames are function@module. */
#include "check.h"
#include "capture/cpu/wait_class.h"
#include <stdlib.h>
#include <sys/syscall.h>

static const struct {
    const char *what, *kernel, *user, *is;
} cases[] = {
    {"a mutex",           "__schedule schedule futex_wait_queue __futex_wait futex_wait do_futex __x64_sys_futex", "lll_lock@libc.so.6", "lock"},
    {"python's lock",     "schedule futex_wait_queue do_futex", "pthread_cond_timedwait@libc.so.6 take_gil@python3.11 main@python3.11", "GIL"},
    {"inlined take_gil",  "schedule futex_wait_queue do_futex", "pthread_cond_timedwait@libc.so.6 PyEval_RestoreThread@libpython3.12.so", "GIL"},
    {"cuda, by poll",     "schedule poll_schedule_timeout do_sys_poll", "poll@libc.so.6 x@/usr/lib/libcuda.so.1 main@app", "GPU sync"},
    {"cuda, in ioctl",    "schedule rm_ioctl@nvidia", "ioctl@libc.so.6 main@app", "GPU sync"},
    {"mapped weights",    "schedule io_schedule folio_wait_bit_common filemap_fault __do_fault do_user_addr_fault exc_page_fault", "matmul@app", "page fault"},
    {"fault under a gil", "io_schedule filemap_fault exc_page_fault", "take_gil@python", "page fault"},
    {"read of a file",    "schedule io_schedule folio_wait_bit_common filemap_read vfs_read", "read@libc.so.6", "disk"},
    {"sync of a file",    "schedule jbd2_log_wait_commit ext4_sync_file vfs_fsync_range", "fsync@libc.so.6", "disk"},
    {"a pipe, old",       "schedule pipe_wait pipe_read vfs_read", "read@libc.so.6", "pipe"},
    {"a pipe, new",       "schedule anon_pipe_read vfs_read", "read@libc.so.6", "pipe"},
    {"a sleep",           "schedule do_nanosleep hrtimer_nanosleep", "clock_nanosleep@libc.so.6", "sleep"},
    {"a connection",      "schedule_timeout sk_wait_data tcp_recvmsg inet_recvmsg sock_recvmsg", "recv@libc.so.6", "socket"},
    {"a server's loop",   "schedule ep_poll do_epoll_wait", "epoll_wait@libc.so.6", "poll"},
    {"a child",           "schedule do_wait kernel_wait4", "wait4@libc.so.6", "child process"},
    {"the memory map",    "schedule rwsem_down_write_slowpath down_write vm_mmap_pgoff", "mmap@libc.so.6", "kernel lock"},
    {"something else",    "schedule some_new_wait", "main@app", "other"},
    {"names are hidden",  "", "main@app", "unknown"},
};

/* "name@module", or "name"; ends at a space. */
static const char *next_name(const char *at, struct wait_name *out)
{
    size_t n = strcspn(at, " "), name = strcspn(at, "@ ");
    *out = (struct wait_name){.name = {at, name}};
    if (name < n)
        out->module = (struct view){at + name + 1, n - name - 1};
    return at + n + strspn(at + n, " ");
}

static enum wait_class class_of(const char *kernel, const char *user)
{
    struct wait_name f;
    unsigned best = wait_rank_nothing;
    while (*kernel) {
        kernel = next_name(kernel, &f);
        unsigned rank = wait_rank_of(f);
        best = rank < best ? rank : best;
    }
    enum wait_class is = wait_rank_class(best);
    while (*user) {
        user = next_name(user, &f);
        is = wait_rule_class(wait_rule_of(f), is);
    }
    return is;
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%s\n", cases[i].what);
        CHECK_STR(wait_class_names[class_of(cases[i].kernel, cases[i].user)], cases[i].is);
    }
    for (size_t i = 0; i < WAIT_CLASS_COUNT; i++)
        CHECK(wait_class_names[i] != NULL);
    CHECK(wait_class_names[WAIT_CLASS_COUNT] == NULL);
    CHECK_EQ(wait_class_by_call(SYS_futex), WAIT_LOCK);
    CHECK_EQ(wait_class_by_call(SYS_read), WAIT_OTHER);
    CHECK_EQ(wait_class_by_call(-1), WAIT_OTHER);
    CHECK(wait_is_scheduler(VIEW("__schedule")));
    CHECK(!wait_is_scheduler(VIEW("futex_wait_queue")));
    return CHECK_DONE();
}
