/*
 * remote_space.h - what is mapped in a process, as far as a call into it needs to know
 *
 * Where functions of its libc are, which code belongs to libc, to the loader or to an allocator,
 * and whether a thread that stands still stands at a good moment:
 *
 *     leaf   a function of libc that only waits, or none
 *            the program and its libraries, nothing of libc in between
 *     base   the start of the thread
 *
 * Whoever stands there holds no lock of the loader or the allocator, so it may call dlopen(). In
 * the middle of malloc(), of a signal handler, of exit() or of the loader it may not, and is left alone.
 *
 * Owns:     what it opened. Threads: one at a time.
 * Fails:    static, another libc, another machine, not ours to look at.
 */
#pragma once
#include "capture/cpu/address_space.h"
#include "capture/inject/remote_thread.h"
#include "symbols/elf_file.h"

struct remote_space;

bool remote_space_open(struct remote_space **out, pid_t pid, struct err *e) MUST_CHECK;
void remote_space_free(struct remote_space *s); /* NULL is fine */
DEFINE_OWN(remote_space, struct remote_space *)

uint64_t remote_space_dlopen(const struct remote_space *s);
uint64_t remote_space_sigreturn(const struct remote_space *s); /* code that does nothing else */
uint64_t remote_space_errno(const struct remote_space *s, const struct remote_thread *t);

bool remote_space_is_good(struct remote_space *s, const struct remote_thread *t); /* it may call dlopen() now */

/* Where a file begins, mapped from its first byte; 0: it is not mapped. */
uint64_t remote_mapped_at(pid_t pid, uint64_t device, uint64_t inode);

/* A function that a file defines, as the file was linked; 0: it does not. */
uint64_t elf_function(struct elf_file *f, const char *name, uint64_t *out_size);
