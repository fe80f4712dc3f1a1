#include "capture/host/revision.h"
#include "base/clock.h"
#include "base/text.h"
#include "symbols/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATIENCE_MS 1000

/* The files of git. */

static bool read_line(const char *path, char *out, size_t size)
{
    own(fclose) FILE *f = fopen(path, "re");
    if (!f || !fgets(out, (int)size, f))
        return false;
    out[strcspn(out, "\r\n")] = '\0';
    return *out != '\0';
}

static bool join(char out[PATH_MAX], const char *folder, const char *name)
{
    int n = *name == '/' ? snprintf(out, PATH_MAX, "%s", name) : snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return n > 0 && n < PATH_MAX;
}

/* A worktree and a submodule have a file there that says where the folder is: "gitdir: /src/.git/worktrees/x". */
static bool git_folder_at(const char *folder, char out[PATH_MAX])
{
    char place[PATH_MAX], line[PATH_MAX];
    struct stat st;
    if (!join(place, folder, ".git") || stat(place, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode))
        return join(out, folder, ".git");
    return S_ISREG(st.st_mode) && read_line(place, line, sizeof line) && !strncmp(line, "gitdir: ", 8) &&
           join(out, folder, line + 8);
}

static bool git_folder(const char *folder, char out[PATH_MAX])
{
    char at[PATH_MAX];
    if (!realpath(folder, at))
        return false;
    for (;;) {
        if (git_folder_at(at, out))
            return true;
        char *slash = strrchr(at, '/');
        if (!slash || !at[0])
            return false;
        *slash = '\0';
    }
}

static bool is_commit(const char *text)
{
    size_t n = strlen(text);
    return (n == 40 || n == 64) && strspn(text, "0123456789abcdef") == n;
}

static bool keep(const char *text, char out[REVISION_ROOM])
{
    if (!is_commit(text))
        return false;
    snprintf(out, REVISION_ROOM, "%s", text);
    return true;
}

/* "0123abcd... refs/heads/main" */
static bool packed_ref(const char *folder, const char *name, char out[REVISION_ROOM])
{
    char path[PATH_MAX], line[PATH_MAX];
    own(fclose) FILE *f = join(path, folder, "packed-refs") ? fopen(path, "re") : NULL;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\r\n")] = '\0';
        char *space = strchr(line, ' ');
        if (!space || strcmp(space + 1, name) != 0)
            continue;
        *space = '\0';
        return keep(line, out);
    }
    return false;
}

static bool ref_in(const char *folder, const char *name, char out[REVISION_ROOM])
{
    char path[PATH_MAX], line[PATH_MAX];
    if (join(path, folder, name) && read_line(path, line, sizeof line) && keep(line, out))
        return true;
    return packed_ref(folder, name, out);
}

bool revision_read(const char *folder, char out[REVISION_ROOM])
{
    char git[PATH_MAX], path[PATH_MAX], head[PATH_MAX], common[PATH_MAX];
    if (!git_folder(folder, git) || !join(path, git, "HEAD") || !read_line(path, head, sizeof head))
        return false;
    if (strncmp(head, "ref: ", 5) != 0)
        return keep(head, out);
    const char *name = head + 5;
    if (*name == '/' || strstr(name, ".."))
        return false;
    if (ref_in(git, name, out))
        return true;
    return join(path, git, "commondir") && read_line(path, common, sizeof common) && join(path, git, common) &&
           ref_in(path, name, out);
}

/* Asking git. */

static bool start_git(const char *folder, int out_fd, pid_t *out_pid)
{
    /* Nothing of the checkout's own is run, and nothing of it is written. */
    const char *const words[] = {"git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", folder, "status",
                                 "--porcelain", "--untracked-files=no", "--ignore-submodules=all", "-z", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK); /* Ctrl-C is not meant for it */
    posix_spawnattr_setsigmask(&how, &none);
    bool ok = posix_spawnp(out_pid, "git", &files, &how, (char *const *)words, environ) == 0;
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

/* Each entry ends with a NUL; a renamed file has its old name as a second one, which does not look like an entry. */
struct entry_count {
    int64_t entries;
    bool is_old_name, is_renamed;
    size_t column;
};

static void count_bytes(struct entry_count *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c->column++ == 0 && !c->is_old_name)
            c->is_renamed = bytes[i] == 'R' || bytes[i] == 'C';
        if (bytes[i])
            continue;
        c->entries += !c->is_old_name;
        c->is_old_name = !c->is_old_name && c->is_renamed;
        c->column = 0;
    }
}

/* True when it has closed its output in time. */
static bool read_entries(int fd, uint64_t deadline_ns, struct entry_count *c)
{
    for (;;) {
        uint64_t now = clock_monotonic_ns();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (now >= deadline_ns)
            return false;
        int ready = poll(&p, 1, (int)((deadline_ns - now) / 1000000) + 1);
        char bytes[4096];
        ssize_t n = ready > 0 ? read(fd, bytes, sizeof bytes) : ready;
        if (n == 0 && ready > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
        count_bytes(c, bytes, n > 0 ? (size_t)n : 0);
    }
}

int64_t revision_changes(const char *folder, unsigned patience_ms)
{
    char git[PATH_MAX];
    int ends[2];
    if (!git_folder(folder, git) || pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    own(close) int from = ends[0];
    struct entry_count count = {0};
    pid_t pid;
    bool is_started = start_git(folder, ends[1], &pid);
    close(ends[1]);
    if (!is_started)
        return -1;
    bool is_whole = read_entries(from, clock_monotonic_ns() + patience_ms * UINT64_C(1000000), &count);
    int status = 0;
    if (!is_whole)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return is_whole && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? count.entries : -1;
}

/* The program. */

bool compiler_read(const char *program, char out[REVISION_ROOM])
{
    own(elf_file) struct elf_file *f = NULL;
    if (!elf_file_open(&f, "", program, NULL))
        return false;
    struct view said = elf_text_at(elf_file_contents(f, elf_file_section(f, ".comment")), 0);
    if (!said.n)
        return false;
    snprintf(out, REVISION_ROOM, "%.*s", (int)(said.n < REVISION_ROOM - 1 ? said.n : REVISION_ROOM - 1), said.at);
    return true;
}

/* Facts. */

void revision_facts(const char *folder, struct capture_writer *into)
{
    char text[REVISION_ROOM];
    if (revision_read(folder, text))
        capture_fact(into, VIEW("revision"), view_of(text));
}

void revision_change_facts(const char *folder, struct capture_writer *into)
{
    char text[REVISION_ROOM];
    int64_t n = revision_changes(folder, PATIENCE_MS);
    snprintf(text, sizeof text, "%lld", (long long)n);
    if (n >= 0)
        capture_fact(into, VIEW("changed files"), view_of(text));
}

void compiler_fact(int32_t pid, struct capture_writer *into)
{
    char path[64], text[REVISION_ROOM];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (compiler_read(path, text))
        capture_fact(into, VIEW("compiler"), view_of(text));
}
