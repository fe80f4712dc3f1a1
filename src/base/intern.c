#include "base/intern.h"
#include "base/mem.h"

static bool same_text(const void *table, uint32_t row, const void *key)
{
    const struct interner *in = table;
    const struct view *text = key;
    return view_same(in->rows[row], *text);
}

void intern_init(struct interner *in)
{
    *in = (struct interner){0};
    idmap_init(&in->map);
    intern(in, VIEW(""));
}

void intern_done(struct interner *in)
{
    arena_done(&in->texts);
    idmap_done(&in->map);
    free(in->rows);
    *in = (struct interner){0};
}

uint32_t intern(struct interner *in, struct view text)
{
    uint64_t h = idmap_hash(&in->map, text.at, text.n);
    uint32_t row = idmap_find(&in->map, h, same_text, in, &text);
    if (row != IDMAP_NONE)
        return row;
    GROW(in->rows, in->cap, in->n + 1);
    in->rows[in->n] = (struct view){arena_text(&in->texts, text), text.n};
    idmap_add(&in->map, h, (uint32_t)in->n);
    return (uint32_t)in->n++;
}
