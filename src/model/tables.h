/*
 * tables.h - what a profile looks like inside; for the files of this folder only
 */
#pragma once
#include "base/intern.h"
#include "model/profile.h"

#define TABLE(T)       \
    struct {           \
        T *rows;       \
        size_t n, cap; \
    }

/* Sets of labels lie end to end in one table; a set is a run of them. */
struct label_run {
    uint32_t first, n;
};

struct profile {
    struct interner strings;
    TABLE(struct mapping) mappings;
    TABLE(struct function) functions;
    TABLE(struct frame) frames;
    TABLE(struct stack) stacks;
    TABLE(struct process) processes;
    TABLE(struct thread) threads;
    TABLE(struct label) labels;
    TABLE(struct label_run) label_sets;
    TABLE(struct context) contexts;
    TABLE(struct sample_set) sets;
    TABLE(struct span) spans; /* row 0 is no span */
    TABLE(struct series) series;
    TABLE(struct fact) facts;
    TABLE(struct loss) losses;
    TABLE(str_id) damages;
    uint64_t start_ns, end_ns;
    int64_t wall_offset_ns;
    bool has_wall_offset;
};
