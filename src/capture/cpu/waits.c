#include "capture/cpu/waits.h"
#include "base/mem.h"
#include "base/own.h"
#include "capture/cpu/wait_frames.h"
#include "capture/cpu/wait_peek.h"

enum { BUCKETS = 1024, KERNEL_FRAMES_MOST = 128 };

/* A copy of the last stack there was; walked only when its wait turns out to matter. */
struct kept_stack {
    struct raw_sample raw;
    enum wait_class so_far; /* what is known without the stack */
    uint64_t seen_ns;       /* when it was seen from outside; 0: the kernel took it when the wait began */
    uint8_t *bytes;
    size_t bytes_cap;
    uint64_t kernel[KERNEL_FRAMES_MOST];
};

struct waiting_thread {
    struct waiting_thread *next; /* in its bucket */
    int32_t pid, tid;
    struct switches life;
    uint64_t out_ns;      /* when the wait at hand began, all pieces of it */
    uint64_t carry_ns[2]; /* of short waits: blocked, preempted */
    struct kept_stack kept;
    bool has_kept;        /* the kept stack is of the wait at hand, or of the next */
    uint64_t looked_ns;   /* from outside; 0: never */
};

/* What will be a sample when its stack has names. Stacks come back in the order in which they were sent for. */
struct pending {
    uint64_t time_ns, value_ns;
    thread_id thread;
    int32_t tid;
    bool is_preempted, has_stack;
    enum wait_class so_far;
};

struct waits {
    struct waits_plan plan;
    struct builder *names;
    set_id set;
    str_id key;
    struct waiting_thread *threads[BUCKETS];
    bool has_begun, relies_on_looks;
    uint64_t losses;
    struct waits_count count;
    struct wait_frames frames;
    struct pending *pending;
    size_t n_pending, pending_cap, next_pending;
    struct wait_peek peek;
};

struct waits *waits_new(const struct waits_plan *plan)
{
    struct waits *w = mem_new(sizeof *w);
    struct measure_spec time = {VIEW("off-cpu"), UNIT_NS};
    w->plan = *plan;
    w->names = capture_names(plan->into);
    w->set = builder_set(w->names, VIEW("off-cpu"), &time, 1);
    w->key = builder_string(w->names, VIEW("wait"));
    return w;
}

static void thread_free(struct waiting_thread *h)
{
    free(h->kept.bytes);
    free(h);
}

void waits_free(struct waits *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct waiting_thread *h; (h = w->threads[i]);) {
            w->threads[i] = h->next;
            thread_free(h);
        }
    wait_frames_done(&w->frames);
    free(w->pending);
    free(w);
}

/* Threads. */

static struct waiting_thread **place_of(struct waits *w, int32_t tid)
{
    struct waiting_thread **at = &w->threads[(uint32_t)tid % BUCKETS];
    while (*at && (*at)->tid != tid)
        at = &(*at)->next;
    return at;
}

static void add_up(struct waits *w, struct switches_sum *s)
{
    w->count.sum.running_ns += s->running_ns;
    w->count.sum.waiting_ns += s->waiting_ns;
    w->count.sum.unknown_ns += s->unknown_ns;
    *s = (struct switches_sum){0};
}

static struct waiting_thread *add_thread(struct waits *w, int32_t pid, int32_t tid, enum switches_state is, bool is_preempted,
                                         uint64_t now_ns)
{
    struct waiting_thread **at = place_of(w, tid), *h = *at;
    if (!h) {
        h = mem_new(sizeof *h);
        h->next = *at;
        *at = h;
    }
    add_up(w, &h->life.sum); /* of somebody who had the number before, and whose end was lost */
    h->pid = pid;
    h->tid = tid;
    h->out_ns = now_ns;
    h->looked_ns = 0;
    h->has_kept = false;
    h->carry_ns[0] = h->carry_ns[1] = 0;
    switches_begin(&h->life, is, is_preempted, now_ns, w->losses);
    return h;
}

/* A thread nobody told us of: its birth was lost, or it is ours since just now. */
static struct waiting_thread *thread_of(struct waits *w, int32_t pid, int32_t tid, enum switches_state is, uint64_t now_ns)
{
    struct waiting_thread *h = *place_of(w, tid);
    return h ? h : add_thread(w, pid, tid, is, false, now_ns);
}

void waits_found(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns)
{
    bool is_asleep = wait_is_asleep(w->plan.proc, pid, tid);
    add_thread(w, pid, tid, is_asleep ? SWITCHES_WAITING : SWITCHES_RUNNING, false, now_ns);
}

void waits_born(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns)
{
    add_thread(w, pid, tid, SWITCHES_WAITING, true, now_ns);
}

static void for_each(struct waits *w, void (*each)(struct waits *, struct waiting_thread *, uint64_t), uint64_t now_ns)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct waiting_thread *h = w->threads[i]; h; h = h->next)
            each(w, h, now_ns);
}

static void begin_thread(struct waits *w, struct waiting_thread *h, uint64_t now_ns)
{
    switches_begin(&h->life, h->life.is, h->life.is_preempted, now_ns, w->losses);
}

void waits_begin(struct waits *w, uint64_t now_ns)
{
    w->has_begun = true;
    for_each(w, begin_thread, now_ns);
}

bool waits_have_begun(const struct waits *w) { return w->has_begun; }

/* Where. */

static void keep(struct waiting_thread *h, const struct raw_sample *raw, enum wait_class so_far, uint64_t seen_ns)
{
    struct kept_stack *k = &h->kept;
    GROW(k->bytes, k->bytes_cap, raw->stack.n);
    if (raw->stack.n)
        memcpy(k->bytes, raw->stack.bytes, raw->stack.n);
    k->raw = *raw;
    k->raw.stack.bytes = k->bytes;
    k->raw.n_kernel = raw->n_kernel < KERNEL_FRAMES_MOST ? raw->n_kernel : KERNEL_FRAMES_MOST;
    if (raw->n_kernel)
        memcpy(k->kernel, raw->kernel, k->raw.n_kernel * sizeof *k->kernel);
    k->raw.kernel = k->kernel;
    k->so_far = so_far;
    k->seen_ns = seen_ns;
    h->has_kept = true;
}

static void look_from_outside(struct waits *w, struct waiting_thread *h, uint64_t now_ns)
{
    h->looked_ns = now_ns;
    if (wait_peek(&w->peek, w->plan.proc, h->pid, h->tid))
        keep(h, &w->peek.raw, w->peek.is, w->peek.raw.time_ns);
}

/* Taken when it began, or seen while it lasted. */
static bool has_stack_of(const struct waiting_thread *h, const struct wait *wait)
{
    uint64_t seen_ns = h->kept.seen_ns;
    return h->has_kept && (!seen_ns || (seen_ns >= h->out_ns && seen_ns <= wait->start_ns + wait->length_ns));
}

/* Samples. */

/* Now, and not when the stack has names: by then the thread may be forgotten. */
static thread_id thread_id_of(const struct waits *w, const struct waiting_thread *h, uint64_t now_ns)
{
    return processes_thread(w->plan.ps, h->pid, h->tid, now_ns);
}

static stack_id mark(struct waits *w, stack_id caller, struct view text)
{
    return builder_push(w->names, caller, builder_frame_named(w->names, text));
}

static stack_id shown(struct waits *w, stack_id leaf)
{
    return wait_frames_trim(&w->frames, builder_view(w->names), leaf, w->plan.want_kernel_frames);
}

/* The last sample on the CPU is as near as we can get; a leaf of our own says that it is no more than that. */
static stack_id nearest(struct waits *w, int32_t tid)
{
    stack_id last = shown(w, processes_last_stack(w->plan.ps, tid));
    return mark(w, last, last.i == STACK_ROOT.i ? VIEW("[no stack]") : VIEW("[after this sample]"));
}

static void write_sample(struct waits *w, const struct pending *p, stack_id stack, enum wait_class is)
{
    struct label label = {.key = w->key, .text = builder_string(w->names, view_of(wait_class_names[p->is_preempted ? WAIT_CPU : is]))};
    context_id context = builder_context(w->names, p->thread, builder_labels(w->names, &label, 1));
    int64_t value = (int64_t)p->value_ns;
    capture_sample(w->plan.into, w->set, p->time_ns, capture_context(w->plan.into, context, p->time_ns), stack, &value);
    w->count.samples++;
}

static void take_stack(void *self, stack_id stack)
{
    struct waits *w = self;
    const struct pending *p = &w->pending[w->next_pending++];
    if (p->has_stack)
        write_sample(w, p, shown(w, stack), wait_frames_class(&w->frames, builder_view(w->names), stack, p->so_far));
    else
        write_sample(w, p, nearest(w, p->tid), WAIT_UNKNOWN);
    if (w->next_pending == w->n_pending)
        w->next_pending = w->n_pending = 0;
}

/* `value_ns` is the wait's own length, or for a short one what it stands for. */
static void write_wait(struct waits *w, struct waiting_thread *h, const struct wait *wait, uint64_t value_ns)
{
    bool has_stack = has_stack_of(h, wait);
    GROW(w->pending, w->pending_cap, w->n_pending + 1);
    w->pending[w->n_pending++] = (struct pending){
        .time_ns = wait->start_ns, .value_ns = value_ns, .thread = thread_id_of(w, h, wait->start_ns), .tid = h->tid,
        .is_preempted = wait->is_preempted, .has_stack = has_stack, .so_far = h->kept.so_far,
    };
    w->count.stackless_ns += has_stack ? 0 : value_ns;
    processes_stack(w->plan.ps, has_stack ? &h->kept.raw : NULL, take_stack, w);
}

/*
 * Short waits are samples where their clock, which runs only during them, passes a whole. One whose
 * stack was lost leaves its turn to the next that has one, for a while.
 */
static void take_short(struct waits *w, struct waiting_thread *h, const struct wait *wait)
{
    uint64_t *carry = &h->carry_ns[wait->is_preempted];
    *carry += wait->length_ns;
    uint64_t due_ns = has_stack_of(h, wait) ? WAIT_WHOLE_NS : WAIT_LOOK_NS;
    if (*carry < due_ns)
        return;
    write_wait(w, h, wait, *carry - *carry % WAIT_WHOLE_NS);
    *carry %= WAIT_WHOLE_NS;
}

/*
 * Nobody gives us stacks; we look once in a while, and a wait shorter than that is seen with a chance
 * of its length in that while. Those not seen are carried over to the next short one that is.
 */
static void take_by_chance(struct waits *w, struct waiting_thread *h, const struct wait *wait)
{
    uint64_t *carry = &h->carry_ns[0];
    if (!has_stack_of(h, wait) && *carry < WAIT_PIECE_NS) {
        *carry += wait->length_ns;
        return;
    }
    write_wait(w, h, wait, wait->length_ns + *carry);
    *carry = 0;
}

static void take_wait(struct waits *w, struct waiting_thread *h, const struct wait *wait)
{
    if (!w->has_begun || !wait->length_ns)
        return;
    if (w->relies_on_looks && !wait->is_preempted && wait->length_ns < WAIT_LOOK_NS)
        take_by_chance(w, h, wait);
    else if (wait->length_ns < WAIT_WHOLE_NS)
        take_short(w, h, wait);
    else
        write_wait(w, h, wait, wait->length_ns);
}

/* What is left of short waits when there will be no more of them. */
static void empty_carry(struct waits *w, struct waiting_thread *h, uint64_t now_ns)
{
    for (int is_preempted = 0; w->has_begun && is_preempted < 2; is_preempted++) {
        struct pending rest = {.time_ns = now_ns, .value_ns = h->carry_ns[is_preempted], .is_preempted = is_preempted};
        if (!rest.value_ns)
            continue;
        rest.thread = thread_id_of(w, h, now_ns);
        write_sample(w, &rest, mark(w, STACK_ROOT, VIEW("[short waits]")), WAIT_UNKNOWN);
    }
    h->carry_ns[0] = h->carry_ns[1] = 0;
}

/* News. */

void waits_stack(struct waits *w, const struct raw_sample *raw)
{
    keep(thread_of(w, raw->pid, raw->tid, SWITCHES_RUNNING, raw->time_ns), raw, WAIT_UNKNOWN, 0);
}

void waits_out(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns, bool is_preempted)
{
    struct waiting_thread *h = thread_of(w, pid, tid, SWITCHES_RUNNING, now_ns);
    switches_out(&h->life, is_preempted, now_ns, w->losses);
    h->out_ns = now_ns;
}

void waits_in(struct waits *w, int32_t pid, int32_t tid, uint64_t now_ns)
{
    struct waiting_thread *h = thread_of(w, pid, tid, SWITCHES_WAITING, now_ns);
    struct wait wait;
    if (switches_in(&h->life, now_ns, w->losses, &wait)) {
        w->count.waits++;
        take_wait(w, h, &wait);
    }
    if (h->kept.seen_ns <= now_ns)
        h->has_kept = false; /* else it was seen in a wait that we have not been told of yet */
}

static void settle(struct waits *w, struct waiting_thread *h, uint64_t now_ns)
{
    struct wait wait;
    if (switches_cut(&h->life, now_ns, w->losses, &wait))
        take_wait(w, h, &wait);
}

void waits_exit(struct waits *w, int32_t tid, uint64_t now_ns)
{
    struct waiting_thread **at = place_of(w, tid), *h = *at;
    if (!h)
        return;
    settle(w, h, now_ns);
    empty_carry(w, h, now_ns);
    add_up(w, &h->life.sum);
    *at = h->next;
    thread_free(h);
}

void waits_rely_on_looks(struct waits *w) { w->relies_on_looks = true; }

void waits_lost_switches(struct waits *w, uint64_t count) { w->losses += count; }
void waits_lost_stacks(struct waits *w, uint64_t count) { w->count.lost_stacks += count; }

/*
 * Who needs a look: whoever sleeps for long without a stack. Without stacks from the kernel everybody,
 * whatever the switches said last (they are told a little late, the look is now), but not twice in one sleep.
 */
static bool needs_look(const struct waits *w, const struct waiting_thread *h, uint64_t now_ns)
{
    bool is_waiting = h->life.is == SWITCHES_WAITING;
    if (is_waiting && h->has_kept && (!h->kept.seen_ns || h->kept.seen_ns >= h->out_ns))
        return false;
    if (w->relies_on_looks)
        return now_ns >= h->looked_ns + WAIT_LOOK_NS / 2;
    return is_waiting && !h->life.is_preempted && h->looked_ns < h->out_ns && now_ns >= h->out_ns + WAIT_LOOK_NS;
}

static void tick(struct waits *w, struct waiting_thread *h, uint64_t now_ns)
{
    if (needs_look(w, h, now_ns))
        look_from_outside(w, h, now_ns);
    if (w->has_begun && h->life.is == SWITCHES_WAITING && now_ns >= h->life.since_ns + WAIT_PIECE_NS)
        settle(w, h, now_ns);
}

void waits_tick(struct waits *w, uint64_t now_ns) { for_each(w, tick, now_ns); }

static void end(struct waits *w, struct waiting_thread *h, uint64_t now_ns)
{
    settle(w, h, now_ns);
    empty_carry(w, h, now_ns);
    add_up(w, &h->life.sum);
}

void waits_end(struct waits *w, uint64_t now_ns)
{
    if (w->has_begun)
        for_each(w, end, now_ns);
}

void waits_begin_again(struct waits *w)
{
    w->names = capture_names(w->plan.into);
    w->key = builder_string(w->names, VIEW("wait"));
    wait_frames_done(&w->frames);
}

struct waits_count waits_counts(const struct waits *w)
{
    struct waits_count c = w->count;
    c.lost_switches = w->losses;
    return c;
}

set_id waits_set(const struct waits *w) { return w->set; }
