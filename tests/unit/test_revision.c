/*
 * test_revision.c - what a recording says about its machine, its source and its compiler
 *
 * Machines and checkouts are planted in a folder of our own, so the answers are known.
 */
#include "capture/host/machine.h"
#include "capture/host/revision.h"
#include "check.h"
#include "model/capture_reader.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[64] = "test_revision_XXXXXX";

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static void plant(const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (f) {
        fputs(content, f);
        fclose(f);
    }
}

#define A "0123456789abcdef0123456789abcdef01234567"
#define B "89abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *what, *folder, *want; /* NULL: none */
    const char *files[8];             /* name, content, ... */
} checkouts[] = {
    {"a branch", "a/src/deep", A, {"a/.git/HEAD", "ref: refs/heads/main\n", "a/.git/refs/heads/main", A "\n", "a/src/deep/x.c", ""}},
    {"no branch", "b", B, {"b/.git/HEAD", B "\n"}},
    {"packed", "c", B, {"c/.git/HEAD", "ref: refs/heads/x\n", "c/.git/packed-refs", "# pack-refs\n" A " refs/heads/xy\n" B " refs/heads/x\n"}},
    {"a worktree", "d/tree", A,
     {"d/tree/.git", "gitdir: ../main/.git/worktrees/t\n", "d/main/.git/worktrees/t/HEAD", "ref: refs/heads/t\n",
      "d/main/.git/worktrees/t/commondir", "../..\n", "d/main/.git/refs/heads/t", A "\n"}},
    {"a branch without a commit", "e", NULL, {"e/.git/HEAD", "ref: refs/heads/main\n"}},
    {"a name that leads elsewhere", "f", NULL, {"f/.git/HEAD", "ref: ../../secret\n", "secret", A "\n"}},
    {"no commit, but a text", "g", NULL, {"g/.git/HEAD", "hello\n"}},
    {"an empty file", "h", NULL, {"h/.git/HEAD", ""}},
    {"a file that says nothing", "i", NULL, {"i/.git", "gitdir: \n"}},
};

static void check_checkouts(void)
{
    for (size_t i = 0; i < sizeof checkouts / sizeof *checkouts; i++) {
        char folder[512], got[REVISION_ROOM] = "none";
        for (size_t f = 0; f < 8 && checkouts[i].files[f]; f += 2)
            plant(checkouts[i].files[f], checkouts[i].files[f + 1]);
        snprintf(folder, sizeof folder, "%s/%s", root, checkouts[i].folder);
        bool found = revision_read(folder, got);
        printf("%s\n", checkouts[i].what);
        CHECK(found == (checkouts[i].want != NULL));
        CHECK_STR(got, checkouts[i].want ? checkouts[i].want : "none");
    }
}

/* With git itself, where there is one. */
static void check_changes(void)
{
    char command[2048], folder[512];
    snprintf(folder, sizeof folder, "%s/real", root);
    CHECK_EQ(revision_changes("/", 1000), -1); /* no checkout */
    if (system("git --version >/dev/null 2>&1") != 0)
        return;
    snprintf(command, sizeof command,
             "set -e; mkdir %s; cd %s; export HOME=$PWD GIT_CONFIG_NOSYSTEM=1; git init -q .; for f in a b c d; do echo $f$f$f$f > $f; done; "
             "git add .; git -c user.name=x -c user.email=x@example.org commit -q -m x; "
             "echo changed > a; git mv b moved; rm c; echo new > untracked", folder, folder);
    CHECK_EQ(system(command), 0);
    CHECK_EQ(revision_changes(folder, 60000), 3);
    CHECK_EQ(revision_changes(folder, 0), -1); /* no patience: not known, and not zero */
    char got[REVISION_ROOM];
    CHECK(revision_read(folder, got));
}

static void check_compiler(void)
{
    char said[REVISION_ROOM] = "";
    CHECK(compiler_read("/proc/self/exe", said));
    CHECK(strstr(said, "GCC") || strstr(said, "clang"));
    CHECK(!compiler_read("/etc/passwd", said));
    CHECK(!compiler_read("/nowhere", said));
}

static const char *fact(const struct profile *p, const char *key)
{
    const struct fact *f = profile_fact_named(p, view_of(key));
    return f ? profile_string(p, f->value).at : "none";
}

static struct profile *facts_of_planted(void)
{
    char path[128];
    struct err e = {0};
    own(capture_writer) struct capture_writer *w = NULL;
    snprintf(path, sizeof path, "%s/facts.inferom", root);
    CHECK(capture_open(&w, path, 1, &e));
    machine_facts(&(struct host){.root = root}, w);
    CHECK(capture_close(w, &e));
    own(reader) struct reader in = {.fd = -1};
    own(builder) struct builder *b = builder_new();
    struct profile *p = NULL;
    CHECK(reader_open(&in, path, &e) && capture_read(b, &in, NULL, &e) && builder_finish(take(b), &p, &e));
    return p;
}

static void check_machine(void)
{
    plant("proc/cpuinfo", "processor\t: 0\nmodel name\t: Model | X\nflags\t\t: fpu sse2 avx2x avx2 xavx fma\n\n"
                          "processor\t: 1\nmodel name\t: Other\nflags\t\t: amx_tile\n");
    plant("proc/meminfo", "MemTotal:       24684100 kB\nMemFree: 1 kB\n");
    plant("sys/devices/system/cpu/online", "0-1\n");
    plant("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    plant("etc/os-release", "NAME=x\nPRETTY_NAME=\"A System 12\"\n");
    own(profile) struct profile *p = facts_of_planted();
    CHECK_STR(fact(p, "cpu"), "Model | X");
    CHECK_STR(fact(p, "simd"), "sse2 fma avx2");
    CHECK_STR(fact(p, "cores"), "2");
    CHECK_STR(fact(p, "memory"), "24684100 kB");
    CHECK_STR(fact(p, "governor"), "powersave");
    CHECK_STR(fact(p, "os"), "A System 12");
}

/* arm64 has other words; a machine that says nothing gives no facts, and no empty ones. */
static void check_quiet_machine(void)
{
    plant("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd sve\n");
    plant("etc/os-release", "");
    plant("proc/meminfo", "nothing\n");
    plant("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
    own(profile) struct profile *p = facts_of_planted();
    CHECK_STR(fact(p, "simd"), "asimd sve");
    static const char *const absent[] = {"cpu", "memory", "governor", "os"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        CHECK_STR(fact(p, absent[i]), "none");
}

int main(void)
{
    CHECK(mkdtemp(root) != NULL);
    check_checkouts();
    check_changes();
    check_compiler();
    check_machine();
    check_quiet_machine();
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return CHECK_DONE();
}
