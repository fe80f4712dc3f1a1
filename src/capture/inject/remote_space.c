#include "capture/inject/remote_space.h"
#include "base/mem.h"
#include "base/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { FRAMES_MOST = 512, BASE_MOST = 2, WAITS_MOST = 96 };
#define STACK_MOST ((size_t)1 << 20)
#define ROOM_LEAST UINT64_C(262144) /* of stack, for what we call */

enum module_kind { MODULE_PROGRAM, MODULE_LIBC, MODULE_LOADER, MODULE_ALLOCATOR, MODULE_KERNEL };

struct module {
    uint64_t start, end;
    enum module_kind kind;
};

struct range {
    uint64_t start, end;
};

struct remote_space {
    pid_t pid;
    struct builder *names;
    struct code_files *files;
    struct address_space space;
    struct module *modules; /* of code */
    size_t n_modules, modules_cap;
    struct elf_file *libc;
    uint64_t libc_bias, libc_device, libc_inode;
    uint64_t dlopen_at, sigreturn_at;
    int64_t errno_offset; /* from the thread's own pointer */
    struct range waits[WAITS_MOST];
    size_t n_waits;
    uint8_t *stack;
};

/* Functions of libc that wait, or ask the kernel for something, and take no lock meanwhile. */
static const char *const wait_names[] = {
    "nanosleep", "clock_nanosleep", "usleep", "sleep", "pause", "poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "read", "pread64",
    "readv", "write", "pwrite64", "writev", "recv", "recvfrom", "recvmsg", "send", "sendto", "sendmsg", "accept", "accept4", "connect", "wait",
    "wait4", "waitpid", "waitid", "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "pthread_mutex_lock",
    "pthread_mutex_timedlock", "pthread_mutex_unlock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_join", "pthread_timedjoin_np",
    "pthread_clockjoin_np", "pthread_barrier_wait", "pthread_cond_signal", "pthread_cond_broadcast", "sem_wait", "sem_timedwait", "sem_clockwait",
    "sem_post", "sched_yield", "syscall", "sigwait", "sigtimedwait", "sigwaitinfo", "sigsuspend", "clock_gettime", "gettimeofday", "time", "ioctl",
    "fsync", "fdatasync", "flock", "getpid", "gettid", "getrandom",
};

/* Files. */

uint64_t elf_function(struct elf_file *f, const char *name, uint64_t *out_size)
{
    struct view rows = elf_file_contents(f, elf_file_section(f, ".dynsym"));
    struct view names = elf_file_contents(f, elf_file_section(f, ".dynstr"));
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= rows.n; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, rows.at + at, sizeof s);
        if (s.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(s.st_info) != STT_FUNC || !view_same(elf_text_at(names, s.st_name), view_of(name)))
            continue;
        if (out_size)
            *out_size = s.st_size;
        return s.st_value;
    }
    return 0;
}

static bool starts(struct view name, const char *with) { return view_starts(name, view_of(with)); }

static enum module_kind kind_by_name(struct view path)
{
    struct view name = view_last_part(path);
    if (starts(path, "[vdso]") || starts(path, "[vsyscall]"))
        return MODULE_KERNEL;
    if (starts(name, "ld-linux") || starts(name, "ld-2") || starts(name, "ld.so"))
        return MODULE_LOADER;
    if (starts(name, "libc.so") || starts(name, "libc-2") || starts(name, "libpthread") || starts(name, "libdl") || starts(name, "librt"))
        return MODULE_LIBC;
    return MODULE_PROGRAM;
}

static void root_of(pid_t pid, char out[32]) { snprintf(out, 32, "/proc/%d/root", (int)pid); }

static bool defines_malloc(pid_t pid, struct view path)
{
    char root[32];
    own(free) char *name = mem_text(path.at, path.n);
    own(elf_file) struct elf_file *f = NULL;
    root_of(pid, root);
    return elf_file_open(&f, root, name, NULL) && elf_function(f, "malloc", NULL) != 0;
}

/* Mappings. */

typedef bool (*each_map)(void *self, const struct map_news *m); /* false: enough */

static bool each_mapping(pid_t pid, each_map each, void *self, struct err *e)
{
    char path[32];
    struct err failed = {0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    own(reader) struct reader r;
    if (!reader_open(&r, path, e))
        return false;
    for (struct view line; reader_line(&r, &line, &failed);) {
        struct map_news m;
        if (maps_line_parse(line, &m) && !each(self, &m))
            break;
    }
    return !failed.kind || err_set(e, failed.kind, "%s", failed.text);
}

struct file_at {
    uint64_t device, inode, start;
};

static bool is_file_start(void *self, const struct map_news *m)
{
    struct file_at *f = self;
    if (m->file_offset || m->inode != f->inode || makedev(m->device_major, m->device_minor) != f->device)
        return true;
    f->start = m->start;
    return false;
}

uint64_t remote_mapped_at(pid_t pid, uint64_t device, uint64_t inode)
{
    struct file_at f = {.device = device, .inode = inode};
    return inode && each_mapping(pid, is_file_start, &f, NULL) ? f.start : 0;
}

static bool take_module(void *self, const struct map_news *m)
{
    struct remote_space *s = self;
    if (!m->is_code)
        return true;
    enum module_kind kind = kind_by_name(m->path);
    if (kind == MODULE_PROGRAM && m->path.n && m->path.at[0] == '/' && defines_malloc(s->pid, m->path))
        kind = MODULE_ALLOCATOR;
    struct view name = view_last_part(m->path);
    if (kind == MODULE_LIBC && (starts(name, "libc.so") || starts(name, "libc-2")) && !s->libc) {
        char root[32];
        own(free) char *path = mem_text(m->path.at, m->path.n);
        root_of(s->pid, root);
        s->libc_device = makedev(m->device_major, m->device_minor);
        s->libc_inode = m->inode;
        if (!elf_file_open(&s->libc, root, path, NULL))
            s->libc = NULL;
    }
    GROW(s->modules, s->modules_cap, s->n_modules + 1);
    s->modules[s->n_modules++] = (struct module){m->start, m->start + m->length, kind};
    return true;
}

static enum module_kind kind_at(const struct remote_space *s, uint64_t address)
{
    for (size_t i = 0; i < s->n_modules; i++)
        if (address >= s->modules[i].start && address < s->modules[i].end)
            return s->modules[i].kind;
    return MODULE_ALLOCATOR; /* nobody knows: not good */
}

/* Places in libc. */

/* mov $15, %rax; syscall */
static uint64_t find_sigreturn(const struct elf_file *f)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    for (size_t i = 0; i < f->n_segments; i++) {
        const Elf64_Phdr *p = &f->segments[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || p->p_offset > f->bytes.n || p->p_filesz > f->bytes.n - p->p_offset)
            continue;
        const char *from = f->bytes.at + p->p_offset, *at = memmem(from, p->p_filesz, code, sizeof code);
        if (at)
            return p->p_vaddr + (uint64_t)(at - from);
    }
    return 0;
}

/* __errno_location():  [endbr64]  mov offset(%rip), %rax  add %fs:0, %rax  ret */
static bool find_errno(struct remote_space *s)
{
    static const uint8_t rest[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3}, begin[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[32];
    uint64_t at = elf_function(s->libc, "__errno_location", NULL);
    if (!at || !remote_read(s->pid, s->libc_bias + at, code, sizeof code))
        return false;
    size_t i = memcmp(code, begin, sizeof begin) == 0 ? sizeof begin : 0;
    int32_t offset;
    if (memcmp(code + i, "\x48\x8b\x05", 3) != 0 || memcmp(code + i + 7, rest, sizeof rest) != 0)
        return false;
    memcpy(&offset, code + i + 3, sizeof offset);
    uint64_t slot = s->libc_bias + at + i + 7 + (uint64_t)(int64_t)offset;
    return remote_read(s->pid, slot, &s->errno_offset, sizeof s->errno_offset);
}

static void find_waits(struct remote_space *s)
{
    for (size_t i = 0; i < sizeof wait_names / sizeof *wait_names && s->n_waits < WAITS_MOST; i++) {
        uint64_t size = 0, at = elf_function(s->libc, wait_names[i], &size);
        if (at && size)
            s->waits[s->n_waits++] = (struct range){s->libc_bias + at, s->libc_bias + at + size};
    }
}

static bool find_places(struct remote_space *s, struct err *e)
{
    uint64_t dlopen_at = s->libc ? elf_function(s->libc, "dlopen", NULL) : 0, sigreturn = s->libc ? find_sigreturn(s->libc) : 0;
    if (!s->libc || s->libc->head.e_machine != EM_X86_64)
        return err_set(e, ERR_UNSUPPORTED, "process %d has no libc that we know: it is static, or uses another one", (int)s->pid);
    s->libc_bias = remote_mapped_at(s->pid, s->libc_device, s->libc_inode);
    if (!dlopen_at || !sigreturn || !s->libc_bias || !find_errno(s))
        return err_set(e, ERR_UNSUPPORTED, "process %d has a libc in which we do not find our way (glibc 2.34 or later is needed)", (int)s->pid);
    s->dlopen_at = s->libc_bias + dlopen_at;
    s->sigreturn_at = s->libc_bias + sigreturn;
    find_waits(s);
    return true;
}

bool remote_space_open(struct remote_space **out, pid_t pid, struct err *e)
{
    own(remote_space) struct remote_space *s = mem_new(sizeof *s);
    s->pid = pid;
    s->names = builder_new();
    s->files = code_files_new(s->names, "/proc");
    s->stack = mem_new(STACK_MOST);
    if (!each_mapping(pid, take_module, s, e) || !find_places(s, e) || !space_read(&s->space, s->files, "/proc", pid, e))
        return false;
    space_ready_all(&s->space, s->files, pid);
    *out = take(s);
    return true;
}

void remote_space_free(struct remote_space *s)
{
    if (!s)
        return;
    space_done(&s->space);
    code_files_free(s->files);
    builder_free(s->names);
    elf_file_free(s->libc);
    free(s->modules);
    free(s->stack);
    free(s);
}

uint64_t remote_space_dlopen(const struct remote_space *s) { return s->dlopen_at; }
uint64_t remote_space_sigreturn(const struct remote_space *s) { return s->sigreturn_at; }

/* A good moment. */

#if defined(__x86_64__)

uint64_t remote_space_errno(const struct remote_space *s, const struct remote_thread *t)
{
    return t->registers.fs_base + (uint64_t)s->errno_offset;
}

struct stack_map {
    uint64_t sp, start, end, below; /* below: end of the mapping before it */
    bool grows;
};

static bool take_stack(void *self, const struct map_news *m)
{
    struct stack_map *k = self;
    uint64_t end = m->start + m->length;
    if (end <= k->sp) {
        k->below = end;
        return true;
    }
    if (m->start <= k->sp) {
        k->start = m->start;
        k->end = end;
        k->grows = view_same(m->path, VIEW("[stack]"));
    }
    return false;
}

/* The first thread's stack grows by itself, as long as nothing else is in the way. */
static bool has_room(const struct stack_map *k)
{
    enum { GUARD = 2 << 20 };
    if (k->start >= k->end || k->sp - k->start < 2 * REMOTE_FLOATS_MOST)
        return false;
    return k->sp - k->start >= ROOM_LEAST || (k->grows && k->start - k->below > GUARD + ROOM_LEAST);
}

static size_t walk(struct remote_space *s, const struct remote_thread *t, uint64_t stack_end, uint64_t out[FRAMES_MOST])
{
    struct unwind_registers r;
    uint64_t sp = t->registers.rsp, n = stack_end - sp < STACK_MOST ? stack_end - sp : STACK_MOST;
    if (!remote_read(s->pid, sp, s->stack, n))
        return 0;
    remote_thread_registers(t, r.at);
    struct unwind_stack stack = {.start = sp, .bytes = s->stack, .n = n};
    struct unwind_space space = space_walk(&s->space);
    enum unwind_end end;
    size_t frames = unwind_walk(&space, &r, &stack, out, FRAMES_MOST, &end);
    return end == UNWIND_COMPLETE ? frames : 0;
}

static bool is_waiting_in(const struct remote_space *s, uint64_t address)
{
    for (size_t i = 0; i < s->n_waits; i++)
        if (address >= s->waits[i].start && address < s->waits[i].end)
            return true;
    return false;
}

static bool is_libc(enum module_kind k) { return k == MODULE_LIBC || k == MODULE_KERNEL; }

/* Leaf first: [wait] program... [start]; see the header. */
static bool is_good_stack(const struct remote_space *s, const uint64_t *frames, size_t n)
{
    size_t leaf = 0, base = n;
    while (leaf < n && is_libc(kind_at(s, frames[leaf] - (leaf > 0))))
        leaf++;
    if (leaf && !is_waiting_in(s, frames[leaf - 1] - (leaf > 1)))
        return false;
    if (base && kind_at(s, frames[base - 1] - 1) == MODULE_PROGRAM) /* _start of the program */
        base--;
    size_t first = base;
    while (first > leaf && is_libc(kind_at(s, frames[first - 1] - 1)))
        first--;
    if (base == first || base - first > BASE_MOST || first <= leaf)
        return false;
    for (size_t i = leaf; i < first; i++)
        if (kind_at(s, frames[i] - (i > 0)) != MODULE_PROGRAM)
            return false;
    return true;
}

bool remote_space_is_good(struct remote_space *s, const struct remote_thread *t)
{
    uint64_t frames[FRAMES_MOST];
    struct stack_map k = {.sp = t->registers.rsp};
    if (remote_mapped_at(s->pid, s->libc_device, s->libc_inode) != s->libc_bias) /* it runs another program now */
        return false;
    if (!each_mapping(s->pid, take_stack, &k, NULL) || !has_room(&k))
        return false;
    size_t n = walk(s, t, k.end, frames);
    return n && is_good_stack(s, frames, n);
}

#else

uint64_t remote_space_errno(const struct remote_space *s, const struct remote_thread *t)
{
    (void)s, (void)t;
    return 0;
}

bool remote_space_is_good(struct remote_space *s, const struct remote_thread *t)
{
    (void)s, (void)t;
    return false;
}

#endif
