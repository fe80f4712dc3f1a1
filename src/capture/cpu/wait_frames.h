/*
 * wait_frames.h - what the frames of a stack say about a wait, asked once per frame
 *
 * The rules of wait_class.h are patterns, and there are many of them; frames come again and
 * again. What a frame's name says is kept under its id.
 *
 * Owns: what it keeps. Frames and stacks are of one profile, always the same. Threads: one at a time.
 */
#pragma once
#include "capture/cpu/wait_class.h"
#include "model/profile.h"

struct wait_frames {
    struct frame_hint *hints; /* by frame id */
    size_t hints_cap;
};

void wait_frames_done(struct wait_frames *f);

/* `so_far` is what is known without the stack; it counts where the stack has no kernel part with names. */
enum wait_class wait_frames_class(struct wait_frames *f, const struct profile *p, stack_id leaf, enum wait_class so_far);

/* Without the leaves that are on every wait's stack, or without all of the kernel's. */
stack_id wait_frames_trim(struct wait_frames *f, const struct profile *p, stack_id leaf, bool want_kernel);
