/*
 * The signal handler. We are a guest in somebody's inference loop, at a moment it
 * did not choose. On this path: no lock, no allocation, no function of libc, two
 * clock readings, one probe for each page of stack, and a copy.
 *
 * All other signals are blocked meanwhile, so that no handler of the target can
 * leave through us by longjmp() with a record half written.
 */
#include "common/bare_calls.h"
#include "ring_writer.h"
#include "sampler.h"

#include <ucontext.h>

enum { PAGE = 4096 };
static const uint64_t patience_ns = UINT64_C(30000000000); /* with a recorder that reads nothing and a full ring */

#if defined(__x86_64__)
enum { STACK_POINTER = 7 };

static void copy_registers(uint64_t *to, const ucontext_t *u)
{
    /* DWARF's order: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (size_t i = 0; i < WIRE_REGISTERS; i++)
        to[i] = i < sizeof order / sizeof *order ? (uint64_t)u->uc_mcontext.gregs[order[i]] : 0;
}
#elif defined(__aarch64__)
enum { STACK_POINTER = 31 };

static void copy_registers(uint64_t *to, const ucontext_t *u)
{
    for (size_t i = 0; i < 31; i++)
        to[i] = u->uc_mcontext.regs[i];
    to[31] = u->uc_mcontext.sp;
    to[32] = u->uc_mcontext.pc;
}
#endif

/* Word by word, and opaque to the compiler, which would otherwise call memcpy(): the target may have its own. */
static void copy_words(uint64_t *to, uintptr_t from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes / 8; i++) {
        uint64_t word = *(const volatile uint64_t *)(from + 8 * i); /* NOLINT: somebody's stack, an address */
        to[i] = word;
        __asm__ volatile("" ::: "memory");
    }
}

/*
 * A stack is mapped from its pointer to its end, if it is what we think it is. It may
 * be a coroutine's, or an alternate one with less behind it; so each page is probed
 * before it is touched, and what cannot be read ends the copy.
 */
static uint64_t copy_stack(uint64_t *to, uintptr_t from, uint64_t want)
{
    uint64_t done = 0;
    while (done < want && bare_can_read(from + done)) {
        uint64_t to_page_end = PAGE - ((from + done) & (PAGE - 1));
        uint64_t n = to_page_end < want - done ? to_page_end : want - done;
        copy_words(to + done / 8, from + done, n);
        done += n;
    }
    return done;
}

/* How much there is to copy: to the end of the stack where it is known and ahead of us. */
static uint64_t stack_want(uintptr_t from, uintptr_t end, uint64_t most, bool *out_is_cut)
{
    uint64_t all = from < end ? (end - from) & ~UINT64_C(7) : UINT64_MAX;
    *out_is_cut = all > most;
    return all < most ? all : most;
}

static void sample_write(struct wire_slot *s, const struct local *l, uint32_t i, uint64_t now_ns, const ucontext_t *u)
{
    uint64_t registers[WIRE_REGISTERS];
    copy_registers(registers, u);
    uintptr_t from = registers[STACK_POINTER] & ~(uintptr_t)7;
    uint32_t asked = atomic_load_explicit(&s->stack_bytes, memory_order_relaxed);
    uint64_t most = asked ? asked & ~UINT32_C(7) : l->stack_end == UINTPTR_MAX ? WIRE_STACK_FIRST : WIRE_STACK_MOST;
    if (most > WIRE_STACK_MOST)
        most = WIRE_STACK_MOST;
    bool is_cut;
    uint64_t want = stack_want(from, l->stack_end, most, &is_cut);

    struct wire_sample *w = ring_room(s, sampler_ring(i), sampler.ring_bytes, wire_rounded(sizeof *w + want));
    if (!w)
        return;
    uint64_t got = copy_stack((uint64_t *)(void *)(w + 1), from, want);
    uint64_t bytes = wire_rounded(sizeof *w + got);
    w->head.bytes = (uint32_t)bytes;
    w->head.kind = WIRE_SAMPLE;
    w->head.flags = is_cut && got == want ? WIRE_CUT : 0;
    w->head.when_ns = now_ns;
    w->cpu_ns = bare_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    w->stack_start = from;
    w->tid = s->tid;
    w->stack_bytes = (uint32_t)got;
    for (size_t r = 0; r < WIRE_REGISTERS; r++) {
        w->registers[r] = registers[r];
        __asm__ volatile("" ::: "memory");
    }
    ring_commit(s, bytes);
}

/* A thread that nobody told us about: the recorder found it and has written down its number. */
static void arm_wanted(uint32_t i)
{
    struct wire_slot *s = &sampler.slot[i];
    uint32_t state = WIRE_WANTED;
    if (s->pid != sampler.pid || !atomic_compare_exchange_strong(&s->state, &state, WIRE_TAKEN))
        return;
    locals[i] = (struct local){.timer = -1, .stack_end = UINTPTR_MAX};
    s->origin = WIRE_BY_THREAD;
    s->cpu_began_ns = bare_clock_ns(((~(clockid_t)s->tid) << 3) | 6);
    s->began_ns = bare_clock_ns(CLOCK_MONOTONIC);
    bool ok = timer_arm(i, s->tid);
    atomic_store_explicit(&s->state, ok ? WIRE_LIVE : WIRE_ENDED, memory_order_release);
}

static bool is_forsaken(const struct wire_slot *s, uint64_t now_ns)
{
    uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed);
    uint64_t used = head - atomic_load_explicit(&s->tail, memory_order_relaxed);
    uint64_t beat_ns = atomic_load_explicit(&sampler.region->beat_ns, memory_order_relaxed);
    return used > sampler.ring_bytes / 2 && now_ns > beat_ns && now_ns - beat_ns > patience_ns;
}

static void tick_of(struct local *l, const siginfo_t *info, const ucontext_t *u)
{
    uint32_t i = (uint32_t)(l - locals);
    struct wire_slot *s = &sampler.slot[i];
    if (i >= sampler.slots || l->timer != info->si_timerid || s->pid != sampler.pid) {
        sampler_trouble(WIRE_STRAY); /* its thread gave the timer back while this one was on its way */
        return;
    }
    uint32_t phase = atomic_load_explicit(&sampler.region->phase, memory_order_relaxed);
    uint64_t now_ns = bare_clock_ns(CLOCK_MONOTONIC);
    if (phase == WIRE_STOP) {
        timer_disarm(i);
    } else if (is_forsaken(s, now_ns)) {
        sampler_trouble(WIRE_NO_RECORDER);
        timer_disarm(i);
    } else if (phase == WIRE_GO) {
        sample_write(s, l, i, now_ns, u);
    } else {
        atomic_store_explicit(&s->cpu_ns, bare_clock_ns(CLOCK_THREAD_CPUTIME_ID), memory_order_relaxed);
    }
    uint32_t please = atomic_load_explicit(&s->please, memory_order_relaxed);
    if (please && please <= sampler.slots && atomic_exchange(&s->please, 0) == please)
        arm_wanted(please - 1);
}

void tick(int number, siginfo_t *info, void *context)
{
    uintptr_t value = (uintptr_t)info->si_value.sival_ptr, first = (uintptr_t)locals;
    bool is_ours = info->si_code == SI_TIMER && value >= first && value < first + sizeof locals;
    if (is_ours)
        tick_of(info->si_value.sival_ptr, info, context);
    else
        signal_pass_on(number, info, context);
}
