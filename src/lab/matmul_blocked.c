#include "lab/matmul_blocked.h"
#include "base/mem.h"

/* In cells of four bytes. A's block is to stay in the second cache, B's in the third; a panel of B in the first. */
enum {
    DEPTH = 256,        /* cells */
    A_ROWS = 192,       /* 192 KiB */
    B_COLUMNS = 1024,   /* 1 MiB */
    PANEL_MOST = 64,    /* rows or columns a tile may have */
};

struct matmul_room {
    uint32_t a[(A_ROWS + PANEL_MOST) * DEPTH];
    uint32_t b[(B_COLUMNS + PANEL_MOST) * DEPTH];
    int32_t start[B_COLUMNS + PANEL_MOST];
    uint32_t edge[TILE_MOST];
};

struct matmul_room *matmul_room_new(void)
{
    enum { PAGE = 4096 };
    size_t bytes = (sizeof(struct matmul_room) + PAGE - 1) / PAGE * PAGE;
    struct matmul_room *r = aligned_alloc(PAGE, bytes);
    if (!r)
        abort(); /* as mem_new() would; it does not align */
    memset(r, 0, bytes);
    return r;
}

void matmul_room_free(struct matmul_room *r) { free(r); }

_Static_assert(sizeof(((struct matmul_room *)0)->a) >= MATMUL_FEW_ROWS * MATMUL_FEW_DEPTH * sizeof(float), "four rows fit");

bool matmul_is_few(const struct matmul *m)
{
    return m->b_is_rows && (m->m_of_all ? m->m_of_all : m->m) <= MATMUL_FEW && m->k <= MATMUL_FEW_DEPTH;
}

float *matmul_few_room(struct matmul_room *room) { return (float *)(void *)room->a; }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* A tile at the edge of C. */
static void run_edge(const struct blocked *b, struct matmul_room *room, const void *a_panel, const void *b_panel,
                     size_t row, size_t column, size_t cells, bool add, const int32_t *start)
{
    const struct tile *t = b->tile;
    size_t rows = least(t->rows, b->m - row), columns = least(t->columns, b->n - column);
    uint32_t *c = (uint32_t *)b->c + row * b->c_stride + column;
    memset(room->edge, 0, t->rows * t->columns * sizeof *room->edge);
    for (size_t i = 0; add && i < rows; i++)
        memcpy(room->edge + i * t->columns, c + i * b->c_stride, columns * sizeof *c);
    t->run(cells, a_panel, b_panel, room->edge, t->columns, add, start);
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * b->c_stride, room->edge + i * t->columns, columns * sizeof *c);
}

static void run_tile(const struct blocked *b, struct matmul_room *room, const void *a_panel, const void *b_panel,
                     size_t row, size_t column, size_t cells, bool add, const int32_t *start)
{
    const struct tile *t = b->tile;
    if (row + t->rows <= b->m && column + t->columns <= b->n)
        t->run(cells, a_panel, b_panel, (uint32_t *)b->c + row * b->c_stride + column, b->c_stride, add, start);
    else
        run_edge(b, room, a_panel, b_panel, row, column, cells, add, start);
}

/* Everything between one block of A and one of B that have been laid out. */
static void run_block(const struct blocked *b, struct matmul_room *room, size_t row0, size_t rows, size_t column0,
                      size_t columns, size_t cells, bool add)
{
    const struct tile *t = b->tile;
    for (size_t j = 0; j < columns; j += t->columns)
        for (size_t i = 0; i < rows; i += t->rows)
            run_tile(b, room, room->a + i * cells, room->b + j * cells, row0 + i, column0 + j, cells, add,
                     room->start + j);
}

static void lay_block_of_b(const struct blocked *b, struct matmul_room *room, size_t column0, size_t columns, size_t k,
                           size_t depth, size_t cells)
{
    size_t each = b->tile->columns;
    for (size_t j = 0; j < columns; j += each)
        b->lay_b(b->job, room->b + j * cells, column0 + j, least(each, columns - j), k, depth, room->start + j);
}

static void lay_block_of_a(const struct blocked *b, struct matmul_room *room, size_t row0, size_t rows, size_t k,
                           size_t depth, size_t cells)
{
    size_t each = b->tile->rows;
    for (size_t i = 0; i < rows; i += each)
        b->lay_a(b->job, room->a + i * cells, row0 + i, least(each, rows - i), k, depth);
}

static void nothing_to_add(const struct blocked *b)
{
    for (size_t i = 0; i < b->m; i++)
        memset((uint32_t *)b->c + i * b->c_stride, 0, b->n * sizeof(uint32_t));
}

void matmul_blocked(const struct blocked *b, struct matmul_room *room)
{
    size_t a_rows = A_ROWS / b->tile->rows * b->tile->rows, b_columns = B_COLUMNS / b->tile->columns * b->tile->columns;
    size_t most_depth = DEPTH * b->per_cell;
    if (!b->k)
        nothing_to_add(b);
    for (size_t column = 0; column < b->n; column += b_columns) {
        size_t columns = least(b_columns, b->n - column);
        for (size_t k = 0; k < b->k; k += most_depth) {
            size_t depth = least(most_depth, b->k - k), cells = (depth + b->per_cell - 1) / b->per_cell;
            lay_block_of_b(b, room, column, columns, k, depth, cells);
            for (size_t row = 0; row < b->m; row += a_rows) {
                size_t rows = least(a_rows, b->m - row);
                lay_block_of_a(b, room, row, rows, k, depth, cells);
                run_block(b, room, row, rows, column, columns, cells, k > 0);
            }
        }
    }
}
