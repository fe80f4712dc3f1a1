#include "base/own.h"
#include "capture/shared_memory.h"
#include "capture/cpu/timer_engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>

#define WATCH_NS UINT64_C(1000000000)

static bool proc_read(char *out, size_t size, const char *path)
{
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool task_read(char *out, size_t size, const struct sampler_thread *t, const char *file)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/task/%" PRId32 "/%s", t->pid, t->tid, file);
    return proc_read(out, size, path);
}

/* Trust. */

static bool is_trusted(const struct timer_engine *te, int32_t pid)
{
    if (pid == te->launched)
        return true;
    for (const struct sampler_thread *t = NULL; (t = sampler_region_next(te->region, t));)
        if (t->pid == pid && te->threads[t->slot].is_trusted)
            return true;
    return false;
}

/* state and parent, behind the name in its brackets, which may hold brackets itself */
static bool read_stat(const struct sampler_thread *t, char *out_state, int32_t *out_parent)
{
    char text[512];
    const char *behind = task_read(text, sizeof text, t, "stat") ? strrchr(text, ')') : NULL;
    return behind && sscanf(behind + 1, " %c %" SCNd32, out_state, out_parent) == 2;
}

bool timer_watch_trusts(const struct timer_engine *te, const struct sampler_thread *t)
{
    char state;
    int32_t parent;
    if (is_trusted(te, t->pid) || !read_stat(t, &state, &parent))
        return true;
    return (parent == t->parent_pid && is_trusted(te, parent)) || shared_memory_is_in(t->pid, te->device, te->inode);
}

/* One by one. */

void timer_watch_name(struct timer_engine *te, const struct sampler_thread *t)
{
    char name[64];
    if (!task_read(name, sizeof name, t, "comm"))
        return;
    name[strcspn(name, "\n")] = '\0';
    te->threads[t->slot].is_named = true;
    processes_name(te->ps, t->pid, t->tid, view_of(name), te->now_ns);
}

void timer_watch_cpu(struct timer_engine *te, const struct sampler_thread *t)
{
    char text[96];
    uint64_t cpu_ns;
    if (!task_read(text, sizeof text, t, "schedstat") || sscanf(text, "%" SCNu64, &cpu_ns) != 1)
        cpu_ns = t->cpu_ns;
    if (cpu_ns >= t->cpu_began_ns)
        processes_thread_cpu(te->ps, t->pid, t->tid, cpu_ns - t->cpu_began_ns);
}

/* Of the thread, not of its process: the first thread may have left while the others go on. */
static bool has_ended(const struct sampler_thread *t)
{
    char state;
    int32_t parent;
    return !read_stat(t, &state, &parent) || state == 'Z' || state == 'X';
}

static bool is_gone(const struct sampler_thread *t, bool is_second)
{
    return (kill(t->pid, 0) < 0 && errno == ESRCH) || (is_second && has_ended(t));
}

/*
 * Strangers: threads that exist and hold no slot. A thread just born is on its way to
 * one, so only who was there a second ago as well is asked for.
 */
static bool is_sampled(const struct timer_engine *te, int32_t pid, int32_t tid)
{
    for (const struct sampler_thread *t = NULL; (t = sampler_region_next(te->region, t));)
        if (t->pid == pid && t->tid == tid)
            return true;
    return false;
}

static bool was_seen(const struct timer_engine *te, size_t before, int32_t pid, int32_t tid)
{
    for (size_t i = 0; i < before; i++)
        if (te->strangers[i].pid == pid && te->strangers[i].tid == tid)
            return true;
    return false;
}

/* Somebody of the same process who ticks: only who uses the CPU gets to read what we want. */
static bool ask(struct timer_engine *te, int32_t pid, int32_t tid)
{
    for (const struct sampler_thread *t = NULL; (t = sampler_region_next(te->region, t));)
        if (t->pid == pid && te->now_ns - te->threads[t->slot].heard_ns < WATCH_NS && sampler_region_want(te->region, t, tid))
            return true;
    return false;
}

static void meet_strangers(struct timer_engine *te, int32_t pid, size_t before)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/task", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *d; (d = readdir(folder));) {
        int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);
        if (tid <= 0 || is_sampled(te, pid, tid) || has_ended(&(struct sampler_thread){.pid = pid, .tid = tid}))
            continue;
        if (was_seen(te, before, pid, tid) && ask(te, pid, tid)) {
            te->strangers_armed++;
        } else if (te->n_strangers < STRANGERS_MOST) {
            te->strangers[te->n_strangers].pid = pid;
            te->strangers[te->n_strangers++].tid = tid;
        }
    }
    closedir(folder);
}

/* Each process once. */
static bool is_first_of_process(const struct timer_engine *te, const struct sampler_thread *t)
{
    const struct sampler_thread *first = NULL;
    while ((first = sampler_region_next(te->region, first)) && first->pid != t->pid)
        ;
    return first == t;
}

static void find_strangers(struct timer_engine *te)
{
    size_t before = te->n_strangers;
    for (const struct sampler_thread *t = NULL; (t = sampler_region_next(te->region, t));)
        if (!te->threads[t->slot].is_ignored && is_first_of_process(te, t))
            meet_strangers(te, t->pid, before);
    memmove(te->strangers, te->strangers + before, (te->n_strangers - before) * sizeof *te->strangers);
    te->n_strangers -= before;
}

void timer_watch(struct timer_engine *te)
{
    bool is_second = te->now_ns - te->watched_ns >= WATCH_NS;
    for (const struct sampler_thread *t = NULL; (t = sampler_region_next(te->region, t));) {
        struct timer_thread *mine = &te->threads[t->slot];
        if (is_gone(t, is_second))
            sampler_region_gone(te->region, t);
        else if (!mine->is_ignored && (is_second || (mine->heard_ns && !mine->is_named)))
            timer_watch_name(te, t);
        if (is_second && !mine->is_ignored && te->now_ns - mine->heard_ns > WATCH_NS)
            timer_watch_cpu(te, t);
    }
    if (!is_second)
        return;
    te->watched_ns = te->now_ns;
    find_strangers(te);
}
