/*
 * From return address to return address, by rules.
 *
 * A rule says for one return address where the caller's frame is. The recorder makes them, from the same tables
 * it unwinds samples with, for every address it has met; here one is a load. So stacks are exact whether or not the
 * code keeps frame pointers, and there is no unwinder in the target.
 *
 * An address without a rule is met once: then the walk ends there, the recorder gets a slice of the stack from that
 * frame on, and answers with rules. Until it has, the stack is known by what was walked and by every word
 * above that points into code: all return addresses are among those, so two different stacks never look the same.
 * (Words left behind by calls that have returned are among them as well: then one stack looks like several, and the
 * recorder finds that they are one.)
 *
 * A rule can be wrong: a library was unloaded, a compiler has put other code in the same place. It leads
 * nowhere but to another word of our own stack, since each step goes up and none beyond the end. A walk that does not
 * end well asks the recorder again.
 */
#include "agent.h"
#include "common/bare_calls.h"

#include <pthread.h>

enum { PAGE = 4096, CODE_BITS = 1 << 16, SCAN_BYTES = HEAP_SLICE_MOST };

#define STACK_MOST (UINT64_C(8) << 20) /* that is looked at in one go, when a thread's stack is first seen */
#define OTHER_MOST UINT64_C(65536)     /* of a stack that is no thread's own: a coroutine's, a signal's */

extern void *__libc_stack_end __attribute__((weak));

static uint64_t word_at(uint64_t address) { return *(const volatile uint64_t *)address; } /* NOLINT: our own stack, an address */

/* How far can be read. */

/* The first address from here on, page by page, that cannot be read; `most` at most. */
static uint64_t readable(uint64_t from, uint64_t most)
{
    uint64_t at = from & ~(uint64_t)(PAGE - 1);
    while (at < most && bare_can_read(at < from ? from : at))
        at += PAGE;
    return at < most ? at : most;
}

static bool is_own_stack(uint64_t sp, uint64_t end)
{
    if (end <= sp || end - sp > STACK_MOST + (UINT64_C(1) << 30))
        return false;
    uint64_t known = sp < me.stack_low && end == me.stack_end ? me.stack_low : end;
    if (known - sp > STACK_MOST || readable(sp, known) < known)
        return false;
    me.stack_low = sp & ~(uint64_t)(PAGE - 1);
    me.stack_end = end;
    return true;
}

/* libc puts a thread's own data above its stack, and says where the first stack ends. All else is some other stack. */
COLD static uint64_t bound_slow(uint64_t sp)
{
    uint64_t self = (uint64_t)pthread_self() & ~UINT64_C(7), first = &__libc_stack_end ? (uint64_t)__libc_stack_end : 0;
    bool is_other = sp >= me.other_low && sp < me.other_end;
    if (!is_other && (is_own_stack(sp, self) || is_own_stack(sp, first)))
        return me.stack_end;
    me.other_low = sp & ~(uint64_t)(PAGE - 1);
    me.other_end = readable(sp, sp + OTHER_MOST);
    return me.other_end;
}

uint64_t stack_bound(uint64_t sp)
{
    return likely(sp >= me.stack_low && sp < me.stack_end) ? me.stack_end : bound_slow(sp);
}

/* What may be a return address: one bit for each page of code, by a hash of its number. */

static _Atomic uint64_t code_pages[CODE_BITS / 64];

static uint32_t page_bit(uint64_t address)
{
    uint64_t page = address / PAGE;
    return (uint32_t)(page ^ page >> 16) % CODE_BITS;
}

void walk_learn_code(uint64_t start, uint64_t end)
{
    uint64_t pages = (end - start) / PAGE;
    for (uint64_t i = 0; i < pages && i < CODE_BITS; i++) {
        uint32_t bit = page_bit(start + i * PAGE);
        atomic_fetch_or_explicit(&code_pages[bit / 64], UINT64_C(1) << bit % 64, memory_order_relaxed);
    }
}

static bool is_code(uint64_t v)
{
    uint32_t bit = page_bit(v);
    return v >> 47 == 0 && atomic_load_explicit(&code_pages[bit / 64], memory_order_relaxed) >> bit % 64 & 1;
}

bool walk_knows_code(const struct walk *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (!is_code(w->frames[i]))
            return false;
    return true;
}

/* The recorder is behind: then stacks are told apart by what was walked alone, and end there. */
static bool is_ring_filling(void)
{
    uint64_t head = atomic_load_explicit(&area()->ring_head, memory_order_relaxed);
    return head - atomic_load_explicit(&area()->ring_tail, memory_order_relaxed) > HEAP_RING_BYTES / 4 * 3;
}

COLD static void hash_the_rest(struct walk *w, uint64_t hash)
{
    if (is_ring_filling()) {
        count_up(&area()->lost_stacks, 1);
        w->hash = mix(hash, HEAP_WALK_LOST + 1);
        w->end = HEAP_WALK_LOST;
        return;
    }
    uint64_t to = w->at.sp + SCAN_BYTES < w->stack_end ? w->at.sp + SCAN_BYTES : w->stack_end;
    hash = mix(hash, w->stack_end - w->at.sp);
    for (uint64_t at = w->at.sp; at + 8 <= to; at += 8) {
        uint64_t v = word_at(at);
        if (is_code(v))
            hash = mix(hash, v);
    }
    w->hash = hash;
    w->end = HEAP_WALK_SLICE;
}

/* Steps. */

static const struct heap_rule *rules(void) { return (const struct heap_rule *)(const void *)(agent.area + HEAP_RULES_AT); }

/* There is another address where its rule would be. */
COLD static uint64_t rule_near(uint64_t address)
{
    uint32_t slot = heap_rule_slot(address);
    for (uint32_t i = 0; i < HEAP_RULE_PROBES; i++) {
        const struct heap_rule *r = &rules()[(slot + i) & (HEAP_RULES - 1)];
        uint64_t at = atomic_load_explicit(&r->address, memory_order_acquire);
        if (at == address)
            return atomic_load_explicit(&r->rule, memory_order_relaxed);
        if (!at)
            break;
    }
    return heap_rule_pack(HEAP_RULE_NONE, 0, 0, 0);
}

static inline uint64_t rule_of(uint64_t address)
{
    const struct heap_rule *r = &rules()[heap_rule_slot(address)];
    return likely(atomic_load_explicit(&r->address, memory_order_acquire) == address) ? atomic_load_explicit(&r->rule, memory_order_relaxed)
                                                                                      : rule_near(address);
}

/* A call leaves the return address below the caller's frame; on arm64 the rule says where it was saved. */
static inline uint64_t return_place(uint64_t rule, uint64_t cfa)
{
#if defined(__x86_64__)
    (void)rule;
    return cfa - 8;
#else
    return cfa + (uint64_t)heap_rule_ra(rule);
#endif
}

static inline uint64_t code_address(uint64_t v)
{
#if defined(__aarch64__)
    return v & ((UINT64_C(1) << 48) - 1); /* signed in the bits above */
#else
    return v;
#endif
}

/* A stack that was realigned: its frame says where the caller's is. 0: it leads nowhere. */
COLD static uint64_t realigned(uint64_t rule, uint64_t sp, uint64_t fp, uint64_t end)
{
    uint64_t place = fp + (uint64_t)heap_rule_offset(rule);
    bool is_one = heap_rule_kind(rule) == HEAP_RULE_MEMORY && place >= sp && place <= end - 8;
    return is_one ? word_at(place) : 0;
}

/* CFA = register + offset. Which of the two is anybody's guess, so there is no branch for it. */
static inline uint64_t frame_end(uint64_t rule, uint64_t sp, uint64_t fp)
{
    uint64_t by_sp = sp + (uint64_t)heap_rule_offset(rule), by_fp = fp + (uint64_t)heap_rule_offset(rule);
#if defined(__x86_64__) /* the compiler would rather guess */
    __asm__("testb $2, %b2\n\tcmovnz %1, %0" : "+r"(by_sp) : "r"(by_fp), "q"(heap_rule_kind(rule)) : "cc");
    return by_sp;
#else
    return heap_rule_kind(rule) & HEAP_RULE_FP ? by_fp : by_sp;
#endif
}

/* The caller's frame pointer: ours, if nobody saved it. Without a branch again. */
static inline uint64_t frame_pointer(uint64_t rule, uint64_t ours, uint64_t saved)
{
#if defined(__x86_64__)
    __asm__("cmp $-8, %2\n\tcmove %1, %0" : "+r"(saved) : "r"(ours), "r"(heap_rule_fp(rule)) : "cc");
    return saved;
#else
    return heap_rule_keeps_fp(rule) ? ours : saved;
#endif
}

/* The caller's frame, which ends at `cfa`; false: the rule leads nowhere. Each place that is read lies between here and the end of the stack. */
static inline __attribute__((always_inline)) bool step(uint64_t rule, uint64_t cfa, struct here *at, uint64_t end)
{
    uint64_t from = at->sp, room = end - 8 - from, ra = return_place(rule, cfa), fp_at = cfa + (uint64_t)heap_rule_fp(rule);
    if (unlikely((cfa - 8 - from > room) | (ra - from > room) | (fp_at - from > room)))
        return false;
    at->fp = frame_pointer(rule, at->fp, word_at(fp_at));
    at->pc = code_address(word_at(ra));
    at->sp = cfa;
    return true;
}

static void finish(struct walk *w, uint64_t hash, enum heap_walk_end end)
{
    w->hash = mix(hash, (uint64_t)end + 1);
    w->end = end;
}

void walk_from(const struct here *from, struct walk *w)
{
    struct here at = *from;
    uint64_t end = stack_bound(at.sp) & ~UINT64_C(7), hash = agent.seed ^ atomic_load_explicit(&area()->unloads, memory_order_relaxed);
    uint32_t n = 0, most = agent.most_depth;
    do {
        w->frames[n++] = at.pc;
        hash = mix(hash, at.pc);
        uint64_t rule = rule_of(at.pc), cfa = frame_end(rule, at.sp, at.fp);
        if (unlikely(!heap_rule_is_plain(rule))) {
            w->n = n;
            if (heap_rule_kind(rule) >= HEAP_RULE_END) {
                finish(w, hash, heap_rule_kind(rule) == HEAP_RULE_END ? HEAP_WALK_COMPLETE : HEAP_WALK_STOP);
                return;
            }
            cfa = realigned(rule, at.sp, at.fp, end);
        }
        if (unlikely(!step(rule, cfa, &at, end))) {
            w->n = n;
            w->at = at;
            w->stack_end = end;
            hash_the_rest(w, hash);
            return;
        }
    } while (likely(at.pc && n < most));
    w->n = n;
    finish(w, hash, at.pc ? HEAP_WALK_DEEP : HEAP_WALK_COMPLETE);
}
