#include "formats/path_tree.h"
#include "base/mem.h"

void path_tree_init(struct path_tree *t)
{
    *t = (struct path_tree){0};
    idmap_init(&t->map);
    GROW(t->rows, t->cap, 1);
    t->rows[t->n++] = (struct path_step){0};
}

void path_tree_done(struct path_tree *t)
{
    free(t->rows);
    idmap_done(&t->map);
    *t = (struct path_tree){0};
}

static bool same_step(const void *rows, uint32_t i, const void *key)
{
    const struct path_step *a = (const struct path_step *)rows + i, *b = key;
    return a->before == b->before && a->step == b->step;
}

uint32_t path_tree_push(struct path_tree *t, uint32_t before, uint32_t step)
{
    struct path_step row = {before, step};
    uint64_t h = idmap_hash_pair(&t->map, before, step);
    uint32_t found = idmap_find(&t->map, h, same_step, t->rows, &row);
    if (found != IDMAP_NONE)
        return found;
    if (t->n == IDMAP_NONE) {
        t->full = true;
        return 0;
    }
    GROW(t->rows, t->cap, t->n + 1);
    t->rows[t->n] = row;
    idmap_add(&t->map, h, (uint32_t)t->n);
    return (uint32_t)t->n++;
}
