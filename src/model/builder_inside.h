/*
 * builder_inside.h - what a builder is made of; for the files of this folder named builder*.c
 *
 * The builder holds the profile it is making, and beside it what only the making
 * needs: for each interned table a map from row to id, and two short cuts.
 *
 *   named_frames   string -> frame known by that name alone. Folded files are
 *                  nothing else, so such a frame costs one look-up, not three.
 *   whole_stacks   a stack seen as one key. A profiler hands in the same stacks
 *                  again and again; finding them whole costs one look-up instead
 *                  of one per frame (stack_memo.h). A stack not seen before is pushed frame by
 *                  frame, beginning where it parts from the stack before it.
 */
#pragma once
#include "base/mem.h"
#include "model/builder.h"
#include "model/columns.h"
#include "model/stack_memo.h"
#include "model/tables.h"

#include <assert.h>

struct path_step {
    frame_id frame;
    stack_id stack;
};

struct builder {
    struct profile *p;
    TABLE(struct columns) columns;          /* one row per sample set */
    TABLE(struct reading_column) readings;  /* one row per series */
    struct idmap mappings, functions, frames, stacks, processes, threads, label_sets, contexts;
    struct idmap sets, series, facts, losses;
    struct stack_memo whole_stacks;
    bool adds_up; /* samples of the same stack become one */
    TABLE(frame_id) named_frames; /* by string id; 0: not made yet */
    TABLE(struct path_step) last_path;
    const char *too_many;   /* the table that ran out of ids */
    const char *overflowed; /* the set whose values add up past 2^63 */
};

/*
 * Appends a row to a table of the profile and yields its id. When 32 bits run
 * out the row is dropped and id 0 returned; builder_finish() refuses the whole.
 */
#define APPEND(b, table, row)                                        \
    __extension__({                                                  \
        __typeof__((b)->p->table) *t_ = &(b)->p->table;              \
        uint32_t id_ = 0;                                            \
        if (t_->n >= UINT32_MAX - 1) {                               \
            (b)->too_many = #table;                                  \
        } else {                                                     \
            GROW(t_->rows, t_->cap, t_->n + 1);                      \
            t_->rows[t_->n] = (row);                                 \
            id_ = (uint32_t)t_->n++;                                 \
        }                                                            \
        id_;                                                         \
    })

/* Finds the row in its table or appends it. `key` are the fields that make it what it is. */
#define INTERN(b, table, map, same, key, row)                                                     \
    __extension__({                                                                               \
        uint64_t h_ = idmap_hash(&(b)->map, &(key), sizeof(key));                                 \
        uint32_t found_ = idmap_find(&(b)->map, h_, same, (b)->p->table.rows, &(row));            \
        if (found_ == IDMAP_NONE) {                                                               \
            found_ = APPEND(b, table, row);                                                       \
            idmap_add(&(b)->map, h_, found_);                                                     \
        }                                                                                         \
        found_;                                                                                   \
    })
