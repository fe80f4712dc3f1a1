/*
 * function_union.h - the functions of several profiles, told apart by what a person would call them
 *
 * Two builds of one program, or two runs of one build, have the same functions at
 * other addresses and other lines. Here a function is its name, the last part of its
 * module's path and the last part of its file's path. Of equal ones the first stays,
 * with its line.
 *
 * Owns: its tables. The builder that the functions go to is borrowed.
 */
#pragma once
#include "base/idmap.h"
#include "model/builder.h"

struct function_key {
    str_id name, module, file;
};

struct function_union {
    struct builder *to;
    struct idmap map;
    struct function_key *keys;
    frame_id *frames; /* one for each function; by row, as keys */
    size_t n, cap_keys, cap_frames;
};

void function_union_init(struct function_union *u, struct builder *to);
void function_union_done(struct function_union *u);
DEFINE_OWN_IN_PLACE(function_union, struct function_union)

/* All stacks of a profile, function by function. By stack id: what it has become. The caller's to free. */
stack_id *function_union_stacks(struct function_union *u, const struct profile *from);
