/*
 * code_files.h - the files that code comes from, each opened once, and what their addresses mean
 *
 * Many processes map the same files. A code file is opened when the first sample
 * falls into it, through the root of a process that has it mapped (its paths are not
 * ours in a container); its unwind table is built once, and every address in it is
 * turned into frames once.
 *
 *     map of a process ── id ──> image (names), unwind table, address -> frames
 *
 * A file that cannot be opened, or is not the one that was mapped, still has an id:
 * its frames are called [module+0xoffset], by file offset. A function without a name in a
 * file that was opened is called [module+0xstart], after the address it begins at.
 *
 * Owns:     images, tables, frames. The names go into the builder it was given.
 * Threads:  one at a time.
 * Fails:    never; what is not there has no names.
 */
#pragma once
#include "model/builder.h"
#include "unwind/unwind.h"

struct code_files;

typedef struct { uint32_t i; } code_file_id; /* 0: no file */
#define CODE_FILE_NONE ((code_file_id){0})

/* How somebody mapped it. */
struct code_file_key {
    struct view path;     /* as the process sees it; "[vdso]" is a file of the kernel's */
    struct view build_id; /* binary; may be empty */
    uint64_t device, inode;
};

struct code_files *code_files_new(struct builder *names, const char *proc);
void code_files_free(struct code_files *cs); /* NULL is fine */
DEFINE_OWN(code_files, struct code_files *)

/* Where a file may be found: the process that maps it, and its map ("start-end" names a link below map_files). */
struct code_file_place {
    int32_t pid;
    uint64_t start, end;
};

code_file_id code_files_find(struct code_files *cs, const struct code_file_key *key);
void code_files_open(struct code_files *cs, code_file_id id, const struct code_file_place *at); /* the first time counts */

const struct unwind_table *code_files_table(const struct code_files *cs, code_file_id id); /* NULL: none */

/* The virtual address of a place in the file; without an image, the file offset itself. */
uint64_t code_files_address(const struct code_files *cs, code_file_id id, uint64_t file_offset);

/* The frames at a virtual address, innermost first; good until the next call. */
const frame_id *code_files_frames(struct code_files *cs, code_file_id id, uint64_t address, size_t *out_n);

/* Other names: every frame and mapping so far is void. Files stay open. */
void code_files_begin_again(struct code_files *cs, struct builder *names);

size_t code_files_count(const struct code_files *cs);      /* opened */
size_t code_files_known(const struct code_files *cs);      /* that have an id */
size_t code_files_held_bytes(const struct code_files *cs); /* of images and tables */
