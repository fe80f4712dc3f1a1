/*
 * stack_names.h - from the addresses of a walked stack to a stack of frames with names
 *
 * A stack is put together leaf first, as the walk found it, and turned round at the end:
 *
 *     kernel frames │ user frames, each address with its inlined ones first │ mark
 *     leaf ─────────────────────────────────────────────────────────────> root
 *
 * The mark is a frame of its own at the root of every stack that does not reach a
 * thread's start. Without it a cut stack would look as if its outermost function
 * were one that nobody calls.
 *
 * Owns: nothing; builder, files and kernel symbols are borrowed. Threads: one at a time. Fails: never.
 */
#pragma once
#include "capture/cpu/code_files.h"
#include "symbols/symbols.h"

#define DEPTH_MOST 1024 /* frames of one stack, whatever is asked for */

/* One address of a stack: a place in a file, or a frame. */
struct step {
    uint64_t address;
    code_file_id file; /* 0: there is a frame instead */
    frame_id frame;
    bool is_kernel; /* the address is the kernel's, and nothing else counts */
};

struct stack_names {
    struct builder *names;
    struct code_files *files;
    const struct kernel_symbols *kernel; /* NULL: there are none */
    size_t most_depth;

    frame_id leaf_first[DEPTH_MOST];
    size_t n_frames;
    bool is_full; /* there were more */
};

/* A frame that is known by its name, in a module, which may be "". */
frame_id stack_names_frame(struct stack_names *sn, struct view name, struct view module, enum frame_kind kind);

/* *end is how the walk ended; it becomes UNWIND_TOO_DEEP when there are more frames, inlined ones counted, than are kept. */
stack_id stack_names_stack(struct stack_names *sn, const struct step *steps, size_t n, enum unwind_end *end);
