/*
 * truth.h - what the workloads share: a burner with exact shares, clocks, options, JSON
 *
 * A workload is a program whose true profile is known. It spends its time in
 * named functions and prints at the end how much each of them really got. The
 * burner hands out that time in slices and reads the thread's CPU clock around
 * each one, so the shares hold whatever else the machine is doing:
 *
 *     begin  burn_a  end   begin  burn_a  end   begin  burn_b  end   ...
 *       └── CPU clock ┘      always the function furthest behind its share
 *
 * On a virtual machine that clock runs on while the host has taken the core
 * away, and one slice may read 60 ms. That is CPU time by the kernel's account
 * and part of the truth; the budget then grows until the shares are as promised
 * again. A sampling timer stood still meanwhile and may have fewer samples of it.
 *
 * The caller makes the call itself, so a sampled stack is main > burn_a with
 * nothing of ours in between.
 *
 * Use:
 *     struct burner b;
 *     burner_init(&b, functions, 3, cpu_budget_ns);
 *     for (const struct burn *f; (f = burner_begin(&b)) != NULL; burner_end(&b))
 *         f->run(b.rounds);
 *     burner_done(&b);
 *     burner_print(&b);
 *
 * Owns:     nothing on the heap; names are borrowed and must outlive the burner.
 * Threads:  a burner belongs to the thread that began with it; after burner_done() anyone reads.
 * Fails:    never; what the system refuses ends the program with a sentence and status 1,
 *           what the user asked wrongly with status 2.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A function that a profile must show under its own name: never inlined, never
 * cloned, never merged with a twin. The third is why BURN takes a mark, too:
 * linkers asked to fold identical code (--icf) look at nothing but the bytes.
 */
#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

/* Placed after a call, keeps it a call: the frame of the caller stays on the stack. */
#define STAY() __asm__ volatile("" ::: "memory")

/*
 * A chain of arithmetic in registers. A macro and not an inline function, so
 * that debug information knows of no inlined frame here and the time is the
 * caller's own. The mark goes through the stack: gcc drops the frame of a leaf
 * that has no use for one even under -fno-omit-frame-pointer, and a walk along
 * frame pointers would then miss the caller.
 */
#define BURN(rounds, mark)                           \
    do {                                             \
        volatile uint64_t on_stack_ = (mark);        \
        uint64_t x_ = on_stack_;                     \
        for (uint64_t r_ = (rounds); r_ > 0; r_--) { \
            x_ ^= x_ << 13;                          \
            x_ ^= x_ >> 7;                           \
            x_ ^= x_ << 17;                          \
            __asm__ volatile("" : "+r"(x_));         \
        }                                            \
        on_stack_ = x_;                              \
    } while (0)

#define NS_PER_S UINT64_C(1000000000)

/* Clocks. */
uint64_t cpu_now_ns(void);  /* of the calling thread, since it was born */
uint64_t wall_now_ns(void); /* CLOCK_MONOTONIC */

/* Burning. */
struct burn {
    const char *name;
    void (*run)(uint64_t rounds);
    double want_ratio; /* of the burner's budget; the rows of a burner add up to 1 */
    uint64_t cpu_ns;   /* the truth so far */
};

enum { BURNS_MOST = 4, BUDGET_GROWTH_MOST = 4 };

struct burner {
    struct burn burns[BURNS_MOST];
    size_t burn_count;
    uint64_t asked_ns, budget_ns; /* the second may grow, to BUDGET_GROWTH_MOST times the first */

    uint64_t rounds; /* for the slice that burner_begin() just opened */

    struct burn *open; /* NULL between slices */
    uint64_t opened_ns;
    uint64_t spent_ns, spent_rounds;
    uint64_t random;

    pid_t tid; /* these three from burner_done() */
    char thread_name[16];
    uint64_t thread_cpu_ns; /* the thread's whole life, not only its slices */
};

void burner_init(struct burner *b, const struct burn *burns, size_t count, uint64_t budget_ns);
const struct burn *burner_begin(struct burner *b); /* NULL: the budget is spent */
void burner_end(struct burner *b);
void burner_extend(struct burner *b, double budget_ns); /* never shortens */
void burner_done(struct burner *b);        /* on the burning thread, as its last act */
void burner_print(const struct burner *b); /* one JSON object: tid, name, cpu_ns, functions */

/* The mix that fx-burn's main thread and fx-fork's children share: 60, 30 and 10 %. */
enum { MIX_COUNT = 3 };
extern const struct burn mix[MIX_COUNT];

/* Options: --name VALUE or --name=VALUE, every value a number. */
struct setting {
    const char *name, *unit, *what;
    double *value; /* holds the default; untouched when the option is absent */
    double least, most;
    bool is_whole;
};

/* Returns when all is well. --help ends with 0, a wrong word with a sentence on stderr and 2. */
void settings_read(const struct setting *settings, size_t count, const char *what, int argc, char **argv);

/* Endings. */
_Noreturn void die(const char *doing, int error); /* "fx-deep: starting the thread: ..." and status 1 */
int truth_told(void);                             /* the exit status: 1 when stdout did not take it all */
