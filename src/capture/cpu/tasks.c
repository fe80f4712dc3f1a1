#include "capture/cpu/tasks.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

static size_t bucket(int32_t number) { return (uint32_t)number % TASK_BUCKETS; } /* numbers are given in sequence */

static void process_free(struct task_process *p)
{
    space_done(&p->space);
    jit_symbols_free(p->jit);
    free(p);
}

void tasks_done(struct tasks *t)
{
    for (size_t i = 0; i < TASK_BUCKETS; i++) {
        for (struct task_thread *h; (h = t->threads[i]);) {
            t->threads[i] = h->next;
            free(h);
        }
        for (struct task_process *p; (p = t->processes[i]);) {
            t->processes[i] = p->next;
            process_free(p);
        }
    }
}

struct task_process *tasks_process(const struct tasks *t, int32_t pid)
{
    struct task_process *p = t->processes[bucket(pid)];
    while (p && p->pid != pid)
        p = p->next;
    return p;
}

struct task_thread *tasks_thread(const struct tasks *t, int32_t tid)
{
    struct task_thread *h = t->threads[bucket(tid)];
    while (h && h->tid != tid)
        h = h->next;
    return h;
}

const struct task_thread *tasks_any_thread(const struct tasks *t, int32_t pid)
{
    for (size_t i = 0; tasks_process(t, pid) && i < TASK_BUCKETS; i++)
        for (const struct task_thread *h = t->threads[i]; h; h = h->next)
            if (h->process->pid == pid)
                return h;
    return NULL;
}

void task_set_name(char into[TASK_NAME_ROOM], struct view name)
{
    size_t n = name.n < TASK_NAME_ROOM - 1 ? name.n : TASK_NAME_ROOM - 1;
    if (n)
        memmove(into, name.at, n); /* it may be the name of its parent, or its own */
    into[n] = '\0';
}

struct task_process *tasks_add_process(struct tasks *t, int32_t pid, uint64_t start_ns, struct view name)
{
    struct task_process *p = mem_new(sizeof *p);
    p->pid = pid;
    p->start_ns = start_ns;
    task_set_name(p->name, name);
    p->next = t->processes[bucket(pid)];
    t->processes[bucket(pid)] = p;
    t->n_processes++;
    return p;
}

struct task_thread *tasks_add_thread(struct tasks *t, struct task_process *p, int32_t tid, struct view name)
{
    struct task_thread *h = mem_new(sizeof *h);
    *h = (struct task_thread){.next = t->threads[bucket(tid)], .tid = tid, .process = p};
    task_set_name(h->name, name);
    t->threads[bucket(tid)] = h;
    p->threads++;
    t->n_threads++;
    return h;
}

static void forget_process(struct tasks *t, struct task_process *p)
{
    struct task_process **at = &t->processes[bucket(p->pid)];
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    t->n_processes--;
    process_free(p);
}

void tasks_forget(struct tasks *t, int32_t tid)
{
    struct task_thread **at = &t->threads[bucket(tid)];
    while (*at && (*at)->tid != tid)
        at = &(*at)->next;
    if (!*at)
        return;
    struct task_thread *h = *at;
    *at = h->next;
    t->n_threads--;
    if (--h->process->threads == 0)
        forget_process(t, h->process);
    free(h);
}

void tasks_end(struct tasks *t, int32_t tid, void (*last_word)(void *self, struct task_thread *), void *self)
{
    struct task_thread *ending = tasks_thread(t, tid);
    if (!ending || ending->has_ended)
        return;
    ending->has_ended = true;
    int32_t *slot = &t->ended[t->n_ended++ % TASKS_REMEMBERED];
    int32_t oldest = *slot;
    *slot = tid;
    if (t->n_ended <= TASKS_REMEMBERED)
        return;
    struct task_thread *gone = tasks_thread(t, oldest);
    if (gone && gone->has_ended) { /* else the number lives again */
        last_word(self, gone);
        tasks_forget(t, oldest);
    }
}

void tasks_each(const struct tasks *t, void (*each)(void *self, struct task_thread *), void *self)
{
    for (size_t i = 0; i < TASK_BUCKETS; i++)
        for (struct task_thread *h = t->threads[i]; h; h = h->next)
            each(self, h);
}

struct view task_jit_name(struct task_process *p, const char *proc, uint64_t address, uint64_t now_ns)
{
    struct view name = p->jit ? jit_symbols_at(p->jit, address) : (struct view){0};
    if (name.n || (p->jit_read_ns && now_ns - p->jit_read_ns < TASK_READ_AGAIN_NS))
        return name;
    p->jit_read_ns = now_ns;
    char path[128];
    snprintf(path, sizeof path, "%s/%" PRId32 "/root/tmp/perf-%" PRId32 ".map", proc, p->pid, p->pid);
    bool is_there = p->jit ? jit_symbols_refresh(p->jit, NULL) : jit_symbols_open(&p->jit, path, NULL);
    return is_there ? jit_symbols_at(p->jit, address) : name;
}
