/*
 * heap_stacks.h - what the stacks mean that a heap agent wrote down, and rules for the next ones
 *
 * Of a stack the agent walked whole there are return addresses; of one it could not, there are those it found and a slice of stack from
 * there on, which is unwound here with the tables of the files. Each address met on the way becomes a rule in the agent's
 * memory, so that the next walk gets further.
 *
 *     slice ── unwind ── rules ──> the agent
 *                └── addresses ── names ──> a stack of the profile, when somebody asks
 *
 * What is kept of a stack is paid for from the purse of its process (heap_purse.h). When that is empty, further stacks are all
 * one, called so; of those whose rest did not fit the rest is missing, as if it had never been copied.
 *
 * Owns:     the maps of the process, and what it unwound. Files are shared by all processes and borrowed.
 * Threads:  one at a time.
 * Fails:    never; what is not known is called so.
 */
#pragma once
#include "capture/cpu/stack_names.h"
#include "capture/cpu/stack_rest.h"
#include "capture/cpu/tasks.h"
#include "capture/heap/heap_purse.h"
#include "capture/heap/heap_shared.h"
#include "inferom/heap_wire.h"

struct heap_known; /* one stack */

struct heap_stacks {
    struct task_process process; /* pid, maps, names of a just-in-time compiler */
    struct stack_rest rest;
    const struct heap_shared *shared;
    uint32_t index; /* of the area */
    uint8_t *area;
    struct heap_purse *purse, *frames;
    struct heap_known *known; /* by number */
    size_t known_cap;
    size_t maps_paid;
    uint64_t rules, slices, unresolved;
    uint64_t lost_slices, lost_lines; /* the purse was empty */
    uint64_t ends[UNWIND_END_COUNT];
};

/* Where a process and its area are, and who pays. */
struct heap_stacks_place {
    int32_t pid;
    const struct heap_shared *shared;
    uint32_t index;
    uint8_t *area;
    struct heap_purse *purse, *frames;
};
void heap_stacks_init(struct heap_stacks *hs, const struct heap_stacks_place *at);
void heap_stacks_done(struct heap_stacks *hs);

/* A line of the process's own list of maps; the first of a list replaces what was known. */
void heap_stacks_map(struct heap_stacks *hs, struct code_files *files, struct view line, bool is_first);

/* From the ring; `bytes` of stack lie at `stack`. */
void heap_stacks_slice(struct heap_stacks *hs, struct code_files *files, const struct heap_slice *s, const uint8_t *stack,
                       uint64_t now_ns);

void heap_stacks_unloaded(struct heap_stacks *hs, struct code_files *files); /* libraries went: maps are read again */

/* The stack in the profile. *out_is_new: it took time to find its names; else it was known. */
stack_id heap_stacks_find(struct heap_stacks *hs, struct stack_names *naming, uint32_t number, bool *out_is_new);

/* Is all there that its names are made of? The agent counts a stack before it has written it down; whoever allocates there comes later. */
bool heap_stacks_is_ripe(const struct heap_stacks *hs, uint32_t number);

/* What all stacks are that nobody has room for. */
stack_id heap_stacks_beyond(struct stack_names *naming);

void heap_stacks_begin_again(struct heap_stacks *hs); /* every stack of the profile is void */
