#include "capture/inject/inject.h"
#include "base/clock.h"
#include "base/mem.h"
#include "capture/inject/remote_space.h"

#include <dirent.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#define PATIENCE_NS UINT64_C(2000000000)

enum { THREADS_MOST = 64 }; /* that are tried in one round */

struct job {
    pid_t pid;
    const char *library, *function, *argument;
    struct inject_answer answer;
    struct err e;
    bool ok;
    struct remote_space *space;
    uint64_t device, inode, function_at; /* of the library; as it was linked */
};

/* The library, as we see it and as the process does. */

static bool look_at_library(struct job *j, struct err *e)
{
    char inside[4096];
    struct stat ours, theirs;
    own(elf_file) struct elf_file *f = NULL;
    snprintf(inside, sizeof inside, "/proc/%d/root%s", (int)j->pid, j->library);
    if (stat(j->library, &ours) < 0)
        return err_os(e, "%s", j->library);
    if (stat(inside, &theirs) < 0 || theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev)
        return err_set(e, ERR_UNSUPPORTED, "process %d does not see %s: it is in a container", (int)j->pid, j->library);
    if (!elf_file_open(&f, "", j->library, e))
        return false;
    j->function_at = elf_function(f, j->function, NULL);
    j->device = ours.st_dev;
    j->inode = ours.st_ino;
    return j->function_at || err_set(e, ERR_MALFORMED, "%s has no function %s", j->library, j->function);
}

/* Calls. */

static struct remote_call call_of(const struct job *j, const struct remote_thread *t, uint64_t function)
{
    return (struct remote_call){
        .function = function, .return_to = remote_space_sigreturn(j->space), .errno_at = remote_space_errno(j->space, t),
    };
}

static bool load(struct job *j, struct remote_thread *t, uint64_t *out_base, struct err *e)
{
    *out_base = remote_mapped_at(j->pid, j->device, j->inode);
    if (*out_base)
        return true;
    struct remote_call c = call_of(j, t, remote_space_dlopen(j->space));
    c.bytes[0] = j->library;
    c.n_bytes[0] = strlen(j->library) + 1;
    c.arguments[1] = RTLD_NOW;
    if (!remote_thread_call(t, &c, e))
        return false;
    *out_base = remote_mapped_at(j->pid, j->device, j->inode);
    return *out_base || err_set(e, ERR_UNSUPPORTED, "process %d could not load %s", (int)j->pid, j->library);
}

static bool speak(struct job *j, struct remote_thread *t, uint64_t base, struct err *e)
{
    struct remote_call c = call_of(j, t, base + j->function_at);
    c.bytes[0] = j->argument;
    c.n_bytes[0] = strlen(j->argument) + 1;
    c.bytes[1] = c.back = &j->answer;
    c.n_bytes[1] = sizeof j->answer;
    return remote_thread_call(t, &c, e);
}

/* Threads. */

/* True: it has been tried, for better or worse. False: not the moment. */
static bool try_thread(struct job *j, pid_t tid, struct err *e)
{
    uint64_t base;
    own(remote_thread) struct remote_thread t;
    if (!remote_thread_stop(&t, j->pid, tid, e))
        return false;
    if (!remote_space_is_good(j->space, &t))
        return false;
    j->ok = load(j, &t, &base, e) && speak(j, &t, base, e);
    return true;
}

static bool is_thread_name(const struct dirent *d) { return d->d_name[0] >= '1' && d->d_name[0] <= '9'; }

static bool try_threads(struct job *j, struct err *e)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/task", (int)j->pid);
    DIR *d = opendir(path);
    bool is_tried = false;
    int tried = 0;
    for (const struct dirent *entry; d && !is_tried && tried < THREADS_MOST && (entry = readdir(d));) {
        if (!is_thread_name(entry))
            continue;
        tried++;
        *e = (struct err){0};
        is_tried = try_thread(j, (pid_t)strtol(entry->d_name, NULL, 10), e);
        is_tried |= e->kind == ERR_DENIED; /* asking again will not help */
    }
    if (d)
        closedir(d);
    return is_tried || !tried;
}

static bool is_stopped_or_gone(pid_t pid, struct err *e)
{
    char path[32], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    own(fclose) FILE *f = fopen(path, "re");
    const char *behind = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    char state = behind && behind[1] ? behind[2] : 'X';
    if (state == 'T' || state == 't')
        return !err_set(e, ERR_UNSUPPORTED, "process %d is stopped, or is being debugged", (int)pid);
    if (state == 'Z' || state == 'X')
        return !err_set(e, ERR_NOT_FOUND, "process %d has ended", (int)pid);
    return false;
}

/* Things that would end the process, or may: better not even begin. */
static bool status_has(const char *path, const char *key, char *out, size_t size)
{
    char line[256];
    own(fclose) FILE *f = fopen(path, "re");
    size_t n = strlen(key);
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, n) != 0)
            continue;
        snprintf(out, size, "%s", line + n);
        return true;
    }
    *out = '\0';
    return false;
}

static bool is_safe(pid_t pid, struct err *e)
{
    char path[32], theirs[128], ours[128];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (status_has(path, "x86_Thread_features:", theirs, sizeof theirs) && strstr(theirs, "shstk"))
        return err_set(e, ERR_UNSUPPORTED, "process %d has a shadow stack, which does not let us call a function in it", (int)pid);
    status_has(path, "Seccomp_filters:", theirs, sizeof theirs);
    status_has("/proc/self/status", "Seccomp_filters:", ours, sizeof ours);
    if (strcmp(theirs, ours) != 0)
        return err_set(e, ERR_UNSUPPORTED, "process %d is in a sandbox (seccomp) that we are not in, and loading a library may end it", (int)pid);
    return true;
}

static void *work(void *self)
{
    struct job *j = self;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    uint64_t begun_ns = clock_monotonic_ns();
    struct err e = {0};
    while (!is_stopped_or_gone(j->pid, &j->e)) {
        e = (struct err){0};
        if (try_threads(j, &e)) {
            j->e = e;
            break;
        }
        if (clock_monotonic_ns() - begun_ns > PATIENCE_NS) {
            err_set(&j->e, ERR_UNSUPPORTED, "process %d was never at a moment when a library can be loaded%s%s", (int)j->pid, *e.text ? ": " : "", e.text);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    }
    return NULL;
}

static bool judge(const struct job *j, struct err *e)
{
    static const char *const refusals[INJECT_CODE_COUNT] = {
        [INJECT_NOT_CALLED] = "the heap agent did not answer",
        [INJECT_TAKEN] = "this process has had the heap agent before; it can be recorded once in its life",
        [INJECT_OTHER_MALLOC] = "the executable has an allocator of its own inside, and does not ask a library",
        [INJECT_NO_REGION] = "the recorder's memory cannot be opened from inside the process",
    };
    if (j->answer.code == INJECT_ON)
        return true;
    return err_set(e, ERR_UNSUPPORTED, "process %d: %s", (int)j->pid, j->answer.code < INJECT_CODE_COUNT ? refusals[j->answer.code] : "the heap agent's answer makes no sense");
}

bool inject(pid_t pid, const char *library, const char *function, const char *argument, struct inject_answer *out, struct err *e)
{
    own(remote_space) struct remote_space *space = NULL;
    struct job j = {.pid = pid, .library = library, .function = function, .argument = argument};
    if (is_stopped_or_gone(pid, e) || !is_safe(pid, e) || !look_at_library(&j, e) || !remote_space_open(&space, pid, e))
        return false;
    j.space = space;
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &j) != 0)
        return err_set(e, ERR_IO, "no thread could be started to trace process %d", (int)pid);
    pthread_join(thread, NULL);
    if (!j.ok) {
        err_set(e, j.e.kind ? j.e.kind : ERR_IO, "%s", j.e.text);
        return *j.e.hint && err_hint(e, "%s", j.e.hint);
    }
    *out = j.answer;
    return judge(&j, e);
}
