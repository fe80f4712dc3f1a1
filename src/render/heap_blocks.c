/*
 * heap_blocks.c - every recorded block by itself, for programs that ask more than a report does
 *
 * The set "heap.blocks" (record --heap-blocks) has a row for each allocation: when, its stack, a label with its address,
 * how large, whether it was freed and after how long. Which stacks is chosen by filtering the profile before.
 */
#include "analyse/sampling.h"
#include "base/json.h"
#include "base/mem.h"
#include "render/heap_view.h"
#include "render/names.h"

#include <inttypes.h>

struct blocks {
    const struct profile *p;
    const struct sample_set *set;
    size_t bytes, freed, lifetime;
};

static bool blocks_of(const struct profile *p, struct blocks *b)
{
    *b = (struct blocks){.p = p, .set = set_named(p, VIEW("heap.blocks"))};
    if (!b->set)
        return false;
    b->bytes = measure_named(p, b->set, VIEW("bytes"));
    b->freed = measure_named(p, b->set, VIEW("freed"));
    b->lifetime = measure_named(p, b->set, VIEW("lifetime_ns"));
    return b->bytes < b->set->n_measures && b->freed < b->set->n_measures;
}

bool heap_blocks_are_there(const struct profile *p)
{
    struct blocks b;
    return blocks_of(p, &b);
}

/* main;work;leaky: the root first, as folded stacks have them. */
static void stack_text(const struct profile *p, stack_id id, struct buf *out)
{
    size_t n = 0;
    for (stack_id s = id; s.i; s = profile_stack(p, s)->caller)
        n++;
    own(free) stack_id *path = mem_new((n + 1) * sizeof *path);
    for (stack_id s = id; s.i; s = profile_stack(p, s)->caller)
        path[--n] = s;
    for (size_t i = 0; path[i].i; i++) {
        char room[NAME_ROOM];
        struct view name = name_of_function(p, profile_frame(p, profile_stack(p, path[i])->frame)->function, room);
        buf_puts(out, i ? ";" : "");
        buf_add(out, name.at, name.n);
    }
}

static const struct column columns[] = {
    {"Address", "address", COLUMN_TEXT, 0}, {"Size", "bytes", COLUMN_COUNT, 0}, {"Freed", "freed", COLUMN_ID, 0},
    {"Time", "time_ns", COLUMN_COUNT, 0},   {"Lived", "lifetime_ns", COLUMN_COUNT, 0}, {"Thread", "tid", COLUMN_ID, 0},
    {"Stack", "stack", COLUMN_CODE, 0},
};

static void block_row(struct table *t, const struct blocks *b, size_t i, struct buf *stack)
{
    const struct context *c = profile_context(b->p, b->set->contexts ? b->set->contexts[i] : (context_id){0});
    const struct label *at = profile_label(b->p, c->labels, VIEW("address"));
    uint64_t start = profile_start_ns(b->p), t_ns = b->set->time_ns ? b->set->time_ns[i] : TIME_NONE;
    bool freed = b->set->values[b->freed][i] != 0, knows_age = b->lifetime < b->set->n_measures;
    int32_t tid = profile_thread(b->p, c->thread)->tid;
    char address[32] = "";
    if (at)
        snprintf(address, sizeof address, "0x%" PRIx64, (uint64_t)at->number);
    buf_clear(stack);
    stack_text(b->p, b->set->stacks[i], stack);
    table_text(t, view_of(address));
    table_number(t, (double)b->set->values[b->bytes][i]);
    table_number(t, freed);
    table_number(t, t_ns == TIME_NONE || start == TIME_NONE || t_ns < start ? UNKNOWN : (double)(t_ns - start));
    table_number(t, freed && knows_age ? (double)b->set->values[b->lifetime][i] : UNKNOWN);
    table_number(t, tid ? (double)tid : UNKNOWN);
    table_text(t, buf_view(stack));
}

static struct table *block_table(const struct blocks *b, size_t from, size_t to)
{
    own(buf) struct buf stack;
    buf_init(&stack, 1 << 20);
    struct table *t = table_new(columns, sizeof columns / sizeof *columns);
    for (size_t i = from; i < to && i < b->set->n; i++)
        block_row(t, b, i, &stack);
    return t;
}

/* In pieces: there may be more blocks than memory for a table of them. */
void heap_blocks_csv(const struct profile *p, struct sink *out)
{
    enum { PIECE = 4096 };
    struct blocks b;
    if (!blocks_of(p, &b))
        return;
    for (size_t from = 0; from < b.set->n; from += PIECE) {
        own(table) struct table *t = block_table(&b, from, from + PIECE);
        (from ? table_csv_rows : table_csv)(t, out);
    }
}

void heap_blocks_json(const struct profile *p, struct sink *out)
{
    struct blocks b;
    if (!blocks_of(p, &b))
        return;
    own(table) struct table *t = block_table(&b, 0, b.set->n);
    struct json_writer w;
    json_to_pretty(&w, out);
    json_open(&w, '{');
    json_key(&w, "blocks");
    table_json(t, &w);
    json_close(&w, '}');
    sink_char(out, '\n');
}
