#include "capture/cpu/wait_class.h"
#include "base/own.h"

#include <fnmatch.h>
#include <sys/syscall.h>

const char *const wait_class_names[WAIT_CLASS_COUNT + 1] = {
    [WAIT_UNKNOWN] = "unknown",
    [WAIT_CPU] = "waiting for a CPU",
    [WAIT_LOCK] = "lock",
    [WAIT_GIL] = "GIL",
    [WAIT_GPU] = "GPU sync",
    [WAIT_FAULT] = "page fault",
    [WAIT_DISK] = "disk",
    [WAIT_SOCKET] = "socket",
    [WAIT_POLL] = "poll",
    [WAIT_SLEEP] = "sleep",
    [WAIT_PIPE] = "pipe",
    [WAIT_CHILD] = "child process",
    [WAIT_KERNEL] = "kernel lock",
    [WAIT_OTHER] = "other",
};

/*
 * In order of how much they tell: a page fault that reads from a disk is a page fault, a read from
 * a socket that is polled inside is a socket. Names of Linux 4.19 to 6.18; static functions lose a
 * suffix (.isra.0) to the star.
 */
static const struct {
    const char *pattern;
    enum wait_class is;
} by_kernel[] = {
    {"nvidia_*", WAIT_GPU}, {"nv_*", WAIT_GPU}, {"os_acquire_*", WAIT_GPU}, {"uvm_*", WAIT_GPU},
    {"amdgpu_*", WAIT_GPU}, {"kfd_*", WAIT_GPU}, {"dma_fence_*", WAIT_GPU}, {"drm_*", WAIT_GPU},
    {"i915_*", WAIT_GPU}, {"xe_*", WAIT_GPU},
    {"*page_fault*", WAIT_FAULT}, {"do_user_addr_fault*", WAIT_FAULT}, {"handle_mm_fault*", WAIT_FAULT},
    {"do_mem_abort*", WAIT_FAULT},
    {"futex_*", WAIT_LOCK}, {"do_futex*", WAIT_LOCK}, {"__x64_sys_futex*", WAIT_LOCK},
    {"*nanosleep*", WAIT_SLEEP}, {"alarm_timer_nsleep*", WAIT_SLEEP},
    {"*pipe_read*", WAIT_PIPE}, {"*pipe_write*", WAIT_PIPE}, {"wait_for_partner*", WAIT_PIPE},
    {"sk_wait_*", WAIT_SOCKET}, {"sock_*", WAIT_SOCKET}, {"tcp_*", WAIT_SOCKET}, {"udp_*", WAIT_SOCKET},
    {"unix_*", WAIT_SOCKET}, {"inet*_accept*", WAIT_SOCKET}, {"inet*_csk_accept*", WAIT_SOCKET},
    {"*skb_recv*", WAIT_SOCKET}, {"*skb_wait*", WAIT_SOCKET}, {"*_sys_accept*", WAIT_SOCKET},
    {"*_sys_connect*", WAIT_SOCKET}, {"*_sys_recv*", WAIT_SOCKET},
    {"*do_poll*", WAIT_POLL}, {"do_sys_poll*", WAIT_POLL}, {"poll_schedule_timeout*", WAIT_POLL},
    {"do_select*", WAIT_POLL}, {"ep_poll*", WAIT_POLL}, {"do_epoll_*", WAIT_POLL}, {"eventfd_*", WAIT_POLL},
    {"io_cqring_wait*", WAIT_POLL},
    {"do_wait*", WAIT_CHILD}, {"kernel_wait*", WAIT_CHILD}, {"wait_for_vfork_done*", WAIT_CHILD},
    {"io_schedule*", WAIT_DISK}, {"folio_wait_*", WAIT_DISK}, {"wait_on_page*", WAIT_DISK},
    {"filemap_*", WAIT_DISK}, {"generic_file_*", WAIT_DISK}, {"blk_*", WAIT_DISK}, {"submit_bio*", WAIT_DISK},
    {"blkdev_*", WAIT_DISK}, {"vfs_fsync*", WAIT_DISK}, {"*_sync_file*", WAIT_DISK}, {"iomap_*", WAIT_DISK},
    {"jbd2_*", WAIT_DISK}, {"ext4_*", WAIT_DISK}, {"xfs_*", WAIT_DISK}, {"btrfs_*", WAIT_DISK}, {"nfs_*", WAIT_DISK},
    {"read_events*", WAIT_DISK}, {"balance_dirty_pages*", WAIT_DISK},
    {"rwsem_*", WAIT_KERNEL}, {"*mutex_lock*", WAIT_KERNEL}, {"down_read*", WAIT_KERNEL}, {"down_write*", WAIT_KERNEL},
    {"percpu_rwsem_*", WAIT_KERNEL}, {"synchronize_rcu*", WAIT_KERNEL},
};

/* Drivers by the name of their module: whatever their functions are called. */
static const struct {
    const char *pattern;
    enum wait_class is;
} by_module[] = {
    {"nvidia*", WAIT_GPU}, {"amdgpu", WAIT_GPU}, {"i915", WAIT_GPU}, {"xe", WAIT_GPU}, {"drm*", WAIT_GPU},
};

static const struct {
    long number;
    enum wait_class is;
} by_call[] = {
    {SYS_futex, WAIT_LOCK}, {SYS_nanosleep, WAIT_SLEEP}, {SYS_clock_nanosleep, WAIT_SLEEP},
    {SYS_ppoll, WAIT_POLL}, {SYS_pselect6, WAIT_POLL}, {SYS_epoll_pwait, WAIT_POLL},
    {SYS_accept, WAIT_SOCKET}, {SYS_accept4, WAIT_SOCKET}, {SYS_connect, WAIT_SOCKET}, {SYS_recvfrom, WAIT_SOCKET},
    {SYS_recvmsg, WAIT_SOCKET}, {SYS_sendto, WAIT_SOCKET}, {SYS_sendmsg, WAIT_SOCKET},
    {SYS_wait4, WAIT_CHILD}, {SYS_waitid, WAIT_CHILD},
    {SYS_fsync, WAIT_DISK}, {SYS_fdatasync, WAIT_DISK}, {SYS_pread64, WAIT_DISK}, {SYS_pwrite64, WAIT_DISK},
    {SYS_io_getevents, WAIT_DISK},
#ifdef SYS_poll /* newer architectures have the others only */
    {SYS_poll, WAIT_POLL}, {SYS_select, WAIT_POLL}, {SYS_epoll_wait, WAIT_POLL},
#endif
};

/* What code of the user makes of it. The kernel's answer decides which rules are asked at all: a lock may be
   Python's, but a page fault under take_gil() is a page fault. */
#define ANY_OF(a, b, c, d) (1u << (a) | 1u << (b) | 1u << (c) | 1u << (d))
#define LOCKS (1u << WAIT_LOCK)
#define SYNCS ANY_OF(WAIT_LOCK, WAIT_POLL, WAIT_SLEEP, WAIT_OTHER)

static const struct wait_rule {
    unsigned from; /* classes, as bits */
    const char *function, *module;
    enum wait_class is;
} by_user[] = {
    {LOCKS, "take_gil*",              "*",                 WAIT_GIL},
    {LOCKS, "drop_gil*",              "*",                 WAIT_GIL},
    {LOCKS, "PyEval_RestoreThread",   "*",                 WAIT_GIL},
    {LOCKS, "PyEval_AcquireThread",   "*",                 WAIT_GIL},
    {LOCKS, "_PyThreadState_Attach*", "*",                 WAIT_GIL},
    {SYNCS, "*",                      "*libcuda.so*",      WAIT_GPU},
    {SYNCS, "*",                      "*libcudart*",       WAIT_GPU},
    {SYNCS, "*",                      "*libnccl*",         WAIT_GPU},
    {SYNCS, "*",                      "*libamdhip64*",     WAIT_GPU},
    {SYNCS, "*",                      "*libhsa-runtime*",  WAIT_GPU},
    {SYNCS, "*",                      "*libze_*",          WAIT_GPU},
};

static const char *const scheduler[] = {
    "__schedule", "schedule", "schedule_timeout*", "schedule_hrtimeout*", "schedule_idle", "preempt_schedule*",
    "__cond_resched", "_cond_resched", "io_schedule*", "do_sched_yield", "perf_event_task_sched_out*",
    "__perf_event_task_sched_out*", "prepare_task_switch*", "finish_task_switch*",
    "irqentry_exit*", "raw_irqentry_exit*", "exit_to_user_mode*", "syscall_exit_to_user_mode*", "do_syscall_64",
    "entry_SYSCALL*", "asm_sysvec_*", "asm_common_interrupt", "ret_from_intr", "el0_*", "ret_to_user",
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Names are foreign bytes of any length; those longer than any pattern could care about are cut. */
enum { NAME_MOST = 256 };

static const char *text_of(struct view v, char room[NAME_MOST])
{
    size_t n = v.n < NAME_MOST - 1 ? v.n : NAME_MOST - 1;
    if (n)
        memcpy(room, v.at, n);
    room[n] = '\0';
    return room;
}

static bool matches(const char *pattern, struct view v)
{
    char room[NAME_MOST];
    return fnmatch(pattern, text_of(v, room), 0) == 0;
}

/* Modules first, then functions in their order, then what has a name and what has none. */
enum { RANK_FUNCTIONS = COUNT(by_module), RANK_OTHER = RANK_FUNCTIONS + COUNT(by_kernel), RANK_NOTHING };
const unsigned wait_rank_nothing = RANK_NOTHING;

unsigned wait_rank_of(struct wait_name f)
{
    for (unsigned i = 0; f.module.n && i < COUNT(by_module); i++)
        if (matches(by_module[i].pattern, f.module))
            return i;
    for (unsigned i = 0; i < COUNT(by_kernel); i++)
        if (matches(by_kernel[i].pattern, f.name))
            return RANK_FUNCTIONS + i;
    return f.name.n ? RANK_OTHER : RANK_NOTHING;
}

enum wait_class wait_rank_class(unsigned rank)
{
    if (rank < RANK_FUNCTIONS)
        return by_module[rank].is;
    if (rank < RANK_OTHER)
        return by_kernel[rank - RANK_FUNCTIONS].is;
    return rank == RANK_OTHER ? WAIT_OTHER : WAIT_UNKNOWN;
}

enum wait_class wait_class_by_call(long number)
{
    for (size_t i = 0; i < COUNT(by_call); i++)
        if (by_call[i].number == number)
            return by_call[i].is;
    return WAIT_OTHER;
}

const struct wait_rule *wait_rule_of(struct wait_name frame)
{
    for (size_t i = 0; i < COUNT(by_user); i++)
        if (matches(by_user[i].function, frame.name) && matches(by_user[i].module, frame.module))
            return &by_user[i];
    return NULL;
}

enum wait_class wait_rule_class(const struct wait_rule *rule, enum wait_class so_far)
{
    return rule && rule->from & 1u << so_far ? rule->is : so_far;
}

bool wait_is_scheduler(struct view kernel_function)
{
    for (size_t i = 0; i < COUNT(scheduler); i++)
        if (matches(scheduler[i], kernel_function))
            return true;
    return false;
}
