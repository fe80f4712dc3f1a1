/*
 * matmul_blocked.h - matrix products in blocks that stay in the caches
 *
 * The products of all levels and types go the same way. Values lie in cells of 32 bits: one f32, two bf16 or
 * four bytes, which is what one lane of a multiply-and-add takes. A block of B and a block of A are laid out
 * anew, so that the innermost loop reads both from front to back:
 *
 *     A   panels of tile.rows rows:     cell 0 of each row, cell 1 of each row, ...
 *     B   panels of tile.columns:       cell 0 of each column, cell 1 of each column, ...
 *
 * One panel of B stays in the first cache while the panels of A come by from the second; a tile of C stays in
 * registers. What sticks out of C at the edges is computed beside it and copied.
 */
#pragma once
#include "lab/ops.h"

struct tile {
    size_t rows, columns; /* of C, in registers; at most TILE_MOST cells */
    /* C tile = sum over `depth` cells of a panel of A times a panel of B; with `add`, added to what is there.
       `start`: what each column begins with (bytes only; NULL: zero). */
    void (*run)(size_t depth, const void *a, const void *b, void *c, size_t c_stride, bool add, const int32_t *start);
};
enum { TILE_MOST = 512 };

/* One product, however its values look. Depth is counted in values here; a cell holds `per_cell`. */
struct blocked {
    size_t m, n, k, per_cell;
    const struct tile *tile;
    const void *job; /* of the two functions below: where A and B are */
    /* One panel of `count` rows of A (columns of B) from value k on; the rest of a panel, and of the last cell, is zero. */
    void (*lay_a)(const void *job, void *out, size_t row, size_t count, size_t k, size_t depth);
    void (*lay_b)(const void *job, void *out, size_t column, size_t count, size_t k, size_t depth, int32_t *start);
    void *c;
    size_t c_stride;
};

void matmul_blocked(const struct blocked *b, struct matmul_room *room);

/* The products of ops.h with a level's tiles. `unpack` is the level's own. */
void matmul_with_tile(const struct matmul *m, const struct tile *t, const struct ops *level, struct matmul_room *room);
void matmul_int8_with_tile(const struct matmul_int8 *m, const struct tile *t, struct matmul_room *room);
void matmul_bf16_with_tile(const struct matmul_bf16 *m, const struct tile *t, struct matmul_room *room);

/*
 * Few rows of A (a short prompt) do not repay laying out B anew. Then rows of B are unpacked four at a time and multiplied with
 * all rows of A as they lie there, sums along k: see ops_vector.h. The room has space for four rows of MATMUL_FEW_DEPTH.
 */
enum { MATMUL_FEW = 64, MATMUL_FEW_ROWS = 4, MATMUL_FEW_DEPTH = 16384 };
bool matmul_is_few(const struct matmul *m);
float *matmul_few_room(struct matmul_room *room);
