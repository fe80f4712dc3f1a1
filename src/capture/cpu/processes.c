/*
 * A walked sample waits in a queue as a list of steps, each a place in a code file or,
 * where there is none, a frame that is known already:
 *
 *     waiting  [ sample │ sample │ sample ]       steps  [ 5 of the first │ 7 of the second │ ... ]
 *
 * When there is time, the steps become frames and the frames a stack (stack_names.h).
 */
#include "capture/cpu/processes.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/cpu/stack_names.h"
#include "capture/cpu/stack_rest.h"
#include "capture/cpu/tasks.h"
#include "capture/process_row.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>

/* A walked sample without names. */
struct waiting {
    uint64_t time_ns;
    int64_t weight;
    context_id context;
    uint32_t first_step, n_steps;
    enum unwind_end end;
    bool is_counted; /* among the user stacks that end somehow */
    int32_t tid;
    stack_taker give_to; /* who wants the stack instead; NULL: it is a sample of the CPU */
    void *taker;
};

/* More than this is not left waiting: 48 MiB of steps. */
enum { STEPS_MOST = 2 << 20 };

struct processes {
    struct processes_plan plan;
    struct builder *names;
    struct code_files *files;
    struct kernel_symbols *kernel;
    struct stack_names naming;
    struct tasks tasks;
    struct stack_rest rest;
    struct processes_count count;
    uint64_t unsampled_ns;
    bool is_total_told;

    struct waiting *waiting;
    size_t n_waiting, waiting_cap, next_waiting;
    struct step *steps;
    size_t n_steps, steps_cap;
};

struct processes *processes_new(const struct processes_plan *plan)
{
    struct processes *ps = mem_new(sizeof *ps);
    ps->plan = *plan;
    if (ps->plan.most_depth == 0 || ps->plan.most_depth > DEPTH_MOST)
        ps->plan.most_depth = DEPTH_MOST;
    ps->names = capture_names(plan->into);
    ps->files = code_files_new(ps->names, plan->proc);
    /* 120 000 lines, now and not while samples wait: among 256 busy threads it takes us seconds to get through them. */
    struct err e = {0};
    if (plan->kallsyms && !kernel_symbols_open(&ps->kernel, plan->kallsyms, &e))
        log_info("no names for kernel functions: %s", e.text);
    ps->naming = (struct stack_names){.names = ps->names, .files = ps->files, .kernel = ps->kernel, .most_depth = ps->plan.most_depth};
    return ps;
}

void processes_free(struct processes *ps)
{
    if (!ps)
        return;
    tasks_done(&ps->tasks);
    stack_rest_done(&ps->rest);
    code_files_free(ps->files);
    kernel_symbols_free(ps->kernel);
    free(ps->waiting);
    free(ps->steps);
    free(ps);
}

/* Who. */

static bool proc_text(const struct processes *ps, int32_t pid, const char *file, char *out, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%" PRId32 "/%s", ps->plan.proc, pid, file);
    own(close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
    if (n < 0)
        return false;
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

/* A guest may have told of a process so much earlier than the kernel did. */
#define FIRST_HEARD_NS UINT64_C(1000000000)

/* Rows in the profile, for those who have something to say. */

static void give_row_to_process(struct processes *ps, struct task_process *p)
{
    if (p->id.i)
        return;
    p->id = process_row(ps->names, p->pid, p->start_ns > FIRST_HEARD_NS ? p->start_ns - FIRST_HEARD_NS : 0, p->start_ns, view_of(p->name));
    builder_name_process(ps->names, p->id, view_of(p->name)); /* it runs another program, perhaps, than when somebody else met it */
}

static void give_row(struct processes *ps, struct task_thread *h)
{
    if (h->id.i)
        return;
    give_row_to_process(ps, h->process);
    h->id = builder_thread(ps->names, h->process->id, h->tid);
    builder_name_thread(ps->names, h->id, view_of(h->name));
    h->context = builder_context(ps->names, h->id, LABELS_NONE);
}

static void rename_thread(struct processes *ps, struct task_thread *h, struct view name)
{
    task_set_name(h->name, name);
    if (h->id.i)
        builder_name_thread(ps->names, h->id, name);
}

static void rename_process(struct processes *ps, struct task_process *p, struct view name)
{
    task_set_name(p->name, name);
    if (p->id.i)
        builder_name_process(ps->names, p->id, name);
}

/* Somebody else had this number before: what that one left behind is accounted for first. */
static void account(void *self, struct task_thread *h)
{
    struct processes *ps = self;
    ps->count.cpu_ns += ps->is_total_told ? 0 : h->cpu_ns;
    if (!ps->is_total_told && h->cpu_ns > (uint64_t)h->weight)
        ps->unsampled_ns += h->cpu_ns - (uint64_t)h->weight;
}

static void bury(struct processes *ps, int32_t tid)
{
    struct task_thread *old = tasks_thread(&ps->tasks, tid);
    if (!old)
        return;
    account(ps, old);
    tasks_forget(&ps->tasks, tid);
}

/* A process nobody told us about: /proc knows its name and its maps, unless it has ended already. */
static struct task_process *process_of(struct processes *ps, int32_t pid, uint64_t now_ns)
{
    struct task_process *p = tasks_process(&ps->tasks, pid);
    if (p)
        return p;
    char name[64] = "";
    proc_text(ps, pid, "comm", name, sizeof name);
    p = tasks_add_process(&ps->tasks, pid, now_ns, view_of(name));
    struct err e = {0};
    if (!space_read(&p->space, ps->files, ps->plan.proc, pid, &e))
        log_debug("process %" PRId32 ": its maps: %s", pid, e.text);
    p->maps_read_ns = now_ns;
    return p;
}

static struct task_thread *thread_of(struct processes *ps, int32_t pid, int32_t tid, uint64_t now_ns)
{
    struct task_thread *h = tasks_thread(&ps->tasks, tid);
    if (h && h->process->pid == pid)
        return h;
    bury(ps, tid);
    struct task_process *p = process_of(ps, pid, now_ns);
    char file[48], name[64] = "";
    snprintf(file, sizeof file, "task/%" PRId32 "/comm", tid);
    if (!proc_text(ps, pid, file, name, sizeof name))
        return tasks_add_thread(&ps->tasks, p, tid, view_of(p->name));
    return tasks_add_thread(&ps->tasks, p, tid, view_of(name));
}

static void attach_threads(struct processes *ps, int32_t pid, uint64_t now_ns)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%" PRId32 "/task", ps->plan.proc, pid);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (const struct dirent *d; (d = readdir(folder));) {
        int32_t tid = (int32_t)strtol(d->d_name, NULL, 10);
        if (tid > 0)
            thread_of(ps, pid, tid, now_ns);
    }
    closedir(folder);
}

bool processes_attach(struct processes *ps, int32_t pid, uint64_t now_ns, struct err *e)
{
    struct address_space probe = {0};
    bool is_ours = space_read(&probe, ps->files, ps->plan.proc, pid, e);
    space_done(&probe);
    if (!is_ours && e && e->kind == ERR_NOT_FOUND)
        return err_set(e, ERR_NOT_FOUND, "there is no process %" PRId32, pid);
    if (!is_ours)
        return err_in(e, "process %" PRId32, pid);
    struct task_process *p = process_of(ps, pid, now_ns);
    attach_threads(ps, pid, now_ns);
    space_ready_all(&p->space, ps->files, pid); /* now, and not while samples are waiting */
    return true;
}

/* News. */

void processes_map(struct processes *ps, int32_t pid, const struct map_news *m)
{
    struct task_process *p = tasks_process(&ps->tasks, pid);
    if (p)
        space_news(&p->space, ps->files, m);
}

void processes_fork(struct processes *ps, int32_t parent_pid, int32_t pid, int32_t tid, uint64_t time_ns)
{
    bury(ps, tid);
    if (pid == tid) /* a new process: what is still known under its number was another one */
        for (const struct task_thread *old; (old = tasks_any_thread(&ps->tasks, pid));)
            bury(ps, old->tid);
    struct task_process *parent = process_of(ps, parent_pid, time_ns), *p = tasks_process(&ps->tasks, pid);
    if (!p) {
        p = tasks_add_process(&ps->tasks, pid, time_ns, view_of(parent->name));
        space_copy(&p->space, &parent->space);
    }
    tasks_add_thread(&ps->tasks, p, tid, view_of(p->name));
}

void processes_name(struct processes *ps, int32_t pid, int32_t tid, struct view name, uint64_t time_ns)
{
    struct task_thread *h = thread_of(ps, pid, tid, time_ns);
    rename_thread(ps, h, name);
    if (pid == tid)
        rename_process(ps, h->process, name);
}

void processes_exec(struct processes *ps, int32_t pid, struct view name, uint64_t time_ns)
{
    processes_name(ps, pid, pid, name, time_ns);
    struct task_process *p = process_of(ps, pid, time_ns);
    space_clear(&p->space);
    jit_symbols_free(p->jit);
    p->jit = NULL;
}

void processes_exit(struct processes *ps, int32_t pid, int32_t tid)
{
    (void)pid;
    tasks_end(&ps->tasks, tid, account, ps);
}

void processes_thread_cpu(struct processes *ps, int32_t pid, int32_t tid, uint64_t cpu_ns)
{
    struct task_thread *h = tasks_thread(&ps->tasks, tid);
    if (h && h->process->pid == pid)
        h->cpu_ns = cpu_ns;
}

void processes_all_cpu(struct processes *ps, uint64_t cpu_ns)
{
    ps->is_total_told = true;
    ps->count.cpu_ns = cpu_ns;
}

/* Steps: what is found at once. */

static void add_step(struct processes *ps, struct step step)
{
    GROW(ps->steps, ps->steps_cap, ps->n_steps + 1);
    ps->steps[ps->n_steps++] = step;
}

static void add_address(struct processes *ps, struct task_process *p, uint64_t address, uint64_t now_ns)
{
    const struct code_map *m = space_at(&p->space, address);
    if (m && m->file.i) {
        add_step(ps, (struct step){.address = space_virtual(&p->space, m, address), .file = m->file});
        return;
    }
    struct view name = task_jit_name(p, ps->plan.proc, address, now_ns);
    struct view module = name.n ? VIEW("[jit]") : (struct view){0};
    add_step(ps, (struct step){.frame = stack_names_frame(&ps->naming, name.n ? name : VIEW("[unknown]"), module, FRAME_NATIVE)});
}

/* Walking. */

/* Maps we were not told of: made before we came, or by mprotect(), which the kernel keeps to itself. */
static bool read_again(struct processes *ps, struct task_process *p, uint64_t now_ns)
{
    if (p->maps_read_ns && now_ns - p->maps_read_ns < TASK_READ_AGAIN_NS)
        return false;
    p->maps_read_ns = now_ns;
    return space_read(&p->space, ps->files, ps->plan.proc, p->pid, NULL);
}

/* True when something became known that the walk did not know: then it is worth another. */
static bool learn(struct processes *ps, struct task_process *p, const uint64_t *addresses, size_t n, uint64_t now_ns)
{
    bool is_news = false;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = addresses[i] - (i > 0);
        is_news |= space_ready(&p->space, ps->files, p->pid, at);
        if (!space_at(&p->space, at) && read_again(ps, p, now_ns))
            is_news |= space_ready(&p->space, ps->files, p->pid, at);
    }
    return is_news;
}

static size_t walk(struct processes *ps, struct task_process *p, const struct raw_sample *raw, const struct unwind_stack *stack,
                   uint64_t *addresses, enum unwind_end *out_end)
{
    size_t n;
    do {
        struct unwind_space space = space_walk(&p->space);
        n = unwind_walk(&space, &raw->registers, stack, addresses, ps->plan.most_depth, out_end);
    } while (learn(ps, p, addresses, n, raw->time_ns));
    return n;
}

/* The sample's own end is what the engine hears: a larger slice is cheaper than reading the rest again and again. */
static enum unwind_end walk_user(struct processes *ps, struct task_process *p, const struct raw_sample *raw, enum unwind_end *out_sampled)
{
    uint64_t addresses[DEPTH_MOST];
    enum unwind_end end;
    struct unwind_stack stack = raw->stack;
    size_t n = walk(ps, p, raw, &stack, addresses, &end);
    *out_sampled = end;
    while (end == UNWIND_CUT && stack_rest_read(&ps->rest, p->pid, &stack, &stack))
        n = walk(ps, p, raw, &stack, addresses, &end);
    for (size_t i = 0; i < n; i++)
        add_address(ps, p, addresses[i] - (i > 0), raw->time_ns);
    return end;
}

/*
 * In the middle of exec or exit a thread is in the kernel and its user part is half gone: the stack
 * cannot be read any more, or the registers lead into a program that is no longer mapped.
 */
static bool has_user_part(const struct task_process *p, const struct raw_sample *raw)
{
    uint64_t leaf = raw->registers.at[space_walk(&p->space).arch == UNWIND_ARM64 ? 32 : 16];
    return raw->has_user && !(raw->n_kernel && (!raw->stack.n || !space_at(&p->space, leaf)));
}

/* Walks, and puts what was found at the end of the queue. */
static enum unwind_end let_wait(struct processes *ps, struct waiting w, struct task_process *p, const struct raw_sample *raw)
{
    w.first_step = (uint32_t)ps->n_steps;
    w.end = UNWIND_COMPLETE;
    for (size_t i = 0; raw && i < raw->n_kernel; i++)
        add_step(ps, (struct step){.address = raw->kernel[i] - (i > 0), .is_kernel = true});
    w.is_counted = raw && has_user_part(p, raw);
    enum unwind_end sampled = UNWIND_COMPLETE;
    if (w.is_counted)
        w.end = walk_user(ps, p, raw, &sampled);
    w.n_steps = (uint32_t)(ps->n_steps - w.first_step);
    GROW(ps->waiting, ps->waiting_cap, ps->n_waiting + 1);
    ps->waiting[ps->n_waiting++] = w;
    if (ps->n_steps > STEPS_MOST)
        processes_settle(ps, UINT64_MAX);
    return sampled;
}

enum unwind_end processes_sample(struct processes *ps, const struct raw_sample *raw)
{
    struct task_thread *h = thread_of(ps, raw->pid, raw->tid, raw->time_ns);
    give_row(ps, h);
    struct waiting w = {.time_ns = raw->time_ns, .weight = raw->weight, .tid = raw->tid,
                        .context = capture_context(ps->plan.into, h->context, raw->time_ns)};
    h->weight += raw->weight;
    ps->count.weight += raw->weight;
    ps->count.samples++;
    return let_wait(ps, w, h->process, raw);
}

bool processes_walks(const struct processes *ps, const struct raw_sample *raw, size_t bytes)
{
    uint64_t addresses[DEPTH_MOST];
    enum unwind_end end;
    const struct task_thread *h = tasks_thread(&ps->tasks, raw->tid);
    if (!h || raw->stack.n <= bytes)
        return true;
    struct unwind_space space = space_walk(&h->process->space);
    struct unwind_stack less = {raw->stack.start, raw->stack.bytes, bytes};
    unwind_walk(&space, &raw->registers, &less, addresses, ps->plan.most_depth, &end);
    return end != UNWIND_CUT;
}

void processes_stack(struct processes *ps, const struct raw_sample *raw, stack_taker give_to, void *self)
{
    struct task_process *p = raw ? thread_of(ps, raw->pid, raw->tid, raw->time_ns)->process : NULL;
    let_wait(ps, (struct waiting){.give_to = give_to, .taker = self}, p, raw);
}

stack_id processes_last_stack(const struct processes *ps, int32_t tid)
{
    const struct task_thread *h = tasks_thread(&ps->tasks, tid);
    return h ? h->last : STACK_ROOT;
}

thread_id processes_thread(struct processes *ps, int32_t pid, int32_t tid, uint64_t now_ns)
{
    struct task_thread *h = thread_of(ps, pid, tid, now_ns);
    give_row(ps, h);
    return h->id;
}

/* Settling: what may take its time. */

static void settle_one(struct processes *ps, const struct waiting *w)
{
    enum unwind_end end = w->end;
    stack_id stack = stack_names_stack(&ps->naming, ps->steps + w->first_step, w->n_steps, &end);
    if (w->give_to) {
        w->give_to(w->taker, stack);
        return;
    }
    if (w->is_counted)
        ps->count.ends[end]++;
    else
        ps->count.no_user++;
    capture_sample(ps->plan.into, ps->plan.set, w->time_ns, w->context, stack, &w->weight);
    struct task_thread *h = tasks_thread(&ps->tasks, w->tid);
    if (h)
        h->last = stack;
}

void processes_settle(struct processes *ps, uint64_t most_ns)
{
    uint64_t begun_ns = clock_monotonic_ns();
    while (ps->next_waiting < ps->n_waiting) {
        settle_one(ps, &ps->waiting[ps->next_waiting++]);
        if (most_ns != UINT64_MAX && clock_monotonic_ns() - begun_ns >= most_ns)
            break;
    }
    if (ps->next_waiting == ps->n_waiting)
        ps->next_waiting = ps->n_waiting = ps->n_steps = 0;
}

static void lose_row(void *self, struct task_thread *h)
{
    (void)self;
    h->id = THREAD_NONE;
    h->context = CONTEXT_NONE;
    h->last = STACK_ROOT;
    h->process->id = PROCESS_NONE;
}

void processes_begin_again(struct processes *ps)
{
    assert(ps->n_waiting == 0);
    ps->names = ps->naming.names = capture_names(ps->plan.into);
    code_files_begin_again(ps->files, ps->names);
    tasks_each(&ps->tasks, lose_row, ps);
}

/* The account. */

void processes_lost(struct processes *ps, struct view reason, uint64_t count)
{
    ps->count.lost += count;
    capture_lost(ps->plan.into, ps->plan.set, reason, count);
}

void processes_finish(struct processes *ps)
{
    processes_settle(ps, UINT64_MAX);
    tasks_each(&ps->tasks, account, ps);
    if (ps->is_total_told && ps->count.cpu_ns > (uint64_t)ps->count.weight)
        ps->unsampled_ns = ps->count.cpu_ns - (uint64_t)ps->count.weight;
    if (ps->plan.period > 0)
        ps->count.unsampled = ps->unsampled_ns / (uint64_t)ps->plan.period;
    ps->count.unsampled -= ps->count.lost < ps->count.unsampled ? ps->count.lost : ps->count.unsampled;
    if (ps->count.unsampled)
        capture_lost(ps->plan.into, ps->plan.set, VIEW("CPU time that no sample stands for"), ps->count.unsampled);
}

struct processes_count processes_counts(const struct processes *ps)
{
    struct processes_count c = ps->count;
    c.processes = ps->tasks.n_processes;
    c.threads = ps->tasks.n_threads;
    c.files = code_files_count(ps->files);
    c.held_bytes = code_files_held_bytes(ps->files);
    return c;
}
