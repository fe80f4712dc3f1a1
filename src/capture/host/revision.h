/*
 * revision.h - which source a recording is about, as facts of it
 *
 * The folder in which the command runs is often a checkout of its source. Then "revision" is
 * the commit that is checked out, read from the files of git itself, and "changed files" how many
 * tracked files differ from it. Only git can count those, so it is asked, when the measuring is
 * over: the program that is measured does not wait for it, nor run beside it.
 *
 * "compiler" is what the program's own file says about who made it.
 *
 * Fails: never. What cannot be found out is no fact.
 */
#pragma once
#include "base/view.h"
#include "model/capture_writer.h"
#include <stdint.h>

#define REVISION_ROOM 128

/* The commit of the checkout that `folder` is in, or is inside of. False: there is none. */
bool revision_read(const char *folder, char out[REVISION_ROOM]);

/* Tracked files that differ from it; -1: git is not there, refuses, or takes longer than patience_ms. */
int64_t revision_changes(const char *folder, unsigned patience_ms);

/* "GCC: (Debian 12.2.0-14) 12.2.0", out of an ELF file; false when it does not say. */
bool compiler_read(const char *program, char out[REVISION_ROOM]);

void revision_facts(const char *folder, struct capture_writer *into);
void revision_change_facts(const char *folder, struct capture_writer *into); /* may take a second */
void compiler_fact(int32_t pid, struct capture_writer *into);                /* of the program that runs in it */
