/*
 * Every instruction, and a witness.
 *
 * The processor's trap flag stops this program after each instruction. At every stop the
 * walk must give the same callers as a list that was kept by watching calls and returns:
 *
 *     after a call      its return address is new on the list
 *     whenever          what lies below the stack pointer has left it
 *
 * That covers what a sampler would meet in years: each instruction of prologues and
 * epilogues, realigned and huge frames, the PLT and the lazy binder behind it, the vDSO,
 * string functions written by hand. What the list cannot know, the callers of the place
 * where watching began, is compared with names.
 *
 * At every stop we walk twice: from the registers the kernel handed to the handler, and
 * from the handler itself through the signal frame.
 */
#include "check.h"
#include "self_space.h"
#include "unwind/unwind_table.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#if defined __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noipa))
#endif

enum { MOST_FRAMES = 1024 };

static struct self_space self;
static volatile double sink;

/* Names, from the symbol table of this program and its libraries. */
static const char *name_in(struct elf_file f, const char *table, const char *strings, uint64_t address)
{
    const Elf64_Shdr *symtab = elf_section(f, table), *strtab = elf_section(f, strings);
    if (!symtab || !strtab)
        return NULL;
    const Elf64_Sym *symbols = elf_at(f, symtab->sh_offset);
    for (size_t i = 0; i < symtab->sh_size / sizeof *symbols; i++)
        if ((symbols[i].st_info & 15) == STT_FUNC && address - symbols[i].st_value < symbols[i].st_size)
            return (const char *)elf_at(f, strtab->sh_offset) + symbols[i].st_name;
    return NULL;
}

static const char *name_of(uint64_t address)
{
    for (size_t i = 0; i < self.n; i++) {
        const struct unwind_map *m = &self.maps[i];
        if (address < m->start || address >= m->end)
            continue;
        for (size_t k = 0; k < self.n; k++) {
            if (self.tables[k] != m->table)
                continue;
            const char *name = name_in(self.files[k], ".symtab", ".strtab", address - m->bias);
            name = name ? name : name_in(self.files[k], ".dynsym", ".dynstr", address - m->bias);
            return name ? name : "?";
        }
    }
    return "outside";
}

/* Switch the trap flag; the first stop is behind the return. */
void trap_on(void);
void trap_off(void);
/* The caller's registers as they will be when this returns. */
void registers_here(struct unwind_registers *out);

__asm__(".text\n"
        ".type trap_on, @function\n"
        "trap_on:  .cfi_startproc\n"
        "          pushfq\n .cfi_adjust_cfa_offset 8\n orq $0x100, (%rsp)\n popfq\n .cfi_adjust_cfa_offset -8\n ret\n"
        "          .cfi_endproc\n"
        ".size trap_on, .-trap_on\n"
        ".type trap_off, @function\n"
        "trap_off: .cfi_startproc\n"
        "          pushfq\n .cfi_adjust_cfa_offset 8\n andq $~0x100, (%rsp)\n popfq\n .cfi_adjust_cfa_offset -8\n ret\n"
        "          .cfi_endproc\n"
        ".size trap_off, .-trap_off\n"
        ".type registers_here, @function\n"
        "registers_here: .cfi_startproc\n"
        "          mov %rbx, 3*8(%rdi)\n mov %rbp, 6*8(%rdi)\n mov %r12, 12*8(%rdi)\n mov %r13, 13*8(%rdi)\n"
        "          mov %r14, 14*8(%rdi)\n mov %r15, 15*8(%rdi)\n"
        "          lea 8(%rsp), %rax\n mov %rax, 7*8(%rdi)\n mov (%rsp), %rax\n mov %rax, 16*8(%rdi)\n ret\n"
        "          .cfi_endproc\n"
        ".size registers_here, .-registers_here\n");

/* The witness. */
struct call {
    uint64_t slot, ra;
};

static struct watch {
    struct call calls[MOST_FRAMES];
    size_t n_calls;
    uint64_t base[MOST_FRAMES]; /* callers of watched(); they stay where they are */
    size_t n_base;
    uint64_t last_pc, last_sp, stack_end;
    size_t stops, frames, wrong;
    size_t used[CFA_SIGNAL + 1], used_register[17]; /* kinds of rules met at the leaf */
    enum unwind_end first_end;
} watch;

static uint64_t word_at(uint64_t address)
{
    uint64_t v;
    memcpy(&v, (const void *)address, sizeof v);
    return v;
}

static void registers_of(const ucontext_t *uc, struct unwind_registers *out)
{
    static const int from[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                                 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (size_t i = 0; i < 17; i++)
        out->at[i] = (uint64_t)uc->uc_mcontext.gregs[from[i]];
}

static size_t walk_from(const struct unwind_registers *r, uint64_t *out, enum unwind_end *out_why)
{
    struct unwind_stack stack = {r->at[7], (const uint8_t *)r->at[7], watch.stack_end - r->at[7]};
    return unwind_walk(&self.space, r, &stack, out, MOST_FRAMES, out_why);
}

/* A call leaves the address behind itself on the stack; none is longer than 8 bytes. */
static void note_calls(uint64_t pc, uint64_t sp)
{
    while (watch.n_calls && watch.calls[watch.n_calls - 1].slot < sp)
        watch.n_calls--;
    if (sp == watch.last_sp - 8 && word_at(sp) - watch.last_pc - 2 <= 6 && watch.n_calls < MOST_FRAMES)
        watch.calls[watch.n_calls++] = (struct call){sp, word_at(sp)};
    watch.last_pc = pc;
    watch.last_sp = sp;
}

static void note_rule(uint64_t pc)
{
    for (size_t i = 0; i < self.n; i++)
        if (pc >= self.maps[i].start && pc < self.maps[i].end) {
            const struct unwind_rule *r = unwind_table_at(self.maps[i].table, pc - self.maps[i].bias);
            watch.used[r->how]++;
            watch.used_register[r->reg]++;
        }
}

/* `frames` are the callers only. */
static bool is_as_witnessed(const uint64_t *frames, size_t n)
{
    size_t i = 0;
    for (size_t c = watch.n_calls; c-- > 0; i++)
        if (i >= n || frames[i] != watch.calls[c].ra)
            return false;
    return n - i == watch.n_base && memcmp(frames + i, watch.base, watch.n_base * sizeof *frames) == 0;
}

static void complain(const uint64_t *frames, size_t n, enum unwind_end why)
{
    printf("at %#" PRIx64 " in %s (%s):\n", frames[0], name_of(frames[0]), unwind_end_names[why]);
    for (size_t i = 1; i < n && i < 12; i++)
        printf("   walked    %#" PRIx64 " %s\n", frames[i], name_of(frames[i] - 1));
    for (size_t c = watch.n_calls; c-- > 0;)
        printf("   witnessed %#" PRIx64 " %s\n", watch.calls[c].ra, name_of(watch.calls[c].ra - 1));
}

static void check_walk(const uint64_t *frames, size_t n, enum unwind_end why)
{
    if (why == UNWIND_COMPLETE && is_as_witnessed(frames + 1, n - 1))
        return;
    if (watch.wrong++ < 3)
        complain(frames, n, why);
}

/* From the handler: itself, the place it returns to, then the interrupted one, given plus one. */
static void check_walk_through_signal(uint64_t pc)
{
    static uint64_t frames[MOST_FRAMES];
    struct unwind_registers here = {0};
    registers_here(&here);
    enum unwind_end why;
    size_t n = walk_from(&here, frames, &why), i = 0;
    while (i < n && frames[i] != pc + 1)
        i++;
    if (i < n)
        frames[i]--;
    check_walk(i < n ? frames + i : frames, i < n ? n - i : n, why);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    static uint64_t frames[MOST_FRAMES];
    struct unwind_registers r = {0};
    registers_of(context, &r);
    enum unwind_end why;
    size_t n = walk_from(&r, frames, &why);
    if (watch.stops++ == 0) {
        watch.first_end = why;
        watch.n_base = n - 1;
        memcpy(watch.base, frames + 1, (n - 1) * sizeof *frames);
        watch.last_pc = frames[0];
        watch.last_sp = r.at[7];
        return;
    }
    note_calls(frames[0], r.at[7]);
    note_rule(frames[0]);
    watch.frames += n;
    check_walk(frames, n, why);
    check_walk_through_signal(frames[0]);
}

static uint64_t end_of_stack(void)
{
    pthread_attr_t attr;
    void *at = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        abort();
    pthread_attr_getstack(&attr, &at, &bytes);
    pthread_attr_destroy(&attr);
    return (uint64_t)at + bytes;
}

static size_t all_stops, all_frames, all_used[CFA_SIGNAL + 1], all_used_register[17];

KEPT static void watched(void (*work)(void))
{
    trap_on();
    work();
    trap_off();
    __asm__ volatile("" ::: "memory"); /* this frame stays until here */
}

/* `callers` are the names that must follow watched(), innermost first, each at any distance. */
static void check_base(const char *what, const char *const *callers)
{
    size_t i = 0;
    CHECK_EQ(watch.first_end, UNWIND_COMPLETE);
    for (; *callers; callers++) {
        while (i < watch.n_base && strcmp(name_of(watch.base[i] - 1), *callers) != 0)
            i++;
        if (i++ >= watch.n_base) {
            printf("%s: no caller %s\n", what, *callers);
            check_failures++;
        }
    }
}

static void check_watch(const char *what, const char *const *callers)
{
    printf("%-16s %7zu instructions, %5.1f frames each, %zu wrong\n", what, watch.stops,
           (double)watch.frames / (double)(watch.stops ? watch.stops : 1), watch.wrong);
    CHECK(watch.stops > 10);
    CHECK_EQ(watch.wrong, 0);
    check_base(what, callers);
    all_stops += watch.stops;
    all_frames += watch.frames;
    for (size_t i = 0; i <= CFA_SIGNAL; i++)
        all_used[i] += watch.used[i];
    for (size_t i = 0; i < 17; i++)
        all_used_register[i] += watch.used_register[i];
}

static void watch_reset(void)
{
    memset(&watch, 0, sizeof watch);
    watch.stack_end = end_of_stack();
}

/* The situations. */
KEPT static int deep(int n)
{
    int below = n ? deep(n - 1) : 0;
    sink += below; /* something to do on the way back, or it would be a loop */
    return below + 1;
}

static void work_deep(void) { sink += deep(150); }

/* An aligned variable and a size known only at run time: gcc comes back through r10 and *(rbp - n). */
KEPT static double realigned(size_t n, double by)
{
    __attribute__((aligned(64))) volatile double fixed[8] = {by};
    volatile char *moving = __builtin_alloca(n);
    moving[0] = 1;
    fixed[n % 8] += deep(3) + moving[0];
    return fixed[0];
}

static void work_realigned(void) { sink += realigned(100, sink) + realigned(1000, 2); }

KEPT static int huge(int n)
{
    volatile char frame[200000];
    frame[n] = (char)n;
    return deep(2) + frame[n];
}

static void work_huge(void) { sink += huge(199999); }

/* First calls: the PLT, the lazy binder, and then hand-written code. */
static void work_binding(void)
{
    char text[64], copy[64];
    snprintf(text, sizeof text, "%.17g %s", sink, "text");
    memmove(copy, text, sizeof text);
    sink += strtod("1.5e10", NULL) + cos(sink) + (double)strlen(copy) + (strstr(copy, "text") != NULL);
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void work_callback(void)
{
    int list[] = {5, 3, 9, 1, 7, 2};
    qsort(list, sizeof list / sizeof *list, sizeof *list, by_value);
    sink += list[0];
}

static void work_vdso(void)
{
    struct timespec t;
    for (int i = 0; i < 3; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
    sink += (double)t.tv_nsec;
}

static void work_memory(void)
{
    for (size_t n = 1; n < 4000000; n = n * 7) {
        void *p = malloc(n);
        *(volatile char *)p = 1;
        free(p);
    }
}

/* The return address of the last call lies behind the function. */
static jmp_buf back;

KEPT __attribute__((noreturn)) static void leaves(void)
{
    watched(work_deep);
    longjmp(back, 1);
}

KEPT __attribute__((noreturn)) static void noreturn_tail(int n)
{
    sink += n;
    leaves();
}

KEPT static void on_signal(int sig)
{
    sink += sig;
    if (sig == SIGUSR1)
        raise(SIGUSR2);
    else
        watched(work_realigned);
    sink += 1; /* so that the call before is not a jump */
}

KEPT static void in_thread(void)
{
    watched(work_callback);
    sink += 1;
}

KEPT static void *thread_main(void *arg)
{
    watch_reset();
    in_thread();
    sink += 1;
    return arg;
}

#define CALLERS(...) ((const char *const[]){__VA_ARGS__, NULL})

KEPT static void watch_all(void)
{
    static const struct {
        const char *what;
        void (*work)(void);
    } works[] = {
        {"deep", work_deep},         {"realigned", work_realigned}, {"huge frame", work_huge}, {"binding", work_binding},
        {"callback", work_callback}, {"vDSO", work_vdso},           {"memory", work_memory},
    };
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        watch_reset();
        watched(works[i].work);
        check_watch(works[i].what, CALLERS("watch_all", "main"));
    }
}

KEPT static void watch_signals(void)
{
    watch_reset();
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &act, NULL);
    sigaction(SIGUSR2, &act, NULL);
    raise(SIGUSR1);
    check_watch("signals", CALLERS("on_signal", "on_signal", "watch_signals", "main"));
}

KEPT static void watch_thread(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, thread_main, NULL) != 0)
        abort();
    pthread_join(t, NULL);
    check_watch("thread", CALLERS("in_thread", "thread_main"));
}

KEPT static void watch_noreturn(void)
{
    watch_reset();
    if (setjmp(back) == 0)
        noreturn_tail(1);
    check_watch("noreturn", CALLERS("leaves", "noreturn_tail", "watch_noreturn", "main"));
}

int main(void)
{
    self_space_init(&self);
    struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &act, NULL);
    watch_all();
    watch_signals();
    watch_thread();
    watch_noreturn();
    printf("%zu instructions, %zu frames\n", all_stops, all_frames);
    printf("rules met: register %zu (rbp %zu, rbx %zu, r10 %zu), memory %zu, plt %zu\n", all_used[CFA_REGISTER],
           all_used_register[6], all_used_register[3], all_used_register[10], all_used[CFA_MEMORY], all_used[CFA_PLT]);
    /* What the situations were made for. */
    CHECK(all_used_register[6] > 0);
#if !defined __clang__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
    CHECK(all_used_register[3] > 0);
    CHECK(all_used_register[10] > 0);
    CHECK(all_used[CFA_MEMORY] > 0);
    CHECK(all_used[CFA_PLT] > 0);
#endif
    self_space_done(&self);
    return CHECK_DONE();
}
