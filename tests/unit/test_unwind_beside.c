/*
 * Beside another unwinder: the same stopped process, asked twice.
 *
 *     test_unwind_beside SAMPLES COMMAND...
 *
 * A child runs COMMAND. At random moments it is stopped; we walk over a copy of its stack
 * with our tables, elfutils (libdwfl) walks over its memory with its own reader of the same
 * sections. Both must name the same return addresses, except where there are no rules and
 * each guesses in its own way. Exits with 77, skipped, where the system does not let us
 * stop a child.
 */
#include "base/mem.h"
#include "check.h"
#include "self_space.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum { MOST_FRAMES = 1000, MOST_FILES = 256, SKIPPED = 77, SHOWN = 5 };

struct file {
    char path[512];
    struct elf_file elf;
    struct unwind_table *table;
};

struct target {
    pid_t pid;
    struct file files[MOST_FILES];
    size_t n_files;
    struct unwind_map maps[MOST_FILES];
    size_t n_maps;
    uint8_t *stack;
    size_t stack_n;
    uint64_t stack_start;
};

struct frames {
    uint64_t at[MOST_FRAMES];
    size_t n;
    bool failed;
};

static size_t read_memory(pid_t pid, uint64_t from, void *into, size_t n)
{
    struct iovec here = {into, n}, there = {(void *)from, n};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

/* A file that was seen before is not read again; the vDSO is read out of the process. */
static struct file *file_at(struct target *t, const char *path, uint64_t start, uint64_t bytes)
{
    for (size_t i = 0; i < t->n_files; i++)
        if (strcmp(t->files[i].path, path) == 0)
            return &t->files[i];
    if (t->n_files == MOST_FILES)
        return NULL;
    struct file *f = &t->files[t->n_files++];
    snprintf(f->path, sizeof f->path, "%s", path);
    if (strcmp(path, "[vdso]") == 0) {
        char *copy = mem_new(bytes);
        read_memory(t->pid, start, copy, bytes);
        f->elf = (struct elf_file){copy, bytes};
    } else if (*path == '/') {
        f->elf = elf_map(path);
    }
    if (f->elf.bytes) {
        struct unwind_sections s = elf_sections(f->elf);
        if (!unwind_table_new(&f->table, &s, NULL))
            f->table = NULL;
    }
    return f;
}

/* What to add to an address as linked; for the vDSO, linked at 0, the mapping's own start. */
static uint64_t bias_of(const struct file *f, uint64_t start, uint64_t offset)
{
    if (!f->elf.bytes || *f->path != '/')
        return start;
    const Elf64_Ehdr *h = elf_at(f->elf, 0);
    const Elf64_Phdr *p = elf_at(f->elf, h->e_phoff);
    for (size_t i = 0; i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && offset >= (p[i].p_offset & ~UINT64_C(4095)) && offset < p[i].p_offset + p[i].p_filesz)
            return start - (offset - p[i].p_offset + p[i].p_vaddr);
    return start - offset;
}

static void read_maps(struct target *t, uint64_t sp)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)t->pid);
    own(fclose) FILE *maps = fopen(path, "re");
    t->n_maps = 0;
    t->stack_n = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        uint64_t start = 0, end = 0, offset = 0;
        char rights[8] = "", name[512] = "";
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511[^\n]", &start, &end, rights, &offset, name);
        if (sp >= start && sp < end) {
            t->stack = mem_resize(t->stack, end - sp);
            t->stack_n = read_memory(t->pid, sp, t->stack, end - sp);
            t->stack_start = sp;
        }
        struct file *f = rights[2] == 'x' && t->n_maps < MOST_FILES ? file_at(t, name, start, end - start) : NULL;
        if (f)
            t->maps[t->n_maps++] = (struct unwind_map){start, end, bias_of(f, start, offset), f->table};
    }
}

static enum unwind_end walk_ours(struct target *t, struct frames *out)
{
    struct user_regs_struct u;
    ptrace(PTRACE_GETREGS, t->pid, NULL, &u);
    struct unwind_registers r = {.at = {u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8, u.r9, u.r10, u.r11,
                                        u.r12, u.r13, u.r14, u.r15, u.rip}};
    read_maps(t, u.rsp);
    struct unwind_space space = {UNWIND_X86_64, t->maps, t->n_maps};
    struct unwind_stack stack = {t->stack_start, t->stack, t->stack_n};
    enum unwind_end why;
    out->n = unwind_walk(&space, &r, &stack, out->at, MOST_FRAMES, &why);
    return why;
}

static int take_frame(Dwfl_Frame *frame, void *into)
{
    struct frames *out = into;
    Dwarf_Addr pc;
    bool is_exact;
    if (!dwfl_frame_pc(frame, &pc, &is_exact) || out->n == MOST_FRAMES)
        return DWARF_CB_ABORT;
    out->at[out->n] = pc + (out->n && is_exact);
    out->n++;
    return DWARF_CB_OK;
}

static void walk_theirs(pid_t pid, struct frames *out)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    out->n = 0;
    Dwfl *d = dwfl_begin(&callbacks);
    dwfl_linux_proc_report(d, pid);
    dwfl_report_end(d, NULL, NULL);
    dwfl_linux_proc_attach(d, pid, true);
    out->failed = dwfl_getthread_frames(d, pid, take_frame, out) != 0;
    dwfl_end(d);
}

static const char *place(const struct target *t, uint64_t address, char *text, size_t n)
{
    for (size_t i = 0; i < t->n_maps; i++)
        for (size_t k = 0; address >= t->maps[i].start && address < t->maps[i].end && k < t->n_files; k++)
            if (t->files[k].table == t->maps[i].table) {
                const char *slash = strrchr(t->files[k].path, '/');
                snprintf(text, n, "%s+%#" PRIx64, slash ? slash + 1 : t->files[k].path, address - t->maps[i].bias);
                return text;
            }
    snprintf(text, n, "%#" PRIx64, address);
    return text;
}

static void show(const struct target *t, const struct frames *ours, const struct frames *theirs, enum unwind_end why)
{
    size_t from = 0, n = ours->n > theirs->n ? ours->n : theirs->n;
    while (from < ours->n && from < theirs->n && ours->at[from] == theirs->at[from])
        from++;
    printf("%s; %zu frames, theirs %zu%s\n", unwind_end_names[why], ours->n, theirs->n, theirs->failed ? " and failed" : "");
    for (size_t i = from ? from - 1 : 0; i < n && i < from + 4; i++) {
        char a[600] = "-", b[600] = "-";
        printf("  %3zu %-40s %s\n", i, i < ours->n ? place(t, ours->at[i], a, sizeof a) : a,
               i < theirs->n ? place(t, theirs->at[i], b, sizeof b) : b);
    }
}

static bool stop_child(pid_t pid)
{
    int status;
    return ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);
}

/* The first few milliseconds are the dynamic linker's, which is worth a sample too. */
static void doze(unsigned i)
{
    struct timespec t = {0, 100000 + (long)(i * 7919u % 1500u) * 1000};
    nanosleep(&t, NULL);
}

struct tally {
    unsigned samples, same, complete, guessed, theirs_short, guessed_apart;
    uint64_t frames;
};

static void compare(struct target *t, struct tally *tally)
{
    static struct frames ours, theirs;
    enum unwind_end why = walk_ours(t, &ours);
    walk_theirs(t->pid, &theirs);
    bool is_prefix = theirs.n <= ours.n && memcmp(ours.at, theirs.at, theirs.n * sizeof *ours.at) == 0;
    bool same = is_prefix && ours.n == theirs.n;
    bool complete = why == UNWIND_COMPLETE || why == UNWIND_GUESSED;
    tally->samples++;
    tally->frames += ours.n;
    tally->same += same;
    tally->complete += complete;
    tally->guessed += why == UNWIND_GUESSED;
    bool theirs_short = is_prefix && !same && theirs.failed && complete;
    tally->theirs_short += theirs_short;
    tally->guessed_apart += why == UNWIND_GUESSED && !same && !theirs_short;
    if ((!same || !complete) && tally->samples - tally->same <= SHOWN)
        show(t, &ours, &theirs, why);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "usage: %s SAMPLES COMMAND...\n", argv[0]), 2;
    static struct target t;
    extern char **environ;
    if (posix_spawnp(&t.pid, argv[2], NULL, NULL, argv + 2, environ) != 0)
        return perror(argv[2]), SKIPPED;
    if (ptrace(PTRACE_SEIZE, t.pid, NULL, PTRACE_O_EXITKILL) != 0)
        return perror("ptrace"), kill(t.pid, SIGKILL), SKIPPED;
    struct tally tally = {0};
    unsigned wanted = (unsigned)strtoul(argv[1], NULL, 10);
    while (tally.samples < wanted) {
        doze(tally.samples);
        if (!stop_child(t.pid))
            break;
        compare(&t, &tally);
        ptrace(PTRACE_CONT, t.pid, NULL, NULL);
    }
    kill(t.pid, SIGKILL);
    waitpid(t.pid, NULL, __WALL);
    printf("%u samples, %u the same, %u complete (%u guessed), %u where only elfutils gave up, %.1f frames each\n",
           tally.samples, tally.same, tally.complete, tally.guessed, tally.theirs_short, (double)tally.frames / (tally.samples ? tally.samples : 1));
    CHECK_EQ(tally.samples, wanted);
    CHECK_EQ(tally.complete, tally.samples);
    CHECK_EQ(tally.same + tally.theirs_short + tally.guessed_apart, tally.samples);
    return CHECK_DONE();
}
