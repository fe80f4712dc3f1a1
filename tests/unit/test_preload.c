/* Which programs our sampler can get into: small files that begin like programs. */
#include "base/own.h"
#include "capture/cpu/preload.h"
#include "check.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

#if defined(__x86_64__)
enum { HERE = EM_X86_64, ELSEWHERE = EM_AARCH64 };
#else
enum { HERE = EM_AARCH64, ELSEWHERE = EM_X86_64 };
#endif

static const struct {
    const char *what, *script, *loader; /* a script, or a program that asks for a loader (or for none) */
    unsigned char bits;
    uint16_t machine;
    const char *refusal; /* a part of it; NULL: fine */
} cases[] = {
    {"a program like any other", NULL, "/lib64/ld-linux-x86-64.so.2", ELFCLASS64, HERE, NULL},
    {"static", NULL, NULL, ELFCLASS64, HERE, "is statically linked"},
    {"another libc", NULL, "/lib/ld-musl-x86_64.so.1", ELFCLASS64, HERE, "another libc (musl)"},
    {"32 bits", NULL, "/lib/ld-linux.so.2", ELFCLASS32, HERE, "another architecture"},
    {"another machine", NULL, "/lib/ld-linux-aarch64.so.1", ELFCLASS64, ELSEWHERE, "another architecture"},
    {"a script", "#!/bin/sh\nexit 0\n", NULL, 0, 0, NULL},
    {"a script of env", "#!/usr/bin/env sh\n", NULL, 0, 0, NULL},
    {"a script that has no interpreter", "#!\n", NULL, 0, 0, NULL},
    {"a script that runs itself", "#!./program\n", NULL, 0, 0, NULL},
    {"nothing in it", "", NULL, 0, 0, NULL},
    {"text", "hello\n", NULL, 0, 0, NULL},
};

static size_t make_elf(char *out, size_t i)
{
    size_t loader = cases[i].loader ? strlen(cases[i].loader) + 1 : 0;
    Elf64_Ehdr h = {.e_machine = cases[i].machine, .e_phoff = sizeof h, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = loader ? 2 : 1};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = cases[i].bits;
    Elf64_Phdr parts[2] = {{.p_type = PT_LOAD}, {.p_type = PT_INTERP, .p_offset = sizeof h + sizeof parts, .p_filesz = loader}};
    memcpy(out, &h, sizeof h);
    memcpy(out + sizeof h, parts, sizeof parts);
    if (loader)
        memcpy(out + sizeof h + sizeof parts, cases[i].loader, loader);
    return sizeof h + sizeof parts + loader;
}

static void write_program(const char *bytes, size_t n, mode_t mode)
{
    unlink("program");
    own(close) int fd = open("program", O_WRONLY | O_CREAT | O_TRUNC, 0700);
    CHECK_EQ(write(fd, bytes, n), n);
    CHECK_EQ(fchmod(fd, mode), 0);
}

static void check_case(size_t i)
{
    char bytes[1024] = "";
    const char *script = cases[i].script;
    size_t n = script ? strlen(script) : make_elf(bytes, i);
    write_program(script ? script : bytes, n, 0700);
    struct err e = {0};
    printf("%s\n", cases[i].what);
    CHECK_EQ(preload_check("./program", &e), cases[i].refusal == NULL);
    CHECK(!cases[i].refusal || strstr(e.text, cases[i].refusal));
    CHECK(!cases[i].refusal || *e.hint);
}

/* Every beginning of a program is looked at without harm. */
static void check_cut(void)
{
    char bytes[1024] = "";
    size_t n = make_elf(bytes, 0);
    for (size_t cut = 0; cut < n; cut++) {
        struct err e = {0};
        write_program(bytes, cut, 0700);
        if (!preload_check("./program", &e))
            CHECK(*e.text);
    }
}

/* Who gains nothing is not refused: as root, a setuid program is one like any other. */
static void check_privilege(void)
{
    char bytes[1024] = "";
    size_t n = make_elf(bytes, 0);
    struct err e = {0};
    write_program(bytes, n, 04700);
    CHECK_EQ(preload_check("./program", &e), geteuid() == 0);
    CHECK(geteuid() == 0 || strstr(e.text, "setuid"));
}

static void check_library(void)
{
    char path[PATH_MAX];
    struct err e = {0};
    setenv("INFEROM_SAMPLER_LIB", "no such file", 1);
    CHECK(!preload_library(PRELOAD_SAMPLER, path, sizeof path, &e) && strstr(e.text, "no such file"));
    write_program("", 0, 0600);
    setenv("INFEROM_SAMPLER_LIB", "program", 1);
    CHECK(preload_library(PRELOAD_SAMPLER, path, sizeof path, &e) && path[0] == '/' && strstr(path, "/program"));
}

int main(void)
{
    char folder[] = "/tmp/inferom-preload-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) < 0)
        return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(i);
    check_cut();
    check_privilege();
    check_library();
    CHECK(preload_check("there is no such program", &(struct err){0})); /* exec() will say so, and better */
    unlink("program");
    rmdir(folder);
    return CHECK_DONE();
}
